"""weights-in-l1: tensors that are there for good while activations have hardly any room."""

from __future__ import annotations

from tests.checks.rows import put
from tests.checks.step3_programs import (
    BANK,
    altered,
    assert_cannot_tell,
    assert_needs_a_whole_replay,
    assert_short,
    in_l1,
)
from tests.for_all import for_all
from tests.profiles import DRAM, L1, CircularBuffer, Program
from tests.profiles.demo_model import demo_program
from tests.profiles.ops import unary

FREE = 274_169  # bytes: just under 20 % of a bank


def weighty(size=140_032, free=FREE - 1_000, *, dram=False, made=False, weights=1):
    """Weights of `size` bytes per bank each in L1, and an op that leaves `free` bytes."""
    program = Program()
    x = program.tensor([1, 1, 64, 32])
    held = []
    for n in range(weights):
        weight = program.tensor([1, 1, 64 * 2048, 32]) if dram else in_l1(program, size + 1_024 * n)
        if made:
            put(program, unary("RELU", x, weight, 10_000))
        held.append(weight)
    taken = 0 if dram else sum(size + 1_024 * n for n in range(weights))
    program.op(
        "MatmulDeviceOperation", [x, *held], circular_buffers=[CircularBuffer(BANK - taken - free)], placement=DRAM
    )
    return program


def test_weights_take_a_tenth_of_a_bank(check):
    """137,084.8 bytes."""
    outcome = check.pair(weighty, silent=137_024, fires=137_088, memory="3.3")
    claim = outcome.claim
    assert claim.claim == (
        "1 tensor made by no operation: 137088 bytes of every L1 bank all along (10%); "
        f"at operation 1 ttnn.made_up (model.py:5) only {FREE - 1_000} bytes are free"
    )
    assert claim.fix.endswith("once at load; the largest: tensors 2")
    assert [one.value for one in claim.evidence] == [137_088, BANK - FREE + 1_000, BANK]
    assert claim.rows.tolist() == [0]
    assert not claim.at_most_ns.any()


def test_where_a_fifth_of_a_bank_is_free_they_may_stay(check):
    check.pair(lambda free: weighty(free=free), silent=FREE + 1, fires=FREE, memory="3.3")


def test_smaller_weights_count_together(check):
    claim = check.ask(weighty(40_000, weights=4), memory="3.3").claim
    total = 4 * 40_000 + 6 * 1_024
    assert claim.claim.startswith(f"4 tensors made by no operation: {total} bytes of every L1 bank all along (12%)")
    assert claim.fix.endswith("the largest: tensors 5, 4, 3")
    assert [one.value for one in claim.evidence][:2] == [43_072, 42_048]
    assert len(claim.evidence) == 4


@for_all("change", [{"dram": True}, {"made": True}], ids=["in DRAM", "made by an op"])
def test_other_tensors_are_no_weights_in_l1(check, change):
    assert check.ask(weighty(200_000, **change), memory="3.3").status == "clean"


def test_an_input_in_l1_that_the_run_keeps_counts(check):
    program = Program()
    x = program.tensor([1, 1, 64 * 64, 1024], placement=L1)  # 64 tiles of 2 kB in each of 64 banks
    program.op("UnaryDeviceOperation", [x], placement=DRAM, circular_buffers=[CircularBuffer(BANK - 131_072 - 10)])
    assert check.ask(program, memory="3.3").status == "clean"
    program = Program()
    x = program.tensor([1, 1, 68 * 64, 1024], placement=L1)
    program.op("UnaryDeviceOperation", [x], placement=DRAM, circular_buffers=[CircularBuffer(BANK - 139_264 - 10)])
    assert check.ask(program, memory="3.3").fires


def test_a_buffer_without_a_name_is_counted_and_not_named(check, tmp_path):
    case = altered(tmp_path, weighty(), "DELETE FROM tensors WHERE tensor_id = 2")
    assert check.ask(case).claim.fix.endswith("the largest: tensors unknown")


def test_the_peak_is_not_known_without_graphs(check):
    assert_cannot_tell(check.ask(weighty(), memory="G1"), "captured graphs")


def test_it_needs_a_whole_replay(check, tmp_path):
    assert_needs_a_whole_replay(check, tmp_path, weighty)


def test_the_demo_keeps_its_weights_in_dram(check):
    assert check.ask(demo_program(), memory="3.3").status == "clean"


@for_all("program", [weighty(), weighty(40_000, weights=4)])
def test_texts_fit_an_answer(check, program):
    assert_short(check.ask(program, memory="3.3").claim)
