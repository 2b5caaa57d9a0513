"""What a report shows of a capture that went wrong, at each border."""

import pytest

from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run
from ttnn_mcp.shell.capture.doubts import doubts_of

KERNEL = "DEVICE KERNEL DURATION [ns]"
TWO = [Iteration(cold=True), Iteration()]


def doubts(folder, iterations=TWO, **cells):
    rows = [{**row, **cells} for row in performance_rows(block(), iterations)]
    performance = Performance(read_performance_csv(write_rows(folder / "x.csv", rows, header_of(rows, "C7"))))
    return [doubt.name for doubt in doubts_of(Run("12345678", "x", performance, None))]


def test_a_sound_report_has_none(tmp_path):
    assert doubts(tmp_path) == []
    assert doubts_of(Run("12345678", "x", None, None)) == []


@pytest.mark.parametrize(
    ("duration", "names"),
    [
        ("0", ["no-times"]),
        ("", ["no-times"]),
        ("4600000000000", ["raw-timestamps", "no-times"]),
        ("61000000000", ["raw-timestamps"]),
    ],
)
def test_times_that_cannot_be(tmp_path, duration, names):
    assert doubts(tmp_path, **{KERNEL: duration}) == names


def test_one_pass_without_a_signpost_cannot_be_told_from_the_first(tmp_path):
    assert doubts(tmp_path, [Iteration(cold=True)]) == ["no-signposts"]
    assert doubts(tmp_path, [Iteration(cold=True, signposts=("start", "stop"))]) == []
