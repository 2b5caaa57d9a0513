"""What one operation's captured graph tells, as small records in the order it happened."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Literal, NamedTuple

from ttnn_mcp.readers.printed.memory_config import CoreRange
from ttnn_mcp.records import dataclass

NOT_SAID = -1  # numbers are -1 where the graph does not say
NO_OP = -1


class MemoryEvent(NamedTuple):
    """One thing that happened to memory. Immutable and cheap: a run has hundreds of thousands.

    `kind`: a tensor buffer came (`allocate`) or went (`free`), a buffer of a program came on every core of `ranges`
    (`circular`: circular buffers, dataflow buffers, scratchpads), the buffers of the program before went (`clear`),
    or a device op came to its end (`end`), and its program's buffers with it.
    """

    kind: Literal["allocate", "free", "circular", "clear", "end"]
    device_op: int
    """Index into `GraphMemory.device_ops`; NO_OP outside all of them."""
    device: int = NOT_SAID
    key: int = NOT_SAID
    """Where the buffer lies (`spaces.key_of`)."""
    buffer: int = NOT_SAID
    """Code of BUFFER_TYPES; before 2026 L1_SMALL is told as L1."""
    size_bytes: int = NOT_SAID
    """All of a tensor buffer; of a program's buffer, what it takes on one core."""
    bytes_per_bank: int = NOT_SAID
    """In the fullest bank."""
    ranges: tuple[CoreRange, ...] = ()
    over_tensor: bool | None = None
    """Whether a program's buffer lies on a tensor and takes nothing more; None in 2024, when nobody said."""

    @property
    def address(self) -> int:
        """Offset within the bank."""
        return self.key // 2


@dataclass(slots=True)
class DeviceOp:
    """One device op of a graph.

    Attributes:
        ended_at: the node at which it ended well; NOT_SAID where it was aborted or never ended.
        executed: its program was put on the queue (`program_execution`, schema 3.5 on).
        buffers: circular buffers, dataflow buffers and scratchpads that the graph shows, those over tensors too.
        cached: whether its program came from the program cache (`program_cache_hit`, since TTNN 0.78).
        call: name, program factory, attributes and operands, as one number: a later launch of the program has the same.
        started_at: the node at which it started.
    """

    name: str
    ended_at: int = NOT_SAID
    executed: bool = False
    buffers: int = 0
    cached: bool | None = None
    call: int = 0
    started_at: int = NOT_SAID

    @property
    def completed(self) -> bool:
        """Whether it ran to its end."""
        return self.ended_at >= 0


@dataclass(frozen=True, slots=True)
class GraphError:
    """An exception the capture saw; foreign text."""

    at: int
    operation: str
    kind: str
    message: str


@dataclass(slots=True)
class GraphMemory:
    """What one top-level operation did to memory, in order.

    Attributes:
        device_ops: in the order they started.
        errors: exceptions the capture saw.
        aborted: names of the scopes that ended by an exception.
        unfinished: names of the scopes that never ended, outermost first.
        failed_at: number of events before the first exception; None where there was none.
        nodes: of the graph, for what is rarely asked of them.
    """

    events: list[MemoryEvent] = field(default_factory=list[MemoryEvent])
    device_ops: list[DeviceOp] = field(default_factory=list[DeviceOp])
    errors: list[GraphError] = field(default_factory=list[GraphError])
    aborted: list[str] = field(default_factory=list[str])
    unfinished: list[str] = field(default_factory=list[str])
    failed_at: int | None = None
    nodes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]], repr=False)

    @property
    def completed(self) -> list[DeviceOp]:
        """Device ops that ran to their end, in the order they started."""
        return [one for one in self.device_ops if one.completed]


def is_device_op(name: str) -> bool:
    """Whether a scope's name is a device op's (ttnn-visualizer's rule); such names equal the CSV's OP CODE."""
    return bool(name) and "::" not in name and "ttnn." not in name and "(torch)" not in name
