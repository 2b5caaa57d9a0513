"""The `buffers` table as stretches: the first and last operation after which a buffer is live at its address.

The table repeats every live buffer after every operation; a million rows become one stretch per buffer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.hardware import LOCAL_L1_ALIGNMENT_BYTES
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL, keys_of
from ttnn_mcp.readers.memory.stream import SnapshotRows
from ttnn_mcp.records import dataclass

_MOST_BYTES = 2**40  # per bank: a larger number is a misread, and sums of them overflow 64 bits


class Seen(NamedTuple):
    """The changes of one snapshot against the one before: buffers that came, buffers that went."""

    came: list[tuple[int, int, int]]
    """(key, bytes per bank, code of BUFFER_TYPES)."""
    went: list[int]
    """Keys."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The buffers that came or went with each snapshot, in the order of the operations.

    Attributes:
        first: per operation, the row at which its changes begin; one entry more than there are operations.
    """

    keys: list[int]
    sizes: list[int]
    codes: list[int]
    first: list[int]

    def at(self, place: int) -> slice:
        """The rows of the operation at `place`."""
        return slice(self.first[place], self.first[place + 1])


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of one device. Operations are places in execution order, not ids.

    Attributes:
        taken: per operation, whether there is a snapshot at all.
        l1_bytes: per operation, bytes per bank of the L1 tensors it shows: a lower bound of the bytes in use.
    """

    taken: list[bool]
    l1_bytes: Integers
    came: Changes
    went: Changes

    def at(self, place: int) -> Seen:
        """The changes of the snapshot after the operation at `place`."""
        came, rows = self.came, self.came.at(place)
        new = list(zip(came.keys[rows], came.sizes[rows], came.codes[rows], strict=True))
        return Seen(new, self.went.keys[self.went.at(place)])


def same_snapshots(first: Snapshots | None, other: Snapshots | None) -> bool:
    """Whether two devices always show the same buffers at the same addresses, as those of a mesh do."""
    if first is None or other is None:
        return first is other
    return first.came == other.came and first.went == other.went


def snapshots_of(
    buffers: SnapshotRows, operations: Integers, empty: Booleans, dram_step: int = 1
) -> dict[int, Snapshots]:
    """The snapshots per device.

    Args:
        buffers: the table.
        operations: ids in the order they ran.
        empty: operations whose snapshot counts although it has no rows: nothing was live after them.
        dram_step: bytes that buffers in DRAM are aligned to.
    """
    buffers = replace(buffers, bytes_per_bank=_allocated(buffers, dram_step))
    rows = np.flatnonzero(np.isin(buffers.operations, operations))
    places = np.searchsorted(operations, buffers.operations[rows])
    taken: Booleans = np.array(empty)
    taken[places] = True
    turn = np.cumsum(taken) - 1  # number of the snapshot: an operation without one ends no stretch
    by_device: dict[int, Snapshots] = {}
    devices = buffers.devices[rows]
    for device in np.unique(devices).tolist():
        mine = devices == device
        by_device[device] = _of_device(buffers, rows[mine], places[mine], taken, turn)
    return by_device


def _of_device(
    buffers: SnapshotRows, rows: Integers, places: Integers, taken: Booleans, turn: Integers
) -> Snapshots:
    keys = keys_of(buffers.addresses[rows], buffers.buffers[rows])
    order = np.lexsort((places, keys))
    order = order[keys[order] >= 0]
    keys, places = keys[order], places[order]
    codes = buffers.buffers[rows][order]
    sizes = buffers.bytes_per_bank[rows][order]
    turns = turn[places]
    same = (np.diff(keys, prepend=-1) == 0) & (np.diff(turns, prepend=-1) == 0)  # one buffer listed twice
    keys, places, sizes, codes, turns = (column[~same] for column in (keys, places, sizes, codes, turns))
    goes_on = (np.diff(keys, prepend=-1) == 0) & (np.diff(turns, prepend=-2) == 1)
    goes_on &= (np.diff(sizes, prepend=-1) == 0) & (np.diff(codes, prepend=-1) == 0)
    first = np.flatnonzero(~goes_on)
    last = np.append(first[1:], len(keys)) - 1 if len(first) else first
    after = np.flatnonzero(taken)  # places that have a snapshot, by number
    ended = last[turns[last] + 1 < len(after)]
    in_l1 = codes == L1
    level = np.bincount(places[in_l1], weights=sizes[in_l1], minlength=len(taken)).astype(np.int64)
    return Snapshots(
        taken.tolist(),
        level,
        came=_changes(places[first], keys[first], sizes[first], codes[first], len(taken)),
        went=_changes(after[turns[ended] + 1], keys[ended], sizes[ended], codes[ended], len(taken)),
    )


def _allocated(buffers: SnapshotRows, dram_step: int) -> Integers:
    """What the allocator sets aside: the table tells what a buffer fills, 4 bytes of a semaphore's 16."""
    codes = buffers.buffers
    steps = np.where(codes == DRAM, dram_step, 1)
    steps[(codes == L1) | (codes == L1_SMALL)] = LOCAL_L1_ALIGNMENT_BYTES
    return -(-np.minimum(np.maximum(buffers.bytes_per_bank, 0), _MOST_BYTES) // steps) * steps


def _changes(places: Integers, keys: Integers, sizes: Integers, codes: Integers, operations: int) -> Changes:
    order = np.argsort(places, kind="stable")
    first = np.searchsorted(places[order], np.arange(operations + 1))
    return Changes(keys[order].tolist(), sizes[order].tolist(), codes[order].tolist(), first.tolist())
