"""What one operation's captured graph tells, as small typed records in the order it happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.memory_config import BufferType, CoreRange


@dataclass(frozen=True, slots=True)
class Scope:
    """A function the capture saw start: a ttnn call, a C++ helper of it, or a device op.

    Attributes:
        start: position of its start among the graph's nodes.
        end: position of its end; None = it never ended.
        aborted: it ended by an exception.
        parent: index, among all scopes, of the scope around it.
        inputs: ids of the tensors the graph shows going in; older graphs show few.
        outputs: ids of the tensors it shows coming out.
    """

    name: str
    start: int
    end: int | None
    aborted: bool
    parent: int | None
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def completed(self) -> bool:
        """Whether it ran to its end."""
        return self.end is not None and not self.aborted

    @property
    def on_device(self) -> bool:
        """Whether it is a device op."""
        return is_device_op(self.name)


@dataclass(frozen=True, slots=True)
class BufferAllocated:
    """A tensor buffer came to life; `bytes_per_bank` is what it takes in the fullest bank, None where untold."""

    at: int
    device_op: int | None
    """Index into the graph's device ops; None outside all of them."""
    device: int | None
    buffer: BufferType | None
    layout: str | None
    address: int | None
    size_bytes: int | None
    bytes_per_bank: int | None


@dataclass(frozen=True, slots=True)
class BufferFreed:
    """A tensor buffer was given back. In 2024 the node names no address: it is the allocation's then."""

    at: int
    device_op: int | None
    device: int | None
    buffer: BufferType | None
    address: int | None
    size_bytes: int | None
    bytes_per_bank: int | None


@dataclass(frozen=True, slots=True)
class CircularBufferAllocated:
    """A circular buffer on every core of `ranges`; one on top of a tensor (`aliases_tensor`) takes nothing more."""

    at: int
    device_op: int | None
    device: int | None
    address: int | None
    bytes_per_core: int
    ranges: tuple[CoreRange, ...]
    aliases_tensor: bool


@dataclass(frozen=True, slots=True)
class CircularBuffersFreed:
    """All circular buffers of the device so far are gone."""

    at: int
    device_op: int | None
    device: int | None


@dataclass(frozen=True, slots=True)
class GraphError:
    """An exception the capture saw; foreign text."""

    at: int
    operation: str
    kind: str
    message: str


Event = BufferAllocated | BufferFreed | CircularBufferAllocated | CircularBuffersFreed


@dataclass(frozen=True, slots=True)
class CapturedGraph:
    """One top-level operation: its scopes in start order, and its allocations in the order they happened."""

    scopes: tuple[Scope, ...]
    events: tuple[Event, ...]
    errors: tuple[GraphError, ...]

    @property
    def device_ops(self) -> tuple[Scope, ...]:
        """Device ops in start order, unfinished ones included; `Event.device_op` counts in it."""
        return tuple(scope for scope in self.scopes if scope.on_device)

    @property
    def started(self) -> tuple[Scope, ...]:
        """Completed device ops in start order."""
        return tuple(scope for scope in self.scopes if scope.on_device and scope.completed)

    @property
    def ended(self) -> tuple[Scope, ...]:
        """Completed device ops in end order."""
        return tuple(sorted(self.started, key=lambda scope: scope.end or 0))

    @property
    def calls(self) -> tuple[Scope, ...]:
        """The ttnn calls, outermost first: `ttnn.conv2d`, and `ttnn::...` from C++."""
        return tuple(scope for scope in self.scopes if scope.name.startswith(("ttnn.", "ttnn::")))


def is_device_op(name: str) -> bool:
    """Whether a scope's name is a device op's (ttnn-visualizer's rule); such names equal the CSV's OP CODE."""
    return bool(name) and "::" not in name and "ttnn." not in name and "(torch)" not in name
