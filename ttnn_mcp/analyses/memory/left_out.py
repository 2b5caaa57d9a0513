"""Programs whose buffers the report leaves out, and what other sources tell of them.

Three kinds of programs show no buffers: those from the program cache (TTNN 0.66 on), Metal 2.0 programs in a dispatched
capture (dataflow buffers, 0.78 on), and all programs under slow dispatch. A cached program has the buffers of its first
launch. For the others there may be a model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from ttnn_mcp.readers.graph.graph_events import GraphMemory, MemoryEvent
from ttnn_mcp.readers.graph.launches import Launch, launch_of
from ttnn_mcp.readers.memory.columns import Tensors
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes per core between the first program buffer and the lowest L1 tensor: some programs adapt to it.

    Attributes:
        before: before the device op placed its outputs.
        running: while its program ran.
    """

    before: int
    running: int


class Models(Protocol):
    """Models of the L1 that the programs of one run take for circular and dataflow buffers."""

    def bytes_per_core(self, launch: Launch, operation: int, room: Room) -> int | None:
        """Bytes on the fullest core; None if no model is exact."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramModels:
    """The key under which `Run.kept` holds a run's models: this room must not import theirs."""

    of_report: Callable[[MemoryReport], Awaitable[Models | None]]


@dataclass(slots=True)
class LeftOut:
    """A program whose buffers the graph leaves out.

    Attributes:
        name: of its device op.
        operation: the operation that launched it.
        carried: bytes per core of its first launch; None if unknown.
        launch: what the graph prints of it; None if that is not needed, or not printed.
        bytes_found: bytes per core that `carried` or a model gave for it.
    """

    name: str
    operation: int
    carried: int | None
    launch: Launch | None
    models: Models | None
    bytes_found: int | None = field(default=None)

    def bytes_per_core(self, room: Room) -> int:
        """Bytes per core that it takes, as far as known."""
        size = self.carried
        if size is None and self.launch is not None and self.models is not None:
            size = self.models.bytes_per_core(self.launch, self.operation, room)
        self.bytes_found = size
        return size or 0


class Completing:
    """The programs that the graph of one operation leaves out, on one device.

    Args:
        left_out: by device op.
        room: tells the bytes per core below the lowest tensor, now.
    """

    def __init__(self, left_out: Mapping[int, LeftOut], room: Callable[[], int]) -> None:
        self._left_out = left_out
        self._room = room
        self._before: dict[int, int] = {}

    def goes_on(self, device_op: int) -> None:
        """Note an event of a device op: at the first one, none of its buffers is placed yet."""
        if device_op in self._left_out and device_op not in self._before:
            self._before[device_op] = self._room()

    def ends(self, device_op: int) -> int:
        """Bytes per core of a device op's program that the graph leaves out, at its end; 0 if unknown or shown."""
        if device_op not in self._left_out:
            return 0
        return self._left_out[device_op].bytes_per_core(Room(self._before[device_op], self._room()))


class Programs:
    """The device ops of a run, and those that show no buffers.

    Attributes:
        launched: number of device ops that ended.
        silent: by name, how many of them show no buffers at all.
        unknown: by name, how many of the silent ones have unknown buffers.
        unknown_at: the operations that launched these.
        carried: number of silent ones that take the buffers of their first launch.
        modelled: number of silent ones that take the buffers of a model.
    """

    def __init__(self, tensors: Tensors, models: Models | None) -> None:
        self.launched = 0
        self.silent: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        self.unknown_at: set[int] = set()
        self.carried = 0
        self.modelled = 0
        self._tensors = tensors
        self._models = models
        self._first: dict[int, int] = {}
        self._launches: dict[int, Launch] = {}

    def left_out(self, graph: GraphMemory, operation: int) -> dict[int, LeftOut]:
        """By device op of the graph, the programs whose buffers it leaves out."""
        left_out: dict[int, LeftOut] = {}
        for number, device_op in enumerate(graph.device_ops):
            self.launched += device_op.completed
            if device_op.buffers or not device_op.completed:
                continue
            self.silent[device_op.name] += 1
            known = self._first.get(device_op.call) if device_op.cached is not False else None
            launch = self._launch(graph, number) if known is None and self._models is not None else None
            left_out[number] = LeftOut(device_op.name, operation, known, launch, self._models)
        return left_out

    def _launch(self, graph: GraphMemory, number: int) -> Launch:
        """What the graph prints of a device op; parsed once for all launches that print the same."""
        call = graph.device_ops[number].call
        if call not in self._launches:
            launch = launch_of(graph, number, self._tensors)
            if not call or "unsupported type" in launch.attributes:
                return launch  # launches without attributes look the same
            self._launches[call] = launch
        return self._launches[call]

    def count(self, programs: Iterable[LeftOut]) -> None:
        """Count what was found for programs that were left out."""
        for program in programs:
            if program.bytes_found is None:
                self.unknown[program.name] += 1
                self.unknown_at.add(program.operation)
            elif program.carried is None:
                self.modelled += 1
            else:
                self.carried += 1

    def learn(self, graph: GraphMemory, loads: Mapping[int, int]) -> None:
        """Remember the bytes of a graph's programs on the fullest core; for several equal programs the most."""
        for number, launch in enumerate(graph.device_ops):
            if launch.buffers and launch.call:
                self._first[launch.call] = max(self._first.get(launch.call, 0), loads.get(number, 0))


def ran(graph: GraphMemory) -> Sequence[MemoryEvent]:
    """The events of a graph without the buffers of refused programs: these were requested, but never allocated.

    A program was refused where the operation failed and the device op neither ended nor was put on the queue. An
    operation that was cut off without an exception was running: its buffers count.
    """
    if not graph.aborted and not graph.errors:
        return graph.events
    refused = {
        number for number, launch in enumerate(graph.device_ops) if not launch.completed and not launch.executed
    }
    return [event for event in graph.events if event.kind != "circular" or event.device_op not in refused]
