"""The line that tells how far `archive add` is."""

import io

from tests.for_all import for_all
from ttnn_mcp.archive.adding import Added
from ttnn_mcp.shell.archive_command import ERASE, ProgressLine, clock_time


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


class Ticking(Clock):
    def __call__(self):
        self.now += 0.001
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
    assert progress.line() == "[######..................]  500 of 2,000 reports  25,000 ops/s  10 MB/s  0:30 left"
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


def test_nothing_to_do_is_not_shown_and_no_rate_is_told_before_the_first_report():
    screen = Terminal()
    ProgressLine(screen, clock=Ticking()).begins(0, 0)
    assert screen.getvalue() == ""
    ProgressLine(screen, clock=Ticking()).begins(2, 100)
    assert screen.getvalue() == f"{ERASE}[........................]  0 of 2 reports"


def test_in_a_log_a_line_comes_now_and_then():
    log, clock = io.StringIO(), Clock()
    progress = ProgressLine(log, clock=clock)
    progress.begins(4, 400)
    for seconds in (1, 13, 1, 14):  # four a minute are enough
        clock.now += seconds
        progress.goes_on(done(1, 100, 5))
    progress.ends()
    assert log.getvalue().count("\n") == 1
    assert "3 of 4 reports" in log.getvalue()


def test_quiet_is_quiet():
    screen, clock = Terminal(), Clock()
    progress = ProgressLine(screen, quiet=True, clock=clock)
    progress.begins(1, 1)
    clock.now += 1000
    progress.goes_on(done(1, 1, 1))
    progress.ends()
    assert screen.getvalue() == ""


@for_all(("seconds", "text"), [(7, "0:07"), (750.4, "12:30"), (3723, "1:02:03")])
def test_times_read_as_on_a_clock(seconds, text):
    assert clock_time(seconds) == text
