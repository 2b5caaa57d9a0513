"""Tensors on buffers: which operation made a buffer, which read it last, and how long it stayed after that.

Every output gets a new tensor id, and addresses are reused. So a tensor belongs to the buffer that was live at its
address when the tensor was made (or first read, if no operation made it). Views and in-place results are further
tensors on the same buffer, and a read of any of them is a use of the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import overload

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import NEVER, Spans
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.records import dataclass

NOBODY = -1
LATE_OPERATIONS = 2  # on the device while a tensor waits to be freed: one is usual, not late


@dataclass(frozen=True, slots=True)
class LateFree:
    """A buffer that stayed after its last use.

    Attributes:
        row: of the spans.
        last_use: place of the last operation that reads it.
        freed: place of the operation that freed it, or before which it was freed; None = it outlives the last one.
        held: number of operations that started on the device in between, one that died there included.
        at_peak: the operation with the most L1 in use is among them.
    """

    row: int
    tensor: int
    bytes_per_bank: int
    last_use: int
    freed: int | None
    held: int
    at_peak: bool


@dataclass(frozen=True, slots=True, eq=False)
class LateFrees(Sequence[LateFree]):
    """All buffers that stayed, the largest at the peak first; a long run may have thousands.

    Attributes:
        rows: of the spans; the other columns belong to them.
        freed: places; the number of operations if they are never freed.
    """

    spans: Spans
    names: Integers
    rows: Integers
    last_uses: Integers
    freed: Integers
    held: Integers
    at_peak: Booleans

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> LateFree: ...
    @overload
    def __getitem__(self, index: slice) -> LateFrees: ...
    def __getitem__(self, index: int | slice) -> LateFree | LateFrees:
        if isinstance(index, slice):
            return self._kept(np.arange(len(self))[index])
        row = int(self.rows[index])
        return LateFree(
            row=row,
            tensor=int(self.names[row]),
            bytes_per_bank=int(self.spans.bytes_per_bank[row]),
            last_use=int(self.last_uses[index]),
            freed=None if self.spans.ends[row] == NEVER else int(self.freed[index]),
            held=int(self.held[index]),
            at_peak=bool(self.at_peak[index]),
        )

    def over(self, place: int) -> LateFrees:
        """Those that were held while the operation at `place` ran."""
        return self._kept(np.flatnonzero((self.last_uses < place) & (place < self.freed)))

    def levels_without(self, levels: Integers) -> Integers:
        """`levels` (bytes per bank, per operation) if these buffers had been freed after their last use."""
        savings = np.zeros(len(levels) + 1, dtype=np.int64)
        size = self.spans.bytes_per_bank[self.rows]
        np.add.at(savings, self.last_uses + 1, size)
        np.subtract.at(savings, self.freed, size)
        return levels - np.cumsum(savings)[:-1]

    def _kept(self, indices: Integers) -> LateFrees:
        return replace(
            self,
            rows=self.rows[indices],
            last_uses=self.last_uses[indices],
            freed=self.freed[indices],
            held=self.held[indices],
            at_peak=self.at_peak[indices],
        )


@dataclass(frozen=True)
class Lifetimes:
    """Tensors and the spans they lie on. Places count operations in execution order.

    Attributes:
        tensors: ids, ascending; the next three belong to them.
        rows: the span of each tensor; NOBODY if none was found.
        producers: place of the operation that made it; NOBODY for weights and inputs.
        last_uses: place of the last operation that read it, without deallocations; NOBODY if none did.
        used: (span row, place), sorted: the places at which any tensor on the buffer is made or read.
    """

    spans: Spans
    tensors: Integers
    rows: Integers
    producers: Integers
    last_uses: Integers
    used: tuple[Integers, Integers]
    launched: Booleans

    @cached_property
    def made(self) -> Booleans:
        """Per span, whether an operation of the run made it."""
        made: Booleans = self.spans.recorded | (self._first_producers >= 0)
        return made

    @cached_property
    def _first_producers(self) -> Integers:
        """Per span, the operation that made the first tensor on it: later ones are views, or results in place."""
        first = np.full(len(self.spans), NOBODY, dtype=np.int64)
        on = self.names >= 0
        first[on] = self.producers[np.searchsorted(self.tensors, self.names[on])]
        return first

    @cached_property
    def persistent(self) -> Booleans:
        """Per span: made by no operation and never freed, as weights are."""
        return ~self.made & (self.spans.ends == NEVER)

    @cached_property
    def last_reads(self) -> Integers:
        """Per span, place of the last read of any tensor on it; NOBODY if none."""
        last = np.full(len(self.spans), NOBODY, dtype=np.int64)
        on = self.rows >= 0
        np.maximum.at(last, self.rows[on], self.last_uses[on])
        return last

    @cached_property
    def last_touches(self) -> Integers:
        """The same, but a view or an in-place result also counts as a use."""
        last: Integers = np.array(self.last_reads)
        on = self.rows >= 0
        np.maximum.at(last, self.rows[on], self.producers[on])
        return last

    @cached_property
    def names(self) -> Integers:
        """Per span, the first tensor on it; NOBODY if unknown."""
        places = np.full(len(self.spans), NEVER, dtype=np.int64)
        on = self.rows >= 0
        np.minimum.at(places, self.rows[on], self.tensors[on])
        return np.where(places == NEVER, NOBODY, places)

    def producer_of(self, row: int) -> int:
        """Place of the operation that made a span; NOBODY if none did."""
        if self.spans.recorded[row]:
            return int(self.spans.starts[row]) // 2
        return int(self._first_producers[row])

    @cached_property
    def waits(self) -> tuple[Integers, Integers, Integers]:
        """Per span the longest time between two uses: number of operations in it, first use, second use.

        The uses are places; 0 if there are not two.
        """
        rows, places = self.used
        idle, first, second = (np.zeros(len(self.spans), dtype=np.int64) for _ in range(3))
        same = np.flatnonzero(rows[1:] == rows[:-1])
        between = self.launches_before[places[same + 1]] - self.launches_before[places[same] + 1]
        order = np.argsort(between, kind="stable")  # the longest is written last
        indices, same = rows[same[order]], same[order]
        idle[indices], first[indices], second[indices] = between[order], places[same], places[same + 1]
        return idle, first, second

    @cached_property
    def launches_before(self) -> Integers:
        """Number of operations on the device before each place; one entry more than there are places."""
        return np.concatenate(([0], np.cumsum(self.launched)))

    def late_frees(self, peak: int, *, least: int = LATE_OPERATIONS) -> LateFrees:
        """L1 tensors that stay for `least` device operations after their last use, or over the operation at `peak`.

        Results that no operation reads are not late.
        """
        spans, last = self.spans, self.last_touches
        freed = np.where(spans.ends == NEVER, len(self.launched), spans.ends // 2)
        candidates = (spans.buffers == L1) & (self.last_reads >= 0) & ~self.persistent
        rows = np.flatnonzero(candidates)
        held = self.launches_before[freed[rows]] - self.launches_before[last[rows] + 1]
        at_peak = (last[rows] < peak) & (peak < freed[rows])
        size = spans.bytes_per_bank[rows]
        order = np.lexsort((rows, -size * held, -size * at_peak))
        order = order[((held >= least) | (at_peak & (held > 0)))[order]]
        rows, held, at_peak = rows[order], held[order], at_peak[order]
        return LateFrees(spans, self.names, rows, last[rows], freed[rows], held, at_peak)
