"""The command `archive`: what it does and prints.

While it adds, a line tells how far it is: a bar, the rate, and the time left.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, TextIO

from ttnn_mcp.archive.adding import Added
from ttnn_mcp.archive.engine import failing_as_ours
from ttnn_mcp.archive.parts import KeptRun
from ttnn_mcp.archive.passes import Order, Outcome, one_pass
from ttnn_mcp.archive.rows import Provenance
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import ArchiveUnusable, RunUnknown, nearest, shown, shown_path
from ttnn_mcp.session.settings import MB, Settings

BAR_CHARS = 24
LINE_EVERY_S = 15.0  # in a log, where no line can be written over
ERASE = "\r\x1b[K"
SOME_DAMAGED = 3
KEY_CHARS = 8  # shown of a run's key; the fewest by which one may be named
DAMAGED_SHOWN = 20
COLUMNS = (
    *("run_key", "recorded_at", "label", "name", "arch", "clock_mhz", "ops", "window_ops", "window_us"),
    *("build", "commit"),
)
_LIST = f"SELECT {', '.join(COLUMNS)} FROM runs WHERE ? IN ('', label) ORDER BY recorded_at DESC, run_key LIMIT ?"  # noqa: S608


def archive(options: argparse.Namespace, settings: Settings) -> int:
    """Do what the options ask for, print the result, and return the exit status."""
    own = options.folder is None
    if own and not settings.archive_at_most_mb:
        raise ArchiveUnusable(
            "This machine keeps no archive: it is switched off, or the extra `archive` is not installed."
        )
    folder = str(settings.archive_folder) if own else str(options.folder)
    if options.action == "add":
        if own:
            with suppress(OSError):  # writing says what is wrong
                settings.archive_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        most_mb = options.most_mb or (settings.archive_at_most_mb if own else None)
        return _add(options, folder, most_mb)
    return (_list if options.action == "list" else _forget)(options, folder)


def _add(options: argparse.Namespace, folder: str, most_mb: int | None) -> int:
    order = Order(
        patterns=options.patterns,
        folder=folder,
        provenance=Provenance(options.label, options.build, options.commit),
        jobs=options.jobs,
        cluster=options.dask,
        most_bytes=most_mb * MB if most_mb is not None else None,
    )
    progress = ProgressLine(sys.stderr, quiet=options.json)
    outcome = one_pass(order, progress)
    text = _as_json(outcome, folder, progress.seconds) if options.json else _told(outcome, progress.seconds)
    sys.stdout.write(text)
    return SOME_DAMAGED if outcome.damaged else 0


def _as_json(outcome: Outcome, folder: str, seconds: float) -> str:
    printed = {
        "archive": shown_path(folder),
        "added": outcome.new,
        "known": outcome.known,
        "ops": outcome.ops,
        "left": outcome.left,
        "seconds": round(seconds, 2),
        "damaged": [damage._asdict() for damage in outcome.damaged],
        "skipped": outcome.skipped,
    }
    return f"{json.dumps(printed)}\n"


def _told(outcome: Outcome, seconds: float) -> str:
    lines = [
        f"{_runs(outcome.new)} added with {outcome.ops:,} ops in {clock_time(seconds)}; {outcome.known:,} known"
    ]
    if outcome.left:
        lines.append(f"{_runs(outcome.left)} left to make room, the oldest first")
    lines += outcome.skipped
    if outcome.damaged:
        lines.append(f"{len(outcome.damaged):,} could not be read:")
        lines += [f"  {damage.report}: {damage.why}" for damage in outcome.damaged[:DAMAGED_SHOWN]]
        if len(outcome.damaged) > DAMAGED_SHOWN:
            lines.append(f"  and {len(outcome.damaged) - DAMAGED_SHOWN:,} more (--json lists all)")
    return "\n".join(lines) + "\n"


def _runs(count: int) -> str:
    return f"{count:,} run{'s' if count != 1 else ''}"


def _list(options: argparse.Namespace, folder: str) -> int:
    archive = Archive(folder)

    def listed() -> list[tuple[Any, ...]]:
        with archive.connection() as engine, failing_as_ours("read", archive.place.shown):
            return engine.execute(_LIST, [options.label or "", options.limit]).fetchall()

    rows = archive.steady(listed)
    runs: list[dict[str, Any]] = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    if options.json:
        sys.stdout.write(f"{json.dumps({'runs': runs})}\n")
    else:
        sys.stdout.write("".join(map(_line, runs)) or "The archive holds no such run.\n")
    return 0


def _line(run: dict[str, Any]) -> str:
    recorded = datetime.fromtimestamp(run["recorded_at"]).astimezone().strftime("%Y-%m-%d %H:%M")
    words = [
        run["run_key"][:KEY_CHARS],
        recorded,
        f"{run['arch'] or 'unknown chip'}",
        f"{run['clock_mhz']:.0f} MHz" if run["clock_mhz"] else "clock unknown",
        f"{run['window_ops']:,} ops",  # of the window, as the time behind it
        f"{run['window_us'] / 1e3:,.3f} ms",
        *(run[name] for name in ("label", "build", "commit") if run[name]),
        run["name"],
    ]
    return "  ".join(words) + "\n"


def _forget(options: argparse.Namespace, folder: str) -> int:
    store = Archive(folder)
    known = store.known()
    keys = {_named(written, known) for written in options.runs}
    count = store.forget(keys)
    sys.stdout.write(
        f"{json.dumps({'forgotten': sorted(keys)})}\n" if options.json else f"{_runs(count)} removed\n"
    )
    return 0


def _named(written: str, known: dict[str, KeptRun]) -> str:
    """The one key that begins so.

    Raises:
        RunUnknown: none does, or several do.
    """
    matching = [key for key in known if key.startswith(written.lower())] if len(written) >= KEY_CHARS else []
    if len(matching) != 1:
        hint = nearest(written[:KEY_CHARS], [key[:KEY_CHARS] for key in known])
        why = f"{len(matching)} runs begin with" if matching else "No run in the archive has the key"
        raise RunUnknown(f"{why} '{shown(written)}'.{hint} `ttnn-mcp archive list` prints the keys.")
    return matching[0]


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
