"""Asking an archive without waiting for it: an answer that comes too late, or none, is no answer."""

from __future__ import annotations

import atexit
import logging
import time
from functools import cache
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from duckdb import DuckDBPyConnection

    from ttnn_mcp.archive.store import Archive

T = TypeVar("T")

PATIENCE_S = 1.0  # the first question loads DuckDB, 0.2 s; a later one takes 0.02 s, and 0.2 s of ten million ops
RESTING_S = 60.0  # after an answer that came too late: the next ones do not wait again (ours)
LEAVING_S = (
    5.0  # for a question that was given up to end: the engine may not return into a Python that is being torn down
)
_log = logging.getLogger(__name__)
_resting: dict[str, float] = {}  # until when an archive is not asked, by its place


def in_time(archive: Archive, question: Callable[[DuckDBPyConnection], T], nothing: T, *, asker: str) -> T:
    """The answer to a question about other runs. Blocks for `PATIENCE_S` at most.

    Why an archive is not asked goes to the log. `ttnn-mcp doctor` tells what is wrong with one.

    Args:
        archive: what is asked.
        question: asks its engine.
        nothing: the answer where the archive holds no other run, is broken or slow.
        asker: the key of the run that asks.
    """
    place = archive.place.shown
    if time.monotonic() < _resting.get(place, 0.0):
        return nothing
    asking = _Asking(archive, question, asker)
    asking.start()
    if not asking.answered.wait(PATIENCE_S):
        asking.stop()
        _resting[place] = time.monotonic() + RESTING_S
        _log.info("the archive %s did not answer within %s s", place, PATIENCE_S)  # a busy machine is no fault
        return nothing
    if asking.failure is not None:
        _say(f"the archive is not asked: {asking.failure}")
        return nothing
    return asking.answer if asking.asked else nothing


@cache
def _say(why: str) -> None:
    """Say it once: one answer asks the archive several times."""
    _log.warning("%s", why)


class _Asking(Thread):
    """A question in a thread that no answer has to wait for; the end of the program waits `LEAVING_S` at most."""

    answer: Any = None

    def __init__(self, archive: Archive, question: Callable[[DuckDBPyConnection], Any], asker: str) -> None:
        super().__init__(name="asking the archive", daemon=True)
        self.answered = Event()
        self.asked = False
        self.failure: Exception | None = None
        self._archive, self._question, self._asker = archive, question, asker
        self._cursor: DuckDBPyConnection | None = None
        self._given_up = False

    def run(self) -> None:
        """Ask; without any other run the archive is not asked: loading DuckDB takes 0.3 s and 60 MB."""
        atexit.register(self._leave)
        try:
            if self._archive.known().keys() - {self._asker}:
                with self._archive.connection() as self._cursor:
                    if not self._given_up:
                        self.answer, self.asked = self._question(self._cursor), True
        except Exception as failure:  # noqa: BLE001 - whatever is wrong with the archive, the caller's answer stands
            self.failure = failure
        finally:
            atexit.unregister(self._leave)
            self.answered.set()

    def stop(self) -> None:
        """End a question that takes too long, or never ask it."""
        self._given_up = True
        if self._cursor is not None:
            self._cursor.interrupt()

    def _leave(self) -> None:
        self.stop()
        self.join(LEAVING_S)
