"""The life of every tensor buffer of a run: where it lay, how large it was, when it came and went.

Moments are numbers: 2 x place for "before the operation at that place", one more for "inside it". A buffer is live
at a moment from `starts` on, until before `ends`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ttnn_mcp.readers.memory.columns import Integers

NEVER = 2**62


def before(place: int) -> int:
    """The moment just before an operation."""
    return 2 * place


def inside(place: int) -> int:
    """The moment within an operation."""
    return 2 * place + 1


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """One row per buffer, in the order they came.

    Attributes:
        keys: address and space (`memory_spaces.key_of`).
        buffers: codes of BUFFER_TYPES.
        bytes_per_bank: in the fullest bank; 0 where nobody says.
        size_bytes: of the whole buffer; -1 where only a snapshot shows it.
        ends: NEVER where it outlives the report.
        recorded: a graph shows its allocation; else only snapshots or its end do.
    """

    keys: Integers
    buffers: Integers
    bytes_per_bank: Integers
    size_bytes: Integers
    starts: Integers
    ends: Integers
    recorded: NDArray[np.bool_]

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
        """A buffer comes; its row."""
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
        """All of them as arrays."""
        return Spans(
            keys=np.array(self.keys, dtype=np.int64),
            buffers=np.array(self.buffers, dtype=np.int64),
            bytes_per_bank=np.array(self.bytes_per_bank, dtype=np.int64),
            size_bytes=np.array(self.size_bytes, dtype=np.int64),
            starts=np.array(self.starts, dtype=np.int64),
            ends=np.array(self.ends, dtype=np.int64),
            recorded=np.array(self.recorded, dtype=np.bool_),
        )
