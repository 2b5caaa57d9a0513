"""Processes that are killed while they read reports: nothing is lost, nothing doubled, and what cannot be read is named.

They start processes, which the trials of `mutation/` cannot: `tests/archive/test_pools.py` holds the lines.
"""

import signal
from pathlib import Path

import pytest

from tests.archive.dying import always_dies, dies_once
from tests.archive.passes import passed
from tests.archive.reports import ROWS, three_nights
from ttnn_mcp.archive import pools
from ttnn_mcp.archive.store import Archive

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")


@pytest.fixture
def reports(tmp_path):
    return three_nights(tmp_path / "nightly")


@pytest.fixture
def folder(tmp_path):
    return str(tmp_path / "archive")


@pytest.mark.slow
def test_a_killed_process_loses_and_doubles_nothing(reports, folder, monkeypatch):
    monkeypatch.setattr(pools, "add_batch", dies_once)
    outcome = passed(folder, reports, jobs=2)
    assert (outcome.new, outcome.ops, outcome.damaged) == (3, 3 * ROWS, [])
    assert (Path(folder).parent / "died").exists()
    with Archive(folder).connection() as engine:
        assert engine.execute("SELECT count(*), count(DISTINCT run_key) FROM ops").fetchall() == [(3 * ROWS, 3)]


def test_a_report_that_kills_every_process_is_listed(reports, folder, monkeypatch):
    monkeypatch.setattr(pools, "add_batch", always_dies)
    monkeypatch.setattr(pools, "TRIES", 1)
    outcome = passed(folder, next(reports.glob("day_1/*.csv")), reports / "day_2", jobs=2)
    assert outcome.new == 0
    assert len(outcome.damaged) == 2
    assert all("died" in damage.why for damage in outcome.damaged)
