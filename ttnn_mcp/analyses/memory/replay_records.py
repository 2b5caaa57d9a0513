"""The records of a device's replay, and the events of an operation as the replay reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.memory.core_load import Circular
    from ttnn_mcp.readers.graph.graph_events import MemoryEvent


@dataclass(slots=True)
class Differences:
    """Where graphs and snapshots differ.

    Attributes:
        came: buffers that a snapshot after the first shows and no graph allocated.
        went: buffers that a snapshot no longer shows and no graph freed.
        contradicted: buffers with another size or type in the graph than in its snapshot, or live in only one of them.
        unsized: L1 buffers counted with a lower bound, because their bytes per bank are unknown.
    """

    came: int = 0
    went: int = 0
    contradicted: int = 0
    unsized: int = 0


@dataclass(frozen=True, slots=True)
class Fullest:
    """The buffers in memory when an operation used most of L1.

    Attributes:
        rows: of the lane's spans.
        device_op: index of the graph's running device op; -1 outside all of them.
    """

    rows: tuple[int, ...]
    marked: tuple[tuple[list[Circular], int], ...]
    device_op: int

    @property
    def circular(self) -> tuple[Circular, ...]:
        """The buffers of programs."""
        return tuple(buffer for buffers, count in self.marked for buffer in buffers[:count])


@dataclass(slots=True)
class Levels:
    """Per operation, bytes per bank at the fullest moment within it; `l1` = `tensors` + the buffers of programs.

    `completed` is `l1` with the programs whose buffers the report leaves out, as far as they are known elsewhere;
    `listed` counts those of a collective on every chip of the mesh, as TTNN's dry captures list them.
    """

    l1: list[int] = field(default_factory=list[int])
    tensors: list[int] = field(default_factory=list[int])
    small: list[int] = field(default_factory=list[int])
    dram: list[int] = field(default_factory=list[int])
    completed: list[int] = field(default_factory=list[int])
    listed: list[int] = field(default_factory=list[int])

    def add(self, l1: int, tensors: int, small: int, dram: int, completed: tuple[int, int]) -> None:
        """Those of one more operation."""
        self.l1.append(l1)
        self.tensors.append(tensors)
        self.small.append(small)
        self.dram.append(dram)
        self.completed.append(max(l1, completed[0]))
        self.listed.append(max(l1, completed[1]))


class Step:
    """One operation's events, and the first and last event of each address."""

    __slots__ = ("events", "first", "last", "nameless")

    def __init__(self, events: Sequence[MemoryEvent]) -> None:
        self.events = events
        buffers = [(event.key, index) for index, event in enumerate(events) if event.kind in _OF_BUFFERS]
        self.last = dict(buffers)
        self.first = dict(reversed(buffers))
        self.first.pop(-1, None)
        self.last.pop(-1, None)
        self.nameless = any(event.kind == "free" and event.key < 0 for event in events)
        """Whether a buffer was freed and the graph does not tell which (2024)."""


_OF_BUFFERS = frozenset({"allocate", "free"})
