"""Host gaps: time between ops of one device, by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.analyses.tables import performance_of, put
from tests.for_all import for_all
from tests.profiles import (
    Iteration,
    Program,
    header_of,
    performance_rows,
    write_performance_report,
    write_rows,
)
from tests.profiles.ops import unary
from ttnn_mcp.analyses.devices.host_gaps import (
    gaps_of_wall,
    static_shapes,
    timeline_of,
    trace_region_bytes,
    trace_saving_ns,
)
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance


def program_of(*ops, devices=1):
    """(gap before, kernel) in ns, each op of another width."""
    program = Program("wormhole_b0", devices=devices)
    for n, (gap, kernel) in enumerate(ops, start=1):
        x, y = program.tensor([1, 1, 32, 32 * n]), program.tensor([1, 1, 32, 32 * n])
        put(program, unary("RELU", x, y, kernel))
        program.device_ops[-1].gap_ns = gap
    return program


def timeline(folder, *ops):
    report = performance_of(folder, program_of(*ops))
    return timeline_of(report.ops, report.clock_ghz)


def test_kernels_and_the_gaps_between_them_make_the_wall_time(tmp_path):
    line = timeline(tmp_path, (9_999, 10_000), (2_000, 20_000), (3_000, 30_000))
    assert line.kernel_ns == line.busy_ns == 60_000
    assert line.wall_ns == pytest.approx(65_000)  # the gap before the first op is another window's
    assert line.gap_ns == pytest.approx(5_000)
    assert line.busy == pytest.approx(60 / 65)
    assert line.gaps_ns.tolist() == [2_000, 3_000]
    assert line.median_gap_ns == 2_500


def test_without_cycles_gaps_are_added_up(tmp_path):
    report = performance_of(tmp_path, program_of((0, 10_000), (2_000, 20_000), (3_000, 30_000)))
    assert timeline_of(report.ops, None).wall_ns == 65_000


def test_a_single_op_has_no_gaps(tmp_path):
    line = timeline(tmp_path, (5_000, 10_000))
    assert (line.wall_ns, line.gap_ns, line.long_gaps) == (10_000, 0, (0, 0.0))
    assert math.isnan(line.median_gap_ns)


def test_gaps_of_a_millisecond_are_long(tmp_path):
    line = timeline(tmp_path, (0, 10_000), (999_999, 10_000), (1_000_000, 10_000), (2_000_000, 10_000))
    assert line.long_gaps == (2, 3_000_000)


@for_all(("others", "interrupted"), [(1_010_000, False), (990_000, True)])
def test_a_window_is_interrupted_where_long_gaps_are_most_of_its_gaps(tmp_path, others, interrupted):
    line = timeline(tmp_path, (0, 10_000), (1_000_000, 10_000), (others // 2, 10_000), (others // 2, 10_000))
    assert line.interrupted is interrupted


def test_an_overlap_counts_beside_gaps_that_are_longer(tmp_path):
    line = timeline(tmp_path, (0, 10_000), (50_000, 10_000), (-4_000, 10_000))
    assert line.spent_ns == pytest.approx([10_000, 8_000, 8_000], abs=2)


@for_all("ends", [(0, 1, 2), (1,)])
def test_where_an_end_is_not_known_nothing_is_shared_out(tmp_path, ends):
    rows = performance_rows(program_of((0, 10_000), (2_000, 20_000), (-1_000, 30_000)), [Iteration()])
    for place in ends:
        rows[place]["DEVICE FW END CYCLE"] = ""
    csv = read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7")))
    line = timeline_of(Performance(csv).ops, 1.0)
    assert line.spent_ns.tolist() == [10_000, 20_000, 30_000]
    assert len(ends) == 1 or line.wall_ns == 62_000


@for_all(("ops", "megabytes"), [(1, 1), (256, 1), (257, 2)])
def test_a_trace_region_is_whole_megabytes_for_four_kilobytes_an_op(ops, megabytes):
    assert trace_region_bytes(ops) == megabytes * 1024**2


@for_all(
    ("overlap", "busy"), [(501, 10_000 + 20_000 - 501), (499, 30_000)], ids=["two ops at a time", "drifting clocks"]
)
def test_ops_that_overlap_by_more_than_clocks_drift_ran_side_by_side(tmp_path, overlap, busy):
    line = timeline(tmp_path, (0, 10_000), (-overlap, 20_000))
    assert line.kernel_ns == 30_000
    assert line.busy_ns == pytest.approx(busy)


def test_ops_share_their_time_where_ends_alone_tell_of_an_overlap(tmp_path):
    """The fuzz: equal ends, and no gaps measured."""
    rows = performance_rows(program_of((100, 3_000), (100, 3_000)), [Iteration()])
    for row in rows:
        for edge in ("START", "END"):
            row[f"DEVICE FW {edge} CYCLE"] = rows[0][f"DEVICE FW {edge} CYCLE"]
        row["OP TO OP LATENCY [ns]"] = ""
    csv = read_performance_csv(write_rows(tmp_path / "x.csv", rows, header_of(rows, "C7")))
    line = timeline_of(Performance(csv).ops, 1.0)
    assert (line.wall_ns, line.busy_ns, line.gap_ns, line.busy) == (3_000, 3_000, 0, 1)


def test_a_trace_leaves_a_microsecond_per_op(tmp_path):
    line = timeline(tmp_path, (0, 10_000), (4_000, 10_000), (5_000, 10_000))
    assert trace_saving_ns(line) == pytest.approx(9_000 - len(line.gaps_ns) * 1_000)


def report_of(folder, program, iterations):
    return Performance(read_performance_csv(write_performance_report(folder, program, iterations)))


def test_iterations_of_the_same_shapes_are_static(tmp_path):
    program = program_of((0, 10_000), (2_000, 20_000), (3_000, 30_000))
    assert static_shapes(report_of(tmp_path / "two", program, [Iteration(), Iteration()])) is True
    assert static_shapes(report_of(tmp_path / "one", program, [Iteration()])) is None
    assert (
        static_shapes(report_of(tmp_path / "replay", program, [Iteration(capture=True), Iteration(trace=(1, 1))]))
        is None
    )
    rows = performance_rows(program, [Iteration(), Iteration()])
    rows[-1]["DEVICE KERNEL DURATION [ns]"] = ""  # an op without a time is no other shape
    lost = write_rows(tmp_path / "lost.csv", rows, header_of(rows, "C7"))
    assert static_shapes(Performance(read_performance_csv(lost))) is None


def test_ops_side_by_side_share_their_time(tmp_path):
    """10 us, then 20 us of which the first 4 run beside the 10: each has 2 of these 4."""
    line = timeline(tmp_path, (0, 10_000), (-4_000, 20_000))
    assert line.side_by_side
    assert line.spent_ns == pytest.approx([8_000, 18_000], abs=2)
    assert line.spent_ns.sum() == pytest.approx(line.busy_ns)


def test_the_time_before_an_op_in_which_none_ran_is_idle(tmp_path):
    """The third op begins 6 us behind the second's end, and 2 us behind that of the first, which lasts longer."""
    beside = timeline(tmp_path / "beside", (9_000, 30_000), (-25_000, 19_000), (8_000, 10_000), (500, 10_000))
    assert beside.idle_ns == pytest.approx([0, 0, 2_000, 500], abs=2)
    assert beside.idle_ns.sum() == pytest.approx(beside.gap_ns, abs=2)
    after = timeline(tmp_path / "after", (9_000, 10_000), (2_000, 20_000), (-100, 10_000))
    assert after.idle_ns.tolist() == [0, 2_000, 0]
    rows = performance_rows(program_of((0, 40_000), (15_000, 45_000)), [Iteration()])
    idle = {}
    for gap in ("9900", "10100", "19900", "20100", ""):  # cycles leave 15 us; a twentieth of the wall time is 5
        rows[-1]["OP TO OP LATENCY [ns]"] = gap
        csv = read_performance_csv(write_rows(tmp_path / f"{gap}.csv", rows, header_of(rows, "C7")))
        line = timeline_of(Performance(csv).ops, 1.0)
        assert (line.wall_ns, line.side_by_side) == (pytest.approx(100_000, abs=2), False)
        idle[gap] = line.idle_ns[1]
    assert idle == pytest.approx({"9900": 15_000, "10100": 10_100, "19900": 19_900, "20100": 15_000, "": 0}, abs=2)


def test_ops_one_after_the_other_share_nothing(tmp_path):
    line = timeline(tmp_path, (0, 10_000), (2_000, 20_000))
    assert not line.side_by_side
    assert line.spent_ns.tolist() == [10_000, 20_000]


def test_ops_that_overlap_leave_no_gap(tmp_path):
    line = replace(timeline(tmp_path, (0, 100), (50, 100)), gaps_ns=np.array([-10.0, -10.0, 5.0]))
    assert line.median_gap_ns == 0


@for_all(
    ("left_ns", "gaps_ns"),
    [
        (9_000, [0, 500, 2_500, 4_500]),  # more than the profile has: nothing of it is the profiler's
        (7_500, [0, 500, 2_500, 4_500]),
        (5_000, [0, 500, 1_750, 2_750]),  # half of the 5,000 above a traced gap
        (2_500, [0, 500, 1_000, 1_000]),
        (1_250, [0, 250, 500, 500]),
        (0, [0, 0, 0, 0]),
    ],
)
def test_gaps_of_a_profile_are_shortened_to_what_the_wall_leaves_them(left_ns, gaps_ns):
    assert gaps_of_wall(np.array([0.0, 500.0, 2_500.0, 4_500.0]), left_ns).tolist() == gaps_ns


def test_where_there_is_no_gap_none_is_shortened():
    assert gaps_of_wall(np.zeros(2), 0.0).tolist() == [0, 0]


def test_the_share_of_a_wall_counts_ops_side_by_side_once(tmp_path):
    line = timeline(tmp_path, (0, 10_000), (2_000, 20_000))
    assert replace(line, busy_ns=25_000.0).busy_in(50_000.0) == 0.5
