"""Reads the captured graph of one operation: TTNN's JSON list of nodes, of any generation since 2024."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import cast

from tests.oracles.graph_events import (
    BufferAllocated,
    BufferFreed,
    CapturedGraph,
    CircularBufferAllocated,
    CircularBuffersFreed,
    Event,
    GraphError,
    Scope,
)
from tests.oracles.graph_nodes import Node, TensorEdges, node_of
from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.readers.printed.memory_config import BufferType, buffer_type, parse_core_ranges

Banks = dict[BufferType, int]


def parse_captured_graph(text: str, *, operation: int | str, banks: Banks | None = None) -> CapturedGraph:
    """Read one operation's graph.

    Args:
        text: the JSON as stored in `captured_graph`.
        operation: names the operation in the error.
        banks: banks per buffer type, to size interleaved buffers where the graph does not say `max_size_per_bank`.

    Raises:
        ReportBroken: the text is no JSON list of nodes.
    """
    try:
        graph: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReportBroken(_broken(operation, "is not valid JSON")) from error
    if isinstance(graph, dict):  # graph_capture.json wraps the list
        graph = cast("dict[str, object]", graph).get("graph")
    if not isinstance(graph, list):
        raise ReportBroken(_broken(operation, "is not a list of nodes"))
    nodes = [node_of(at, one) for at, one in enumerate(cast("list[object]", graph))]
    return _Walk(nodes, banks or {}).graph()


def _broken(operation: int | str, what: str) -> str:
    return (
        f"The captured graph of operation {shown(operation)} {what}: the report was cut off or altered. "
        "Make it again from the capture, or ask what needs no graph."
    )


@dataclass(slots=True)
class _Open:
    """A scope while it is being read."""

    node: Node
    parent: int | None
    device_op: int | None
    end: Node | None = None
    aborted: bool = False


@dataclass(slots=True)
class _Walk:
    nodes: list[Node]
    banks: Banks
    opened: list[_Open] = field(default_factory=list[_Open])
    stack: list[int] = field(default_factory=list[int])
    device_ops: int = 0
    events: list[Event] = field(default_factory=list[Event])
    errors: list[GraphError] = field(default_factory=list[GraphError])
    live: dict[int, BufferAllocated] = field(default_factory=dict[int, BufferAllocated])
    """Allocation behind each buffer node; node numbers are re-used for later buffers."""

    def graph(self) -> CapturedGraph:
        for node in self.nodes:
            self._visit(node)
        tensors = TensorEdges(self.nodes)
        scopes = tuple(
            Scope(
                name=one.node.text("name"),
                start=one.node.at,
                end=one.end.at if one.end else None,
                aborted=one.aborted,
                parent=one.parent,
                inputs=tensors.into(one.node),
                outputs=tensors.out_of(one.end) if one.end else (),
            )
            for one in self.opened
        )
        return CapturedGraph(scopes, tuple(self.events), tuple(self.errors))

    def _visit(self, node: Node) -> None:
        match node.kind:
            case "function_start":
                self._start(node)
            case "function_end":
                self._end(node)
            case "buffer_allocate":
                self._allocate(node)
            case "buffer_deallocate":
                self._free(node)
            case "circular_buffer_allocate":
                self.events.append(
                    CircularBufferAllocated(
                        at=node.at,
                        device_op=self._device_op,
                        device=node.number("device_id"),
                        address=node.number("address"),
                        bytes_per_core=node.number("size") or 0,
                        ranges=parse_core_ranges(node.text("core_range_set")),
                        aliases_tensor=node.text("globally_allocated").lower() in {"1", "true"},
                    )
                )
            case "circular_buffer_deallocate_all":
                self.events.append(CircularBuffersFreed(node.at, self._device_op, node.number("device_id")))
            case "error":
                words = (node.text(key) for key in ("error_operation", "error_type", "error_message"))
                self.errors.append(GraphError(node.at, *words))
            case _:
                pass

    @property
    def _device_op(self) -> int | None:
        return self.opened[self.stack[-1]].device_op if self.stack else None

    def _start(self, node: Node) -> None:
        device_op = self._device_op
        scope = Scope(node.text("name"), node.at, None, aborted=False, parent=None, inputs=(), outputs=())
        if scope.on_device:
            device_op, self.device_ops = self.device_ops, self.device_ops + 1
        self.opened.append(_Open(node, self.stack[-1] if self.stack else None, device_op))
        self.stack.append(len(self.opened) - 1)

    def _end(self, node: Node) -> None:
        """Close the innermost open scope of that name; scopes inside it that did not end never will."""
        name = node.text("name")
        depth = next((n for n in reversed(range(len(self.stack))) if self._name(self.stack[n]) == name), None)
        if depth is None:
            return
        scope = self.opened[self.stack[depth]]
        scope.end, scope.aborted = node, node.text("aborted").lower() in {"1", "true"}
        del self.stack[depth:]

    def _name(self, index: int) -> str:
        return self.opened[index].node.text("name")

    def _allocate(self, node: Node) -> None:
        buffer = _buffer_of(node)
        event = BufferAllocated(
            at=node.at,
            device_op=self._device_op,
            device=node.number("device_id"),
            buffer=buffer,
            layout=node.text("layout") or None,
            address=node.number("address"),
            size_bytes=node.number("size"),
            bytes_per_bank=_bytes_per_bank(node, self.banks.get(buffer) if buffer else None),
        )
        self.events.append(event)
        for counter in node.connections[:1]:
            self.live[counter] = event

    def _free(self, node: Node) -> None:
        allocated = next((self.live.pop(counter) for counter in node.connections if counter in self.live), None)
        buffer, address, device = _buffer_of(node), node.number("address"), node.number("device_id")
        size, per_bank = (
            node.number("size") or None,
            _bytes_per_bank(node, self.banks.get(buffer) if buffer else None),
        )
        if allocated is not None:
            address = allocated.address if address is None else address
            device = allocated.device if device is None else device
            size, per_bank = size or allocated.size_bytes, per_bank or allocated.bytes_per_bank
        self.events.append(BufferFreed(node.at, self._device_op, device, buffer, address, size, per_bank))


def _buffer_of(node: Node) -> BufferType | None:
    """`type` counts L1_SMALL as L1; the newer keys tell them apart."""
    for key in ("exact_buffer_type", "buffer_type", "type"):
        found = buffer_type(node.text(key))
        if found is not None:
            return found
    return None


def _bytes_per_bank(node: Node, banks: int | None) -> int | None:
    """Bytes in the fullest bank: pages are dealt out one by one, to the shards or (num_cores 0) to all banks."""
    said = node.number("max_size_per_bank")
    if said is not None:
        return said
    size, page = node.number("size"), node.number("page_size")
    holders = node.number("num_cores") or banks
    if not size or not page or not holders or page < 0 or holders < 0:
        return None
    pages = -(-size // page)
    aligned = -(-page // 16) * 16  # each begins at a multiple of it: SizeBytesPerBank in tt-metal's utils.hpp
    return -(-pages // holders) * aligned
