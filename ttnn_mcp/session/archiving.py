"""Keeping the runs of a session in the archive: after the answer, in a process of its own, never failing one.

A process of its own, because computing the rows of a million ops beside answers would slow them, and because the shell
must end when its answer is printed. It runs `ttnn-mcp archive add` at low priority.
"""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from functools import cached_property
from threading import Lock, Thread
from typing import TYPE_CHECKING

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.session.known_runs import DEMO

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import Popen

    from ttnn_mcp.archive.store import Archive
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.settings import Settings

# for one run: a report of a million rows takes some ten seconds
PATIENCE_S = 600.0  # unmoved: only how long a thread waits that nobody waits for
NICENESS = 10  # unmoved: only how much time other programs get
FAILED = 1  # as the shell's exit status; damaged reports have another one and are told where they are opened
_ADD = "import os, sys; os.nice({nice}); from ttnn_mcp.shell.cli import main; sys.exit(main(sys.argv[1:]))"
_LOG = logging.getLogger(__name__)


class Archiving:
    """Adds the runs that a session opened to its archive."""

    def __init__(self, settings: Settings, folder: Path | None) -> None:
        self._settings = settings
        self._folder = folder
        self._waiting: list[tuple[Path, str | None]] = []
        self._noted: set[tuple[Path, int]] = set()
        self._lock = Lock()
        self._busy = False
        self._failed = False

    @cached_property
    def archive(self) -> Archive | None:
        """The archive, imported once somebody asks it; None where it is switched off."""
        from ttnn_mcp.archive.store import Archive  # noqa: PLC0415

        return None if self._folder is None else Archive(self._folder)

    def note(self, run: Run) -> None:
        """Remember a run that was opened; nothing is read or written yet. The demo's times are made: it is left out."""
        if self._folder is None or run.performance is None or run.id == DEMO:
            return
        if self._folder.is_dir():
            run.kept.store(self.archive)  # answers about the run may ask it for earlier ones
        if self._failed:
            return
        path = run.performance.csv.path
        with suppress(OSError, ValueError):
            mark = (path, path.stat().st_mtime_ns)
            if mark not in self._noted:
                self._noted.add(mark)
                self._waiting.append((path.absolute(), run.memory.build if run.memory else None))

    def begin(self) -> None:
        """The answer is there: add what was noted, in the background.

        What is noted while earlier runs are added waits for them: a session that opens fifty reports must not start
        fifty processes.
        """
        with self._lock:
            if self._busy or not self._waiting:
                return
            waiting, self._waiting = self._waiting, []
            self._busy = True
        Thread(target=self._add, args=(waiting,), name="archiving").start()

    def _add(self, waiting: list[tuple[Path, str | None]]) -> None:
        """Start the processes; ends at once, so that a command need not wait for them."""
        try:
            by_build: dict[str | None, list[str]] = {}
            for path, build in waiting:
                if self._is_new(path):
                    by_build.setdefault(build, []).append(str(path))
            started = [self._started(paths, build) for build, paths in by_build.items()]
        except Exception as failed:  # noqa: BLE001 - no answer may fail because of the archive
            self._say(_worded(failed))
            started = []
        Thread(target=self._await, args=(started,), name="archived", daemon=True).start()

    def _is_new(self, path: Path) -> bool:
        assert self.archive is not None  # noqa: S101 - else nothing is noted
        from ttnn_mcp.archive.sources import Source  # noqa: PLC0415

        status = path.stat()
        stamp = Source(str(path), status.st_size, status.st_mtime_ns).stamp
        return all(run.stamp != stamp for run in self.archive.known().values())

    def _started(self, paths: list[str], build: str | None) -> Popen[str]:
        import subprocess  # noqa: PLC0415

        words = ["archive", "add", *paths, "--jobs", "1", "--json", "--state", str(self._settings.state_folder)]
        words += ["--archive-mb", str(self._settings.archive_at_most_mb), *(["--build", build] if build else [])]
        # the name of a package is looked up in the current folder first: it must be one of ours
        self._settings.archive_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-c", _ADD.format(nice=NICENESS), *words],
            cwd=self._settings.archive_folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def _await(self, started: list[Popen[str]]) -> None:
        """Wait for the processes, then go on with what was noted since."""
        for process in started:
            try:
                _, complaint = process.communicate(timeout=PATIENCE_S)
            except Exception as failed:  # noqa: BLE001 - no answer may fail because of the archive
                process.kill()
                self._say(type(failed).__name__)
                continue
            if process.returncode == FAILED:
                self._say(complaint.strip().splitlines()[-1] if complaint.strip() else "it ended early")
        with self._lock:
            self._busy = False
        with suppress(RuntimeError):  # no new thread while the program ends
            self.begin()

    def _say(self, why: str) -> None:
        """Say it once; the session goes on without."""
        with self._lock:
            if not self._failed:
                self._failed = True
                _LOG.warning("Runs are not archived in this session: %s (--archive-mb 0 switches it off)", why)


def _worded(failed: Exception) -> str:
    """Our own sentence, the system's words, or the kind of a failure."""
    if isinstance(failed, TtnnMcpError):
        return str(failed)
    return (failed.strerror if isinstance(failed, OSError) else None) or type(failed).__name__
