"""The result of a run's memory replay: levels per operation, the life of every buffer, and errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import Spans
from ttnn_mcp.analyses.memory.left_out import Programs
from ttnn_mcp.analyses.memory.lifetimes import Lifetimes
from ttnn_mcp.analyses.memory.replay_records import Differences
from ttnn_mcp.analyses.memory.tensor_spans import lifetimes_of
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.readers.graph.graph_events import GraphError
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.source_lines import SourceLine
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Trouble:
    """The errors in the graph of one operation; names and messages are foreign text."""

    errors: tuple[GraphError, ...]
    aborted: tuple[str, ...]
    unfinished: tuple[str, ...]


@dataclass(frozen=True)
class DeviceReplay:
    """One device. Arrays have one entry per operation, in execution order; bytes are per bank.

    Attributes:
        device: its id; None if the report names no device.
        l1: the most L1 in use within the operation: tensors plus circular buffers. Programs whose buffers the report
            leaves out count as far as they are known from their first launch or a model.
        tensors: the tensors' part of it, L1_SMALL not counted.
        circular: the circular buffers' part, on the fullest core.
        recorded: the most L1 in use by the report alone.
        filled_by: the device op whose buffers the report leaves out and that makes `l1`; -1 if it is no such program.
        by_model: whether a model tells the bytes of that program: `l1` may then be a little too high.
        floor: what the snapshot after the operation shows; no more than that is known without graphs.
        followed: graphs speak of this device; else its levels are floors.
    """

    device: int | None
    l1: Integers
    tensors: Integers
    circular: Integers
    small: Integers
    dram: Integers
    recorded: Integers
    filled_by: Integers
    by_model: Booleans
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
        operations: ids in execution order; a place is an index into them.
        devices: the device with the highest L1 peak first.
        captured: per operation, whether its graph was replayed.
        launched: per operation, whether it started a device op (without a graph: whether it may have).
        capacity_bytes: of an L1 bank, shared by tensors and circular buffers; None if unknown.
        small_capacity_bytes: of the L1_SMALL region of a bank.
        broken: number of graphs that could not be read.
        troubles: by place.
        banks: their number by code of BUFFER_TYPES, where the report tells it.
        programs: device ops, and those whose buffers the report leaves out.
        sources: the model line of every operation id that has one.
        unplaced: whether it is a dry capture: its buffers have no addresses, and their last use stands for their end.
        without_snapshots: the report does not show what is live after its operations: what Python drops counts until
            its address is given out again, and operands that nothing allocates count from the start.
    """

    operations: Integers
    devices: tuple[DeviceReplay, ...]
    captured: Booleans
    launched: Booleans
    capacity_bytes: int | None
    small_capacity_bytes: int | None
    broken: int
    troubles: dict[int, Trouble]
    programs: Programs
    sources: Mapping[int, SourceLine]
    banks: Mapping[int, int]
    unplaced: bool
    without_snapshots: bool
    memory: MemoryReport = field(repr=False)

    @property
    def fullest(self) -> DeviceReplay:
        """The device with the highest L1 peak."""
        return self.devices[0]

    def told_of(self, device: DeviceReplay) -> Replayed:
        """The same of this device alone: what DRAM holds there, and since when."""
        return replace(self, devices=(device,))

    @cached_property
    def lifetimes(self) -> Lifetimes:
        """Tensors on the buffers of the fullest device: which operations made, last used and freed them.

        An operation that never finished does not count among those for which a tensor was held.
        """
        ran = self.launched & np.isfinite(self.memory.operations.duration_s)
        return lifetimes_of(self.memory, self.operations, self.fullest.spans, ran, self.fullest.device)

    def place(self, operation: int) -> int | None:
        """Place of an operation id; None if there is none."""
        return self.memory.operations.row(operation)

    @property
    def floor_because(self) -> str | None:
        """Why the peak is only a lower bound; None if it is the peak.

        'no_graphs', 'some_graphs', 'unsized', 'unplaced' (a dry capture), or 'silent_programs': device ops that show
        no buffers and have no model.
        """
        if not self.captured.any():
            return "no_graphs"
        if (self.launched & ~self.captured).any():
            return "some_graphs"
        if self.fullest.differences.unsized:
            return "unsized"
        if self.unplaced:
            return "unplaced"
        return "silent_programs" if self.programs.unknown else None
