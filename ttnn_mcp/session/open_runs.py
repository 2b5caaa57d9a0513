"""The runs held in memory, and those being read: each is read once, however many ask, and waits for no other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.pair import Pair, Stamps

KEPT_OPEN = 4  # runs held in memory; a million rows are some hundred MB


class Opening(NamedTuple):
    """What is read: a run's reports as they are now."""

    id: str
    pair: Pair
    stamps: Stamps


class OpenRuns:
    """Runs by what was read for them, the latest asked for last."""

    def __init__(self, most: int = KEPT_OPEN) -> None:
        self._most = most
        self._held: dict[Opening, Run] = {}
        self._reading: dict[Opening, asyncio.Task[Run]] = {}

    async def run(self, opening: Opening, read: Callable[[], Coroutine[object, object, Run]]) -> Run:
        """The run, from memory or read now. Who stops waiting does not stop the reading for the others.

        Raises:
            ReportError: whatever reading raises.
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
        if task.cancelled() or task.exception() is not None:  # asked for, so that asyncio does not complain
            return
        for older in [each for each in self._held if each.id == opening.id]:
            del self._held[older]
        self._held[opening] = task.result()
        while len(self._held) > self._most:
            del self._held[next(iter(self._held))]
