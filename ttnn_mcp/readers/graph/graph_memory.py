"""The memory side of one captured graph, and nothing else: what a replay of 20,000 graphs reads.

`captured_graph` reads scopes and tensors too, at three times the cost; a test holds the two to the same story.
Numbers are -1 where the graph does not say.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, NamedTuple, TypeAlias, cast

from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.readers.graph.graph_events import GraphError, is_device_op
from ttnn_mcp.readers.memory.spaces import L1, key_of
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES, CoreRange, buffer_type, parse_core_ranges

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
    key: int = NOT_SAID
    """Where the buffer lies (`memory_spaces.key_of`)."""
    buffer: int = NOT_SAID
    """Code of BUFFER_TYPES; before 2026 L1_SMALL is told as L1."""
    size_bytes: int = NOT_SAID
    """All of a tensor buffer; of a circular buffer, what it takes on one core."""
    bytes_per_bank: int = NOT_SAID
    """In the fullest bank."""
    ranges: tuple[CoreRange, ...] = ()
    over_tensor: bool | None = None
    """Whether a circular buffer lies on a tensor and takes nothing more; None in 2024, when nobody said."""

    @property
    def address(self) -> int:
        """Offset within the bank."""
        return self.key // 2


@dataclass(slots=True)
class GraphMemory:
    """What one top-level operation did to memory, in order.

    Attributes:
        device_ops: names of the device ops in the order they started.
        errors: exceptions the capture saw; foreign text.
        aborted: names of the scopes that ended by an exception.
        unfinished: names of the scopes that never ended, outermost first.
    """

    events: list[MemoryEvent]
    device_ops: list[str]
    errors: list[GraphError]
    aborted: list[str]
    unfinished: list[str]


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
        reading.read(nodes)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise ReportBroken(_broken(operation)) from error
    return reading.finished()


def _broken(operation: int) -> str:
    return (
        f"The captured graph of operation {shown(operation)} is not a list of nodes: the report was cut off or "
        "altered. Make it again from the capture."
    )


class _Reading:
    """A graph while it is read; a plain class, because twenty thousand of them are made."""

    __slots__ = ("_banks", "_behind", "_stack", "found")

    def __init__(self, banks: dict[int, int]) -> None:
        self.found = GraphMemory([], [], [], [], [])
        self._banks = banks
        self._stack: list[tuple[str, int, bool]] = []
        """Open scopes: name, device op they belong to, whether they are it."""
        self._behind: dict[int, MemoryEvent] = {}
        """Allocation behind each buffer node: in 2024 a free names only the node."""

    def finished(self) -> GraphMemory:
        self.found.unfinished = [name for name, _, _ in self._stack]
        return self.found

    def read(self, nodes: list[Params]) -> None:
        events, stack = self.found.events, self._stack
        for at, node in enumerate(nodes):
            kind = node.get("node_type")
            if kind in _IGNORED:
                continue
            params: Params = node.get("params") or {}
            device_op = stack[-1][1] if stack else NO_OP
            if kind == "buffer_allocate":
                event = self._buffer("allocate", device_op, params)
                events.append(event)
                if behind := node.get("connections"):
                    self._behind[behind[0]] = event
            elif kind == "buffer_deallocate":
                freed = self._buffer("free", device_op, params)
                events.append(self._told_by_allocation(freed, node) if node.get("connections") else freed)
            elif kind == "function_start":
                self._start(device_op, str(params.get("name") or ""))
            elif kind == "function_end":
                self._end(str(params.get("name") or ""), aborted=str(params.get("aborted", "")).lower() in _TRUE)
            else:
                self._other(str(kind), at, device_op, params)

    def _other(self, kind: str, at: int, device_op: int, params: Params) -> None:
        if kind == "circular_buffer_allocate":
            self.found.events.append(_circular(device_op, params))
        elif kind == "circular_buffer_deallocate_all":
            self.found.events.append(MemoryEvent("clear", device_op, _number(params, "device_id")))
        elif kind == "error":
            words = (str(params.get(key) or "") for key in ("error_operation", "error_type", "error_message"))
            self.found.errors.append(GraphError(at, *words))

    def _start(self, device_op: int, name: str) -> None:
        is_it = is_device_op(name)
        if is_it:
            device_op = len(self.found.device_ops)
            self.found.device_ops.append(name)
        self._stack.append((name, device_op, is_it))

    def _end(self, name: str, *, aborted: bool) -> None:
        """Close the innermost open scope of that name; scopes inside it that did not end never will."""
        depth = len(self._stack) - 1
        while depth >= 0 and self._stack[depth][0] != name:
            depth -= 1
        if depth < 0:
            return
        for _, device_op, is_it in reversed(self._stack[depth:]):
            if is_it:
                self.found.events.append(MemoryEvent("end", device_op))
        if aborted:
            self.found.aborted.append(name)
        del self._stack[depth:]

    def _told_by_allocation(self, freed: MemoryEvent, node: Params) -> MemoryEvent:
        behind = (one for one in node["connections"] if one in self._behind)
        allocated = next((self._behind.pop(one) for one in behind), None)
        if allocated is None:
            return freed
        return freed._replace(
            device=_first(freed.device, allocated.device),
            key=_first(freed.key, allocated.key),
            size_bytes=freed.size_bytes if freed.size_bytes > 0 else allocated.size_bytes,
            bytes_per_bank=freed.bytes_per_bank if freed.bytes_per_bank > 0 else allocated.bytes_per_bank,
        )

    def _buffer(self, kind: Literal["allocate", "free"], device_op: int, params: Params) -> MemoryEvent:
        buffer = _buffer_code(params)
        device, address, size, per_bank = _numbers(params)
        if per_bank < 0 and size > 0:
            per_bank = self._per_bank(buffer, size, params)
        return MemoryEvent._make(
            (kind, device_op, device, key_of(address, buffer), buffer, size, per_bank, (), None)
        )

    def _per_bank(self, buffer: int, size: int, params: Params) -> int:
        """Pages are dealt out one by one, to the shards or to all banks; 2024 tells no page."""
        holders, page = _number(params, "num_cores"), max(_number(params, "page_size"), 1)
        if holders == 0 or (holders < 0 and params.get("layout") == "INTERLEAVED"):
            holders = self._banks.get(buffer, 0)
        if holders <= 0:
            return NOT_SAID
        pages = -(-size // page)
        return -(-pages // holders) * page


_IGNORED = frozenset({"buffer", "tensor", "capture_start", "capture_end"})
_TRUE = frozenset({"1", "true"})
_CODES = {name: code for code, name in enumerate(BUFFER_TYPES)}
_FOUR = itemgetter("device_id", "address", "size", "max_size_per_bank")


def _circular(device_op: int, params: Params) -> MemoryEvent:
    said = params.get("globally_allocated")
    return MemoryEvent(
        "circular",
        device_op,
        _number(params, "device_id"),
        key=key_of(_number(params, "address"), L1),
        size_bytes=max(_number(params, "size"), 0),
        ranges=parse_core_ranges(str(params.get("core_range_set") or "")),
        over_tensor=None if said is None else str(said).lower() in _TRUE,
    )


def _buffer_code(params: Params) -> int:
    """`type` counts L1_SMALL as L1; the newer keys tell them apart."""
    said = params.get("exact_buffer_type") or params.get("type")
    if said in _CODES:
        return _CODES[said]
    codes = (_code_of(str(params.get(key) or "")) for key in ("exact_buffer_type", "buffer_type", "type"))
    return next((code for code in codes if code >= 0), NOT_SAID)


@lru_cache(maxsize=64)
def _code_of(said: str) -> int:
    found = buffer_type(said)
    return NOT_SAID if found is None else BUFFER_TYPES.index(found)


def _numbers(params: Params) -> tuple[int, int, int, int]:
    """Device, address, size, size per bank: what newer buffers tell all of, in one go."""
    try:
        device, address, size, per_bank = map(int, _FOUR(params))
        if not (device | address | size | per_bank) >> _BITS:  # none negative, none too large
            return device, address, size, per_bank
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    return (
        _number(params, "device_id"),
        _number(params, "address"),
        _number(params, "size"),
        _number(params, "max_size_per_bank"),
    )


def _number(params: Params, key: str) -> int:
    """A parameter as an integer; NOT_SAID where it is none, or too large to be one of ours."""
    try:
        value = int(params[key])
    except (KeyError, TypeError, ValueError, OverflowError):
        return NOT_SAID
    return NOT_SAID if value >> _BITS else value


_BITS = 40  # bytes and addresses of a chip need fewer; a million of them add up within 64 bits


def _first(said: int, otherwise: int) -> int:
    return said if said >= 0 else otherwise
