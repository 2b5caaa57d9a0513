"""Durations of 6.92 s that a wrapped counter wrote: told from firmware ends, and said."""

import csv

import pytest

from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.analyses.devices.host_gaps import timeline_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.trust import caveats_of
from ttnn_mcp.run.window import scope_of

WRAP_NS = 6_920_000_000
KERNEL, GAP = "DEVICE KERNEL DURATION [ns]", "OP TO OP LATENCY [ns]"
PASSES = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2))]


def wrapped(row: dict[str, str]) -> dict[str, str]:
    kernel, gap = int(row[KERNEL]) + WRAP_NS, int(row[GAP]) - WRAP_NS
    return {**row, KERNEL: str(kernel), GAP: str(gap)}


def blanked(row: dict[str, str]) -> dict[str, str]:
    return {**row, KERNEL: "", GAP: ""}


def report(folder, spoil, every: int = 2) -> tuple[Performance, list[dict[str, str]]]:
    rows = performance_rows(block(layers=4), PASSES)
    replayed = [n for n, row in enumerate(rows) if row.get("METAL TRACE ID")]
    begins = {replayed[0], replayed[len(replayed) // 2]}
    spoilt = {n for n in replayed if n % every and n not in begins}
    written = [spoil(row) if n in spoilt else row for n, row in enumerate(rows)]
    path = write_rows(folder / "x.csv", written, header_of(rows, "C7"))
    return Performance(read_performance_csv(path)), rows


@pytest.mark.parametrize("spoil", [wrapped, blanked])
def test_impossible_durations_are_told_from_firmware_ends(tmp_path, spoil):
    here, rows = report(tmp_path, spoil)
    true = sum(int(row[KERNEL]) for row in rows if row.get("METAL TRACE REPLAY SESSION ID") == "2")
    window = scope_of(here)
    assert window.window.rows == len(block(layers=4).device_ops)
    assert window.ops.numbers("kernel_ns").sum() == pytest.approx(true, abs=500 * len(window.ops))
    line = timeline_of(window.ops, here.clock_ghz)
    assert line.busy > 0.8
    assert any("told from DEVICE FW END CYCLE" in caveat for caveat in caveats_of(here))
    assert here.impossible_left_out == 0


def test_a_told_duration_is_not_cited_as_if_its_cell_held_it(tmp_path):
    here, _ = report(tmp_path, wrapped)
    with here.csv.path.open(newline="") as file:
        written = [row[KERNEL] for row in csv.DictReader(file)]
    window = scope_of(here).ops
    cited = [window.cite(row, "kernel_ns") for row in range(len(window))]
    assert {one.column for one in cited} == {KERNEL, "DEVICE FW END CYCLE"}
    for one in cited:
        assert (one.column == KERNEL) == (written[one.row - 2] == str(one.value))


def test_the_first_op_of_a_replay_is_left_out_when_its_duration_is_impossible(tmp_path):
    rows = performance_rows(block(), PASSES)
    first = next(n for n, row in enumerate(rows) if row.get("METAL TRACE REPLAY SESSION ID") == "2")
    rows[first] = wrapped(rows[first])
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert here.impossible_left_out == 1
    assert len(scope_of(here).ops) == len(block().device_ops) - 1
    assert any("1 of them left out" in caveat for caveat in caveats_of(here))


def test_ops_that_overlap_a_little_are_no_impossible_ones(tmp_path):
    rows = performance_rows(block())
    rows[5][GAP] = "-900000"
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert here.impossible == 0
