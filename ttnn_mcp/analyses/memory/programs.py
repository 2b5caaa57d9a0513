"""Programs whose buffers the report leaves out, and what is known of them from elsewhere.

A program that comes from the program cache shows none (TTNN 0.66 on), nor does a Metal 2.0 program in a dispatched
capture (dataflow buffers, 0.78 on), nor any program under slow dispatch. A cached program has the buffers that it
had when it was first launched.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ttnn_mcp.readers.graph.graph_events import GraphMemory, MemoryEvent


class Programs:
    """The device ops of a run, and which of them show no buffers.

    Attributes:
        launched: device ops that ran to their end.
        silent: by name, those of them that show no buffers at all.
        unknown: by name, those of the silent ones whose buffers nothing tells.
        carried: silent ones that have the buffers of their first launch.
    """

    def __init__(self) -> None:
        self.launched = 0
        self.silent: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.carried = 0
        self._first: dict[int, int] = {}

    def supplied(self, graph: GraphMemory) -> dict[int, int]:
        """By device op of the graph, bytes per core of the programs it leaves out and that are known."""
        found: dict[int, int] = {}
        for number, one in enumerate(graph.device_ops):
            self.launched += one.completed
            if one.buffers or not one.completed:
                continue
            self.silent[one.name] += 1
            known = self._first.get(one.call) if one.call and one.cached is not False else None
            if known is None:
                self.unknown[one.name] += 1
            else:
                found[number] = known
                self.carried += 1
        return found

    def learn(self, graph: GraphMemory, loads: Mapping[int, int]) -> None:
        """Remember what the programs of a graph took on the fullest core; of several the most."""
        for number, one in enumerate(graph.device_ops):
            if one.buffers and one.call:
                self._first[one.call] = max(self._first.get(one.call, 0), loads.get(number, 0))


def ran(graph: GraphMemory) -> Sequence[MemoryEvent]:
    """The events of a graph without the buffers of refused programs: those are a wish, never memory in use.

    A program was refused where the operation failed and the device op neither ended nor was put on the queue. An
    operation that was cut off without an exception was running: its buffers count.
    """
    if not graph.aborted and not graph.errors:
        return graph.events
    refused = {number for number, one in enumerate(graph.device_ops) if not one.completed and not one.executed}
    return [one for one in graph.events if one.kind != "circular" or one.device_op not in refused]
