"""Tensors on buffers: who made what lies at an address, who read it last, and how long it stayed after that.

Tensor ids are re-issued for every output, addresses are recycled: a tensor belongs to the buffer that was live at
its address when it was made (or, where no operation made it, when it was first read). Views and in-place results
are further tensors on the same buffer, and a read of any of them is a use of the buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.spans import NEVER
from ttnn_mcp.readers.memory_spaces import L1, keys_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.spans import Spans
    from ttnn_mcp.readers.memory_columns import Integers, TensorLinks
    from ttnn_mcp.readers.memory_db import MemoryReport

NOBODY = -1
LATE_OPERATIONS = 2  # that run on the device while a tensor waits to be freed: one is the usual idiom, not late


@dataclass(frozen=True, slots=True)
class LateFree:
    """A buffer that stayed after its last use.

    Attributes:
        row: of the spans.
        last_use: place of the last operation that reads it.
        freed: place of the operation with which it went; None = never.
        held: operations that ran on the device in between.
        at_peak: the operation with the most L1 in use is among them.
    """

    row: int
    tensor: int
    bytes_per_bank: int
    last_use: int
    freed: int | None
    held: int
    at_peak: bool


@dataclass(frozen=True)
class Lifetimes:
    """Tensors and the spans they lie on. Places count operations in the order they ran.

    Attributes:
        tensors: ids, ascending; the next three belong to them.
        rows: the span of each tensor; NOBODY where none was found.
        producers: place of the operation that made it; NOBODY for weights and inputs.
        last_uses: place of the last operation that read it, deallocation apart; NOBODY if none did.
        used: (span row, place) once per use of a buffer by any tensor on it, made or read; sorted.
    """

    spans: Spans
    tensors: Integers
    rows: Integers
    producers: Integers
    last_uses: Integers
    used: tuple[Integers, Integers]
    launched: NDArray[np.bool_]

    @cached_property
    def made(self) -> NDArray[np.bool_]:
        """Per span, whether an operation of the run made it."""
        made: NDArray[np.bool_] = np.array(self.spans.recorded)
        made[self.rows[(self.rows >= 0) & (self.producers >= 0)]] = True
        return made

    @cached_property
    def persistent(self) -> NDArray[np.bool_]:
        """Per span: there without an operation having made it, and never freed, as weights are."""
        return ~self.made & (self.spans.ends == NEVER)

    @cached_property
    def last_reads(self) -> Integers:
        """Per span, place of the last read of any tensor on it; NOBODY if none."""
        last = np.full(len(self.spans), NOBODY, dtype=np.int64)
        read = (self.rows >= 0) & (self.last_uses >= 0)
        np.maximum.at(last, self.rows[read], self.last_uses[read])
        return last

    @cached_property
    def last_touches(self) -> Integers:
        """The same, with the making of views and in-place results as a use."""
        last: Integers = np.array(self.last_reads)
        made = (self.rows >= 0) & (self.producers >= 0)
        np.maximum.at(last, self.rows[made], self.producers[made])
        return last

    @cached_property
    def names(self) -> Integers:
        """Per span, the first tensor on it; NOBODY where none is known."""
        found = np.full(len(self.spans), NEVER, dtype=np.int64)
        on = self.rows >= 0
        np.minimum.at(found, self.rows[on], self.tensors[on])
        return np.where(found == NEVER, NOBODY, found)

    def producer_of(self, row: int) -> int:
        """Place of the operation that made a span; NOBODY where none did."""
        if self.spans.recorded[row]:
            return int(self.spans.starts[row]) // 2
        on = self.producers[(self.rows == row) & (self.producers >= 0)]
        return int(on.min()) if len(on) else NOBODY

    @cached_property
    def waits(self) -> tuple[Integers, Integers, Integers]:
        """Per span the longest idle time between two uses: operations that ran meanwhile, first use, second.

        The uses are places; 0 where there are not two.
        """
        rows, places = self.used
        idle, first, second = (np.zeros(len(self.spans), dtype=np.int64) for _ in range(3))
        same = np.flatnonzero(rows[1:] == rows[:-1])
        between = self.launches_before[places[same + 1]] - self.launches_before[places[same] + 1]
        order = np.argsort(between, kind="stable")  # the longest is written last
        at, same = rows[same[order]], same[order]
        idle[at], first[at], second[at] = between[order], places[same], places[same + 1]
        return idle, first, second

    @cached_property
    def launches_before(self) -> Integers:
        """Operations that ran on the device before each place; one entry more than there are places."""
        return np.concatenate(([0], np.cumsum(self.launched)))

    def late_frees(self, peak: int, *, least: int = LATE_OPERATIONS) -> list[LateFree]:
        """L1 tensors held over `least` device operations after their last use, or over the one at `peak`.

        The largest at the peak first. Results that nobody reads are not late.
        """
        spans, last = self.spans, self.last_touches
        freed = np.where(spans.ends == NEVER, len(self.launched), spans.ends // 2)
        asked = (spans.buffers == L1) & (self.last_reads >= 0) & ~self.persistent & (freed > last)
        rows = np.flatnonzero(asked)
        held = self.launches_before[freed[rows]] - self.launches_before[last[rows] + 1]
        at_peak = (last[rows] < peak) & (peak < freed[rows])
        kept = (held >= least) | (at_peak & (held > 0))
        rows, held, at_peak = rows[kept], held[kept], at_peak[kept]
        size = spans.bytes_per_bank[rows]
        order = np.lexsort((rows, -size * held, -size * at_peak))
        return [
            LateFree(
                row=int(rows[n]),
                tensor=int(self.names[rows[n]]),
                bytes_per_bank=int(size[n]),
                last_use=int(last[rows[n]]),
                freed=None if spans.ends[rows[n]] == NEVER else int(freed[rows[n]]),
                held=int(held[n]),
                at_peak=bool(at_peak[n]),
            )
            for n in order.tolist()
        ]

    def levels_without(self, late: list[LateFree], levels: Integers) -> Integers:
        """What `levels` (bytes per bank, per operation) would be, had these been freed after their last use."""
        less = np.zeros(len(levels) + 1, dtype=np.int64)
        for one in late:
            less[one.last_use + 1] += one.bytes_per_bank
            less[len(levels) if one.freed is None else one.freed] -= one.bytes_per_bank
        return levels - np.cumsum(less)[:-1]


def lifetimes_of(
    memory: MemoryReport, operations: Integers, spans: Spans, launched: NDArray[np.bool_], device: int | None
) -> Lifetimes:
    """Lay the report's tensors on the spans of one device."""
    tensors = memory.tensors.ids
    frees = np.array(["deallocate" in name for name in memory.operations.names], dtype=np.bool_)
    made_at, made = _placed(memory.outputs, operations, tensors)
    read_at, read = _placed(memory.inputs, operations, tensors)
    reads = ~frees[read_at]
    read_at, read = read_at[reads], read[reads]
    producers = _least(made_at, made, len(tensors))
    first_reads = _least(read_at, read, len(tensors))
    last_uses = np.full(len(tensors), NOBODY, dtype=np.int64)
    np.maximum.at(last_uses, read, read_at)
    _add_told(memory, operations, frees, producers, last_uses)
    moments = np.where(producers >= 0, 2 * producers + 1, np.where(first_reads >= 0, 2 * first_reads, NOBODY))
    keys = _keys(memory, device)
    rows = _spans_at(spans, keys, moments)
    _match_unlinked(spans, keys, moments, rows)
    on, places = np.concatenate((rows[made], rows[read])), np.concatenate((made_at, read_at))
    told = on >= 0
    pairs = np.unique(np.stack((on[told], places[told])), axis=1)
    return Lifetimes(spans, tensors, rows, producers, last_uses, (pairs[0], pairs[1]), launched)


def keys_written(memory: MemoryReport, operations: Integers, device: int | None) -> dict[int, list[int]]:
    """By place, the keys of the tensors an operation gives and does not take: what it wrote anew."""
    tensors, keys = memory.tensors.ids, _keys(memory, device)
    taken_at, taken = _placed(memory.inputs, operations, tensors)
    given_at, given = _placed(memory.outputs, operations, tensors)
    taken_keys = set(zip(taken_at.tolist(), keys[taken].tolist(), strict=True))
    written: dict[int, list[int]] = {}
    for place, key in zip(given_at.tolist(), keys[given].tolist(), strict=True):
        if key >= 0 and (place, key) not in taken_keys:
            written.setdefault(place, []).append(key)
    return written


def _keys(memory: MemoryReport, device: int | None) -> Integers:
    """Where each tensor lies on the device; -1 where it does not."""
    tensors, copies = memory.tensors, memory.device_tensors
    addresses: Integers = np.array(tensors.addresses)
    if device is not None and np.isin(device, tensors.devices):
        addresses = np.where((tensors.devices == device) | (tensors.devices < 0), addresses, -1)
    if device is not None and len(copies.tensors):
        here = np.flatnonzero((copies.devices == device) & np.isin(copies.tensors, tensors.ids))
        addresses[np.searchsorted(tensors.ids, copies.tensors[here])] = copies.addresses[here]
    return keys_of(addresses, tensors.buffers)


def _placed(links: TensorLinks, operations: Integers, tensors: Integers) -> tuple[Integers, Integers]:
    """(place, tensor row) of the links whose operation and tensor the report knows."""
    known = np.isin(links.operations, operations) & np.isin(links.tensors, tensors)
    return np.searchsorted(operations, links.operations[known]), np.searchsorted(tensors, links.tensors[known])


def _least(places: Integers, rows: Integers, count: int) -> Integers:
    least = np.full(count, NEVER, dtype=np.int64)
    np.minimum.at(least, rows, places)
    return np.where(least == NEVER, NOBODY, least)


def _add_told(
    memory: MemoryReport,
    operations: Integers,
    frees: NDArray[np.bool_],
    producers: Integers,
    last_uses: Integers,
) -> None:
    """What `tensor_lifetime` (3.x) tells beyond the tables of inputs and outputs."""
    told = memory.lifetimes
    if told is None:
        return
    known = np.isin(told.tensors, memory.tensors.ids)
    rows = np.searchsorted(memory.tensors.ids, told.tensors[known])
    for column, ours in ((told.producers[known], producers), (told.last_uses[known], last_uses)):
        there = np.isin(column, operations)
        places = np.searchsorted(operations, column[there])
        usable = ~frees[places] & (ours[rows[there]] < 0)
        ours[rows[there][usable]] = places[usable]


def _spans_at(spans: Spans, keys: Integers, moments: Integers) -> Integers:
    """For each (key, moment) the span that was live there then; NOBODY where none was."""
    found = np.full(len(keys), NOBODY, dtype=np.int64)
    if not len(spans):
        return found
    distinct, ranks = np.unique(spans.keys, return_inverse=True)
    width = int(max(spans.starts.max(), moments.max(initial=0))) + 2
    line = ranks * width + spans.starts
    order = np.argsort(line, kind="stable")
    rank = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
    at = np.searchsorted(line[order], rank * width + moments, side="right") - 1
    rows = order[np.maximum(at, 0)]
    good = (at >= 0) & (moments >= 0) & (distinct[rank] == keys) & (spans.keys[rows] == keys)
    good &= spans.ends[rows] > moments
    found[good] = rows[good]
    return found


def _match_unlinked(spans: Spans, keys: Integers, moments: Integers, rows: Integers) -> None:
    """Tensors that only the inside of an operation knows (a halo's output) go to the buffers nobody claims.

    At each address in order, where there are as many of the one as of the other.
    """
    tensors = np.flatnonzero((moments < 0) & (keys >= 0))
    unclaimed = spans.recorded & (spans.starts == spans.ends)
    unclaimed[rows[rows >= 0]] = False
    free = np.flatnonzero(unclaimed & np.isin(spans.keys, keys[tensors]))
    free = free[np.argsort(spans.keys[free], kind="stable")]
    tensors = tensors[np.argsort(keys[tensors], kind="stable")]
    for key in np.unique(spans.keys[free]).tolist():
        ours = free[slice(*np.searchsorted(spans.keys[free], [key, key + 1]))]
        theirs = tensors[slice(*np.searchsorted(keys[tensors], [key, key + 1]))]
        if len(ours) == len(theirs):
            rows[theirs] = ours
