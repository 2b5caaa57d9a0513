"""float32-between-bfloat16: widened, computed on, narrowed again."""

from __future__ import annotations

import pytest

from tests.checks.asking import real_case
from tests.checks.programs import cast, relu
from tests.checks.rows import pass_time, put
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, unary
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER
from ttnn_mcp.checks.step1_data_formats.float32_between_bfloat16 import LONGEST

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
    assert claim.claim.startswith("1 ops compute in FLOAT32 between 1 widening and 1 narrowing casts (130 us")
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


def test_what_is_mostly_launch_saves_nothing(check):
    claim = check.ask(of_island(between_ns=1_500)).claim
    assert 0 <= claim.at_most_ns[1] < 750


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(island, 0.01, of="saving")


def test_an_island_has_sixteen_ops_at_most(check):
    check.pair(lambda ops: of_island(ops=ops), silent=LONGEST + 1, fires=LONGEST)


@pytest.mark.parametrize("dtype", ["BFLOAT16", "BFLOAT8_B", "BFLOAT4_B"])
def test_any_narrow_type_may_stand_at_the_ends(check, dtype):
    assert check.ask(of_island(before=dtype, after=dtype)).fires


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("name", [CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER])
def test_no_real_report_at_hand_computes_in_float32(check, name):
    assert check.ask(real_case(name)).status in ("clean", "not_applicable")
