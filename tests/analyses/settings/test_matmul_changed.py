"""A matmul with one setting changed, as the laws of time describe it."""

from dataclasses import asdict, replace
from types import SimpleNamespace

from tests.analyses.settings.test_plans import BANKED, MATMUL, MINIMAL
from tests.for_all import for_all
from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.laws.matmuls import MatmulDescription
from ttnn_mcp.analyses.settings.matmul import MatmulSettings

NOW = MatmulDescription("wormhole_b0", rows=256, k=256, n=256, program="2D", block_w=2, per_core_m=1, per_core_n=1)


def changed(setting, value, *, plan=MATMUL, now=NOW, given=True):
    printed = SimpleNamespace(plan=plan, was_given=given)
    return MatmulSettings(SimpleNamespace(), printed).changed(now, setting, value)


def differs(after, now=NOW):
    """What a change of setting changed."""
    return {name: value for name, value in asdict(after).items() if value != getattr(now, name)}


def test_weights_and_fidelity_change_alone():
    assert differs(changed("weights_dtype", "BFLOAT4_B")) == {"in1_dtype": "BFLOAT4_B"}
    assert differs(changed("math_fidelity", "LoFi")) == {"fidelity": "LoFi"}


def test_of_another_op_nothing_is_told():
    assert changed("weights_dtype", "BFLOAT4_B", now=Described("wormhole_b0")) is None


def test_with_a_core_grid_ttnn_chooses_program_and_blocks():
    after = changed("core_grid", "8x4")
    assert differs(after) == {
        "grid": (8, 4),
        "program": "AUTO",
        "block_w": None,
        "per_core_m": None,
        "per_core_n": None,
    }


def test_a_minimal_matmul_keeps_its_blocks_on_another_grid():
    now = MatmulDescription("wormhole_b0", program="MINIMAL", block_w=2, cores=64)
    assert differs(changed("core_grid", "8x4", plan=MINIMAL, now=now), now) == {"grid": (8, 4), "cores": None}


def test_blocks_of_dram_sharded_weights_change_alone():
    assert differs(changed("in0_block_w", 4, plan=BANKED)) == {"block_w": 4}
    assert changed("per_core_N", 4, plan=BANKED) is None


def test_a_block_changes_the_cores_that_share_the_output():
    assert differs(changed("per_core_M", 2)) == {"per_core_m": 2, "cores": 32, "grid": (8, 8)}
    assert differs(changed("in0_block_w", 4))["block_w"] == 4


@for_all("setting", ["out_subblock_h", "fp32_dest_acc_en"])
def test_of_what_no_law_knows_nothing_is_told(setting):
    assert changed(setting, 2) is None


@for_all("plan", [MINIMAL, None])
def test_blocks_of_a_plan_that_is_not_multicast_are_not_told(plan):
    assert changed("in0_block_w", 4, plan=plan) is None


def test_blocks_of_k_without_a_config_of_its_own_are_not_told():
    """It would take another program."""
    assert changed("in0_block_w", 4, given=False) is None
    assert changed("in0_block_w", MATMUL.in0_block_w, given=False) is not None
    assert changed("per_core_M", 2, given=False) is not None
    assert changed("in0_block_w", 4, plan=replace(MATMUL, kind="1D"), given=False) is not None  # its law sees them
