"""`ttnn-mcp archive` at a shell, and its progress line."""

import io
import json

import pytest

from tests.archive.reports import OPS, WARM, report
from ttnn_mcp.archive.adding import Added
from ttnn_mcp.shell.archive_progress import BAR_CHARS, ERASE, LINE_EVERY_S, ProgressLine, clock_time
from ttnn_mcp.shell.cli import main

ROWS = OPS * len(WARM)


@pytest.fixture
def nightly(tmp_path):
    for day in (1, 2):
        report(tmp_path / "nightly", day, us=40 + day)
    return tmp_path


@pytest.fixture
def shell(nightly, capsys):
    """Runs a command of the archive; returns its status, what it printed and what it said on stderr."""

    def run(*words):
        try:
            status = main(["archive", *map(str, words), "--state", str(nightly / "state")])
        except SystemExit as ended:
            status = ended.code
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


def test_reports_are_added_listed_and_forgotten(nightly, shell):
    there = nightly / "archive"
    status, out, _ = shell("add", nightly / "nightly", "--to", there, "--label", "small")
    assert status == 0
    assert out.startswith(f"2 runs added with {2 * ROWS} ops in ")
    assert out.endswith("; 0 known\n")
    _, out, _ = shell("list", "--in", there, "--json")
    runs = json.loads(out)["runs"]
    assert [run["label"] for run in runs] == ["small", "small"]
    assert runs[0]["recorded_at"] > runs[1]["recorded_at"]
    _, out, _ = shell("list", "--in", there, "--limit", "1")
    assert out.startswith(runs[0]["run_key"][:8])
    assert "2026-01-02" in out
    assert "small" in out
    status, out, _ = shell("forget", runs[0]["run_key"][:8], "--in", there)
    assert (status, out) == (0, "1 run removed\n")
    assert shell("list", "--in", there, "--label", "other")[1] == "The archive holds no such run.\n"


def test_damage_has_an_exit_status_of_its_own(nightly, shell):
    (nightly / "nightly" / "ops_perf_results_bad.csv").write_bytes(b"\0\1\2" * 50)
    status, out, _ = shell("add", nightly / "nightly", "--to", nightly / "archive", "--json")
    printed = json.loads(out)
    assert (status, printed["added"], printed["ops"], printed["known"]) == (3, 2, 2 * ROWS, 0)
    assert [damage["report"].endswith("ops_perf_results_bad.csv") for damage in printed["damaged"]] == [True]
    status, out, _ = shell("add", nightly / "nightly", "--to", nightly / "archive")
    assert status == 3
    assert "1 could not be read:\n" in out
    assert "2 known" in out


def test_without_a_place_it_is_the_archive_of_this_machine(nightly, shell):
    on = ("--archive-mb", "5")
    assert shell("add", nightly / "nightly", *on)[0] == 0
    assert (nightly / "state" / "archive").is_dir()
    assert len(json.loads(shell("list", "--json", *on)[1])["runs"]) == 2
    status, _, err = shell("list", "--archive-mb", "0")
    assert status == 1
    assert "switched off" in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("add", "{}/nightli", "--to", "{}/archive"), "Did you mean nightly?"),
        (("forget", "0123456789", "--in", "{}/archive"), "No run in the archive has the key"),
        (("forget", "0", "--in", "{}/archive"), "No run in the archive has the key"),
        (("add", "{}/nightly", "--label", "a/b"), "no slash"),
        (("add", "{}/nightly", "--jobs", "0"), "from 1 to"),
        (("add", "{}/nightly", "--jobs", "x"), "from 1 to"),
        (("ad", "{}/nightly"), "invalid choice"),
    ],
)
def test_a_wrong_word_is_answered_with_what_is_right(nightly, shell, words, told):
    status, out, err = shell(*(word.format(nightly) for word in words))
    assert status in (1, 2)
    assert out == ""
    assert told in err


def test_help_names_the_exit_statuses(shell):
    status, out, _ = shell("add", "--help")
    assert status == 0
    assert "Exit status: 0" in out
    assert "--dask" in out


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


def done(reports, size, ops):
    return Added(reports, size, reports, 0, ops, ())


def test_the_line_tells_share_rate_and_time_left():
    clock = Clock()
    progress = ProgressLine(io.StringIO(), clock=clock)
    progress.begins(2000, 400_000_000)
    clock.now += 10
    progress.goes_on(done(500, 100_000_000, 250_000))
    bar = "#" * (BAR_CHARS // 4) + "." * (BAR_CHARS * 3 // 4)
    assert progress.line() == f"[{bar}]  500 of 2,000 reports  25,000 ops/s  10 MB/s  0:30 left"
    assert progress.seconds == 10


def test_on_a_terminal_the_line_is_written_over_and_removed():
    screen = Terminal()
    progress = ProgressLine(screen, clock=Clock())
    progress.begins(2, 100)
    progress.goes_on(done(1, 50, 5))
    progress.ends()
    assert screen.getvalue().count(ERASE) == 3
    assert "\n" not in screen.getvalue()
    assert screen.getvalue().endswith(ERASE)


def test_in_a_log_a_line_comes_now_and_then():
    log, clock = io.StringIO(), Clock()
    progress = ProgressLine(log, clock=clock)
    progress.begins(3, 300)
    for seconds in (1, LINE_EVERY_S, 1):
        clock.now += seconds
        progress.goes_on(done(1, 100, 5))
    progress.ends()
    assert log.getvalue().count("\n") == 1
    assert "2 of 3 reports" in log.getvalue()


def test_quiet_is_quiet():
    screen, clock = Terminal(), Clock()
    progress = ProgressLine(screen, quiet=True, clock=clock)
    progress.begins(1, 1)
    clock.now += 1000
    progress.goes_on(done(1, 1, 1))
    progress.ends()
    assert screen.getvalue() == ""


@pytest.mark.parametrize(("seconds", "text"), [(7, "0:07"), (750.4, "12:30"), (3723, "1:02:03")])
def test_times_read_as_on_a_clock(seconds, text):
    assert clock_time(seconds) == text
