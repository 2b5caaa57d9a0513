"""A line that tells how far `archive add` is: a bar, the rate, and the time left."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.archive.adding import Added

BAR_CHARS = 24
LINE_EVERY_S = 15.0  # in a log, where no line can be written over
ERASE = "\r\x1b[K"


class ProgressLine:
    """Writes the line over itself on a terminal, and a new one now and then into a log."""

    def __init__(self, stream: TextIO, *, quiet: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._quiet = quiet
        self._clock = clock
        self._over = not quiet and stream.isatty()
        self._reports = self._size = self._done = self._done_bytes = self._ops = 0
        self._began = self._told = 0.0

    def begins(self, reports: int, size: int) -> None:
        """So many reports are to be read, of so many bytes."""
        self._reports, self._size = reports, size
        self._began = self._told = self._clock()
        if self._over and reports:
            self._write()

    def goes_on(self, added: Added) -> None:
        """A batch is done."""
        self._done += added.reports
        self._done_bytes += added.size
        self._ops += added.ops
        now = self._clock()
        if self._over or (not self._quiet and now - self._told >= LINE_EVERY_S):
            self._told = now
            self._write()

    def ends(self) -> None:
        """No more batches follow."""
        if self._over:
            self._stream.write(ERASE)
            self._stream.flush()

    @property
    def seconds(self) -> float:
        """Since it began."""
        return self._clock() - self._began

    def line(self) -> str:
        """`[####....]  812 of 2,000 reports  31,204 ops/s  48 MB/s  1:12 left`."""
        share = self._done_bytes / self._size if self._size else 1.0
        filled = int(BAR_CHARS * share)
        words = [
            f"[{'#' * filled}{'.' * (BAR_CHARS - filled)}]",
            f"{self._done:,} of {self._reports:,} reports",
        ]
        seconds = self.seconds
        if self._done and seconds > 0:
            words += [
                f"{self._ops / seconds:,.0f} ops/s",
                f"{self._done_bytes / seconds / 1e6:,.0f} MB/s",
                f"{clock_time(seconds * (1 / share - 1) if share else 0)} left",
            ]
        return "  ".join(words)

    def _write(self) -> None:
        if self._over:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"{ERASE}{self.line()[:width]}")
        else:
            self._stream.write(f"{self.line()}\n")
        self._stream.flush()


def clock_time(seconds: float) -> str:
    """`0:07`, `12:30`, `1:02:03`."""
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
