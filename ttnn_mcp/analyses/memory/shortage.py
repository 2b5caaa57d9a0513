"""Parses TTNN's messages of a shortage of memory; the wordings of 2024 to 2026.

There are three cases: the allocator finds no room for a buffer, circular (since 0.80 dataflow) buffers grow into
tensors, or circular buffers alone need more than a core has.
"""

from __future__ import annotations

import re
from typing import Literal

from ttnn_mcp.records import dataclass

_N = r"([\d,]{1,20})"
_BUFFERS = r"(?:circular|dataflow) buffers"  # dataflow since 0.78
_CORES = r"on core range (\[[^\n]{1,200}?\])"
_NO_ROOM = re.compile(  # tt_metal/impl/allocator: bank_manager.cpp; the tail in brackets came in 2025
    rf"ot enough space to allocate {_N} B (?:BufferType::)?(\w{{1,20}}) buffer across {_N} banks?,\s+where each "
    rf"bank needs to store {_N} B(?:, but bank size is (?:only )?{_N} B)?"
    rf"(?:[^\n]{{0,40}}?allocated: {_N} B, free: {_N} B, largest free block: {_N} B)?"
)
_CLASH = re.compile(  # tt_metal/impl/program: validate_circular_buffer_region (_dataflow_ in 0.81)
    rf"{_BUFFERS} (?:in program {_N} )?clash with L1 buffers {_CORES}\.\s+L1 buffer allocated at {_N} and "
    rf"static (?:circular|dataflow) buffer region ends at {_N}"
)
_BEYOND = re.compile(  # same
    rf"{_BUFFERS} (?:in program {_N} )?{_CORES} grow to {_N} B which is beyond max L1 size of {_N} B"
)


@dataclass(frozen=True, slots=True)
class Shortage:
    """Why something did not fit. Bytes are of one bank or one core; None if the message does not tell them.

    Attributes:
        kind: `no_room` for a buffer; `clash` of circular buffers with tensors; circular buffers `beyond_l1`.
        buffer: the kind of memory that ran out.
        asked_bytes: per bank, for the buffer; per core, the address that the circular buffers reach.
        limit_bytes: size of the bank; or the address of the lowest tensor; or the L1 of a core.
        allocated_bytes: in the bank at the failure.
        free_bytes: in the bank, in all.
        largest_free_bytes: in the bank, in one piece.
        cores: the core range, as printed.
    """

    kind: Literal["no_room", "clash", "beyond_l1"]
    buffer: str
    asked_bytes: int
    limit_bytes: int | None = None
    free_bytes: int | None = None
    largest_free_bytes: int | None = None
    cores: str | None = None
    allocated_bytes: int | None = None

    @property
    def short_bytes(self) -> int | None:
        """The missing bytes, if the message tells them."""
        if self.kind != "no_room":
            return self.asked_bytes - self.limit_bytes if self.limit_bytes is not None else None
        room = self.largest_free_bytes if self.largest_free_bytes is not None else self.free_bytes
        return None if room is None else max(self.asked_bytes - room, 0)


def parse_shortage(message: str) -> Shortage | None:
    """The shortage of an error message of the runtime; None if it is another error."""
    if match := _NO_ROOM.search(message):
        _, buffer, _, asked, size, allocated, free, largest = match.groups()
        return Shortage(
            "no_room",
            buffer,
            _int(asked) or 0,
            _int(size),
            _int(free),
            _int(largest),
            allocated_bytes=_int(allocated),
        )
    if match := _CLASH.search(message):
        _, cores, allocated, ends = match.groups()
        return Shortage("clash", "L1", _int(ends) or 0, _int(allocated), cores=cores)
    if match := _BEYOND.search(message):
        _, cores, ends, most = match.groups()
        return Shortage("beyond_l1", "L1", _int(ends) or 0, _int(most), cores=cores)
    return None


def _int(digits: str | None) -> int | None:
    return int(digits.replace(",", "") or 0) if digits else None
