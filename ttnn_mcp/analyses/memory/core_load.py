"""The buffers of programs (circular and dataflow buffers, scratchpads) per core, and the address they reach."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.readers.graph.graph_events import MemoryEvent
from ttnn_mcp.readers.printed.memory_config import CoreRange

SIDE = 64  # no chip has so wide a grid; ranges beyond it are cut, so that a broken text costs no memory

Ranges = tuple[CoreRange, ...]


class Circular(NamedTuple):
    """A program's buffer while it is allocated."""

    device_op: int
    address: int
    bytes_per_core: int
    ranges: Ranges
    device: int = -1

    @property
    def end(self) -> int:
        """The first address behind it."""
        return self.address + self.bytes_per_core


def _no_bytes() -> Integers:
    """On each core, as [x, y]."""
    return np.zeros((SIDE, SIDE), dtype=np.int64)


def on_cores(loads: Iterable[tuple[Ranges, int]]) -> Integers:
    """Bytes on each core, as [x, y]; loads on one core add up."""
    grid = _no_bytes()
    for ranges, size in loads:
        _add(grid, ranges, size)
    return grid


def _add(grid: Integers, ranges: Ranges, size: int) -> None:
    if not ranges:  # unknown: count all cores
        grid += size
    for (x0, y0), (x1, y1) in ranges:
        grid[x0 : x1 + 1, y0 : y1 + 1] += size


def reach_on_cores(buffers: Iterable[Circular], base: int) -> Integers:
    """How far above `base` the buffers of each core reach, as [x, y]; their sizes if they have no addresses."""
    grid = _no_bytes()
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
    """The buffers of one device op's program: the address they reach, and the sizes of those without an address."""

    __slots__ = ("buffers", "reach", "sizes")

    def __init__(self) -> None:
        self.buffers: list[Circular] = []
        self.reach = 0
        self.sizes: defaultdict[int, Integers] = defaultdict(_no_bytes)


class OnCores:
    """The buffers of the running programs; those that share a tensor's memory take no more and are left out.

    A buffer that several core groups share lies above the tallest of them (tt_metal program.cpp). So the address that
    the buffers reach counts, not the sum of their sizes. Dry captures have no addresses: there the sizes count, on
    the fullest core of the fullest chip.

    Args:
        base: address at which such buffers begin; 0 if unknown.
    """

    __slots__ = ("_base", "_ops", "fullest")

    def __init__(self, base: int = 0) -> None:
        self._base = base
        self._ops: defaultdict[int, _OfOneOp] = defaultdict(_OfOneOp)
        self.fullest = 0
        """Bytes on the fullest core."""

    @property
    def mark(self) -> tuple[tuple[list[Circular], int], ...]:
        """The present state per op: each list of buffers, which only grows, and its present length."""
        return tuple((op.buffers, len(op.buffers)) for op in self._ops.values())

    def add(self, event: MemoryEvent) -> None:
        """Add a buffer on every core of its ranges."""
        if event.over_tensor:
            return
        op = self._ops[event.device_op]
        circular = Circular(event.device_op, event.address, event.size_bytes, event.ranges, event.device)
        op.buffers.append(circular)
        if 0 < self._base <= circular.address:
            op.reach = max(op.reach, circular.end - self._base)
        else:
            _add(op.sizes[circular.device], circular.ranges, circular.bytes_per_core)
        self.fullest = self._load()

    def drop(self, event: MemoryEvent) -> None:
        """Drop all buffers, or those of a device op that has ended."""
        if event.kind != "end":
            self._ops.clear()
        else:
            self._ops.pop(event.device_op, None)
        self.fullest = self._load()

    def _load(self) -> int:
        chips: dict[int, Integers] = {}
        for op in self._ops.values():
            for chip, sizes in op.sizes.items():
                chips[chip] = chips[chip] + sizes if chip in chips else sizes
        summed = max((int(sizes.max()) for sizes in chips.values()), default=0)
        return summed + max((op.reach for op in self._ops.values()), default=0)
