"""The `buffers` table as stretches: from which operation to which a buffer was seen live at its address.

The table repeats every live buffer after every operation; a million rows come down to one stretch per buffer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.readers.memory_config import BUFFER_TYPES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.readers.memory_columns import Integers
    from ttnn_mcp.readers.memory_stream import SnapshotRows

DRAM, L1, HOST, L1_SMALL, TRACE = range(len(BUFFER_TYPES))  # codes of BUFFER_TYPES
SPACES = {
    DRAM: 0,
    TRACE: 0,
    L1: 1,
    L1_SMALL: 1,
}  # trace buffers lie in DRAM, L1_SMALL in L1: one address, one buffer
_SPACE_OF_CODE = np.array([SPACES.get(code, -1) for code in (*range(len(BUFFER_TYPES)), -1)])


def key_of(address: int, buffer: int) -> int:
    """One number for an address of a space; -1 where address or buffer is not told, or it is host memory."""
    space = SPACES.get(buffer, -1)
    return -1 if address < 0 or space < 0 else address * 2 + space


def keys_of(addresses: Integers, buffers: Integers) -> Integers:
    """`key_of` for columns."""
    codes = np.where((buffers >= 0) & (buffers < len(BUFFER_TYPES)), buffers, -1)
    spaces = _SPACE_OF_CODE[codes]
    return np.where((addresses >= 0) & (spaces >= 0), addresses * 2 + spaces, -1)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one snapshot shows that the one before did not, and what it no longer shows."""

    came: tuple[tuple[int, int, int], ...]
    """(key, bytes per bank, code of BUFFER_TYPES)."""
    went: tuple[int, ...]
    """Keys."""


NOTHING_NEW = Seen((), ())


@dataclass(frozen=True)
class Snapshots:
    """The snapshots of one device. Operations are places in the order they ran, not ids.

    Attributes:
        taken: per operation, whether there is a snapshot at all.
        l1_bytes: per operation, bytes per bank of the L1 tensors it shows: a floor of what was in use.
    """

    taken: list[bool]
    l1_bytes: Integers
    changes: dict[int, Seen]

    def at(self, place: int) -> Seen:
        """What changed with the snapshot after the operation at `place`."""
        return self.changes.get(place, NOTHING_NEW)


def same_snapshots(one: Snapshots | None, other: Snapshots | None) -> bool:
    """Whether two devices show the same buffers at the same addresses throughout, as those of a mesh do."""
    if one is None or other is None:
        return one is other
    return one.changes == other.changes


def snapshots_of(buffers: SnapshotRows, operations: Integers, empty: NDArray[np.bool_]) -> dict[int, Snapshots]:
    """The snapshots per device.

    Args:
        buffers: the table.
        operations: ids in the order they ran.
        empty: operations whose snapshot counts although it has no rows: nothing was live after them.
    """
    rows = np.flatnonzero(np.isin(buffers.operations, operations))
    places = np.searchsorted(operations, buffers.operations[rows])
    taken: NDArray[np.bool_] = np.array(empty)
    taken[places] = True
    turn = np.cumsum(taken) - 1  # number of the snapshot: operations without one do not end a stretch
    found: dict[int, Snapshots] = {}
    devices = buffers.devices[rows]
    for device in np.unique(devices).tolist():
        mine = devices == device
        found[device] = _of_device(buffers, rows[mine], places[mine], taken, turn)
    return found


def _of_device(
    buffers: SnapshotRows, rows: Integers, places: Integers, taken: NDArray[np.bool_], turn: Integers
) -> Snapshots:
    keys = keys_of(buffers.addresses[rows], buffers.buffers[rows])
    order = np.lexsort((places, keys))
    order = order[keys[order] >= 0]
    keys, places = keys[order], places[order]
    sizes, codes = np.maximum(buffers.bytes_per_bank[rows][order], 0), buffers.buffers[rows][order]
    turns = turn[places]
    same = (np.diff(keys, prepend=-1) == 0) & (np.diff(turns, prepend=-1) == 0)  # one buffer told twice
    keys, places, sizes, codes, turns = (one[~same] for one in (keys, places, sizes, codes, turns))
    goes_on = (np.diff(keys, prepend=-1) == 0) & (np.diff(turns, prepend=-2) == 1)
    goes_on &= (np.diff(sizes, prepend=-1) == 0) & (np.diff(codes, prepend=-1) == 0)
    first = np.flatnonzero(~goes_on)
    last = np.append(first[1:], len(keys)) - 1 if len(first) else first
    came = np.stack((places[first], keys[first], sizes[first], codes[first]), axis=1).tolist()
    after = np.flatnonzero(taken)  # places that have a snapshot, by number
    ended = last[turns[last] + 1 < len(after)]
    went = np.stack((after[turns[ended] + 1], keys[ended]), axis=1).tolist()
    in_l1 = codes == L1
    level = np.bincount(places[in_l1], weights=sizes[in_l1], minlength=len(taken)).astype(np.int64)
    return Snapshots(taken.tolist(), level, _changes(came, went))


def _changes(came: list[list[int]], went: list[list[int]]) -> dict[int, Seen]:
    new: dict[int, list[tuple[int, int, int]]] = {}
    for place, key, size, code in came:
        new.setdefault(place, []).append((key, size, code))
    gone: dict[int, list[int]] = {}
    for place, key in went:
        gone.setdefault(place, []).append(key)
    return {place: Seen(tuple(new.get(place, ())), tuple(gone.get(place, ()))) for place in {*new, *gone}}
