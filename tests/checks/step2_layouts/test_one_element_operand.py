"""one-element-operand: a constant that could be a number in the call."""

from __future__ import annotations

from tests.checks.rows import pass_time, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, unary
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS

SHAPE = [1, 1, 2048, 512]


def scaled(program, constant=(1, 1, 1, 1), *, shape=SHAPE, first=False, made=False, kernel_ns=50_000):
    x = program.tensor(shape, placement=L1)
    t = program.tensor(list(constant), placement=DRAM)
    if made:
        t = put(program, unary("EXP", t, program.tensor(list(constant), placement=DRAM), 2_000))
    a, b = (t, x) if first else (x, t)
    put(program, binary("MUL", a, b, program.tensor(shape, placement=L1), kernel_ns))


def of_scaled(**how):
    program = Program("wormhole_b0")
    scaled(program, **how)
    return program


@for_all("first", [False, True])
def test_the_number_goes_into_the_call(check, first):
    claim = check.assert_sound(of_scaled(first=first))
    of_number = "ttnn.multiply(0.125, x) for ttnn.multiply(t, x)" if first else "ttnn.multiply(x, 0.125) for"
    assert f"Python scalar instead of the tensor: {of_number}" in claim.fix, "t - x is no x - t"
    assert f"INPUT_{0 if first else 1}_MEMORY" in {one.column for one in claim.evidence}
    assert claim.at_most_ns.tolist() == [50_000 - LAUNCH_FLOOR_NS]  # its operands are in L1


def test_one_percent_of_the_window_is_the_line(check):
    check.share_pair(scaled, 0.01, of="saving")


@for_all("first", [False, True])
def test_an_element_that_the_device_computes_must_stay(check, first):
    assert check.ask(of_scaled(made=True, first=first)).status == "clean"


@for_all("first", [False, True])
def test_two_elements_are_a_tensor(check, first):
    check.pair(lambda width: of_scaled(constant=(1, 1, 1, width), first=first), silent=2, fires=1)


@for_all("first", [False, True])
def test_beside_a_single_tile_nothing_is_broadcast(check, first):
    check.pair(lambda width: of_scaled(shape=[1, 1, 32, width], first=first), silent=32, fires=33)


def test_an_op_that_takes_no_number_is_not_claimed_with_others(check):
    program = of_scaled()
    x, t = program.tensor([1, 1, 1024, 512], placement=L1), program.tensor([1, 1, 1, 1])
    put(program, DeviceOp("TernaryDeviceOperation", (x, t), (program.tensor([1, 1, 1024, 512]),), 50_000))
    assert check.ask(program).claim.rows.tolist() == [0]


def test_without_the_second_operand_nothing_is_known(check):
    assert check.ask(of_scaled(), without="INPUT_[12]").status == "cannot_tell"


def test_reports_of_padded_shapes_cannot_tell(check):
    outcome = check.ask(of_scaled(), generation="C1")
    assert outcome.status == "cannot_tell"


def test_a_run_without_binary_ops_is_not_applicable(check):
    program = Program("wormhole_b0")
    pass_time(program, 1000)
    put(program, DeviceOp("TransposeDeviceOperation", (program.tensor(SHAPE),), (program.tensor(SHAPE),), 1000))
    assert check.ask(program).status == "not_applicable"
