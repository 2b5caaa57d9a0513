"""Replays the memory of a run once and keeps the result.

Graphs are streamed from the report, some megabytes at a time, and parsed in a thread; none is kept.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np

from ttnn_mcp.analyses.memory.device_lane import BEYOND, Lane
from ttnn_mcp.analyses.memory.dram_banks import banks_of, with_aligned_rows
from ttnn_mcp.analyses.memory.l1_limit import first_program_address, l1_limit
from ttnn_mcp.analyses.memory.lanes import Lanes
from ttnn_mcp.analyses.memory.left_out import Models, ProgramModels, Programs, ran
from ttnn_mcp.analyses.memory.replayed import DeviceReplay, Replayed, Trouble
from ttnn_mcp.analyses.memory.shard_bytes import ShardBytes
from ttnn_mcp.analyses.memory.snapshots import Snapshots, snapshots_of
from ttnn_mcp.analyses.memory.tensor_spans import KeysOfTensors, keys_written
from ttnn_mcp.analyses.memory.there_before import ThereBefore
from ttnn_mcp.analyses.memory.unrecorded_frees import DryFrees, UnrecordedFrees
from ttnn_mcp.arrays import Booleans
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.hardware import DRAM_ALIGNMENT_BYTES
from ttnn_mcp.readers.graph.graph_events import GraphMemory
from ttnn_mcp.readers.graph.graph_memory import GraphReader
from ttnn_mcp.readers.memory.columns import Device
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.readers.memory.stream import SnapshotRows, iter_graph_batches, read_snapshots
from ttnn_mcp.readers.source_lines import SourceLine
from ttnn_mcp.run.kept import Kept
from ttnn_mcp.run.run import Run

_under_way: WeakKeyDictionary[Kept, asyncio.Task[Replayed]] = WeakKeyDictionary()
_TROUBLES = 100  # the most operations whose errors are kept
_PASSIVE = re.compile("deallocate|to_device|from_device|(from|to)_torch")  # these run nothing on the device


def replayed(run: Run) -> Replayed | None:
    """The replay of a run, if `replay_of` has been awaited before."""
    return run.kept.get(Replayed)


async def replay_of(run: Run) -> Replayed:
    """The replay of a run's memory report: one task that all callers share, and its result is stored.

    Raises:
        QuestionRefused: the run has no memory report.
        ReportError: it is broken.
    """
    known = replayed(run)
    if known is not None:
        return known
    memory, loop = run.memory_report, asyncio.get_running_loop()
    task = _under_way.get(run.kept)
    if task is None or task.done() or task.get_loop() is not loop:  # done without a result: it failed, try again
        task = _under_way[run.kept] = loop.create_task(_stored(run, memory))
    return await asyncio.shield(task)  # a caller that is cancelled does not cancel the others' replay


async def _stored(run: Run, memory: MemoryReport) -> Replayed:
    return run.kept.store(await _replay(run, memory))


async def _replay(run: Run, memory: MemoryReport) -> Replayed:
    known = run.kept.get(ProgramModels)
    models = await known.of_report(memory) if known is not None else None
    replay = await asyncio.to_thread(_Replay, memory, await read_snapshots(memory), models)
    async for batch in iter_graph_batches(memory):
        await asyncio.to_thread(replay.feed, batch)
    limit = l1_limit(run)
    sources = run.sources or await memory.sources()
    return await asyncio.to_thread(replay.finished, limit.limit_bytes if limit else None, sources)


class _Replay:
    """A replay in progress."""

    def __init__(self, memory: MemoryReport, buffers: SnapshotRows, models: Models | None) -> None:
        self.memory = memory
        self.operations = memory.operations.ids
        self.place_of = {operation: place for place, operation in enumerate(self.operations.tolist())}
        count = len(self.operations)
        self.captured: Booleans = np.zeros(count, dtype=np.bool_)
        self.launched = _may_launch(memory)
        finished = np.isfinite(memory.operations.duration_s)
        graphs = "captured_graph" in memory.has
        empty = np.zeros(count, dtype=np.bool_) if graphs else finished
        banks, step = banks_of(memory, buffers), DRAM_ALIGNMENT_BYTES.get(memory.arch or "", 1)
        whole = with_aligned_rows(buffers, memory.tensors, banks, step)
        self.snapshots = snapshots_of(whole, self.operations, empty, step)
        self.troubles: dict[int, Trouble] = {}
        self.broken = 0
        self.next = 0
        self.programs = Programs(memory.tensors, models)
        described = memory.devices[0] if memory.devices else None
        self.reader = GraphReader(banks, KeysOfTensors(memory).__getitem__)
        self.dropped = DryFrees(memory, self.operations, self.reader.unplaced_tensors)
        self.without_snapshots = graphs and not len(buffers)
        self.lanes = Lanes(
            memory.devices,
            self.snapshots,
            lambda snapshots: Lane(
                snapshots,
                _small_region(described),
                ShardBytes(memory.tensors, banks.get(L1)),
                base=first_program_address(memory),
                bank_bytes=(described.l1_bank_bytes or 0) if described else 0,
            ),
        )
        device = self.lanes.devices[0]
        self.unfreed = UnrecordedFrees(memory, self.operations, device)
        self.there_before = (
            ThereBefore(memory, self.operations, device, banks, step) if self.without_snapshots else None
        )

    def feed(self, batch: Iterable[tuple[int, str]]) -> None:
        """Graphs of further operations, in order."""
        for operation, text in batch:
            place = self.place_of.get(operation)
            if place is None or place < self.next:  # an operation that is not listed, or a second graph of one
                continue
            try:
                graph = self.reader.read(text, operation=operation)
            except ReportBroken:
                self.broken += 1
                continue
            self._without_graph(place)
            self._operation(place, graph)

    @cached_property
    def written(self) -> dict[int, list[int]]:
        """By place, the keys of what an operation made; computed where a graph is missing."""
        return keys_written(self.memory, self.operations, self.lanes.devices[0])

    def _without_graph(self, until: int) -> None:
        for place in range(self.next, until):
            for _, lane in self.lanes.lanes:
                lane.feed(place, None, written=self.written.get(place, ()))
        self.next = max(self.next, until)

    def _operation(self, place: int, graph: GraphMemory) -> None:
        self.captured[place] = True
        self.launched[place] = bool(graph.device_ops)
        self.next = place + 1
        failed = bool(graph.errors or graph.aborted or graph.unfinished)
        if failed and len(self.troubles) < _TROUBLES:
            self.troubles[place] = Trouble(tuple(graph.errors), tuple(graph.aborted), tuple(graph.unfinished))
        left_out = self.programs.left_out(graph, int(self.operations[place]))
        operands = self.there_before.at(place) if self.there_before is not None else ()
        for lane, events in self.lanes.shares(ran(graph)):
            first = {event.key: event.kind for event in reversed(events)}
            for operand in operands:
                if first.get(operand.key) != "allocate":  # nothing lies where a tensor is laid
                    lane.was_there(place, operand)
            if place in self.unfreed:
                lane.forget(place, self.unfreed.before(place, lane, events[: graph.failed_at]))
            lane.feed(place, events, left_out=left_out, failed=failed)
            lane.forget(place + 1, self.dropped.after(place, lane))
            self.programs.learn(graph, lane.loads)
        self.programs.count(left_out.values())

    def finished(self, limit_bytes: int | None, sources: Mapping[int, SourceLine]) -> Replayed:
        """The result."""
        self._without_graph(len(self.operations))
        followed = self.lanes.followed
        devices = [
            _device(device, lane, self.lanes.snapshots_of(device), not followed or device in followed)
            for group, lane in self.lanes.lanes
            for device in group
        ]
        described = self.memory.devices[0] if self.memory.devices else None
        return Replayed(
            operations=self.operations,
            devices=tuple(sorted(devices, key=_fullest_first)),
            captured=self.captured,
            launched=self.launched,
            capacity_bytes=_capacity(described, limit_bytes),
            small_capacity_bytes=described.l1_small_bytes if described else None,
            broken=self.broken,
            troubles=self.troubles,
            programs=self.programs,
            sources=sources,
            banks=self.reader.banks,
            unplaced=bool(self.reader.unplaced_tensors),
            without_snapshots=self.without_snapshots,
            memory=self.memory,
        )


def _device(device: int | None, lane: Lane, snapshots: Snapshots | None, followed: bool) -> DeviceReplay:
    levels = lane.levels
    count = len(levels.l1)
    return DeviceReplay(
        device=device,
        l1=np.array(levels.l1, dtype=np.int64),
        tensors=np.array(levels.tensors, dtype=np.int64),
        circular=np.array(levels.l1, dtype=np.int64) - np.array(levels.tensors, dtype=np.int64),
        small=np.array(levels.small, dtype=np.int64),
        dram=np.array(levels.dram, dtype=np.int64),
        recorded=np.array(levels.recorded, dtype=np.int64),
        filled_by=np.array(levels.filled_by, dtype=np.int64),
        by_model=np.array(levels.by_model, dtype=np.bool_),
        floor=snapshots.l1_bytes if snapshots else np.zeros(count, dtype=np.int64),
        spans=lane.log.spans(),
        differences=lane.differences,
        followed=followed,
    )


def _fullest_first(device: DeviceReplay) -> tuple[int, bool, int]:
    return -int(device.l1.max(initial=0)), not device.followed, device.device or 0


def _may_launch(memory: MemoryReport) -> Booleans:
    """Whether each operation may start a device op, by its name: all but those that only move or free."""
    return np.array([not _PASSIVE.search(name) for name in memory.operations.names], dtype=np.bool_)


def _small_region(device: Device | None) -> int:
    """First address of L1_SMALL: it lies above the L1 that tensors and circular buffers share."""
    if device is None or not device.l1_small_bytes:
        return BEYOND
    return (device.first_cb_address or 0) + (device.l1_bank_bytes or 0)


def _capacity(device: Device | None, limit_bytes: int | None) -> int | None:
    """Bytes of an L1 bank; never `total_l1_for_tensors`, which no writer fills."""
    return (device.l1_bank_bytes or device.cb_limit_bytes if device else None) or limit_bytes
