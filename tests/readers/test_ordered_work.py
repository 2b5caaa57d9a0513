"""Pieces of work in two threads: results in order, failures raised, nothing under way afterwards."""

import threading
from contextlib import closing

import pytest

from ttnn_mcp.readers import ordered_work
from ttnn_mcp.readers.ordered_work import in_order


@pytest.fixture(autouse=True, params=[1, 2])
def cores(request, monkeypatch):
    monkeypatch.setattr(ordered_work, "cores", lambda: request.param)
    return request.param


def test_results_come_in_order():
    assert list(in_order(lambda piece: piece * piece, range(50))) == [piece * piece for piece in range(50)]
    assert list(in_order(str, [])) == []
    assert list(in_order(str, [7])) == ["7"]


def test_two_pieces_are_worked_on_at_the_same_time_where_there_are_two_cores(cores):
    together = threading.Barrier(cores)
    places = list(in_order(lambda _: together.wait(20), range(4)))
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
