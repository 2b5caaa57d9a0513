"""The ops of an open run beside the same work in earlier runs. Never keeps an answer waiting.

An archive's answer that comes too late, or none, is no answer.
"""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Callable, Mapping
from functools import cache
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ttnn_mcp.archive.precedents import Alike, compared, earlier_of, timing_of
from ttnn_mcp.archive.rows import Kinds, run_key_of
from ttnn_mcp.archive.settings_apart import Setup
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import first_rows, numbered

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from ttnn_mcp.archive.precedents import Precedent, Timing
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run


T = TypeVar("T")
PATIENCE_S = 1.0  # the first question loads DuckDB, 0.2 s; a later one takes 0.02 s, and 0.2 s of ten million ops
RESTING_S = 60.0  # after an answer that came too late: the next ones do not wait again (ours)
LEAVING_S = (
    5.0  # for a question that was given up to end: the engine may not return into a Python that is being torn down
)
_log = logging.getLogger(__name__)
_resting: dict[str, float] = {}  # until when an archive is not asked, by its place
WORK_AT_MOST = 200  # kinds of work asked for at once, the heaviest: an answer names fewer


class Remembered(NamedTuple):
    """One op beside the same work in earlier runs.

    Attributes:
        ours: the ops of the asking run that do the same work with the same settings.
        precedents: what earlier runs took, the fastest settings first.
    """

    ours: Timing
    precedents: tuple[Precedent, ...]


def remembered(run: Run, ops: OpTable, lines: Integers) -> Mapping[int, Remembered]:
    """What earlier runs took for the work of the ops of `ops` at some lines, by line; empty without an archive.

    Ops whose work no earlier run did are left out, and so is all but the heaviest work.
    """
    archive, arch, clock_ghz = run.kept.get(Archive), run.chip.arch, run.chip.clock_ghz
    if archive is None or arch is None or clock_ghz is None or not len(lines):
        return {}

    try:
        run_key = run_key_of(run)
    except ReportMissing:  # since it was opened
        return {}
    alike = Alike(run_key, arch, clock_ghz * 1e3, len(run.performance_report.devices))

    def question(cursor: DuckDBPyConnection) -> Mapping[int, Remembered]:
        return _beside(cursor, ops, lines, alike)

    return in_time(archive, question, {}, asker=run_key)


def _beside(cursor: DuckDBPyConnection, ops: OpTable, lines: Integers, alike: Alike) -> dict[int, Remembered]:
    work, kernel_ns = signatures(ops), ops.numbers("kernel_ns")
    heaviest = _heaviest(work, kernel_ns, np.isin(ops.lines, lines))
    places = np.flatnonzero(np.isin(work, heaviest) & (kernel_ns > 0))  # as for the earlier ones
    if not len(places):
        return {}
    part = ops.take(places)
    kinds = Kinds(part, alike.arch)
    entries = earlier_of(cursor, kinds.signature.tolist(), alike)
    number = numbered(len(part), [kinds.signature, kinds.settings_hash])
    kernel_us = part.numbers("kernel_ns") / 1e3
    beside: dict[int, Remembered] = {}
    for kind, first in enumerate(first_rows(number).tolist()):
        earlier = entries.get(int(kinds.signature[first]))
        if earlier:
            same = number == kind
            ours = timing_of(kernel_us[same])
            setup = Setup(kinds.settings[first] or None, kinds.fidelity[first] or None)
            precedents = tuple(compared(ours, setup, int(kinds.settings_hash[first]), earlier))
            beside |= dict.fromkeys(
                part.lines[same & np.isin(part.lines, lines)].tolist(), Remembered(ours, precedents)
            )
    return {line: each for line, each in beside.items() if each.precedents}


def _heaviest(work: Integers, kernel_ns: Floats, asked: Booleans) -> Integers:
    """The kinds of work with the most time in the ops that are asked for."""
    kinds, number = np.unique(work[asked], return_inverse=True)
    time = np.bincount(number, weights=np.nan_to_num(kernel_ns[asked]), minlength=len(kinds))
    return kinds[np.argsort(-time, kind="stable")[:WORK_AT_MOST]]


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
