"""Durations of 6.92 s that a wrapped counter wrote: told from firmware ends, and said."""

import csv

import numpy as np
import pytest

from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from tests.run.ops.test_op_table import table
from ttnn_mcp.analyses.devices.host_gaps import timeline_of
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.ops.wrapped_counters import unwrapped
from ttnn_mcp.run.ops.wrapped_counters import wrapped as wrapped_rows
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


@for_all("spoil", [wrapped, blanked])
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
    left, whole = scope_of(here, 2), scope_of(here)
    assert (len(left.ops), len(whole.ops)) == (len(block().device_ops) - 1, len(block().device_ops))
    assert (whole.window.iteration, whole.window.of_iterations, whole.window.warm) == (1, 2, True)
    assert any("1 of them left out" in caveat for caveat in caveats_of(here))


def test_ops_that_overlap_a_little_are_no_impossible_ones(tmp_path):
    rows = performance_rows(block())
    rows[5][GAP] = "-900000"
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert here.impossible == 0


@for_all(
    ("gap_ns", "kernel_ns", "impossible"),
    [
        (-1_000_000, 1_000_000, False),  # a millisecond may be an overlap
        (-1_000_001, 1_000_001, True),
        (-3_000_000, 6_000_000, False),  # it subtracts half of the duration, not most of it
        (-3_000_001, 6_000_000, True),
        (-6_005_999, 6_000_000, True),
        (-6_006_001, 6_000_000, False),  # more than all of it: the op before it ended later
        (-3_000_001, np.nan, False),
        (np.nan, 6_000_000, False),
    ],
)
def test_a_wrapped_duration_is_mostly_subtracted_again(gap_ns, kernel_ns, impossible):
    ops = table(gap_ns=np.array([0.0, gap_ns]), kernel_ns=np.array([10.0, kernel_ns]))
    assert wrapped_rows(ops).tolist() == [False, impossible]


LONG_NS = 3_000_000


def beside(kernel_ns=LONG_NS, start=1_000_000, first_start=0.0, fw_ns=LONG_NS, device=0.0):
    """Whether an op that starts 2 ms before the end of the op before it counts as wrapped."""
    ops = table(
        gap_ns=np.array([0.0, -2_000_000]),
        kernel_ns=np.array([LONG_NS, kernel_ns], dtype=float),
        fw_start_cycle=np.array([first_start, start]),
        fw_ns=np.array([LONG_NS, fw_ns], dtype=float),
        device=np.array([device, 0.0]),
    )
    return wrapped_rows(ops).tolist()[1]


def test_an_overlap_that_the_firmware_confirms_is_none():
    assert not beside()
    assert not beside(first_start=1_000_000)
    assert beside(first_start=1_000_001)  # ops start in the order they were launched
    assert not beside(first_start=1_000_001, device=1)
    assert not beside(first_start=np.nan)
    assert beside(start=np.nan)


@for_all(("kernel_ns", "impossible"), [(3_031_000, False), (3_031_001, True)])
def test_firmware_confirms_what_it_took_itself(kernel_ns, impossible):
    assert beside(kernel_ns) == impossible
    assert beside(kernel_ns, fw_ns=np.nan)


def test_wrapped_starts_do_not_hide_each_other():
    """The second of two is held against the last start that is right."""
    ops = table(
        gap_ns=np.array([0.0, -WRAP_NS, -WRAP_NS]),
        kernel_ns=np.array([10.0, WRAP_NS, WRAP_NS]),
        fw_start_cycle=np.array([WRAP_NS, 1_000, 2_000]),
        fw_ns=np.array([10.0, WRAP_NS, WRAP_NS]),
        device=np.zeros(3),
    )
    assert wrapped_rows(ops).tolist() == [False, True, True]


def test_an_op_beside_a_longer_one_keeps_its_own_time(tmp_path):
    """A prefetcher runs beside the whole pass: the next op starts early, and its own time is right."""
    rows = performance_rows(block())
    rows[5][GAP] = "-2000000"
    here = Performance(read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7"))))
    assert here.impossible == 0
    assert here.ops.numbers("kernel_ns")[5] == float(rows[5][KERNEL])


def told(doubtful, gaps, ends, *, clock_ghz=1.0, **of):
    """(kernel times, gaps) of ops that take 5 us each; with NaN as None."""
    ops = table(
        kernel_ns=np.full(len(ends), 5_000.0),
        gap_ns=np.array(gaps, dtype=float),
        fw_end_cycle=np.array(ends, dtype=float),
        device=np.array(of.get("devices") or [0] * len(ends), dtype=float),
        trace_session=np.array(of.get("sessions") or [np.nan] * len(ends), dtype=float),
    )
    times = unwrapped(ops, np.isin(np.arange(len(ends)), doubtful), clock_ghz)
    return [[None if np.isnan(value) else value for value in each.tolist()] for each in times]


def test_the_usual_gap_is_the_median_of_what_can_be_gaps():
    """Overlaps and pauses are none: of 300, 700 and 800 ns the second is usual."""
    gaps = [0, 300, 800, 700, -50, 2_000_000, 0]
    kernel, gap = told([6], gaps, [0, 6_000, 12_000, 18_000, 24_000, 2_030_000, 2_040_000])
    assert (kernel[6], gap[6]) == (9_300, 700)


def test_where_no_row_tells_a_gap_a_microsecond_is_usual():
    assert told([1], [0, 0], [10_000, 18_000]) == [[5_000, 7_000], [0, 1_000]]
    assert told([1], [0, 0], [20_000, 36_000], clock_ghz=2.0) == [[5_000, 7_000], [0, 1_000]]


@for_all(("end", "kernel_ns"), [(10_700, None), (10_701, 1)])
def test_what_leaves_no_time_beside_a_gap_stays_unknown(end, kernel_ns):
    kernel, gap = told([2], [0, 700, 0], [4_000, 10_000, end])
    assert (kernel[2], gap[2]) == (kernel_ns, kernel_ns and 700)


def test_the_first_op_of_a_device_or_a_replay_stays_unknown():
    ends = [10_000, 20_000, 30_000, 40_000]
    assert told([2], [0, 700, 0, 700], ends, devices=[0, 0, 1, 1])[0] == [5_000, 5_000, None, 5_000]
    assert told([2], [0, 700, 0, 700], ends, sessions=[1, 1, 2, 2])[0] == [5_000, 5_000, None, 5_000]


def test_only_the_pause_after_a_wrapped_op_is_told_from_the_ends():
    """The end before it is right, the gap that TTNN computed from a wrapped start is not."""
    ends = [10_000, 20_000, 30_000, 5_000_000]
    assert told([1], [0, 0, 6_900_000_000, 4_000_000], ends)[1] == [0, 1_000, 5_000, 4_000_000]
    assert told([1], [0, 0, 300, 4_000_000], ends)[1] == [0, 300, 300, 4_000_000]
    assert told([1], [0, 0, 1_000_000, 800], ends)[1] == [0, 800, 1_000_000, 800]
    assert told([1], [0, 0, 1_000_001, 800], ends)[1] == [0, 800, 5_000, 800]
