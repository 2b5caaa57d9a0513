"""The moment at which an operation used most of L1: its buffers, their kinds, their cores, and the free holes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.core_load import Circular, on_cores, reach_on_cores
from ttnn_mcp.analyses.memory.device_lane import Lane
from ttnn_mcp.analyses.memory.l1_limit import first_program_address
from ttnn_mcp.analyses.memory.lanes import of_device
from ttnn_mcp.analyses.memory.left_out import LeftOut, ran
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.analyses.memory.shortage import Shortage
from ttnn_mcp.analyses.memory.tensor_spans import KeysOfTensors
from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph.graph_events import GraphMemory, MemoryEvent
from ttnn_mcp.readers.graph.graph_memory import GraphReader
from ttnn_mcp.readers.graph.launches import launch_of
from ttnn_mcp.readers.memory.columns import Chunks
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES
from ttnn_mcp.records import dataclass

Kind = Literal["persistent", "activation", "temporary"]


@dataclass(frozen=True, slots=True)
class Moment:
    """What was in memory at an operation's fullest moment, on the device with the highest peak.

    Attributes:
        rows: of the device's spans, in L1 and every other buffer type.
        circular: circular buffers without those that share a tensor's memory.
        device_op: the device op under way; None between and outside them.
        left_out_bytes: per core, of its program, if the report shows none of its buffers.
        printed: of an operation that failed, the attributes of its last device op.
    """

    place: int
    rows: Integers
    circular: tuple[Circular, ...]
    device_op: str | None
    left_out_bytes: int = 0
    printed: str = ""


@dataclass(frozen=True, slots=True)
class Holes:
    """Free L1 of a bank between the used addresses, in bytes.

    Attributes:
        below: between circular buffers and the lowest tensor; both may grow into it.
        largest_hole: the largest gap above the lowest tensor.
        holes: all gaps above it; tensors without gaps between them would free so much.
    """

    below: int
    largest_hole: int
    holes: int

    @property
    def largest(self) -> int:
        """The largest buffer that still fits in one piece."""
        return max(self.below, self.largest_hole)


@dataclass(frozen=True, slots=True)
class Cores:
    """Cores with the same load: the bytes that lie there, without bytes that the allocator keeps free for others."""

    cores: tuple[tuple[int, int], ...]
    tensors_bytes: int
    circular_bytes: int


async def moment_of(replayed: Replayed, place: int) -> Moment:
    """The fullest moment of the operation at `place`; without a graph, its snapshot."""
    graph = await _graph_of(replayed, place)
    return _shown(replayed, place) if graph is None else _replay(replayed, place, graph)


async def moment_of_failure(replayed: Replayed, place: int, shortage: Shortage) -> Moment:
    """What was in memory when the operation at `place` failed: as much as TTNN's message says, if it says so.

    Otherwise the most tensors at any time within its last device op. No circular buffers: those of a refused program
    were never there. What the operation frees when it fails was there before.
    """
    graph = await _graph_of(replayed, place)
    if graph is None:
        return _shown(replayed, place)
    spans, last = replayed.fullest.spans, len(graph.device_ops) - 1
    events, live, came = _events_of(replayed, place, graph)
    held = {int(spans.keys[row]): row for row in live.tolist()}
    rows, fullest = iter(came.tolist()), (False, False, -1, tuple(held.values()))
    for event, after in zip((None, *events), (*events, None), strict=True):
        if event is not None and event.kind == "free":
            held.pop(event.key, None)
        elif event is not None and event.kind == "allocate" and event.key >= 0:
            held.pop(event.key, None)
            if (row := next(rows, None)) is not None:
                held[event.key] = row
        now = [*held.values()]
        size = sum(int(spans.bytes_per_bank[row]) for row in now if spans.buffers[row] == L1)
        within = last in [one.device_op for one in (event, after) if one is not None]
        fullest = max(
            fullest, (_as_told(replayed, now, shortage), within, size, tuple(now)), key=lambda state: state[:3]
        )
    rows_then = np.array(sorted(fullest[3]), dtype=np.int64)
    if last < 0:
        return Moment(place, rows_then, (), None)
    launch = launch_of(graph, last, replayed.memory.tensors)
    return Moment(place, rows_then, (), launch.name, printed=launch.attributes)


def _as_told(replayed: Replayed, rows: list[int], shortage: Shortage) -> bool:
    """Whether TTNN's message tells of just these buffers."""
    spans = replayed.fullest.spans
    code = BUFFER_TYPES.index(shortage.buffer) if shortage.buffer in BUFFER_TYPES else -1
    of_kind = [row for row in rows if spans.buffers[row] == code]
    if shortage.kind == "clash":
        return min((int(spans.addresses[row]) for row in of_kind), default=-1) == shortage.limit_bytes
    return int(spans.bytes_per_bank[of_kind].sum()) == shortage.allocated_bytes


def _shown(replayed: Replayed, place: int) -> Moment:
    """By the snapshot after the operation."""
    return Moment(place, replayed.fullest.spans.live_at(inside(place)), (), None)


async def _graph_of(replayed: Replayed, place: int) -> GraphMemory | None:
    """The graph of an operation; None if there is none, or it cannot be read."""
    if not replayed.captured[place]:
        return None
    operation = int(replayed.operations[place])
    reader = GraphReader(dict(replayed.banks), KeysOfTensors(replayed.memory).__getitem__)
    try:
        return reader.read(await replayed.memory.graph_of(operation) or "[]", operation=operation)
    except ReportBroken:
        return None


def _events_of(replayed: Replayed, place: int, graph: GraphMemory) -> tuple[list[MemoryEvent], Integers, Integers]:
    """An operation's events on the fullest device, and the rows live before it and those that came within it."""
    spans, device = replayed.fullest.spans, replayed.fullest.device
    events = of_device(ran(graph), device, {lane.device for lane in replayed.devices})
    came = np.flatnonzero(spans.starts == inside(place))
    return _sized(events, replayed, came), spans.live_at(before(place)), came


def _replay(replayed: Replayed, place: int, graph: GraphMemory) -> Moment:
    """Replay the operation again, with the sizes that the first replay found."""
    spans = replayed.fullest.spans
    events, live, came = _events_of(replayed, place, graph)
    lane = Lane(None, base=first_program_address(replayed.memory), watch=True)
    for row in live.tolist():
        lane.preload(int(spans.keys[row]), int(spans.buffers[row]), int(spans.bytes_per_bank[row]))
    filled_by, size = int(replayed.fullest.filled_by[place]), int(replayed.fullest.circular[place])
    left_out = {filled_by: LeftOut("", place, size, None, None)} if filled_by >= 0 else {}
    lane.feed(0, events, left_out=left_out)
    all_rows = np.concatenate((live, came))
    rows = [row for row in lane.fullest.rows if row < len(all_rows)]
    device_op = lane.fullest.device_op
    name = graph.device_ops[device_op].name if device_op >= 0 else None
    return Moment(place, np.sort(all_rows[rows]), lane.fullest.circular, name, lane.fullest.left_out_bytes)


def _sized(events: Sequence[MemoryEvent], replayed: Replayed, came: Integers) -> list[MemoryEvent]:
    spans, rows = replayed.fullest.spans, iter(came.tolist())
    sized: list[MemoryEvent] = []
    for event in events:
        if event.kind == "allocate" and event.key >= 0 and (row := next(rows, None)) is not None:
            per_bank, buffer = int(spans.bytes_per_bank[row]), int(spans.buffers[row])
            sized.append(event._replace(bytes_per_bank=per_bank, buffer=buffer))
        else:
            sized.append(event)
    return sized


def kind_of(replayed: Replayed, moment: Moment, row: int) -> Kind:
    """The kind of a row of the spans at a moment: persistent, made and freed within the operation, or neither."""
    spans, within = replayed.fullest.spans, inside(moment.place)
    if replayed.lifetimes.persistent[row]:
        return "persistent"
    return "temporary" if spans.starts[row] == within == spans.ends[row] else "activation"


def composition(replayed: Replayed, moment: Moment) -> dict[Kind, int]:
    """Bytes per bank of the L1 tensors by kind."""
    spans = replayed.fullest.spans
    bytes_by_kind: Counter[Kind] = Counter()
    for row in moment.rows.tolist():
        if spans.buffers[row] == L1:
            bytes_by_kind[kind_of(replayed, moment, row)] += int(spans.bytes_per_bank[row])
    return dict(bytes_by_kind)


def holes_of(replayed: Replayed, moment: Moment, without: Sequence[int] = ()) -> Holes | None:
    """The holes of the free L1; None if the report does not tell where L1 begins and ends.

    `without`: rows of the spans that count as freed.
    """
    bounds = bounds_of(replayed)
    if bounds is None:
        return None
    spans, (bottom, top) = replayed.fullest.spans, bounds
    rows = moment.rows[(spans.buffers[moment.rows] == L1) & ~np.isin(moment.rows, list(without))]
    floor = max(
        (buffer.address + buffer.bytes_per_core for buffer in moment.circular),
        default=bottom + moment.left_out_bytes,
    )
    return _holes(spans.addresses[rows], spans.bytes_per_bank[rows], floor, top)


def gaps_above(replayed: Replayed, rows: Integers, floor: int) -> list[int] | None:
    """Free L1 at and above an address, in pieces between these rows of the spans; None if its end is not known."""
    bounds = bounds_of(replayed)
    if bounds is None:
        return None
    spans = replayed.fullest.spans
    taken = sorted(zip(spans.addresses[rows].tolist(), spans.bytes_per_bank[rows].tolist(), strict=True))
    pieces: list[int] = []
    for address, size in [*taken, (bounds[1], 0)]:
        pieces.append(max(address - floor, 0))
        floor = max(floor, address + size)
    return pieces


def holes_of_chunks(replayed: Replayed, chunks: Chunks) -> Holes | None:
    """The same after an operation, from the addresses of the tensors' pages."""
    bounds = bounds_of(replayed)
    if bounds is None:
        return None
    device = replayed.fullest.device
    in_l1 = (chunks.buffers == L1) & ((chunks.devices == device) if device is not None else True)
    return _holes(chunks.chunk_addresses[in_l1], chunks.chunk_bytes[in_l1], *bounds)


def bounds_of(replayed: Replayed) -> tuple[int, int] | None:
    """Where the L1 of a bank begins and ends for tensors and circular buffers; None if the report does not tell."""
    device = next(iter(replayed.memory.devices), None)
    if device is None or device.first_cb_address is None or replayed.capacity_bytes is None:
        return None
    return device.first_cb_address, device.first_cb_address + replayed.capacity_bytes


def _holes(starts: Integers, sizes: Integers, floor: int, top: int) -> Holes:
    if not len(starts):
        return Holes(max(top - floor, 0), 0, 0)
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate((starts + sizes)[order])
    gaps = np.maximum(np.append(starts[1:], top) - ends, 0)
    return Holes(max(int(starts[0]) - floor, 0), int(gaps.max()), int(gaps.sum()))


def cores_of(replayed: Replayed, moment: Moment) -> list[Cores]:
    """The load of the cores, the fullest first; sharded tensors count only on the cores of their shards.

    Empty if the report leaves out the buffers of the program: nobody knows on which cores they lie.
    """
    if moment.left_out_bytes:
        return []
    device = next(iter(replayed.memory.devices), None)
    spans, lifetimes = replayed.fullest.spans, replayed.lifetimes
    tensors: list[tuple[tuple[tuple[tuple[int, int], tuple[int, int]], ...], int]] = []
    for row in moment.rows.tolist():
        if spans.buffers[row] == L1:
            tensor = replayed.memory.tensors.row(int(lifetimes.names[row]))
            placement = replayed.memory.tensors.placements[tensor] if tensor is not None else None
            ranges = placement.shard.ranges if placement and placement.shard else ()
            tensors.append((ranges, int(spans.bytes_per_bank[row])))
    tensors_on_cores = on_cores(tensors)
    circular = reach_on_cores(moment.circular, first_program_address(replayed.memory))
    return _alike(
        tensors_on_cores, circular, (device.compute_grid_x, device.compute_grid_y) if device else (None, None)
    )


def _alike(tensors_on_cores: Integers, circular: Integers, grid: tuple[int | None, int | None]) -> list[Cores]:
    width, height = grid
    tensors_on_cores, circular = tensors_on_cores[:width, :height], circular[:width, :height]
    loads: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for x, y in np.argwhere(tensors_on_cores + circular > 0).tolist():
        loads.setdefault((int(tensors_on_cores[x, y]), int(circular[x, y])), []).append((x, y))
    return sorted(
        (Cores(tuple(cores), *load) for load, cores in loads.items()),
        key=lambda load: -(load.tensors_bytes + load.circular_bytes),
    )
