"""Parameters of graph nodes as numbers: what a node says of a buffer, whatever generation wrote it."""

from __future__ import annotations

from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

from ttnn_mcp.hardware import LOCAL_L1_ALIGNMENT_BYTES, filled_up
from ttnn_mcp.readers.graph.graph_events import NOT_SAID, MemoryEvent
from ttnn_mcp.readers.memory.spaces import L1, NUMBER_BITS, key_of
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES, buffer_type, parse_core_ranges

Params: TypeAlias = "dict[str, Any]"
TRUE = frozenset({"1", "true"})

_CODES = {name: code for code, name in enumerate(BUFFER_TYPES)}
_FOUR = itemgetter("device_id", "address", "size", "max_size_per_bank")


def number(params: Params, key: str) -> int:
    """A parameter as an integer; NOT_SAID where it is none, or too large to be one of ours."""
    try:
        value = int(params[key])
    except (KeyError, TypeError, ValueError, OverflowError):
        return NOT_SAID
    return NOT_SAID if value >> NUMBER_BITS else value


def buffer_numbers(params: Params) -> tuple[int, int, int, int]:
    """Device, address, size, size per bank: newer buffers tell all four, and they are read at once."""
    try:
        device, address, size, per_bank = map(int, _FOUR(params))
        bits = device | address | size | per_bank
        if not bits >> NUMBER_BITS:  # unmoved: none negative, none too large; number by number it comes to the same
            return device, address, size, per_bank
    except (KeyError, TypeError, ValueError, OverflowError):
        pass
    return (
        number(params, "device_id"),
        number(params, "address"),
        number(params, "size"),
        number(params, "max_size_per_bank"),
    )


def buffer_code(params: Params) -> int:
    """Code of BUFFER_TYPES. `type` counts L1_SMALL as L1; the newer keys tell them apart."""
    name = params.get("exact_buffer_type") or params.get("buffer_type")
    if name is None:
        name = params.get("type")
    if isinstance(name, int):
        return name if 0 <= name < len(BUFFER_TYPES) else NOT_SAID
    if name in _CODES:  # unmoved: it is quicker than to search the name, which finds the same
        return _CODES[name]
    codes = (_code_of(str(params.get(key) or "")) for key in ("exact_buffer_type", "buffer_type", "type"))
    return next((code for code in codes if code >= 0), NOT_SAID)


@lru_cache(maxsize=64)  # unmoved: what is forgotten is looked up again
def _code_of(name: str) -> int:
    code = buffer_type(name)
    return NOT_SAID if code is None else BUFFER_TYPES.index(code)


def bytes_per_bank(params: Params, size: int, banks: int) -> int:
    """Pages are dealt out one by one, to the shards or to all banks, and each is rounded up (tt-metal, utils.hpp)."""
    step = LOCAL_L1_ALIGNMENT_BYTES
    page = number(params, "page_size")
    page = page if page > 0 else step  # 2024 tells none
    holders = number(params, "num_cores")
    if holders == 0 or (holders < 0 and params.get("layout") == "INTERLEAVED"):
        holders = banks
    if holders <= 0:
        return NOT_SAID
    pages = -(-size // page)
    return -(-pages // holders) * filled_up(page, step)


def program_buffer(device_op: int, params: Params) -> MemoryEvent:
    """A circular buffer, dataflow buffer or scratchpad, which all live as long as their program runs."""
    borrowed = params.get("globally_allocated", params.get("borrows_memory"))
    return MemoryEvent(
        "circular",
        device_op,
        number(params, "device_id"),
        key=key_of(number(params, "address"), L1),
        size_bytes=max(number(params, "size"), 0),
        ranges=parse_core_ranges(str(params.get("core_range_set") or "")),
        over_tensor=None if borrowed is None else str(borrowed).lower() in TRUE,
    )
