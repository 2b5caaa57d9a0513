"""Circular buffers core by core: what lies on the fullest one, and on which cores how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ttnn_mcp.readers.memory_config import CoreRange

SIDE = 64  # no chip has a grid as wide; ranges beyond it are cut, so that odd text costs no memory

Ranges = tuple["CoreRange", ...]


def fullest(loads: dict[Ranges, int]) -> int:
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
