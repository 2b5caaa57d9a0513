"""Which tensor lies on which buffer, and which operations make and read it: matches a report's tables to its spans."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import NEVER, Spans
from ttnn_mcp.analyses.memory.lifetimes import NOBODY, Lifetimes
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.readers.memory.columns import TensorLinks, Tensors
from ttnn_mcp.readers.memory.report import MemoryReport
from ttnn_mcp.readers.memory.spaces import keys_of
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES


def lifetimes_of(
    memory: MemoryReport, operations: Integers, spans: Spans, launched: Booleans, device: int | None
) -> Lifetimes:
    """Match the report's tensors to the spans of one device."""
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
    keys = keys_on(memory, device)
    rows = _spans_at(spans, keys, moments)
    _match_unlinked(spans, keys, moments, rows)
    on, places = np.concatenate((rows[made], rows[read])), np.concatenate((made_at, read_at))
    pairs = np.unique((on * len(operations) + places)[on >= 0])
    used = (pairs // max(len(operations), 1), pairs % max(len(operations), 1))
    return Lifetimes(spans, tensors, rows, producers, last_uses, used, launched)


def keys_written(memory: MemoryReport, operations: Integers, device: int | None) -> dict[int, list[int]]:
    """By place, the keys of an operation's outputs that are not also inputs: the buffers that it made."""
    tensors, keys = memory.tensors.ids, keys_on(memory, device)
    taken_at, taken = _placed(memory.inputs, operations, tensors)
    given_at, given_operations = _placed(memory.outputs, operations, tensors)
    taken_keys = set(zip(taken_at.tolist(), keys[taken].tolist(), strict=True))
    written: dict[int, list[int]] = {}
    for place, key in zip(given_at.tolist(), keys[given_operations].tolist(), strict=True):
        if key >= 0 and (place, key) not in taken_keys:
            written.setdefault(place, []).append(key)
    return written


def first_of(links: TensorLinks, operations: Integers, tensors: Integers) -> Integers:
    """Per tensor, the place of the first operation that takes it, or gives it; NOBODY if none does."""
    return _least(*_placed(links, operations, tensors), len(tensors))


class KeysOfTensors:
    """The keys of tensors, by id; computed on first use."""

    def __init__(self, memory: MemoryReport) -> None:
        self._tensors = memory.tensors

    @cached_property
    def _keys(self) -> Integers:
        return keys_of_tensors(self._tensors)

    def __getitem__(self, tensor: int) -> int:
        row = self._tensors.row(tensor)
        return -1 if row is None else int(self._keys[row])


def keys_of_tensors(tensors: Tensors) -> Integers:
    """The key of each tensor, on any device; -1 if it lies on none."""
    return keys_of(tensors.addresses, tensors.buffers)


def own_buffers(memory: MemoryReport) -> Booleans:
    """The tensors that have a buffer of their own, and not that of a tensor listed besides.

    From TTNN 0.70 on a view has no address; before, it has that of what its operation took, as results in place have.
    TTNN 0.68 to 0.73 list a result twice: as its device op made it, which no operation takes or gives, and after that
    as the operation gave it.
    """
    tensors, keys = memory.tensors, keys_of_tensors(memory.tensors)
    if not (keys >= 0).any():  # a report without addresses does not tell
        return np.ones(len(keys), dtype=np.bool_)
    own: Booleans = keys >= 0
    operations = np.unique(memory.operations.ids)
    (takes, inputs), (gives, outputs) = (
        _placed(links, operations, tensors.ids) for links in (memory.inputs, memory.outputs)
    )
    _, alike = np.unique((keys, tensors.size_bytes, tensors.devices), axis=1, return_inverse=True)
    where = np.ravel(alike)  # NumPy 2.0 alone returns it two-dimensional
    placed = np.flatnonzero(own)
    first, second = placed[:-1], placed[1:]
    unnamed = ~np.isin(first, np.concatenate((inputs, outputs)))
    own[first[unnamed & (where[first] == where[second]) & np.isin(second, outputs)]] = False
    rows = set(zip(takes.tolist(), inputs.tolist(), strict=True))
    buffers = {(place, int(where[row])) for place, row in rows}
    for place, row in zip(gives.tolist(), outputs.tolist(), strict=True):
        if (place, row) not in rows and (place, int(where[row])) in buffers:
            own[row] = False
    return own


def keys_on(memory: MemoryReport, device: int | None) -> Integers:
    """The key of each tensor on the device; -1 if it does not lie there."""
    tensors, copies = memory.tensors, memory.device_tensors
    addresses: Integers = np.array(tensors.addresses)
    if device in tensors.devices:
        addresses = np.where((tensors.devices == device) | (tensors.devices < 0), addresses, -1)
    listed = np.flatnonzero(np.isin(copies.tensors, tensors.ids))
    rows = np.searchsorted(tensors.ids, copies.tensors[listed])
    copied, here = copies.addresses[listed], copies.devices[listed] == device
    if np.unique(tensors.devices[tensors.devices >= 0]).tolist() == [device]:
        views = tensors.addresses[rows] < 0  # their copies name the chip, not the mesh that holds it (TTNN 0.70 on)
        addresses[rows[views]] = copied[views]
    addresses[rows[here]] = copied[here]
    return keys_of(addresses, np.where(tensors.addresses < 0, _printed_buffers(tensors), tensors.buffers))


def _printed_buffers(tensors: Tensors) -> Integers:
    """The buffer type of each tensor by its memory config: the column is wrong for tensors without an address."""
    codes = [BUFFER_TYPES.index(one.buffer) for one in tensors.placements.distinct]
    printed: Integers = np.array([*codes, -1], dtype=np.int64)[tensors.placements.codes]
    return printed


def _placed(links: TensorLinks, operations: Integers, tensors: Integers) -> tuple[Integers, Integers]:
    """(place, tensor row) of the links whose operation and tensor the report lists."""
    known = np.isin(links.operations, operations) & np.isin(links.tensors, tensors)
    return np.searchsorted(operations, links.operations[known]), np.searchsorted(tensors, links.tensors[known])


def _least(places: Integers, rows: Integers, count: int) -> Integers:
    least = np.full(count, NEVER, dtype=np.int64)
    np.minimum.at(least, rows, places)
    return np.where(least == NEVER, NOBODY, least)


def _add_told(
    memory: MemoryReport,
    operations: Integers,
    frees: Booleans,
    producers: Integers,
    last_uses: Integers,
) -> None:
    """Add what `tensor_lifetime` (3.x) tells beyond the tables of inputs and outputs."""
    recorded = memory.lifetimes
    if recorded is None:
        return
    known = np.isin(recorded.tensors, memory.tensors.ids)
    rows = np.searchsorted(memory.tensors.ids, recorded.tensors[known])
    for column, ours in ((recorded.producers[known], producers), (recorded.last_uses[known], last_uses)):
        listed = np.isin(column, operations)
        places = np.searchsorted(operations, column[listed])
        usable = ~frees[places] & (ours[rows[listed]] < 0)
        ours[rows[listed][usable]] = places[usable]


def _spans_at(spans: Spans, keys: Integers, moments: Integers) -> Integers:
    """For each (key, moment) the span that was live there then; NOBODY if none was."""
    places = np.full(len(keys), NOBODY, dtype=np.int64)
    if not len(spans):
        return places
    distinct, ranks = np.unique(spans.keys, return_inverse=True)
    width = int(max(spans.starts.max(), moments.max(initial=0))) + 2
    line = ranks * width + spans.starts
    order = np.argsort(line, kind="stable")
    rank = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
    at = np.searchsorted(line[order], rank * width + moments, side="right") - 1
    rows = order[np.maximum(at, 0)]
    good = (at >= 0) & (spans.keys[rows] == keys) & (spans.ends[rows] > moments)
    places[good] = rows[good]
    return places


def _match_unlinked(spans: Spans, keys: Integers, moments: Integers, rows: Integers) -> None:
    """Match tensors of no operation to buffers without a tensor: a halo's output, an unused weight.

    Per address, in order, if there are as many tensors as buffers.
    """
    tensors = np.flatnonzero(moments < 0)
    unclaimed = spans.ends == np.where(spans.recorded, spans.starts, NEVER)  # made and freed at once; or persistent
    unclaimed[rows[rows >= 0]] = False
    free = np.flatnonzero(unclaimed)
    free = free[np.argsort(spans.keys[free], kind="stable")]
    tensors = tensors[np.argsort(keys[tensors], kind="stable")]
    for key in np.intersect1d(spans.keys[free], keys[tensors]).tolist():
        ours = free[slice(*np.searchsorted(spans.keys[free], [key, key + 1]))]
        theirs = tensors[slice(*np.searchsorted(keys[tensors], [key, key + 1]))]
        if len(ours) == len(theirs):
            rows[theirs] = ours
