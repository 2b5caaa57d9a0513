"""Which runs make a history: of one clock and number of devices, and the newest of very many."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.archive.past_runs import PastRun, runs_alike, runs_elsewhere

duckdb = pytest.importorskip("duckdb", reason="the extra `archive` is not installed")
SUBJECT = PastRun("subject", None, "s.csv", 10**6, "blackhole", 1000.0, 1, None, None, 5.0, 6.0, True)
MADE = """
CREATE VIEW runs AS SELECT 'run ' || range AS run_key, NULL AS label, 'r.csv' AS name, range AS recorded_at,
    'blackhole' AS arch, {clock} AS clock_mhz, {devices} AS devices, NULL AS build, NULL AS commit,
    {kernel_us} AS kernel_us, 6.0 AS window_us, true AS warm, NULL AS doubts FROM range({count})
"""
OPS = "CREATE VIEW ops AS SELECT run_key, 7 AS signature, true AS in_window FROM runs"


@pytest.fixture
def engine():
    with duckdb.connect(":memory:") as connection:

        def of(count=1, clock=1000.0, devices=1, kernel_us=5.0):
            connection.execute(MADE.format(count=count, clock=clock, devices=devices, kernel_us=kernel_us))
            connection.execute(OPS)
            return connection

        yield of


@for_all("clock", [991.0, 1009.0])
def test_a_clock_within_a_percent_is_the_same(engine, clock):
    made = engine(clock=clock)
    assert len(runs_alike(made, SUBJECT)) == 2
    assert runs_elsewhere(made, SUBJECT, 7) == 0


@for_all("clock", [989.0, 1011.0])
def test_a_clock_more_than_a_percent_away_is_another(engine, clock):
    made = engine(clock=clock)
    assert runs_alike(made, SUBJECT) == [SUBJECT]
    assert runs_elsewhere(made, SUBJECT, 7) == 1
    assert runs_elsewhere(made, SUBJECT, 8) == 0


def test_on_another_number_of_devices_a_run_is_elsewhere(engine):
    made = engine(devices=2)
    assert (runs_alike(made, SUBJECT), runs_elsewhere(made, SUBJECT, 7)) == ([SUBJECT], 1)


def test_of_very_many_runs_the_five_hundred_newest_make_a_history(engine):
    made = runs_alike(engine(count=700), SUBJECT)
    assert [run.recorded_at for run in made[:-1]] == list(range(200, 700))
    assert made[-1] is SUBJECT
