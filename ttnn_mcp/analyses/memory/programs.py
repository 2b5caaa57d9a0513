"""Programs whose buffers the report leaves out, and what is known of them from elsewhere.

A program that comes from the program cache shows none (TTNN 0.66 on), nor does a Metal 2.0 program in a dispatched
capture (dataflow buffers, 0.78 on), nor any program under slow dispatch. A cached program has the buffers that it
had when it was first launched; of others a model may tell.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ttnn_mcp.readers.graph.launches import launch_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ttnn_mcp.readers.graph.graph_events import GraphMemory, MemoryEvent
    from ttnn_mcp.readers.graph.launches import Launch
    from ttnn_mcp.readers.memory.columns import Tensors


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes per core between the first program buffer and the lowest L1 tensor: some programs fit themselves to it.

    Attributes:
        before: before the device op placed its outputs.
        running: while its program ran.
    """

    before: int
    running: int


class ProgramModels(Protocol):
    """Models of what programs take of L1 for their circular and dataflow buffers. `Run.kept` holds those of a run."""

    def bytes_per_core(self, launch: Launch, operation: int, room: Room) -> int | None:
        """Bytes on the fullest core; None where no model is honest."""
        ...


@dataclass(slots=True)
class LeftOut:
    """A program whose buffers the graph leaves out.

    Attributes:
        name: of its device op.
        operation: that launched it.
        carried: bytes per core of its first launch; None where nobody saw them.
        launch: what the graph prints of it; None where that is not needed, or not printed.
        told: bytes per core that were found for it.
    """

    name: str
    operation: int
    carried: int | None
    launch: Launch | None
    models: ProgramModels | None
    told: int | None = field(default=None)

    def bytes_per_core(self, before: int, running: int) -> int:
        """What it takes, as far as anybody knows.

        Args:
            before: room for it before it placed its outputs; `running`: while it ran.
        """
        found = self.carried
        if found is None and self.launch is not None and self.models is not None:
            found = self.models.bytes_per_core(self.launch, self.operation, Room(before, running))
        self.told = found
        return found or 0


class Programs:
    """The device ops of a run, and which of them show no buffers.

    Attributes:
        launched: device ops that ran to their end.
        silent: by name, those of them that show no buffers at all.
        unknown: by name, those of the silent ones whose buffers nothing tells.
        carried: silent ones that have the buffers of their first launch.
        modelled: silent ones that have the buffers of a model.
    """

    def __init__(self, tensors: Tensors, models: ProgramModels | None) -> None:
        self.launched = 0
        self.silent: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.carried = 0
        self.modelled = 0
        self._tensors = tensors
        self._models = models
        self._first: dict[int, int] = {}

    def left_out(self, graph: GraphMemory, operation: int) -> dict[int, LeftOut]:
        """By device op of the graph, the programs whose buffers it leaves out."""
        found: dict[int, LeftOut] = {}
        for number, one in enumerate(graph.device_ops):
            self.launched += one.completed
            if one.buffers or not one.completed:
                continue
            self.silent[one.name] += 1
            known = self._first.get(one.call) if one.call and one.cached is not False else None
            launch = launch_of(graph, number, self._tensors) if known is None and self._models is not None else None
            found[number] = LeftOut(one.name, operation, known, launch, self._models)
        return found

    def count(self, programs: Iterable[LeftOut]) -> None:
        """Take in what was found for programs that were left out."""
        for one in programs:
            if one.told is None:
                self.unknown[one.name] += 1
            elif one.carried is None:
                self.modelled += 1
            else:
                self.carried += 1

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
