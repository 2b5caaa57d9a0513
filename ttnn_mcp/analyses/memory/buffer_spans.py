"""The life of every tensor buffer of a run: its address, its size, when it was allocated and freed.

Moments are numbers: 2 x place means "before the operation at that place", 2 x place + 1 means "inside it". A buffer is
live from `starts` (included) to `ends` (excluded).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.records import dataclass

NEVER = 2**62


def before(place: int) -> int:
    """The moment just before an operation."""
    return 2 * place


def inside(place: int) -> int:
    """The moment within an operation."""
    return 2 * place + 1


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """One row per buffer, in the order of allocation.

    Attributes:
        keys: address and space (`spaces.key_of`).
        buffers: codes of BUFFER_TYPES.
        bytes_per_bank: in the fullest bank; 0 if unknown.
        size_bytes: of the whole buffer; -1 if only a snapshot shows it.
        ends: NEVER if it is live at the end of the report.
        recorded: a graph shows its allocation; otherwise only snapshots or its end show it.
    """

    keys: Integers
    buffers: Integers
    bytes_per_bank: Integers
    size_bytes: Integers
    starts: Integers
    ends: Integers
    recorded: Booleans

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def addresses(self) -> Integers:
        """Offsets within a bank."""
        return self.keys // 2

    def live_at(self, moment: int) -> Integers:
        """Rows live at a moment."""
        return np.flatnonzero((self.starts <= moment) & (self.ends > moment))


@dataclass(slots=True)
class SpanLog:
    """Spans while the replay writes them: columns of plain numbers."""

    keys: list[int] = field(default_factory=list[int])
    buffers: list[int] = field(default_factory=list[int])
    bytes_per_bank: list[int] = field(default_factory=list[int])
    size_bytes: list[int] = field(default_factory=list[int])
    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    recorded: list[bool] = field(default_factory=list[bool])

    def open(self, key: int, buffer: int, per_bank: int, size: int, start: int, *, recorded: bool) -> int:
        """Add a buffer that is allocated; returns its row."""
        self.keys.append(key)
        self.buffers.append(buffer)
        self.bytes_per_bank.append(per_bank)
        self.size_bytes.append(size)
        self.starts.append(start)
        self.ends.append(NEVER)
        self.recorded.append(recorded)
        return len(self.keys) - 1

    def lowest_of(self, live: Mapping[int, int], buffer: int, *, otherwise: int) -> int:
        """The lowest address among live buffers of a type; `live` has their rows by key."""
        lowest = min((key for key, row in live.items() if self.buffers[row] == buffer), default=2 * otherwise)
        return min(lowest // 2, otherwise)

    def spans(self) -> Spans:
        """All spans as arrays."""
        return Spans(
            keys=np.array(self.keys, dtype=np.int64),
            buffers=np.array(self.buffers, dtype=np.int64),
            bytes_per_bank=np.array(self.bytes_per_bank, dtype=np.int64),
            size_bytes=np.array(self.size_bytes, dtype=np.int64),
            starts=np.array(self.starts, dtype=np.int64),
            ends=np.array(self.ends, dtype=np.int64),
            recorded=np.array(self.recorded, dtype=np.bool_),
        )
