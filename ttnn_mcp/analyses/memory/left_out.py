"""A program whose buffers the graph leaves out, while its operation is replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from ttnn_mcp.readers.graph.launches import Launch
    from ttnn_mcp.readers.memory.report import MemoryReport


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes per core between the first program buffer and the lowest L1 tensor: some programs fit themselves to it.

    Attributes:
        before: before the device op placed its outputs.
        running: while its program ran.
    """

    before: int
    running: int


class Models(Protocol):
    """Models of what the programs of one run take of L1 for their circular and dataflow buffers."""

    def bytes_per_core(self, launch: Launch, operation: int, room: Room) -> int | None:
        """Bytes on the fullest core; None where no model is honest."""
        ...


@dataclass(frozen=True, slots=True)
class ProgramModels:
    """Where a run's models come from: they are above this room, so `Run.kept` brings them here."""

    of_report: Callable[[MemoryReport], Awaitable[Models | None]]


@dataclass(slots=True)
class LeftOut:
    """A program whose buffers the graph leaves out.

    Attributes:
        name: of its device op.
        operation: that launched it.
        carried: bytes per core of its first launch; None where nobody saw them.
        launch: what the graph prints of it; None where that is not needed, or not printed.
        bytes_found: bytes per core that were found for it.
    """

    name: str
    operation: int
    carried: int | None
    launch: Launch | None
    models: Models | None
    bytes_found: int | None = field(default=None)

    def bytes_per_core(self, room: Room) -> int:
        """What it takes, as far as anybody knows."""
        size = self.carried
        if size is None and self.launch is not None and self.models is not None:
            size = self.models.bytes_per_core(self.launch, self.operation, room)
        self.bytes_found = size
        return size or 0


class Completing:
    """The L1 level of one operation on one device, completed by the programs that its graph leaves out.

    Args:
        left_out: by device op.
        room: tells the bytes per core below the lowest tensor, now.
        level: the level that it begins with.
    """

    def __init__(self, left_out: Mapping[int, LeftOut], room: Callable[[], int], level: int) -> None:
        self.level = level
        self._left_out = left_out
        self._room = room
        self._before: dict[int, int] = {}

    def goes_on(self, device_op: int) -> None:
        """Something of a device op happens: the first time nothing has been placed for it yet."""
        if device_op in self._left_out and device_op not in self._before:
            self._before[device_op] = self._room()

    def ends(self, device_op: int, tensors: int) -> None:
        """A device op is over; its tensors are still there."""
        if device_op in self._left_out:
            room = Room(self._before[device_op], self._room())
            self.level = max(self.level, tensors + self._left_out[device_op].bytes_per_core(room))
