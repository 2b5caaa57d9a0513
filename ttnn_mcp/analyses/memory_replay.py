"""The memory of a run, replayed once and kept: levels per operation, the life of every buffer, what went wrong.

Graphs are streamed from the report, some dozens at a time, and parsed in a thread; none is kept.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from ttnn_mcp.analyses.l1_limit import l1_limit
from ttnn_mcp.analyses.l1_replay import BEYOND, Differences, Lane, Levels
from ttnn_mcp.analyses.lifetimes import Lifetimes, keys_written, lifetimes_of
from ttnn_mcp.analyses.snapshots import DRAM, L1, L1_SMALL, snapshots_of
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph_memory import NOT_SAID, read_graph_memory

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.snapshots import Snapshots
    from ttnn_mcp.analyses.spans import Spans
    from ttnn_mcp.readers.graph_events import GraphError
    from ttnn_mcp.readers.graph_memory import GraphMemory, MemoryEvent
    from ttnn_mcp.readers.memory_columns import Device, Integers
    from ttnn_mcp.readers.memory_db import MemoryReport
    from ttnn_mcp.run.run import Run

_BATCH = 256  # graphs parsed per trip to a thread
_TROUBLES = 100  # operations whose errors are kept


@dataclass(frozen=True, slots=True)
class Trouble:
    """What the graph of one operation says went wrong; names and messages are foreign text."""

    errors: tuple[GraphError, ...]
    aborted: tuple[str, ...]
    unfinished: tuple[str, ...]


@dataclass(frozen=True)
class DeviceReplay:
    """One device. Arrays have one entry per operation, in the order they ran; bytes are per bank.

    Attributes:
        device: its id; None where the report names no device.
        l1: the most L1 in use within the operation: tensors and, beside them, circular buffers.
        tensors: the tensors' part of it, L1_SMALL not counted.
        circular: the circular buffers' part, on the fullest core.
        floor: what the snapshot after the operation shows; no more than that is known without graphs.
        followed: graphs speak of this device; else its levels are floors.
    """

    device: int | None
    l1: Integers
    tensors: Integers
    circular: Integers
    small: Integers
    dram: Integers
    floor: Integers
    spans: Spans
    differences: Differences
    followed: bool

    @property
    def peak(self) -> int:
        """Place of the operation with most L1 in use, the first of equals."""
        return int(np.argmax(self.l1)) if len(self.l1) else 0


@dataclass(frozen=True)
class Replayed:
    """The memory of a run.

    Attributes:
        operations: ids in the order they ran; everything else counts places in it.
        devices: the device with the highest L1 peak first.
        captured: per operation, whether its graph was replayed.
        launched: per operation, whether it started a device op (without a graph: whether it may have).
        capacity_bytes: of an L1 bank, shared by tensors and circular buffers; None where nobody says.
        small_capacity_bytes: of the L1_SMALL region of a bank.
        broken: graphs that could not be read.
        troubles: by place.
        unsized: L1 buffers nobody could size, on the device with the highest peak.
    """

    operations: Integers
    devices: tuple[DeviceReplay, ...]
    captured: NDArray[np.bool_]
    launched: NDArray[np.bool_]
    checked: int
    capacity_bytes: int | None
    small_capacity_bytes: int | None
    broken: int
    troubles: dict[int, Trouble]
    memory: MemoryReport = field(repr=False)

    @property
    def fullest(self) -> DeviceReplay:
        """The device with the highest L1 peak."""
        return self.devices[0]

    @cached_property
    def lifetimes(self) -> Lifetimes:
        """Tensors on the buffers of the fullest device: who made, last used and freed them."""
        return lifetimes_of(self.memory, self.operations, self.fullest.spans, self.launched)

    def place(self, operation: int) -> int | None:
        """Place of an operation id; None where there is none."""
        return self.memory.operations.row(operation)

    def headroom_at(self, operation: int) -> int | None:
        """Bytes per bank that were free at the operation's fullest moment; None where that is not known.

        Where no graph was captured it is an upper bound: `captured` tells.
        """
        place = self.place(operation)
        if place is None or self.capacity_bytes is None:
            return None
        return self.capacity_bytes - int(self.fullest.l1[place])

    @property
    def floor_because(self) -> str | None:
        """Why the peak is only a floor: 'no_graphs', 'some_graphs', 'unsized'; None where it is the peak."""
        if not self.captured.any():
            return "no_graphs"
        if (self.launched & ~self.captured).any():
            return "some_graphs"
        return "unsized" if self.fullest.differences.unsized else None


_kept: WeakKeyDictionary[Run, Replayed] = WeakKeyDictionary()


def replayed(run: Run) -> Replayed | None:
    """The replay of a run, if `replay_of` has been awaited before."""
    return _kept.get(run)


async def replay_of(run: Run) -> Replayed:
    """Replay a run's memory report; once per run.

    Raises:
        QuestionRefused: the run has no memory report.
    """
    known = _kept.get(run)
    if known is None:
        limit = l1_limit(run)
        known = _kept[run] = await _replay(run.remembered, limit.limit_bytes if limit else None)
    return known


async def _replay(memory: MemoryReport, limit_bytes: int | None) -> Replayed:
    buffers = await memory.buffers()
    graphs = "captured_graph" in memory.has
    replay = await asyncio.to_thread(_Replay, memory, buffers, graphs=graphs)
    del buffers
    batch: list[tuple[int, str]] = []
    async for one in memory.iter_graphs():
        batch.append(one)
        if len(batch) == _BATCH:
            await asyncio.to_thread(replay.feed, batch)
            batch = []
    await asyncio.to_thread(replay.feed, batch)
    return await asyncio.to_thread(replay.finished, limit_bytes)
