"""The records of a device's replay, and the events of an operation as the replay reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from ttnn_mcp.analyses.memory.core_load import Circular
from ttnn_mcp.readers.graph.graph_events import MemoryEvent
from ttnn_mcp.readers.memory.spaces import L1, L1_SMALL
from ttnn_mcp.records import dataclass


@dataclass(slots=True)
class Differences:
    """Where graphs and snapshots differ.

    Attributes:
        came: buffers that a snapshot after the first shows and no graph allocated.
        went: buffers that a snapshot no longer shows and no graph freed.
        contradicted: buffers with another size or type in the graph than in its snapshot, or live in only one of them.
        before: operands that nothing in the report allocates, counted from the start.
        unsized: L1 buffers counted with a lower bound, because their bytes per bank are unknown.
    """

    came: int = 0
    went: int = 0
    contradicted: int = 0
    before: int = 0
    unsized: int = 0


@dataclass(frozen=True, slots=True)
class Fullest:
    """The buffers in memory when an operation used most of L1.

    Attributes:
        rows: of the lane's spans.
        device_op: index of the graph's running device op; -1 outside all of them.
        left_out_bytes: per core, of its program, if the graph shows none of its buffers.
    """

    rows: tuple[int, ...]
    marked: tuple[tuple[list[Circular], int], ...]
    device_op: int
    left_out_bytes: int = 0

    @property
    def circular(self) -> tuple[Circular, ...]:
        """The buffers of programs."""
        return tuple(buffer for buffers, count in self.marked for buffer in buffers[:count])


@dataclass(slots=True)
class Levels:
    """Per operation, bytes per bank at the fullest moment within it; `l1` = `tensors` + the buffers of programs.

    `recorded` is the most without the programs whose buffers the report leaves out. `filled_by` is the device op of
    such a program, if it makes the fullest moment; otherwise -1. `by_model`: that program's bytes are a model's.
    """

    l1: list[int] = field(default_factory=list[int])
    tensors: list[int] = field(default_factory=list[int])
    small: list[int] = field(default_factory=list[int])
    dram: list[int] = field(default_factory=list[int])
    recorded: list[int] = field(default_factory=list[int])
    filled_by: list[int] = field(default_factory=list[int])
    by_model: list[bool] = field(default_factory=list[bool])

    def add(self, l1: tuple[int, int, int, bool], small: int, dram: int, recorded: int) -> None:
        """Those of one more operation; `l1`: level, tensors in it, device op that filled it, whether by a model."""
        level, tensors, filled_by, by_model = l1
        self.l1.append(level)
        self.tensors.append(tensors)
        self.small.append(small)
        self.dram.append(dram)
        self.recorded.append(recorded)
        self.filled_by.append(filled_by)
        self.by_model.append(by_model)

    def add_to_all(self, buffer: int, size: int) -> None:
        """Count a buffer in every operation so far: it was there all the time."""
        columns = {L1: (self.l1, self.tensors, self.recorded), L1_SMALL: (self.small,)}.get(buffer, (self.dram,))
        for column in columns:
            column[:] = [level + size for level in column]


class Step:
    """One operation's events, and the first and last event of each address."""

    __slots__ = ("events", "failed", "first", "last", "nameless")

    def __init__(self, events: Sequence[MemoryEvent], *, failed: bool = False) -> None:
        self.events, self.failed = events, failed
        buffers = [(event.key, index) for index, event in enumerate(events) if event.kind in _OF_BUFFERS]
        self.last = dict(buffers)
        self.first = dict(reversed(buffers))
        self.first.pop(-1, None)
        self.last.pop(-1, None)
        self.nameless = any(event.kind == "free" and event.key < 0 for event in events)
        """Whether a buffer was freed and the graph does not tell which (2024)."""


_OF_BUFFERS = frozenset({"allocate", "free"})
