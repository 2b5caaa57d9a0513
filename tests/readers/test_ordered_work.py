"""Pieces of work in two threads: results in order, failures raised, nothing under way afterwards."""

import os
import threading
from contextlib import closing

import pytest

from ttnn_mcp.readers import checksum
from ttnn_mcp.readers.checksum import cores as true_cores
from ttnn_mcp.readers.checksum import in_order


@pytest.fixture(autouse=True, params=[1, 2])
def cores(request, monkeypatch):
    monkeypatch.setattr(checksum, "cores", lambda: request.param)
    return request.param


def test_results_come_in_order():
    assert list(in_order(lambda piece: piece * piece, range(50))) == [piece * piece for piece in range(50)]
    assert list(in_order(str, [])) == []
    assert list(in_order(str, [7])) == ["7"]


def test_two_pieces_are_worked_on_at_the_same_time_where_there_are_two_cores(cores):
    together = threading.Barrier(cores)
    places = list(in_order(lambda _: together.wait(10), range(4)))
    assert sorted(places) == sorted([*range(cores)] * (4 // cores))


def test_a_failure_is_raised_in_its_turn():
    results = in_order(lambda piece: 12 // piece, [4, 3, 0, 2])
    assert [next(results), next(results)] == [3, 4]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_once_closed_nothing_is_under_way():
    before, worked = threading.active_count(), []
    with closing(in_order(worked.append, range(10_000))) as results:
        next(results)
    assert threading.active_count() == before
    assert len(worked) < 100


class Pieces(list):
    """Pieces that tell which of them were taken."""

    taken = 0

    def __iter__(self):
        for piece in super().__iter__():
            self.taken += 1
            yield piece


def test_four_pieces_are_worked_on_before_their_results_are_taken(cores):
    pieces = Pieces(range(50))
    with closing(in_order(str, pieces)) as results:
        next(results)
        assert pieces.taken == (4 if cores > 1 else 1)  # two for each thread


def test_threads_are_used_only_where_they_can_run_at_the_same_time(cores):
    here = threading.get_ident()
    assert set(in_order(lambda _: threading.get_ident(), [1])) == {here}
    assert (here in in_order(lambda _: threading.get_ident(), [1, 2])) == (cores == 1)


def test_cores_are_those_that_this_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5}, raising=False)
    assert true_cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    assert true_cores() == 8
