"""What a report shows of a capture that went wrong, at each border."""

from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run
from ttnn_mcp.shell.capture.outcome import doubts_of

KERNEL = "DEVICE KERNEL DURATION [ns]"
TWO = [Iteration(cold=True), Iteration()]


def doubts(folder, iterations=TWO, **cells):
    rows = [{**row, **cells} for row in performance_rows(block(), iterations)]
    performance = Performance(read_performance_csv(write_rows(folder / "x.csv", rows, header_of(rows, "C7"))))
    return [doubt.name for doubt in doubts_of(Run("12345678", "x", performance, None))]


def test_a_sound_report_has_none(tmp_path):
    assert doubts(tmp_path) == []
    assert doubts_of(Run("12345678", "x", None, None)) == []


def test_a_trace_that_was_recorded_and_replayed_once_is_sound(tmp_path):
    """The ops of the recording have no times, and the replay is a warm pass."""
    recorded = [Iteration(cold=True), Iteration(capture=True), Iteration(trace=(1, 1))]
    assert doubts(tmp_path, recorded) == []
    assert doubts(tmp_path, recorded[:2]) == ["rows-dropped", "no-signposts"]


def test_a_full_buffer_is_told_of_a_trace_too(tmp_path):
    """It holds 1,000 ops of a device: a warm-up and 199 replays of 5."""
    replays = [Iteration(trace=(1, session)) for session in range(1, 200)]
    assert doubts(tmp_path, [Iteration(cold=True), Iteration(capture=True), *replays]) == ["rows-dropped"]


def test_another_column_that_cannot_be_true_is_no_raw_timestamp(tmp_path):
    assert doubts(tmp_path, **{"OP TO OP LATENCY [ns]": "4600000000000"}) == []


@for_all(
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
