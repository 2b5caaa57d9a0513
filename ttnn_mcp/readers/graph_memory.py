"""The memory side of one captured graph, and nothing else: what a replay of 20,000 graphs reads.

`captured_graph` reads scopes and tensors too, at three times the cost; a test holds the two to the same story.
Numbers are -1 where the graph does not say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.readers.graph_events import GraphError, is_device_op
from ttnn_mcp.readers.memory_config import BUFFER_TYPES, CoreRange, buffer_type, parse_core_ranges

Params: TypeAlias = "dict[str, Any]"
NOT_SAID = -1
NO_OP = -1


class MemoryEvent(NamedTuple):
    """One thing that happened to memory. Immutable and cheap: a run has hundreds of thousands.

    `kind`: a tensor buffer came or went, a circular buffer came on every core of `ranges`, all of them went
    (`clear`), or a device op came to its end (`end`), and its circular buffers with it.
    """

    kind: Literal["allocate", "free", "circular", "clear", "end"]
    device_op: int
    """Index into `GraphMemory.device_ops`; NO_OP outside all of them."""
    device: int = NOT_SAID
    buffer: int = NOT_SAID
    """Code of BUFFER_TYPES; before 2026 L1_SMALL is told as L1."""
    address: int = NOT_SAID
    size_bytes: int = NOT_SAID
    """All of a tensor buffer; of a circular buffer, what it takes on one core."""
    bytes_per_bank: int = NOT_SAID
    """In the fullest bank."""
    ranges: tuple[CoreRange, ...] = ()
    over_tensor: bool | None = None
    """Whether a circular buffer lies on a tensor and takes nothing more; None in 2024, when nobody said."""


@dataclass(frozen=True, slots=True)
class GraphMemory:
    """What one top-level operation did to memory, in order.

    Attributes:
        device_ops: names of the device ops in the order they started.
        errors: exceptions the capture saw; foreign text.
        aborted: names of the scopes that ended by an exception.
        unfinished: names of the scopes that never ended, outermost first.
    """

    events: tuple[MemoryEvent, ...]
    device_ops: tuple[str, ...]
    errors: tuple[GraphError, ...]
    aborted: tuple[str, ...]
    unfinished: tuple[str, ...]


def read_graph_memory(text: str, *, operation: int, banks: dict[int, int] | None = None) -> GraphMemory:
    """Read one operation's graph.

    Args:
        text: the JSON as stored in `captured_graph`.
        operation: names the operation in the error.
        banks: banks per code of BUFFER_TYPES, to size interleaved buffers where the graph does not.

    Raises:
        ReportBroken: the text is no JSON list of nodes.
    """
    reading = _Reading(banks or {})
    try:
        graph: Any = json.loads(text)
        nodes: list[Params] = cast("Params", graph)["graph"] if isinstance(graph, dict) else graph
        for at, node in enumerate(nodes):
            reading.visit(at, node)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise ReportBroken(_broken(operation)) from error
    return reading.finished()


def _broken(operation: int) -> str:
    return (
        f"The captured graph of operation {shown(operation)} is not a list of nodes: the report was cut off or "
        "altered. Make it again from the capture."
    )


@dataclass(slots=True)
class _Reading:
    banks: dict[int, int]
    events: list[MemoryEvent] = field(default_factory=list[MemoryEvent])
    device_ops: list[str] = field(default_factory=list[str])
    errors: list[GraphError] = field(default_factory=list[GraphError])
    aborted: list[str] = field(default_factory=list[str])
    stack: list[tuple[str, int, bool]] = field(default_factory=list[tuple[str, int, bool]])
    """Open scopes: name, device op they belong to, whether they are it."""
    behind: dict[int, MemoryEvent] = field(default_factory=dict[int, MemoryEvent])
    """Allocation behind each buffer node: in 2024 a free names only the node."""

    def finished(self) -> GraphMemory:
        return GraphMemory(
            tuple(self.events),
            tuple(self.device_ops),
            tuple(self.errors),
            tuple(self.aborted),
            tuple(name for name, _, _ in self.stack),
        )

    def visit(self, at: int, node: Params) -> None:
        kind = node.get("node_type")
        if kind in _IGNORED:
            return
        params: Params = node.get("params") or {}
        device_op = self.stack[-1][1] if self.stack else NO_OP
        if kind == "buffer_allocate":
            event = self._buffer("allocate", device_op, params)
            if behind := node.get("connections"):
                self.behind[behind[0]] = event
            self.events.append(event)
        elif kind == "buffer_deallocate":
            self._free(device_op, node, params)
        elif kind == "function_start":
            self._start(device_op, str(params.get("name") or ""))
        elif kind == "function_end":
            self._end(str(params.get("name") or ""), aborted=str(params.get("aborted")).lower() in _TRUE)
        elif kind == "circular_buffer_allocate":
            self.events.append(_circular(device_op, params))
        elif kind == "circular_buffer_deallocate_all":
            self.events.append(MemoryEvent("clear", device_op, _number(params, "device_id")))
        elif kind == "error":
            words = (str(params.get(key) or "") for key in ("error_operation", "error_type", "error_message"))
            self.errors.append(GraphError(at, *words))

    def _start(self, device_op: int, name: str) -> None:
        is_it = is_device_op(name)
        if is_it:
            device_op = len(self.device_ops)
            self.device_ops.append(name)
        self.stack.append((name, device_op, is_it))

    def _end(self, name: str, *, aborted: bool) -> None:
        """Close the innermost open scope of that name; scopes inside it that did not end never will."""
        depth = next((n for n in reversed(range(len(self.stack))) if self.stack[n][0] == name), None)
        if depth is None:
            return
        for _, device_op, is_it in reversed(self.stack[depth:]):
            if is_it:
                self.events.append(MemoryEvent("end", device_op))
        if aborted:
            self.aborted.append(name)
        del self.stack[depth:]

    def _free(self, device_op: int, node: Params, params: Params) -> None:
        freed = self._buffer("free", device_op, params)
        behind = (one for one in node.get("connections") or () if one in self.behind)
        allocated = next((self.behind.pop(one) for one in behind), None)
        if allocated is not None:
            freed = freed._replace(
                device=_first(freed.device, allocated.device),
                address=_first(freed.address, allocated.address),
                size_bytes=freed.size_bytes if freed.size_bytes > 0 else allocated.size_bytes,
                bytes_per_bank=freed.bytes_per_bank if freed.bytes_per_bank > 0 else allocated.bytes_per_bank,
            )
        self.events.append(freed)

    def _buffer(self, kind: Literal["allocate", "free"], device_op: int, params: Params) -> MemoryEvent:
        buffer = _buffer_code(params)
        size, per_bank = _number(params, "size"), _number(params, "max_size_per_bank")
        if per_bank < 0 and size > 0:
            holders, page = _number(params, "num_cores"), _number(params, "page_size")
            if holders == 0 or (holders < 0 and params.get("layout") == "INTERLEAVED"):
                holders = self.banks.get(buffer, 0)
            if holders > 0:  # pages are dealt out one by one, to the shards or to all banks; 2024 tells no page
                page = max(page, 1)
                pages = -(-size // page)
                per_bank = -(-pages // holders) * page
        device, address = _number(params, "device_id"), _number(params, "address")
        return MemoryEvent(kind, device_op, device, buffer, address, size, per_bank)


_IGNORED = frozenset({"buffer", "tensor", "capture_start", "capture_end"})
_TRUE = frozenset({"1", "true"})


def _circular(device_op: int, params: Params) -> MemoryEvent:
    said = params.get("globally_allocated")
    return MemoryEvent(
        "circular",
        device_op,
        _number(params, "device_id"),
        address=_number(params, "address"),
        size_bytes=max(_number(params, "size"), 0),
        ranges=parse_core_ranges(str(params.get("core_range_set") or "")),
        over_tensor=None if said is None else str(said).lower() in _TRUE,
    )


def _buffer_code(params: Params) -> int:
    """`type` counts L1_SMALL as L1; the newer keys tell them apart."""
    for key in ("exact_buffer_type", "buffer_type", "type"):
        said = params.get(key)
        if said is not None and (code := _code_of(str(said))) >= 0:
            return code
    return NOT_SAID


@lru_cache(maxsize=64)
def _code_of(said: str) -> int:
    found = buffer_type(said)
    return NOT_SAID if found is None else BUFFER_TYPES.index(found)


def _number(params: Params, key: str) -> int:
    """A parameter as an integer; NOT_SAID where it is none, or too large to be one of ours."""
    try:
        value = int(params[key])
    except (KeyError, TypeError, ValueError, OverflowError):
        return NOT_SAID
    return value if 0 <= value < _LARGEST else NOT_SAID


_LARGEST = 2**48  # bytes and addresses of a chip are far below; sums stay within 64 bits


def _first(said: int, otherwise: int) -> int:
    return said if said >= 0 else otherwise
