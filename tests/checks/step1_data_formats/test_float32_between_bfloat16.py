"""float32-between-bfloat16: widened, computed on, narrowed again."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.programs import cast, relu
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, unary
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

SHAPE = [1, 1, 512, 4096]


def island(program, *, before="BFLOAT16", wide="FLOAT32", after="BFLOAT16", ops=1, between_ns=60_000):
    x = program.tensor(SHAPE, before)
    for _ in range(2):  # no op of its kind stands alone, so that no iteration is seen in the pattern
        x = relu(program, x)
    x = cast(program, x, wide, 40_000)
    for _ in range(ops):
        x = put(program, unary("SILU", x, program.tensor(SHAPE, wide), between_ns))
    if after:
        x = cast(program, x, after, 30_000)
    return relu(program, x)


def of_island(**how):
    program = Program("wormhole_b0")
    island(program, **how)
    return program


def test_both_casts_go_and_what_lies_between_takes_half(check):
    claim = check.assert_sound(of_island())
    assert claim.at_most_ns.tolist() == [40_000, 30_000, 30_000]
    assert claim.claim.startswith("FLOAT32 between 1 widening and 1 narrowing casts, with 1 ops in between (130 us")
    assert "fp32_dest_acc_en=True" in claim.fix
    assert claim.at_least_ns is None
    assert [one.value for one in claim.evidence] == [40_000, "FLOAT32", 30_000, "FLOAT32"]


def test_what_has_narrow_operands_too_saves_less(check):
    """512 x 4096 in FLOAT32 in and out beside as many in BFLOAT16: 16 of 20 bytes are wide."""
    program = Program("wormhole_b0")
    x = cast(program, relu(program, program.tensor(SHAPE)), "FLOAT32", 40_000)
    y = put(program, binary("MUL", x, program.tensor(SHAPE), program.tensor(SHAPE, "FLOAT32"), 100_000))
    relu(program, cast(program, y, "BFLOAT16", 30_000))
    claim = check.ask(program).claim
    assert claim.at_most_ns.tolist() == [40_000, pytest.approx(100_000 * 8 / 20), 30_000]


def test_what_is_mostly_launch_keeps_it(check):
    assert check.ask(of_island(between_ns=400)).claim.at_most_ns.tolist() == [40_000, 400 - LAUNCH_FLOOR_NS, 30_000]


def test_two_islands_are_apart(check):
    program = of_island()
    island(program, before="BFLOAT8_B", after="BFLOAT8_B", ops=2)
    claim = check.ask(program).claim
    assert claim.claim.startswith("FLOAT32 between 2 widening and 2 narrowing casts, with 3 ops in between")
    assert len(claim.rows) == 7


def test_an_island_that_flows_into_another_is_two(check):
    program = Program("wormhole_b0")
    x = relu(program, program.tensor(SHAPE))
    for kind in ("SILU", "TANH"):
        x = cast(program, x, "FLOAT32", 40_000)
        x = cast(
            program, put(program, unary(kind, x, program.tensor(SHAPE, "FLOAT32"), 60_000)), "BFLOAT16", 30_000
        )
        x = relu(program, x)
    assert len(check.ask(program).claim.rows) == 6


def mapped(program, x, dtype, kind="SILU"):
    return put(program, unary(kind, x, program.tensor(SHAPE, dtype), 60_000))


def test_an_op_that_widens_or_narrows_itself_costs_no_cast(check):
    program = Program("wormhole_b0")
    x = relu(program, program.tensor(SHAPE))
    relu(program, cast(program, mapped(program, mapped(program, x, "FLOAT32"), "FLOAT32", "TANH"), "BFLOAT16"))
    assert check.ask(program).status == "clean"
    program = Program("wormhole_b0")
    x = cast(program, relu(program, program.tensor(SHAPE)), "FLOAT32")
    relu(program, cast(program, mapped(program, mapped(program, x, "BFLOAT16"), "BFLOAT16", "TANH"), "BFLOAT8_B"))
    assert check.ask(program).status == "clean"


def test_a_cast_to_another_type_begins_no_island(check):
    program = Program("wormhole_b0")
    x = cast(program, relu(program, program.tensor(SHAPE)), "BFLOAT8_B")
    relu(program, cast(program, mapped(program, x, "FLOAT32"), "BFLOAT16"))
    assert check.ask(program).status == "clean"


def test_what_narrows_without_a_cast_ends_no_island(check):
    program = Program("wormhole_b0")
    x = cast(program, relu(program, program.tensor(SHAPE)), "FLOAT32")
    relu(program, mapped(program, mapped(program, x, "FLOAT32"), "BFLOAT16", "TANH"))
    assert check.ask(program).status == "clean"


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(island, 0.01, of="saving")


def test_an_island_has_sixteen_ops_at_most(check):
    check.pair(lambda ops: of_island(ops=ops), silent=17, fires=16)


@for_all("dtype", ["BFLOAT16", "BFLOAT8_B", "BFLOAT4_B"])
def test_any_narrow_type_may_stand_at_the_ends(check, dtype):
    assert check.ask(of_island(before=dtype, after=dtype)).fires


@for_all(
    "change",
    [{"ops": 0}, {"after": None}, {"before": "UINT32"}, {"after": "INT32"}, {"wide": "INT32"}],
    ids=["straight back", "not narrowed again", "from integers", "to integers", "integers between"],
)
def test_what_is_no_island_of_float32_is_left_alone(check, change):
    assert check.ask(of_island(**change)).status == "clean"


def test_a_narrowing_on_another_tensor_is_no_end(check):
    program = of_island(after=None)
    other = program.tensor([1, 1, 64, 64], "FLOAT32")
    cast(program, other, "BFLOAT16")
    assert check.ask(program).status == "clean"


def test_casts_beside_an_island_are_not_its_casts(check):
    program = of_island()
    lone = program.tensor([1, 1, 2048, 4096])
    cast(program, lone, "FLOAT32", 900_000)
    wide = program.tensor([1, 1, 1024, 4096], "FLOAT32")
    cast(program, wide, "BFLOAT16", 900_000)
    assert len(check.ask(program).claim.rows) == 3


def test_a_side_branch_in_float32_is_no_part_of_it(check):
    """What computes on in FLOAT32 wants it."""
    program = Program("wormhole_b0")
    x = cast(program, relu(program, program.tensor(SHAPE)), "FLOAT32", 40_000)
    y = put(program, unary("SILU", x, program.tensor(SHAPE, "FLOAT32"), 60_000))
    out = program.tensor([1, 1, 512, 1], "FLOAT32")
    put(program, DeviceOp("ReduceDeviceOperation", (y,), (out,), 50_000))
    relu(program, cast(program, y, "BFLOAT16", 30_000))
    assert len(check.ask(program).claim.rows) == 3


def test_a_run_without_casts_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


def test_without_operands_it_cannot_tell(check):
    outcome = check.ask(of_island(), without="PUT_")
    assert outcome.status == "cannot_tell"
    assert "INPUT_n" in outcome.why


def test_a_compilers_user_drops_float(check):
    assert ".float()" in check.ask(of_island(), generation="tt-torch").claim.fix


@for_all("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER])
def test_no_real_report_at_hand_computes_in_float32(check, name):
    assert check.ask(real_case(name)).status in ("clean", "not_applicable")
