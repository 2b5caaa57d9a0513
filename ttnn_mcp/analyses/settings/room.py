"""The room in L1 for the circular buffers of one device op, by the memory report of the run.

Circular buffers start at the bottom of L1; tensors are at its top, with holes between them. TTNN requires that the
buffers end below the lowest tensor of that moment (program.cpp: validate_circular_buffer_region). So the room is the
space below it, and holes do not count.
"""

from __future__ import annotations

from collections.abc import Sequence

from ttnn_mcp.analyses.from_graph.models import models_of
from ttnn_mcp.analyses.memory.buffer_spans import before
from ttnn_mcp.analyses.memory.core_load import on_cores
from ttnn_mcp.analyses.memory.left_out import Room
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph.graph_memory import GraphMemory, read_graph_memory
from ttnn_mcp.readers.graph.launches import Launch, launch_of
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.run import Run


async def room_at(run: Run, line: int) -> int | None:
    """Bytes per core below the lowest tensor while the op at `line` ran; None if no memory report shows it."""
    operation = run.linked.operation_at.get(line) if run.linked else None
    if operation is None:
        return None
    replayed = await replay_of(run)
    graph = await graph_of(replayed.memory, operation)
    return room_of(replayed, operation, graph, _device_ops(run, line, operation, graph)) if graph else None


def room_of(replayed: Replayed, operation: int, graph: GraphMemory, device_ops: Sequence[int]) -> int | None:
    """The same of device ops of an operation, by their places in its graph: the least of them."""
    place, bottom = replayed.place(operation), _bottom(replayed)
    if place is None or bottom is None or replayed.capacity_bytes is None or not replayed.captured[place]:
        return None
    lowest = _lowest(graph, _live(replayed, place))
    addresses = [address for device_op in device_ops if (address := lowest.get(device_op)) is not None]
    return max(min(addresses) - bottom, 0) if addresses else replayed.capacity_bytes


async def captured_launches(run: Run, line: int) -> list[Launch]:
    """The device ops that the op at `line` may be, as the memory report's graph prints them; none if it shows none."""
    operation = run.linked.operation_at.get(line) if run.linked else None
    if operation is None:
        return []
    memory = (await replay_of(run)).memory
    graph = await graph_of(memory, operation)
    if graph is None:
        return []
    return [launch_of(graph, place, memory.tensors) for place in _device_ops(run, line, operation, graph)]


async def taken_by(run: Run, operation: int | None, name: str, room: int | None) -> int | None:
    """Bytes on the fullest core that a device op took for itself, as the graph of its operation shows it.

    Where that leaves its buffers out, by the model of its program; None where several ops have the name, and in 2024,
    when nobody said which buffers lie on tensors.
    """
    if operation is None or (graph := await graph_of(run.memory_report, operation)) is None:
        return None
    named = [place for place, one in enumerate(graph.device_ops) if canonical(one.name) == name]
    if len(named) != 1:
        return None
    buffers = [one for one in graph.events if one.kind == "circular" and one.device_op == named[0]]
    if not buffers:
        launch, models = launch_of(graph, named[0], run.memory_report.tensors), await models_of(run.memory_report)
        known = models.footprint(launch, operation, Room(room, room)) if models and room is not None else None
        return known.total if known and known.exact else None
    own = [one for one in buffers if not one.over_tensor and one.device == buffers[0].device]
    if any(one.over_tensor is None for one in buffers):
        return None
    return int(on_cores((one.ranges, one.size_bytes) for one in own).max())


async def graph_of(memory: MemoryReport, operation: int) -> GraphMemory | None:
    """The captured graph of an operation; None where it cannot be read."""
    try:
        return read_graph_memory(await memory.graph_of(operation) or "[]", operation=operation)
    except ReportBroken:
        return None


def _bottom(replayed: Replayed) -> int | None:
    device = next(iter(replayed.memory.devices), None)
    return device.first_cb_address if device else None


def _live(replayed: Replayed, place: int) -> dict[int, int]:
    """L1 tensors before an operation, key -> address. All devices have the same addresses (lockstep allocation)."""
    live: dict[int, int] = {}
    for device in replayed.devices:
        rows = device.spans.live_at(before(place))
        rows = rows[device.spans.buffers[rows] == L1]
        keys, addresses = device.spans.keys[rows].tolist(), device.spans.addresses[rows].tolist()
        live.update(zip(keys, addresses, strict=True))
    return live


def _lowest(graph: GraphMemory, live: dict[int, int]) -> dict[int, int]:
    """Per device op of the operation, the address of the lowest L1 tensor while it ran."""
    lowest: dict[int, int] = {}
    bottom_address = min(live.values(), default=None)
    for event in graph.events:  # every device op has one: its end
        _note(lowest, event.device_op, bottom_address)
        if event.kind == "allocate" and event.buffer == L1 and event.key >= 0:
            live[event.key] = event.address
            bottom_address = event.address if bottom_address is None else min(bottom_address, event.address)
        else:  # a free: no other event has the key of a tensor in L1
            live.pop(event.key, None)
            bottom_address = min(live.values(), default=None)
        _note(lowest, event.device_op, bottom_address if event.kind == "allocate" else None)
    return lowest


def _note(lowest: dict[int, int], device_op: int, address: int | None) -> None:
    if address is not None:
        lowest[device_op] = min(lowest.get(device_op, address), address)


def _device_ops(run: Run, line: int, operation: int, graph: GraphMemory) -> list[int]:
    """The device op of a line among those of its operation.

    If the counts differ: all device ops of the same name, or all device ops.
    """
    names = [canonical(device_op.name) for device_op in graph.device_ops]
    places = list(range(len(names)))
    linked = run.linked.operation_at if run.linked else {}
    lines = sorted(linked_line for linked_line, linked_operation in linked.items() if linked_operation == operation)
    table = run.performance_report.ops
    row = table.at_line(line)
    name = canonical(table.texts("op_code")[row]) if row is not None else ""
    if places and len(lines) % len(places) == 0:  # several passes over the same operation
        place = lines.index(line) % len(places)
        if names[place] == name:
            return [place]
    return [place for place in places if names[place] == name] or places
