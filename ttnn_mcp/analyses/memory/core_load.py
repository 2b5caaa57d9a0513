"""The buffers of programs (circular and dataflow buffers, scratchpads) core by core, and how far up they reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.readers.printed.memory_config import CoreRange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ttnn_mcp.readers.graph.graph_events import MemoryEvent

SIDE = 64  # no chip has a grid as wide; ranges beyond it are cut, so that odd text costs no memory

Ranges = tuple[CoreRange, ...]


class Circular(NamedTuple):
    """A program's buffer while it is there."""

    device_op: int
    address: int
    bytes_per_core: int
    ranges: Ranges
    device: int = -1

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + self.bytes_per_core


def on_cores(loads: Iterable[tuple[Ranges, int]]) -> NDArray[np.int64]:
    """Bytes on each core, as [x, y], where loads add up."""
    grid = np.zeros((SIDE, SIDE), dtype=np.int64)
    for ranges, size in loads:
        _add(grid, ranges, size)
    return grid


def _add(grid: NDArray[np.int64], ranges: Ranges, size: int) -> None:
    if not ranges:  # not told: then on all
        grid += size
    for (x0, y0), (x1, y1) in ranges:
        grid[x0 : x1 + 1, y0 : y1 + 1] += size


def reach_on_cores(buffers: Iterable[Circular], base: int) -> NDArray[np.int64]:
    """How far above `base` the buffers of each core reach, as [x, y]; sizes where no address is told."""
    grid = np.zeros((SIDE, SIDE), dtype=np.int64)
    loose: list[tuple[Ranges, int]] = []
    for buffer in buffers:
        if not 0 < base <= buffer.address:
            loose.append((buffer.ranges, buffer.bytes_per_core))
            continue
        for (x0, y0), (x1, y1) in buffer.ranges or (((0, 0), (SIDE, SIDE)),):
            cores = grid[x0 : x1 + 1, y0 : y1 + 1]
            np.maximum(cores, buffer.end - base, out=cores)
    return grid + on_cores(loose)


class _OfOneOp:
    """The buffers of one device op's program: how far up they reach, and the sizes of those that lie nowhere."""

    __slots__ = ("buffers", "reach", "sizes")

    def __init__(self) -> None:
        self.buffers: list[Circular] = []
        self.reach = 0
        self.sizes: dict[int, NDArray[np.int64]] = {}


class OnCores:
    """The buffers of the programs that are under way; those over a tensor take nothing more and are left out.

    A buffer that several core groups share lies above the tallest of them (tt_metal program.cpp), so what counts is
    how far up the buffers reach and not what they add up to. Where no addresses are told (dry captures) their sizes
    count, on the fullest core of the fullest chip.

    Args:
        base: address at which such buffers begin; 0 where the report does not say.
    """

    __slots__ = ("_base", "_ops", "fullest")

    def __init__(self, base: int = 0) -> None:
        self._base = base
        self._ops: dict[int, _OfOneOp] = {}
        self.fullest = 0
        """Bytes on the fullest core."""

    @property
    def mark(self) -> tuple[tuple[list[Circular], int], ...]:
        """What is there now, op by op: lists that only grow, and how long they are."""
        return tuple((op.buffers, len(op.buffers)) for op in self._ops.values())

    def add(self, event: MemoryEvent) -> None:
        """One more on every core of its ranges."""
        if event.over_tensor:
            return
        op = self._ops.get(event.device_op)
        if op is None:
            op = self._ops[event.device_op] = _OfOneOp()
        circular = Circular(event.device_op, event.address, event.size_bytes, event.ranges, event.device)
        op.buffers.append(circular)
        if 0 < self._base <= circular.address:
            op.reach = max(op.reach, circular.end - self._base)
            self.fullest = max(self.fullest, op.reach)
            return
        sizes = op.sizes.get(circular.device)
        if sizes is None:
            sizes = op.sizes[circular.device] = np.zeros((SIDE, SIDE), dtype=np.int64)
        _add(sizes, circular.ranges, circular.bytes_per_core)
        self.fullest = self._load()

    def drop(self, event: MemoryEvent) -> None:
        """All of them, or those of a device op that is over."""
        if event.kind != "end":
            self._ops.clear()
            self.fullest = 0
        elif self._ops.pop(event.device_op, None) is not None:
            self.fullest = self._load()

    def _load(self) -> int:
        chips: dict[int, NDArray[np.int64]] = {}
        for op in self._ops.values():
            for chip, sizes in op.sizes.items():
                chips[chip] = chips[chip] + sizes if chip in chips else sizes
        summed = max((int(sizes.max()) for sizes in chips.values()), default=0)
        return summed + max((op.reach for op in self._ops.values()), default=0)
