"""output-wider-than-consumer: a producer that can write the narrow type needs no typecast behind it."""

import pytest

from tests.checks.programs import NARROW, WIDE, cast, conv, linear, relu, to_tiles
from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def wide_output(program):
    y = linear(program, 512, 512, 512, 30_000, weights=NARROW)
    relu(program, cast(program, y, NARROW))


def test_half_a_percent_of_the_window_is_the_line(check):
    check.share_pair(wide_output, 0.005, of="saving")


def test_the_claim_is_sound(check, program):
    wide_output(program)
    check.assert_sound(program, above=1)


def test_a_run_without_casts_is_not_applicable(check, program):
    pass_time(program, 1000)
    assert check.ask(program).status == "not_applicable"


@for_all("lost", ["INPUT_", "OUTPUT_"])
def test_a_report_without_operands_is_no_evidence(check, program, lost):
    wide_output(program)
    assert check.ask(program, without=lost).status in ("not_applicable", "cannot_tell")


def test_the_typecast_is_what_can_go(check, program):
    wide_output(program)
    outcome = check.ask(program)
    assert outcome.at_most_ns == 20_000
    assert outcome.claim.fix == "y = ttnn.linear(..., dtype=ttnn.bfloat8_b)"


@for_all(
    "name", ["LayerNormDeviceOperation", "ReduceDeviceOperation", "SoftmaxDeviceOperation", "UnaryDeviceOperation"]
)
def test_calls_without_a_dtype_cannot_write_another(check, name):
    """These ops print one, and real TTNN refuses the argument: "incompatible function arguments"."""

    def made_by(op_code):
        program = Program("wormhole_b0")
        x, y = program.tensor([1, 1, 512, 512], WIDE), program.tensor([1, 1, 512, 512], WIDE)
        op = DeviceOp(op_code, (x, x), (y,), 30_000)
        op.attributes = {"dtype": "DataType::BFLOAT16", "output_dtype": "DataType::BFLOAT16"}
        put(program, op)
        relu(program, cast(program, y, NARROW))
        return program

    check.pair(made_by, silent=name, fires="BinaryNgDeviceOperation")


def test_a_tilize_can_write_the_narrow_type_itself(check, program):
    x = to_tiles(program, program.tensor([1, 1, 512, 512], layout="ROW_MAJOR"))
    relu(program, cast(program, x, NARROW))
    outcome = check.ask(program)
    assert "ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)" in outcome.claim.fix
    assert outcome.at_most_ns == 20_000


def test_a_conv_takes_its_output_type_as_an_argument(check, program):
    op = conv(program)
    op.outputs[0].dtype = WIDE
    cast(program, op.outputs[0], NARROW)
    fix = check.ask(program).claim.fix
    assert fix.startswith("y = ttnn.conv2d(..., dtype=ttnn.bfloat8_b)")
    assert "Conv2dConfig(" not in fix  # of no build that anybody can install (0.60.1 to 0.81.1)


def test_any_other_op_is_named(check, program):
    a, b, y = (program.tensor([1, 1, 512, 512]) for _ in range(3))
    cast(program, put(program, binary("ADD", a, b, y, 20_000)), NARROW)
    assert check.ask(program).claim.fix.startswith("give Binary the type it should write: dtype=ttnn.bfloat8_b")


def test_a_front_end_is_told_to_cast_in_its_model(check, program):
    wide_output(program)
    assert "in PyTorch once" in check.ask(program, generation="tt-torch").claim.fix


def test_a_wide_output_that_somebody_reads_is_needed(check, program):
    y = linear(program, 512, 512, 512, 30_000, weights=NARROW)
    cast(program, y, NARROW)
    relu(program, y)
    assert not check.ask(program).fires


def test_a_cast_to_a_wider_type_is_none_of_its_business(check, program):
    y = linear(program, 512, 512, 512, 30_000, weights=NARROW, output=NARROW)
    cast(program, y, WIDE)
    assert not check.ask(program).fires


def test_a_cast_of_what_no_op_made_is_none_either(check, program):
    linear(program, 512, 512, 512, 30_000, weights=NARROW)
    cast(program, program.tensor([1, 1, 1024, 1024]), NARROW)
    assert check.ask(program).status == "clean"


def test_other_ops_that_narrow_are_no_casts(check, program):
    wide_output(program)
    relu(program, linear(program, 256, 512, 1024, 30_000, weights=NARROW), NARROW)
    assert check.ask(program).claim.rows.tolist() == [1]


def test_integers_are_no_wide_floats(check, program):
    a, b, y = (program.tensor([1, 1, 512, 512], "UINT32") for _ in range(3))
    cast(program, put(program, binary("ADD", a, b, y, 20_000)), WIDE)
    assert check.ask(program).status == "clean"


@for_all("maker", ["UnaryDeviceOperation", "TypecastDeviceOperation"])
def test_a_maker_that_prints_a_type_but_cannot_be_given_one_is_left_alone(check, program, maker):
    x, y = program.tensor([1, 1, 512, 512], "FLOAT32"), program.tensor([1, 1, 512, 512])
    put(program, DeviceOp(maker, (x,), (y,), 20_000, attributes={"output_dtype": "DataType::BFLOAT16"}))
    cast(program, y, NARROW)
    assert check.ask(program).status == "clean"


def test_a_maker_that_prints_no_type_is_left_alone(check, program):
    x, y = program.tensor([1, 1, 512, 512]), program.tensor([1, 1, 512, 512])
    put(program, DeviceOp("PermuteDeviceOperation", (x,), (y,), 20_000))
    cast(program, y, NARROW)
    assert check.ask(program).status == "clean"


def test_a_window_that_took_no_time_has_nothing_to_save(check, program):
    cast(program, program.tensor([1, 1, 512, 512], NARROW), WIDE, kernel_ns=0)
    assert check.ask(program).status == "clean"
