"""long-lived-l1-tensor: a tensor that waits in L1 for a use twenty device operations away."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import BANK, assert_needs_a_whole_replay, assert_short, in_l1
from tests.for_all import for_all
from tests.profiles import DRAM, CircularBuffer, Program
from tests.profiles.demo_model import demo_program
from tests.profiles.model import DeviceOp


def in_dram(program):
    return program.tensor([1, 1, 64 * 1024, 32])  # 349,552 bytes in each of 12 banks


def waiting(count=20, size=16_384, *, peak=None, made=True, dram=False, used=True, skips=1):
    """Skip connections made by the first ops and read again `count` ops later; the op at `peak` is the fullest."""
    program = Program()
    x = program.tensor([1, 1, 2048, 32])

    def buffers(at):
        return [CircularBuffer(1_000_000 if at == peak else 64)]

    skipped = []
    for n in range(skips):
        y = in_dram(program) if dram else in_l1(program, size + 1_024 * n)
        if made:
            put(program, DeviceOp("UnaryDeviceOperation", (x,), (y,), circular_buffers=buffers(-1)))
        else:
            program.op("BinaryNgDeviceOperation", [x, y], placement=DRAM)
        skipped.append(y)
    z = x
    for n in range(count):
        z = program.op("UnaryDeviceOperation", [z], circular_buffers=buffers(n))
    if used:
        program.op("BinaryNgDeviceOperation", [z, *skipped], placement=DRAM, circular_buffers=buffers(count))
    for each in skipped:
        if made:
            program.free(each)
    program.op("UnaryDeviceOperation", [z], circular_buffers=buffers(count + 1))
    return program


def test_twenty_operations_without_a_use_are_long(check):
    outcome = check.pair(lambda count: waiting(count, peak=5), silent=19, fires=20, memory="3.3")
    claim = outcome.claim
    assert claim.claim == (
        "1 tensor wait in L1 for 20 operations: tensor 2 (16,384 bytes per bank) for 20; "
        "16,384 bytes of them lie there at the peak"
    )
    assert claim.fix == (
        "x = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG) after operation 1 ttnn.made_up (model.py:5), "
        "back to L1 before operation 22 ttnn.made_up (model.py:26)"
    )
    assert [one.value for one in claim.evidence] == [16_384, BANK]
    assert claim.rows.tolist() == [21]
    assert not claim.at_most_ns.any()


def test_one_percent_of_a_bank_is_worth_a_trip(check):
    """13,708.48 bytes."""
    check.pair(lambda size: waiting(30, size), silent=13_696, fires=13_760, memory="3.3")


@for_all(
    "change",
    [{"dram": True}, {"made": False}, {"used": False}],
    ids=["in DRAM", "a weight", "nobody reads it any more"],
)
def test_other_tensors_do_not_wait_in_l1(check, change):
    assert check.ask(waiting(30, 65_536, **change), memory="3.3").status == "clean"


@for_all(("peak", "there"), [(-1, 0), (0, 16_384), (20, 16_384), (21, 0)])
def test_what_lies_there_at_the_peak_is_between_its_uses(check, peak, there):
    """-1: the op that makes it, 0 to 20 those in between, 21: the op that reads it."""
    program = waiting(21, peak=peak)
    claim = check.ask(program, memory="3.3").claim
    assert claim.claim.endswith(f"; {there:,} bytes of them lie there at the peak")


def test_the_largest_is_named_and_three_are_cited(check):
    claim = check.ask(waiting(25, skips=4), memory="3.3").claim
    assert claim.claim.startswith("4 tensors wait in L1 for 20 operations: tensor 5 (19,456 bytes per bank) for 25")
    assert [one.value for one in claim.evidence] == [19_456, 18_432, 17_408, BANK]


def test_snapshots_alone_tell_it_too(check):
    assert check.ask(waiting(25), memory="G1").fires


def test_it_needs_a_whole_replay(check, tmp_path):
    assert_needs_a_whole_replay(check, tmp_path, waiting)


def test_the_demo_has_nothing_that_waits(check):
    assert check.ask(demo_program(), memory="3.3").status == "clean"


@for_all("program", [waiting(40), waiting(40, skips=4)])
def test_texts_fit_an_answer(check, program):
    assert_short(check.ask(program, memory="3.3").claim)
