"""matmul-config-untried: what TTNN would take of a matmul that is short of its roofline, as a trial."""

from __future__ import annotations

import pytest

from tests.checks.matmul_programs import ONE_WAY, config, deep, linear, of_linear, one_way
from tests.checks.rows import put
from tests.checks.step3_programs import cells
from tests.for_all import for_all
from tests.profiles import DRAM, Program, block_sharded, width_sharded
from tests.profiles.model import Placement, core_ranges
from tests.profiles.ops import matmul

TIME, CONFIG = "DEVICE KERNEL DURATION [ns]", "ATTRIBUTES.program_config"
LINEAR_NS = 26_214  # 3 x 1024 x 1024 BFLOAT16 at 240 GB/s: its roofline


def short_of_it(used=0.5, *sizes):
    """One of 1024 x 1024 x 1024 at `used` of its roofline."""
    return of_linear(kernel_ns=round(LINEAR_NS / used), program_config=config(*(sizes or (4, 1, 4))))


def test_deeper_blocks_are_a_trial_below_60_percent_of_the_roofline(check):
    outcome = check.pair(short_of_it, silent=0.61, fires=0.59)
    claim, line = outcome.claim, outcome.case.line(0)
    assert claim.claim.startswith("1 matmul has configs that this run did not try and reaches 59% of the roofline")
    assert "program_config as now with in0_block_w=8 or 16 or 32" in claim.fix
    assert cells(outcome) == [(line, TIME), (line, CONFIG)]
    assert claim.expected is None


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(short_of_it())


def test_all_but_arithmetic_and_the_bytes_of_the_operands_may_go(check):
    outcome = check.ask(short_of_it())
    needed = max(outcome.case.roofline.compute_ns[0], 2 * 1024 * 1024 * 2 / 288)
    assert outcome.at_most_ns == pytest.approx(outcome.took_ns - needed, rel=0.001)


def test_blocks_are_twice_as_deep_at_least(check):
    """Of 48 tiles of K 24 is deeper than 16, of 40 no block beyond 38 was measured."""

    def fix(tiles, block):
        made = of_linear(k=32 * tiles, kernel_ns=120_000, program_config=config(block, 2, 4))
        return "; ".join(claim.fix for claim in check.ask(made).claims)

    assert fix(48, 12) == "program_config as now with in0_block_w=24"
    assert not fix(48, 16)
    assert fix(40, 10) == "program_config as now with in0_block_w=20"
    assert not fix(40, 20)


def subblocks(check, per_core, now=(1, 1), *, fits=True, into=DRAM, **flags):
    """What is told of subblocks over blocks of 8 x 8 cores."""
    made = Program("wormhole_b0")
    m, n = (32 * 8 * (side if fits else side + 1) for side in per_core)
    x, w, y = made.tensor([1, 1, m, 1024]), made.tensor([1, 1, 1024, n]), made.tensor([1, 1, m, n], placement=into)
    op = matmul(
        x, w, y, 60_000 * per_core[0] * per_core[1] // 8, program_config=config(32, *now, per_core=per_core)
    )
    kernel = str(op.attributes["compute_kernel_config"])
    for name, value in flags.items():
        assert f"{name}={1 - value}" in kernel
        kernel = kernel.replace(f"{name}={1 - value}", f"{name}={value}")
    op.attributes = {**op.attributes, "compute_kernel_config": kernel}
    put(made, op)
    return "; ".join(claim.fix for claim in check.ask(made).claims)


def test_wider_subblocks_divide_the_share_of_a_core(check):
    """Three by five tiles hold subblocks of one by five in eight registers, and of one row of nothing in four."""
    assert "out_subblock_h=1, out_subblock_w=5" in subblocks(check, (3, 5), (3, 1))
    assert "out_subblock_h=2, out_subblock_w=4" in subblocks(check, (4, 4), (1, 4))
    assert "out_subblock_h=3, out_subblock_w=2" in subblocks(check, (3, 4), (1, 4))
    assert not subblocks(check, (4, 4), (2, 4))
    assert not subblocks(check, (4, 4), (1, 4), fp32_dest_acc_en=1)
    assert not subblocks(check, (7, 11), (7, 1))


def test_what_ttnn_refuses_of_the_op_is_not_told(check):
    """More blocks than the grid has cores; shards of L1, whose subblocks of several rows are as wide as the share."""
    assert not subblocks(check, (3, 5), (3, 1), fits=False)
    shards = block_sharded(128, 256, (8, 8))
    assert "out_subblock_h=1, out_subblock_w=8" in subblocks(check, (4, 8), (1, 4), into=shards)
    assert "out_subblock_h=1, out_subblock_w=8" in subblocks(check, (4, 8), (4, 1))


def test_rings_are_not_told(check):
    ring = f"{config(4, 1, 4, name=ONE_WAY)[:-1]},mcast_in0=0,gather_in0=1)"
    assert check.ask(of_linear(kernel_ns=60_000, program_config=ring)).status == "clean"


def test_what_ttnn_chose_for_a_grid_of_cores_is_told(check):
    """A config of its own brought the tower of Janus-Pro 14 % of fc and 13 % of down."""
    claim = check.ask(of_linear(kernel_ns=60_000, core_grid="(x=8,y=8)")).claim
    assert "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(" in claim.fix
    assert claim.fix.endswith(
        "fused_activation=None); keep compute_kernel_config, drop core_grid="
    )  # TTNN refuses both
    assert check.ask(of_linear(kernel_ns=40_000, core_grid="(x=8,y=8)")).status == "clean"
    for place in ("inputs", "outputs"):
        made = of_linear(kernel_ns=60_000, core_grid="(x=8,y=8)")
        getattr(made.device_ops[0], place)[0].placement = block_sharded(128, 128, (8, 8))
        assert check.ask(made).status == "clean"  # the grid is that of the shards


@for_all(
    ("printed", "written"),
    [
        (
            "BasicUnaryWithParam<float>(op_type=UnaryOpType::SILU,param={})",
            "ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU)",
        ),
        (
            "BasicUnaryWithParam<float>(op_type=UnaryOpType::GELU;param={1})",
            "ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 1)",
        ),
        ("<BasicUnaryWithParam>", "<as now>"),
    ],
)
def test_a_config_takes_over_the_function_of_the_call(check, printed, written):
    """Real TTNN applies `activation=` beside a config as an op of its own, also after the config's function."""
    made = of_linear(kernel_ns=60_000, core_grid="(x=8,y=8)")
    made.device_ops[0].attributes["user_fused_activation"] = printed
    assert check.ask(made).claim.fix.endswith(
        f"fused_activation={written}); keep compute_kernel_config, drop activation= and core_grid="
    )


def test_bias_and_a_type_of_its_own_stay_beside_a_config(check):
    """Real TTNN gives the type of x where a call says none."""
    made = of_linear(kernel_ns=60_000, core_grid="(x=8,y=8)")
    op = made.device_ops[0]
    op.inputs = (*op.inputs, made.weight([1, 1, 1, 1024]))
    assert check.ask(made).claim.fix.endswith("keep compute_kernel_config, bias, drop core_grid=")
    op.outputs[0].dtype = "BFLOAT8_B"
    assert check.ask(made).claim.fix.endswith("keep compute_kernel_config, bias, dtype, drop core_grid=")


def test_a_guess_of_ttnn_is_told_where_no_measured_rule_speaks_of_it(check):
    """Over 32 rows of tiles matmul-without-config speaks below 20 % of the roofline."""

    def told(used):
        return check.ask(of_linear(kernel_ns=round(LINEAR_NS / used)))

    assert "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(" in told(0.21).claim.fix
    assert told(0.19).status == "clean"


def test_of_one_row_of_tiles_its_law_tells(check):
    """Ornith's output projection took 75.0 us as TTNN chose, and 26.4 by a 1D config."""

    def expected(rows):
        made = Program("blackhole", grid=(11, 10))
        x, w, y = (
            made.tensor([1, 1, rows, 4096]),
            made.weight([1, 1, 4096, 2048], "BFLOAT8_B"),
            made.tensor([1, 1, rows, 2048]),
        )
        put(made, matmul(x, w, y, 75_000, cores=64))
        return check.ask(made).claim.expected

    assert expected(32).basis == "law: decode matmul, interleaved weights (1D)"
    assert expected(32).saved_ns.tolist() == [pytest.approx(75_000 - 26_400, rel=0.1)]
    assert expected(64) is expected(96) is None


def test_what_a_measured_rule_speaks_of_is_its_own(check):
    assert check.ask(short_of_it(0.55, 1, 1, 4)).status == "clean"  # small blocks
    assert check.ask(one_way(kernel_ns=118_000)).status == "clean"  # multicast one way over 128 rows
    assert check.ask(one_way(kernel_ns=118_000, m=96)).fires
    needed = check.ask(deep(kernel_ns=2_000_000)).case.roofline.dram_achievable_ns[0]
    check.pair(lambda used: deep(kernel_ns=round(needed / used)), silent=0.495, fires=0.505)  # many steps
    assert check.ask(deep(block=16, kernel_ns=900_000)).fires


@for_all(("chosen", "fires"), [(True, False), (False, True)])
def test_weights_in_batches_are_told_where_the_caller_chose(check, chosen, fires):
    """North-Mini's experts for 128 tokens: in0_block_w 8 in place of 2 saved 1738 of 7810 us."""
    made = Program("wormhole_b0")
    x, w, y = (made.tensor([1, 2, *sides]) for sides in ((1024, 1024), (1024, 1024), (1024, 1024)))
    put(made, matmul(x, w, y, 200_000, program_config=None if chosen else config()))
    assert check.ask(made).fires is fires


def test_a_block_of_k_divides_the_shards_of_the_activation(check):
    """Real TTNN refuses blocks of 8 tiles over shards of 4 (matmul_device_operation.cpp); it takes them over 8 cores."""

    def fix(place, k=2048):
        made = Program("wormhole_b0")
        x, w, y = (
            made.tensor([1, 1, 32, k], placement=place),
            made.weight([1, 1, k, 2048]),
            made.tensor([1, 1, 32, 2048]),
        )
        sizes = config(4, 1, 2, per_core=(1, 4), name="MatmulMultiCoreReuseMultiCast1DProgramConfig")
        put(made, matmul(x, w, y, 80_000, program_config=f"{sizes[:-1]},fuse_batch=1,mcast_in0=1)"))
        return check.ask(made).claim.fix

    assert fix(DRAM) == "program_config as now with in0_block_w=8 or 16 or 32, out_subblock_h=1, out_subblock_w=4"
    assert fix(width_sharded(32, 128, 16)) == (
        "program_config as now with in0_block_w=8 (x on 8 cores), out_subblock_h=1, out_subblock_w=4"
    )
    seven = fix(width_sharded(32, 256, 7, width=7), k=56 * 32)  # fewer than eight cores were never measured
    assert seven == "program_config as now with out_subblock_h=1, out_subblock_w=4"


def test_blocks_over_banked_weights_divide_the_shares_of_their_cores(check):
    """Of 120 tiles of K a core holds 10: blocks of 12 and 15 fit L1, on 10 and on 8 cores."""
    made = Program("blackhole", grid=(12, 10))
    x = made.tensor([1, 1, 32, 3840], placement=width_sharded(32, 320, 12, width=12))
    place = Placement("DRAM", "WIDTH_SHARDED", core_ranges((8, 1)), (3840, 192))
    w, y = made.tensor([1, 1, 3840, 1536], "BFLOAT8_B", placement=place), made.tensor([1, 1, 32, 1536])
    given = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=5,per_core_M=1,per_core_N=4)"
    put(made, matmul(x, w, y, 60_000, program_config=given, fidelity="LoFi"))
    assert check.ask(made).claim.fix == "program_config as now with in0_block_w=10"


def test_one_percent_of_the_window_is_worth_telling(check):
    check.share_pair(lambda program: linear(program, kernel_ns=60_000, program_config=config()), 0.01, of="saving")
