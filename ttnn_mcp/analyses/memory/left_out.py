"""Programs whose buffers the graph leaves out, while their operation is replayed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.readers.graph.launches import Launch
    from ttnn_mcp.readers.memory.report import MemoryReport


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
