"""Tensors on spans, by hand: who made a buffer, who used it last, how long it waited."""

import numpy as np
import pytest

from tests.analyses.memory.small_tables import numbers, spans
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.lifetimes import NOBODY, Lifetimes
from ttnn_mcp.readers.memory.spaces import DRAM, L1

EIGHT = (True,) * 8


def lives(rows, tensors=(), *, launched=EIGHT, used=()):
    """`rows` as for `spans`; `tensors` are (span, producer, last use)."""
    columns = [numbers(*column) for column in zip(*tensors, strict=True)] if tensors else [numbers()] * 3
    places = [numbers(*column) for column in zip(*used, strict=True)] if used else [numbers()] * 2
    ids = numbers(*range(10, 10 + len(tensors)))
    return Lifetimes(spans(*rows), ids, *columns, tuple(places), np.array(launched))


def waiting(last_use, end, *, size=16, buffer=L1, peak=7, **more):
    """The late frees of a buffer that operation 0 makes and `last_use` reads."""
    life = lives([(4096, size, inside(0), end, buffer)], [(0, 0, last_use)], **more)
    return [(late.last_use, late.freed, late.held, late.at_peak) for late in life.late_frees(peak)]


def shown(start=0, end=None, *, recorded=False):
    """A buffer that only snapshots show."""
    return (4096, 16, start, end, L1, recorded)


def test_a_buffer_is_made_by_a_graph_or_by_a_tensor_s_operation():
    rows = [shown(recorded=True), shown(), shown(), shown()]
    life = lives(rows, [(1, 3, NOBODY), (2, NOBODY, 4), (NOBODY, 5, NOBODY)])
    assert life.made.tolist() == [True, True, False, False]


def test_what_nobody_made_or_freed_is_persistent():
    life = lives([shown(), shown(end=4), shown(recorded=True)])
    assert life.persistent.tolist() == [True, False, False]


def test_reads_and_touches_are_the_last_of_any_tensor_on_the_buffer():
    rows = [shown(), shown(), shown(), shown()]
    tensors = [(0, 1, 3), (0, 6, 2), (1, 5, NOBODY), (2, NOBODY, 4), (NOBODY, 7, 7)]
    life = lives(rows, tensors)
    assert life.last_reads.tolist() == [3, NOBODY, 4, NOBODY]
    assert life.last_touches.tolist() == [6, 5, 4, NOBODY]


def test_the_place_of_nobody_counts_no_place():
    life = lives([shown(), shown()], [(1, NOBODY, NOBODY)])
    assert life.last_reads.tolist() == life.last_touches.tolist() == [NOBODY, NOBODY]


def test_a_buffer_has_the_name_of_its_first_tensor():
    life = lives([shown(), shown(), shown()], [(NOBODY, 0, 0), (1, 0, 0), (1, 0, 0)])
    assert life.names.tolist() == [NOBODY, 11, NOBODY]


def test_its_maker_is_told_by_the_graph_else_by_its_tensors():
    rows = [shown(inside(3), recorded=True), shown(inside(2)), shown()]
    life = lives(rows, [(0, 1, 0), (1, 5, 0), (1, 6, 0), (1, NOBODY, 0), (2, NOBODY, 0)])
    assert [life.producer_of(row) for row in range(3)] == [3, 5, NOBODY]


def test_the_longest_wait_is_between_two_uses_of_one_buffer():
    used = [(0, 1), (0, 2), (0, 6), (1, 7), (2, 0), (2, 1)]
    idle, first, second = lives([shown(), shown(), shown()], used=used).waits
    assert (idle.tolist(), first.tolist(), second.tolist()) == ([3, 0, 0], [2, 0, 0], [6, 0, 1])


def test_only_operations_on_the_device_count():
    launched = (True, False, True, False, False, True, True, True)
    life = lives([shown()], used=[(0, 0), (0, 6)], launched=launched)
    assert life.launches_before.tolist() == [0, 1, 1, 2, 2, 2, 3, 4, 5]
    assert life.waits[0].tolist() == [2]


@for_all(("end", "held"), [(before(3), 1), (before(4), 2), (before(5), 3), (None, 6)])
def test_two_operations_over_the_last_use_are_late_and_one_is_not(end, held):
    freed = None if end is None else end // 2
    assert waiting(1, end, peak=0) == ([(1, freed, held, False)] if held > 1 else [])


def test_one_operation_is_late_if_it_is_the_fullest():
    assert waiting(1, before(3), peak=2) == [(1, 3, 1, True)]
    assert waiting(1, before(3), peak=1) == waiting(1, before(3), peak=3) == []
    assert waiting(1, before(4), peak=1) == waiting(1, before(4), peak=4) == [(1, 4, 2, False)]


def test_an_operation_that_runs_nothing_keeps_nobody_waiting():
    still = (True, True, False, True, True, True, True, True)
    assert waiting(1, before(3), peak=2, launched=still) == []
    assert waiting(1, before(4), peak=2, launched=still) == [(1, 4, 1, True)]


def test_results_that_nobody_reads_weights_and_dram_are_not_late():
    assert waiting(NOBODY, before(6)) == []
    assert waiting(1, before(6), buffer=DRAM) == []
    assert len(lives([shown()], [(0, NOBODY, 1)]).late_frees(7)) == 0
    assert len(lives([shown(end=before(6))], [(0, NOBODY, 1)]).late_frees(7)) == 1


@pytest.fixture
def three():
    """A small buffer over the peak (5), a large one and a larger one beside it."""
    rows = [(4096, 16, 1, before(7)), (8192, 500, 1, before(4)), (12288, 600, 1, before(4)), (16384, 9, 1, None)]
    return lives(rows, [(0, 0, 1), (1, 0, 1), (2, 0, 1), (3, 0, 3)]).late_frees(5)


def test_those_at_the_peak_come_first_then_the_largest(three):
    assert [late.bytes_per_bank for late in three] == [16, 9, 600, 500]
    assert [late.tensor for late in three] == [10, 13, 12, 11]
    assert [late.at_peak for late in three] == [True, True, False, False]
    assert three[1].freed is None


def test_some_of_them_are_late_frees_too(three):
    assert [late.row for late in three[1:3]] == [3, 2]
    assert len(three[:9]) == 4


@for_all(("place", "rows"), [(1, []), (2, [0, 2, 1]), (3, [0, 2, 1]), (4, [0, 3]), (7, [3]), (8, [])])
def test_an_operation_finds_those_that_were_held_over_it(three, place, rows):
    assert [late.row for late in three.over(place)] == rows


def test_freed_in_time_they_give_back_their_bytes_while_they_wait(three):
    levels = numbers(*[2_000] * 8)
    assert (levels - three.levels_without(levels)).tolist() == [0, 0, 1_116, 1_116, 25, 25, 25, 9]
