"""L1 at every operation: all of them, and of very many the fullest of each stretch."""

from types import SimpleNamespace

import numpy as np

from tests.asking import session
from tests.profiles import write_memory_report
from tests.profiles.demo_model import demo_program
from ttnn_mcp.report import rows
from ttnn_mcp.report.rows import levels_of, places_of


def places(each):
    return places_of(SimpleNamespace(fullest=SimpleNamespace(l1=np.array(each))))


def test_twenty_thousand_operations_are_all_there_and_of_more_the_fullest_of_each_stretch():
    assert places(range(20_000)) == list(range(20_000))
    assert places([at % 2 for at in range(40_000)]) == list(range(1, 40_000, 2))
    assert places([1 - at % 2 for at in range(40_000)]) == list(range(0, 40_000, 2))


async def test_each_level_is_told_with_its_operation(tmp_path):
    run = await session(tmp_path).run(str(write_memory_report(tmp_path / "memory", demo_program())))
    told = await levels_of(run)
    assert told["operations"] == len(told["rows"])
    assert [row[2] for row in told["rows"]] == [row[3] + row[4] for row in told["rows"]]


async def test_a_report_without_operations_has_no_levels(monkeypatch):
    async def empty(_run):
        return SimpleNamespace(operations=[])

    monkeypatch.setattr(rows, "replay_of", empty)
    assert await levels_of(None) is None
