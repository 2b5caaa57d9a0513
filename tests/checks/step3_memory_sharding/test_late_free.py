"""late-free: tensors that stay in L1 over device operations after their last use."""

from __future__ import annotations

import numpy as np

from tests.checks.rows import put
from tests.checks.step3_programs import BANK, altered, assert_needs_a_whole_replay, assert_short, held, in_l1
from tests.for_all import for_all
from tests.profiles import DRAM, CircularBuffer, Program
from tests.profiles.demo_model import demo_program
from tests.profiles.ops import unary


def ask(check, program, memory="3.3"):
    return check.ask(program, memory=memory)


def test_two_percent_of_a_bank_returned_at_the_peak_is_worth_telling(check):
    """27,416.96 bytes."""
    outcome = check.pair(lambda size: held(size, 3), silent=27_392, fires=27_456, memory="3.3")
    claim = outcome.claim
    assert claim.claim == (
        "1 tensor in L1 freed late: tensor 2 (27,456 bytes per bank) stays 3 device operations too long; "
        "in time, the L1 peak falls by 27,456 bytes"
    )
    assert claim.evidence[0].row.startswith("buffers:operation_id=2,address=")
    assert [one.value for one in claim.evidence] == [27_456, BANK]
    assert claim.fix.startswith("ttnn.deallocate(x) right after operation 2 ttnn.made_up (model.py:6)")
    assert claim.rows.tolist() == [1]
    assert not claim.at_most_ns.any()
    assert claim.caveat == "the peak is a lower bound: not all circular buffers are known"  # its made ops show none


def test_one_tensor_of_five_percent_is_worth_telling_anywhere(check):
    """68,542.4 bytes, freed before the peak, which does not fall."""
    claim = check.pair(lambda size: held(size, 2, peak=None), silent=68_480, fires=68_544, memory="3.3").claim
    assert claim.claim.endswith("the L1 peak falls by 0 bytes")


def test_one_operation_in_between_is_the_usual_idiom(check):
    check.pair(lambda late: held(80_000, late, peak=None), silent=1, fires=2, memory="3.3")


def test_one_operation_is_too_long_where_it_is_the_peak(check):
    check.pair(lambda late: held(80_000, late), silent=0, fires=1, memory="3.3")


def test_operations_on_the_host_do_not_count(check):
    program = Program()
    x = program.tensor([1, 1, 2048, 32])
    y = put(program, unary("RELU", x, in_l1(program, 131_072), 10_000))
    z = program.op("UnaryDeviceOperation", [y], shape=x.shape, placement=DRAM)
    for _ in range(3):
        program.call("ttnn.from_device", (z,), ())
    program.free(y)
    assert ask(check, program).status == "clean"


@for_all("change", [{"made": False}, {"read": False}], ids=["a weight", "a result"])
def test_weights_and_results_nobody_reads_are_not_late(check, change):
    program = held(80_000, 3, **change)
    if "made" in change:  # and nothing frees it
        program.calls = [call for call in program.calls if call.name != "ttnn.deallocate"]
    assert ask(check, program).status == "clean"


def test_a_tensor_in_dram_takes_no_l1(check):
    program = Program()
    x = program.tensor([1, 1, 2048, 32])
    y = program.op("UnaryDeviceOperation", [x], shape=[1, 1, 64 * 2048, 32])
    z = program.op("UnaryDeviceOperation", [y], shape=x.shape)
    for _ in range(3):
        z = program.op("UnaryDeviceOperation", [z])
    program.free(y)
    assert ask(check, program).status == "clean"


def several(count):
    """Tensors of 80, 81, 82 ... kB, all read by one op and freed three ops later."""
    program = Program()
    x = program.tensor([1, 1, 2048, 32])
    sizes = [80_000 + 1_024 * n for n in range(count)]
    late = [put(program, unary("RELU", x, in_l1(program, size), 10_000)) for size in sizes]
    z = program.op("MadeUpDeviceOperation", late, shape=x.shape, placement=DRAM)
    for _ in range(3):
        z = program.op("UnaryDeviceOperation", [z], circular_buffers=[CircularBuffer(900_000)])
    for each in late:
        program.free(each)
    return program


def test_the_largest_is_named_and_three_are_cited(check):
    claim = ask(check, several(5)).claim
    assert claim.claim.startswith("5 tensors in L1 freed late: tensor 6 (84,096 bytes per bank) stays 3 device op")
    assert [one.value for one in claim.evidence] == [84_096, 83_072, 82_048, BANK]
    assert claim.claim.endswith(f"the L1 peak falls by {sum(80_000 + 1_024 * n for n in range(5)):,} bytes")


def test_the_peak_is_a_floor_where_an_operation_has_no_graph(check, tmp_path):
    statement = "DELETE FROM captured_graph WHERE operation_id = 2"
    claim = check.ask(altered(tmp_path, held(80_000, 3), statement)).claim
    assert claim.caveat == "the peak is a lower bound: not all circular buffers are known"


def test_snapshots_alone_tell_it_too(check):
    assert ask(check, held(80_000, 3), "G1").fires


def test_it_needs_a_whole_replay(check, tmp_path):
    assert_needs_a_whole_replay(check, tmp_path, lambda: held(80_000, 3))


def test_the_demo_is_late_with_two_frees(check):
    outcome = ask(check, demo_program())
    assert outcome.claim.claim.startswith("2 tensors in L1 freed late")
    assert len(outcome.claim.rows)
    assert np.isin(outcome.claim.rows, np.arange(len(outcome.case))).all()


@for_all("program", [several(5), held(80_000, 3), demo_program()])
def test_texts_fit_an_answer(check, program):
    assert_short(ask(check, program).claim)
