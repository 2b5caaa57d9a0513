"""The runs held in memory and those being read. A run is read once, however many ask, and waits for no other run."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.session.registry import stamps_of

if TYPE_CHECKING:
    from ttnn_mcp.readers.kept_files import KeptFiles
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.registry import KnownRun, Pair, Stamps

KEPT_OPEN = 4  # runs held in memory; a million rows take a few hundred MB


class Opening(NamedTuple):
    """One state of a run's reports: the key under which the run is held."""

    id: str
    pair: Pair
    stamps: Stamps


async def read_unchanged(known: KnownRun, stamps: Stamps, kept: KeptFiles) -> Run:
    """The run, read from reports that are still the ones with these stamps.

    Raises:
        ReportError: one cannot be read, or changed meanwhile.
    """
    from ttnn_mcp.session.opening import read_run  # noqa: PLC0415 - numpy and pandas load with the first report

    try:
        run = await read_run(known.id, known.name, known.performance, known.memory, known.rank, kept=kept)
    except MemoryError:
        raise ReportBroken(
            f"Memory ran short while run '{shown(known.name)}' was read. Ask again when other questions are "
            "answered, or on a machine with more of it."
        ) from None
    if await asyncio.to_thread(stamps_of, known.pair) != stamps:
        raise ReportBroken(
            f"The report of run '{shown(known.name)}' changed while it was read. Wait until the run has ended, "
            "then ask again."
        )
    return run


class OpenRuns:
    """Open runs by the state of their reports; the one that was asked for last is the last to be dropped."""

    def __init__(self, most: int = KEPT_OPEN) -> None:
        self._most = most
        self._held: dict[Opening, Run] = {}
        self._reading: dict[Opening, asyncio.Task[Run]] = {}

    async def run(self, opening: Opening, read: Callable[[], Coroutine[object, object, Run]]) -> Run:
        """The run, from memory or read now. A caller that stops waiting does not stop the reading for others.

        Raises:
            ReportError: reading raised it.
        """
        if opening in self._held:
            self._held[opening] = self._held.pop(opening)
            return self._held[opening]
        task = self._reading.get(opening)
        if task is None:
            task = self._reading[opening] = asyncio.create_task(read())
            task.add_done_callback(lambda done: self._finished(opening, done))
        return await asyncio.shield(task)

    def _finished(self, opening: Opening, task: asyncio.Task[Run]) -> None:
        self._reading.pop(opening, None)
        # asyncio complains about exceptions that nobody looks at
        if task.cancelled() or task.exception() is not None:
            return
        before = len(self._held)
        self._held = {held: run for held, run in self._held.items() if held.id != opening.id}
        self._held[opening] = task.result()
        while len(self._held) > self._most:
            del self._held[next(iter(self._held))]
        if len(self._held) <= before:  # unmoved: where none was dropped there is only nothing to collect
            # what was computed about a run refers to it, and is held by it: a few objects with hundreds of MB, which
            # Python would keep until it has made tens of thousands of others. This takes some 3 ms.
            gc.collect()
