"""Programs whose buffers the graph leaves out, while their operation is replayed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

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

    def times_listed(self, name: str) -> int:
        """How often a dry capture lists the buffers of a device op under one device."""
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

    @property
    def times_listed(self) -> int:
        """How often a dry capture lists its buffers under one device: a collective's for every chip of a mesh."""
        return self.models.times_listed(self.name) if self.models is not None else 1


class Completing:
    """The L1 level of one operation on one device, with the programs that its graph leaves out.

    Args:
        left_out: by device op.
        room: tells the bytes per core below the lowest tensor, now.
        level: the level that it begins with.

    Attributes:
        level: on one chip.
        listed: with the buffers of a collective on every chip, as dry captures list them under one device.
    """

    def __init__(self, left_out: Mapping[int, LeftOut], room: Callable[[], int], level: int) -> None:
        self.level = self.listed = level
        self._left_out = left_out
        self._room = room
        self._before: dict[int, int] = {}

    def goes_on(self, device_op: int) -> None:
        """Note an event of a device op: at the first one, none of its buffers is placed yet."""
        if device_op in self._left_out and device_op not in self._before:
            self._before[device_op] = self._room()

    def ends(self, device_op: int, tensors: int) -> None:
        """Note the end of a device op; its tensors are still live."""
        if device_op in self._left_out:
            room = Room(self._before[device_op], self._room())
            program = self._left_out[device_op]
            size = program.bytes_per_core(room)
            self.level = max(self.level, tensors + size)
            self.listed = max(self.listed, tensors + size * program.times_listed)
