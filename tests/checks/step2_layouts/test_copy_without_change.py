"""copy-without-change: clones, slices, pads, repeats and casts that write what they read."""

from __future__ import annotations

from tests.checks.asking import real_case
from tests.checks.conv_programs import into_shards, put_conv, put_halo, row_major, with_conv
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import assert_cannot_tell, cells, no_such_ops, timeless, without
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Iteration, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.shared_reports import DEEPLAB, OFT

SHAPE = [1, 1, 1024, 1024]
SHARDS = height_sharded(32, 1024, (8, 4))


def copied(op="CloneOperation", *, before=SHAPE, after=SHAPE, into=DRAM, place=DRAM, kernel_ns=20_000, **how):
    """relu, the copy, relu; `how`: dtype or layout of the copy, `other` as its second input."""
    program = Program("wormhole_b0")
    made = put(program, DeviceOp("UnaryDeviceOperation", (program.tensor(before, placement=place),), (program.tensor(before, placement=place),), 10_000))  # fmt: skip
    inputs = (made, program.tensor(before, placement=place)) if how.pop("other", False) else (made,)
    copy = put(program, DeviceOp(op, inputs, (program.tensor(after, placement=into, **how),), kernel_ns))
    put(
        program,
        DeviceOp("SoftmaxDeviceOperation", (copy,), (program.tensor(after, placement=into, **how),), 10_000),
    )
    return program


def test_a_clone_that_changes_nothing_is_told(check):
    outcome = check.ask(copied())
    claim, line = outcome.claim, outcome.case.line(1)
    assert claim.claim == f"1 copy changes nothing (20 us, 46.5%): Clone 1024x1024 -> 1024x1024 at line {line}"
    assert (claim.rows.tolist(), claim.at_most_ns.tolist(), claim.at_least_ns) == ([1], [20_000], None)
    assert claim.fix.startswith(f"drop the clone at line {line} and pass its input on; no output_tensor= that")
    assert cells(outcome) == [
        (line, "DEVICE KERNEL DURATION [ns]"), (line, "INPUT_0_MEMORY"), (line, "OUTPUT_0_MEMORY"),
    ]  # fmt: skip


def test_a_conv_that_reads_the_copy_must_leave_its_input(check):
    program = Program("wormhole_b0")
    copy = put(program, DeviceOp("CloneOperation", (row_major(program),), (row_major(program),), 20_000))
    put_conv(program, x=put_halo(program, into_shards(program, copy)))
    outcome = check.ask(program)
    told = f"; the conv at line {outcome.case.line(3)} must keep its input: deallocate_activation=False in its "
    assert told in outcome.claim.fix
    assert check.assert_sound(program).fix.endswith("fields as now; no output_tensor= that writes over it")
    copied_last = with_conv()
    put(copied_last, DeviceOp("CloneOperation", (row_major(copied_last),), (row_major(copied_last),), 20_000))
    put_halo(copied_last, row_major(copied_last))  # the last op stands at nobody's place
    assert "Conv2dConfig" not in check.ask(copied_last).claim.fix


def test_texts_are_short_and_cells_its_own(check):
    check.assert_sound(copied())


@for_all("op", ["Copy", "Slice", "Pad", "Repeat", "Concat", "Typecast"])
def test_other_ops_that_change_nothing_are_told(check, op):
    assert check.ask(copied(f"{op}DeviceOperation")).claim.rows.tolist() == [1]


@for_all(
    "change",
    [{"into": L1}, {"dtype": "BFLOAT8_B"}, {"layout": "ROW_MAJOR"}, {"after": [1, 1, 1024, 1023]},
     {"after": [1, 1, 512, 2048]}, {"after": [1, 1, 1024, 512]}, {"other": True}, {"place": SHARDS, "into": SHARDS}],
    ids=["move", "cast", "untilize", "less of the same padding", "other dims", "a part", "into a tensor", "shards"],
)  # fmt: skip
def test_what_changes_something_is_none(check, change):
    assert check.ask(copied(**change)).status == "clean"


def test_an_op_that_computes_is_none(check):
    assert check.ask(copied("UnaryDeviceOperation")).why == "no copies, slices, pads, repeats or casts"


def test_padded_shapes_do_not_tell(check):
    assert_cannot_tell(check.ask(copied(), generation="C3"), "padded shapes only")


@for_all("others", [False, True])
def test_with_a_memory_report_a_copy_of_what_nobody_else_reads_surely_goes(check, others):
    program = Program("wormhole_b0")
    made = program.op("UnaryDeviceOperation", [program.tensor(SHAPE)])
    copy = program.op("CloneOperation", [made], kernel_ns=20_000)
    program.op("MatmulDeviceOperation", [copy, made if others else copy], fidelity="HiFi2")
    claim = check.ask(program, [Iteration()], memory="3.3").claim
    assert claim.at_least_ns.tolist() == [0 if others else 20_000]
    first = Program("wormhole_b0")
    first.op("CloneOperation", [first.tensor(SHAPE)], kernel_ns=20_000)
    assert check.ask(first, [Iteration()], memory="3.3").claim.at_least_ns.tolist() == [0]


def test_half_a_percent_is_worth_telling(check):
    def build(program):
        x, y = program.tensor(SHAPE), program.tensor(SHAPE)
        put(program, DeviceOp("CloneOperation", (x,), (y,), 20_000))

    check.share_pair(build, 0.005, of="time")


def test_several_are_counted(check):
    program = copied()
    pass_time(program, 1_000)
    put(program, DeviceOp("CloneOperation", (program.tensor(SHAPE),), (program.tensor(SHAPE),), 30_000))
    assert check.ask(program).claim.claim.startswith("2 copies change nothing (50 us")


def test_a_window_without_kernel_time_is_clean(check):
    assert check.ask(timeless(copied())).status == "clean"


def test_other_ops_are_not_applicable(check):
    assert check.ask(no_such_ops()).status == "not_applicable"


def test_without_operands_it_cannot_tell(check, tmp_path):
    assert_cannot_tell(check.ask(without(tmp_path, ("INPUT_",), copied())), "INPUT_n")


@for_all("name", [DEEPLAB, OFT])
def test_a_copy_between_memories_is_a_move(check, name):
    """Both real reports hold one CopyDeviceOperation between DRAM and L1, and slices of parts."""
    assert check.ask(real_case(name)).status == "clean"
