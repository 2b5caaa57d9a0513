"""The memory side of captured graphs: what a replay of 20,000 of them reads, and the device ops a link counts.

It tells launches of one program from others as far as a graph prints it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Literal, cast

from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.readers.graph.graph_events import (
    NO_OP,
    NOT_SAID,
    DeviceOp,
    GraphError,
    GraphMemory,
    MemoryEvent,
    is_device_op,
)
from ttnn_mcp.readers.graph.graph_params import (
    TRUE,
    Params,
    buffer_code,
    buffer_numbers,
    bytes_per_bank,
    number,
    program_buffer,
)
from ttnn_mcp.readers.memory.spaces import DRAM, SPACES, UNPLACED, key_of

# Conv2dParams prints how much L1 was in use before the op, which is no part of its program
_IN_USE_BEFORE = re.compile(r"(Conv2dParams\(.*\)(?:, [01]){5}), \d+(?=, )")
_IGNORED = frozenset({"buffer", "tensor", "capture_start", "capture_end", "sub_device_manager"})
_PROGRAM_BUFFERS = frozenset({"circular_buffer_allocate", "dataflow_buffer_allocate", "scratchpad_allocate"})


def read_graph_memory(text: str, *, operation: int, banks: dict[int, int] | None = None) -> GraphMemory:
    """One operation's graph by itself, as `GraphReader.read`."""
    return GraphReader(banks).read(text, operation=operation)


class GraphReader:
    """Reads the graphs of a run in order.

    Args:
        banks: banks per code of BUFFER_TYPES, to size interleaved buffers where the graph does not.
        key_of_tensor: where a tensor lies, by its id: until 0.67 a free names neither address nor size per bank.
    """

    def __init__(
        self, banks: dict[int, int] | None = None, key_of_tensor: Callable[[int], int] | None = None
    ) -> None:
        self.banks = banks or {}
        self.key_of_tensor = key_of_tensor
        self.unplaced_tensors: dict[int, int] = {}
        """Of dry captures: the tensor on each buffer that was not placed, by its key."""
        self._keys = 0

    def read(self, text: str, *, operation: int) -> GraphMemory:
        """Read one operation's graph.

        Args:
            text: the JSON as stored in `captured_graph`.
            operation: names the operation in the error.

        Raises:
            ReportBroken: the text is no JSON list of nodes.
        """
        try:
            graph: Any = json.loads(text)
            nodes: list[Params] = cast("Params", graph)["graph"] if isinstance(graph, dict) else graph
            reading = _Reading(self, nodes)
            reading.read()
            return reading.finished()
        except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
            raise ReportBroken(
                f"The captured graph of operation {shown(operation)} is not a list of nodes: the report was cut "
                "off or altered. Make it again from the capture."
            ) from error

    def unplaced(self, buffer: int, size: int) -> int:
        """A key for a buffer at address 0, which no real one has: a dry capture (NO_DISPATCH) places nothing."""
        if buffer < 0 or size <= 0:
            return NOT_SAID
        self._keys += 2
        return UNPLACED + self._keys + SPACES.get(buffer, 0)


class _Reading:
    """A graph while it is read; a plain class, because twenty thousand of them are made."""

    __slots__ = ("_behind", "_depths", "_nodes", "_of_buffer", "_reader", "_stack", "_unplaced", "memory")

    def __init__(self, reader: GraphReader, nodes: list[Params]) -> None:
        self.memory = GraphMemory(nodes=nodes)
        self._reader = reader
        self._nodes = nodes
        self._stack: list[tuple[str, int, bool]] = []
        """Open scopes: name, device op they belong to, whether they are it."""
        self._depths: dict[str, list[int]] = {}
        """Depths at which scopes of a name are open."""
        self._behind: dict[int, MemoryEvent] = {}
        """Allocation behind each buffer node: until 0.67 a free names only the node."""
        self._of_buffer: dict[int, int] | None = None
        self._unplaced: dict[int, int] = {}

    def finished(self) -> GraphMemory:
        self.memory.unfinished = [name for name, _, _ in self._stack]
        if self._unplaced:
            tensors = self._tensors_by_buffer()
            known = {key: tensors[at] for at, key in self._unplaced.items() if at in tensors}
            self._reader.unplaced_tensors |= known
        return self.memory

    def read(self) -> None:
        events, stack = self.memory.events, self._stack
        for at, node in enumerate(self._nodes):
            kind = node.get("node_type")
            if kind in _IGNORED:  # unmoved: it spares most nodes the questions below, which all say no
                continue
            params: Params = node.get("params") or {}
            device_op = stack[-1][1] if stack else NO_OP
            if kind == "buffer_allocate":
                event = self._buffer("allocate", device_op, params)
                events.append(event)
                if behind := node.get("connections"):
                    self._behind[behind[0]] = event
                    if event.key >= UNPLACED:
                        self._unplaced[behind[0]] = event.key
            elif kind == "buffer_deallocate":
                freed = self._buffer("free", device_op, params)
                events.append(self._named(freed, node) if freed.key < 0 or freed.bytes_per_bank < 0 else freed)
            elif kind == "function_start":
                self._start(at, device_op, node, params)
            elif kind == "function_end":
                aborted = "aborted" in params and str(params["aborted"]).lower() in TRUE
                self._end(at, str(params.get("name") or ""), aborted=aborted)
            else:
                self._other(str(kind), at, device_op, params)

    def _other(self, kind: str, at: int, device_op: int, params: Params) -> None:
        memory = self.memory
        if kind in _PROGRAM_BUFFERS:
            memory.events.append(program_buffer(device_op, params))
            if device_op >= 0:
                memory.device_ops[device_op].buffers += 1
        elif kind == "circular_buffer_deallocate_all":
            memory.events.append(MemoryEvent("clear", device_op, number(params, "device_id")))
        elif kind == "program_execution" and device_op >= 0:
            memory.device_ops[device_op].executed = True
        elif kind == "error":
            words = (str(params.get(key) or "") for key in ("error_operation", "error_type", "error_message"))
            memory.errors.append(GraphError(at, *words))
            self._failed()

    def _failed(self) -> None:
        if self.memory.failed_at is None:
            self.memory.failed_at = len(self.memory.events)

    def _start(self, at: int, device_op: int, node: Params, params: Params) -> None:
        name = str(params.get("name") or "")
        is_it = is_device_op(name)
        if is_it:
            device_op = len(self.memory.device_ops)
            cached = params.get("program_cache_hit")
            self.memory.device_ops.append(
                DeviceOp(
                    name,
                    cached=None if cached is None else str(cached).lower() in TRUE,
                    call=call_of(name, node, self._nodes),
                    started_at=at,
                )
            )
        self._depths.setdefault(name, []).append(len(self._stack))
        self._stack.append((name, device_op, is_it))

    def _end(self, at: int, name: str, *, aborted: bool) -> None:
        """Close the innermost open scope of that name; scopes inside it that did not end never will."""
        depths = self._depths.get(name)
        if not depths:
            return
        memory, depth = self.memory, depths[-1]
        _, device_op, is_it = self._stack[depth]
        while len(self._stack) > depth:
            inner, within, device_op_too = self._stack.pop()
            self._depths[inner].pop()
            if device_op_too:
                memory.events.append(MemoryEvent("end", within))
        if aborted:
            memory.aborted.append(name)
            self._failed()
        elif is_it:
            memory.device_ops[device_op].ended_at = at

    def _named(self, freed: MemoryEvent, node: Params) -> MemoryEvent:
        """The free with what its allocation, or the tensor on its buffer node, tells."""
        counters = node.get("connections") or ()
        allocated = next((self._behind.pop(one) for one in counters if one in self._behind), None)
        if allocated is not None:
            return freed._replace(
                device=_first(freed.device, allocated.device),
                key=_first(freed.key, allocated.key),
                size_bytes=freed.size_bytes if freed.size_bytes > 0 else allocated.size_bytes,
                bytes_per_bank=freed.bytes_per_bank if freed.bytes_per_bank > 0 else allocated.bytes_per_bank,
            )
        if freed.key >= 0 or self._reader.key_of_tensor is None:
            return freed
        if self._of_buffer is None:
            self._of_buffer = self._tensors_by_buffer()
        tensor = next((self._of_buffer[one] for one in counters if one in self._of_buffer), NOT_SAID)
        return freed._replace(key=self._reader.key_of_tensor(tensor)) if tensor >= 0 else freed

    def _tensors_by_buffer(self) -> dict[int, int]:
        """The tensor behind each buffer node: a buffer node draws its connection to the tensor it belongs to."""
        tensor_of = {
            at: number(node.get("params") or {}, "tensor_id")
            for at, node in enumerate(self._nodes)
            if node.get("node_type") == "tensor"
        }
        by_buffer: dict[int, int] = {}
        for at, node in enumerate(self._nodes):
            if node.get("node_type") == "buffer":
                tensors = (tensor_of[one] for one in node.get("connections") or () if one in tensor_of)
                tensor = next((one for one in tensors if one >= 0), NOT_SAID)
                if tensor >= 0:
                    by_buffer[at] = tensor
        return by_buffer

    def _buffer(self, kind: Literal["allocate", "free"], device_op: int, params: Params) -> MemoryEvent:
        buffer = buffer_code(params)
        device, address, size, per_bank = buffer_numbers(params)
        if per_bank < 0 and size > 0:
            banks = self._reader.banks.get(buffer, 0) if buffer != DRAM or "page_size" in params else 0
            per_bank = bytes_per_bank(params, size, banks)
        key = key_of(address, buffer)
        if not address:  # a free of it names no more than the node behind
            key = self._reader.unplaced(buffer, size) if kind == "allocate" else NOT_SAID
        return MemoryEvent._make((kind, device_op, device, key, buffer, size, per_bank, (), None))


def _first(stated: int, otherwise: int) -> int:
    return stated if stated >= 0 else otherwise


def call_of(name: str, node: Params, nodes: list[Params]) -> int:
    """One number for name, program factory, attributes and operands of a device op; 0 where nothing of it is printed.

    Attributes may print addresses of objects: then no two launches are the same. A matmul prints its config as
    `<variant>`: only the factory tells two of them apart that TTNN planned for different room.
    """
    operands = [_operand(counter, nodes) for counter in node.get("input_tensors") or ()]
    printed = [str(text) for text in node.get("arguments") or ()]
    if name.startswith("Conv2d"):
        printed = [_IN_USE_BEFORE.sub(r"\1", text) for text in printed]
    params: Params = node.get("params") or {}
    factory = str(params.get("program_factory_type") or "")
    return hash((name, factory, *printed, *operands)) if printed or operands else 0


def _operand(counter: object, nodes: list[Params]) -> str:
    """What a program is built for: shape, dtype, layout and place of an operand, but not its address."""
    node = nodes[counter] if isinstance(counter, int) and 0 <= counter < len(nodes) else {}
    params: Params = node.get("params") or {}
    return "|".join(str(params.get(key) or "") for key in ("shape", "dtype", "layout", "memory_config"))
