"""A run is read from one report or from two, and two are tied together where they are of one execution."""

import pytest

from tests.profiles import write_run
from tests.programs import block
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.run.link import not_linked
from ttnn_mcp.session import opening
from ttnn_mcp.session.opening import read_run


@pytest.fixture
def made(tmp_path):
    return write_run(tmp_path / "one", block())


async def test_either_report_alone_is_a_run(made):
    fast = await read_run("0a", "fast", made.performance, None)
    small = await read_run("0b", "small", None, made.memory)
    assert (fast.performance is not None, fast.memory is not None, fast.linked) == (True, False, None)
    assert (small.performance is not None, small.memory is not None, small.linked) == (False, True, None)


async def test_two_reports_of_one_execution_tell_the_lines_of_the_model(made):
    run = await read_run("0a", "both", made.performance, made.memory)
    assert run.linked.link.status == "linked"
    assert {*run.sources} >= {*run.linked.operation_at.values()} != set()


async def test_the_launches_of_a_run_are_told_in_both_orders(made, monkeypatch):
    """As they began, and as they ended."""
    launched = []
    monkeypatch.setattr(opening, "linked", lambda _, found, __: launched.append(found) or not_linked("made"))
    run = await read_run("0a", "both", made.performance, made.memory)
    assert run.kept.holds("ProgramModels")
    (told,) = launched
    assert sorted(told.finished) == [*range(len(told.op_codes))] != []


async def test_graphs_that_are_broken_link_nothing(made, monkeypatch):
    def broken(_):
        raise ReportBroken("cut off")

    monkeypatch.setattr(opening, "iter_graph_batches", broken)
    run = await read_run("0a", "both", made.performance, made.memory)
    assert (run.linked.link.status, run.linked.link.why) == ("not_linked", "cut off")


async def test_reports_of_two_executions_tell_none(tmp_path, made):
    other = write_run(tmp_path / "other", block(layers=3))
    run = await read_run("0a", "both", other.performance, made.memory)
    assert run.linked.link.status == "not_linked"
    assert run.sources == {}
