"""Circular buffers core by core: what lies on the fullest one, and on which cores how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.readers.printed.memory_config import CoreRange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ttnn_mcp.readers.graph.graph_memory import MemoryEvent

SIDE = 64  # no chip has a grid as wide; ranges beyond it are cut, so that odd text costs no memory

Ranges = tuple[CoreRange, ...]


def on_fullest_core(loads: dict[Ranges, int]) -> int:
    """Bytes on the fullest core; `loads` are bytes per core by the ranges they lie on."""
    if len(loads) < 2:
        return sum(loads.values())
    return int(on_cores(loads.items()).max())


def on_cores(loads: Iterable[tuple[Ranges, int]]) -> NDArray[np.int64]:
    """Bytes on each core, as [x, y]."""
    grid = np.zeros((SIDE, SIDE), dtype=np.int64)
    for ranges, size in loads:
        if not ranges:  # not told: then on all
            grid += size
        for (x0, y0), (x1, y1) in ranges:
            grid[x0 : x1 + 1, y0 : y1 + 1] += size
    return grid


class Circular(NamedTuple):
    """A circular buffer while it is there."""

    device_op: int
    address: int
    bytes_per_core: int
    ranges: Ranges


class OnCores:
    """The circular buffers that are there; those over a tensor take nothing more and are left out."""

    __slots__ = ("buffers", "fullest")

    def __init__(self) -> None:
        self.buffers: list[Circular] = []
        self.fullest = 0
        """Bytes on the fullest core."""

    def add(self, event: MemoryEvent) -> None:
        """One more on every core of its ranges."""
        if not event.over_tensor:
            self.buffers.append(Circular(event.device_op, event.address, event.size_bytes, event.ranges))
            self._count()

    def drop(self, event: MemoryEvent) -> None:
        """All of them, or those of a device op that is over."""
        if self.buffers:
            over = event.device_op if event.kind == "end" else None
            self.buffers = [one for one in self.buffers if over not in (None, one.device_op)]
            self._count()

    def _count(self) -> None:
        loads: dict[Ranges, int] = {}
        for one in self.buffers:
            loads[one.ranges] = loads.get(one.ranges, 0) + one.bytes_per_core
        self.fullest = on_fullest_core(loads)
