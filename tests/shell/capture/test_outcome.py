"""What `profile` says of its reports."""

import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd

from tests.asking import session
from tests.for_all import for_all
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell.capture import outcome
from ttnn_mcp.shell.capture.profiled import Capture


def report_with(folder, **columns):
    """The demo's performance report with other values in some columns."""
    source = next(Path(demo_reports()[0]).rglob("*.csv"))
    shutil.copytree(source.parent, folder)
    path = next(folder.glob("ops_perf_results*.csv"))
    table = pd.read_csv(path, dtype=str)
    for name, value in columns.items():
        table[name] = value(table[name]) if callable(value) else value
    table.to_csv(path, index=False)
    return str(folder)


def capture(performance, status=0):
    sentences = []
    asked = Capture(["pytest"], [], False, sentences.append, status=status, performance=Path(performance))
    return asked, sentences


async def test_both_reports_are_read_as_one_run(tmp_path):
    performance, memory = demo_reports()
    asked, sentences = capture(performance)
    asked.memory_report = Path(memory)
    text = await outcome.findings_of(session(tmp_path), asked)
    assert sentences == []
    assert "model.py:104 +7" in text
    assert asked.status == 0


async def test_a_report_that_cannot_be_read_fails_the_capture_in_a_sentence(tmp_path):
    broken = tmp_path / "ops_perf_results_1.csv"
    broken.write_bytes(b"\0" * 1000)
    for status, ends in ((0, 1), (7, 7)):
        asked, sentences = capture(broken, status)
        assert await outcome.findings_of(session(tmp_path), asked) == ""
        assert len(sentences) == 1
        assert asked.status == ends


KERNEL = "DEVICE KERNEL DURATION [ns]"
SINCE_RESET_NS = 61_000_000_000  # a chip that was reset a minute ago


def later(durations):
    return (durations.astype(int) + SINCE_RESET_NS).astype(str)


@for_all(
    ("columns", "status", "says"),
    [
        ({KERNEL: "0"}, 1, "No device op has a kernel time"),
        ({KERNEL: ""}, 1, "No device op has a kernel time"),
        ({KERNEL: "4600000000000"}, 1, "absurd) and count as not measured: raw timestamps instead of durations"),
        ({KERNEL: later}, 0, "80 device ops have raw timestamps instead of durations"),
        ({"GLOBAL CALL COUNT": lambda counts: (counts.astype(int) * 2).astype(str)}, 0, "--op-support-count=10000"),
    ],
    ids=["zero", "empty", "absurd", "raw", "dropped"],
)
async def test_a_report_that_cannot_be_believed_is_told(tmp_path, columns, status, says):
    asked, sentences = capture(report_with(tmp_path / "bad", **columns))
    asked.build = replace(asked.build, options=frozenset({"--op-support-count"}))
    text = await outcome.findings_of(session(tmp_path), asked)
    assert says in " ".join(sentences)
    assert "Next: " in " ".join(sentences)
    assert asked.status == status
    assert ("Do this first" in text) is (status == 0)


def shortened(folder):
    path = next(Path(folder).glob("ops_perf_results*.csv"))
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:20]))
    return folder


async def test_a_run_without_signposts_or_iterations_is_told(tmp_path):
    asked, sentences = capture(shortened(report_with(tmp_path / "short")))
    await outcome.findings_of(session(tmp_path), asked)
    assert "No signpost" in " ".join(sentences)
