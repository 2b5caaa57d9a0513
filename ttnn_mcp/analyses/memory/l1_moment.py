"""The moment at which an operation used most of L1: its buffers, their kinds, their cores, and the free holes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.core_load import Circular, on_cores, reach_on_cores
from ttnn_mcp.analyses.memory.device_lane import Lane
from ttnn_mcp.analyses.memory.l1_limit import first_program_address
from ttnn_mcp.analyses.memory.lanes import of_device
from ttnn_mcp.analyses.memory.programs import ran
from ttnn_mcp.analyses.memory.tensor_spans import KeysOfTensors
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph.graph_memory import GraphReader
from ttnn_mcp.readers.memory.spaces import L1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.readers.graph.graph_events import GraphMemory, MemoryEvent
    from ttnn_mcp.readers.memory.columns import Chunks, Integers

Kind = Literal["persistent", "activation", "temporary"]


@dataclass(frozen=True, slots=True)
class Moment:
    """What was in memory at an operation's fullest moment, on the device with the highest peak.

    Attributes:
        rows: of the device's spans, in L1 and every other buffer type.
        circular: circular buffers without those that share a tensor's memory.
        device_op: the device op under way; None between and outside them.
    """

    place: int
    rows: Integers
    circular: tuple[Circular, ...]
    device_op: str | None


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
    if not replayed.captured[place]:
        return Moment(place, replayed.fullest.spans.live_at(inside(place)), (), None)
    operation = int(replayed.operations[place])
    try:
        reader = GraphReader(dict(replayed.banks), KeysOfTensors(replayed.memory).__getitem__)
        graph = reader.read(await replayed.memory.graph_of(operation) or "[]", operation=operation)
    except ReportBroken:
        return Moment(place, replayed.fullest.spans.live_at(inside(place)), (), None)
    return _replay(replayed, place, graph)


def _replay(replayed: Replayed, place: int, graph: GraphMemory) -> Moment:
    """Replay the operation again, with the sizes that the first replay found."""
    spans, device = replayed.fullest.spans, replayed.fullest.device
    events = of_device(ran(graph), device, {lane.device for lane in replayed.devices})
    live = spans.live_at(before(place))
    came = np.flatnonzero(spans.starts == inside(place))
    lane = Lane(None, base=first_program_address(replayed.memory), watch=True)
    for row in live.tolist():
        lane.preload(int(spans.keys[row]), int(spans.buffers[row]), int(spans.bytes_per_bank[row]))
    lane.feed(0, _sized(events, replayed, came))
    all_rows = np.concatenate((live, came))
    rows = [row for row in lane.fullest.rows if row < len(all_rows)]
    device_op = lane.fullest.device_op
    name = graph.device_ops[device_op].name if device_op >= 0 else None
    return Moment(place, np.sort(all_rows[rows]), lane.fullest.circular, name)


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


def kinds_of(replayed: Replayed, moment: Moment) -> list[Kind]:
    """The kind of each row of a moment: persistent, made and freed within the operation, or neither."""
    spans, persistent = replayed.fullest.spans, replayed.lifetimes.persistent
    within = inside(moment.place)
    return [
        "persistent"
        if persistent[row]
        else "temporary"
        if spans.starts[row] == within == spans.ends[row]
        else "activation"
        for row in moment.rows.tolist()
    ]


def composition(replayed: Replayed, moment: Moment) -> dict[Kind, int]:
    """Bytes per bank of the L1 tensors by kind."""
    spans = replayed.fullest.spans
    bytes_by_kind: Counter[Kind] = Counter()
    for row, kind in zip(moment.rows.tolist(), kinds_of(replayed, moment), strict=True):
        if spans.buffers[row] == L1:
            bytes_by_kind[kind] += int(spans.bytes_per_bank[row])
    return dict(bytes_by_kind)


def holes_of(replayed: Replayed, moment: Moment, without: Sequence[int] = ()) -> Holes | None:
    """The holes of the free L1; None if the report does not tell where L1 begins and ends.

    `without`: rows of the spans that count as freed.
    """
    bounds = _bounds(replayed)
    if bounds is None:
        return None
    spans, (bottom, top) = replayed.fullest.spans, bounds
    rows = moment.rows[(spans.buffers[moment.rows] == L1) & ~np.isin(moment.rows, list(without))]
    floor = max((buffer.address + buffer.bytes_per_core for buffer in moment.circular), default=bottom)
    return _holes(spans.addresses[rows], spans.bytes_per_bank[rows], floor, top)


def holes_of_chunks(replayed: Replayed, chunks: Chunks) -> Holes | None:
    """The same after an operation, from the addresses of the tensors' pages."""
    bounds = _bounds(replayed)
    if bounds is None:
        return None
    device = replayed.fullest.device
    in_l1 = (chunks.buffers == L1) & ((chunks.devices == device) if device is not None else True)
    return _holes(chunks.chunk_addresses[in_l1], chunks.chunk_bytes[in_l1], *bounds)


def _bounds(replayed: Replayed) -> tuple[int, int] | None:
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
    """The load of the cores, the fullest first; sharded tensors count only on the cores of their shards."""
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


def _alike(
    tensors_on_cores: NDArray[np.int64], circular: NDArray[np.int64], grid: tuple[int | None, int | None]
) -> list[Cores]:
    width, height = grid
    tensors_on_cores, circular = tensors_on_cores[:width, :height], circular[:width, :height]
    loads: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for x, y in np.argwhere(tensors_on_cores + circular > 0).tolist():
        loads.setdefault((int(tensors_on_cores[x, y]), int(circular[x, y])), []).append((x, y))
    return sorted(
        (Cores(tuple(cores), *load) for load, cores in loads.items()),
        key=lambda load: -(load.tensors_bytes + load.circular_bytes),
    )
