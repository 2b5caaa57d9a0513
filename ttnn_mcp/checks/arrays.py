"""The arrays that checks compute with."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from ttnn_mcp import arrays

Rows: TypeAlias = arrays.Integers  # positions in `facts.ops`
Mask: TypeAlias = arrays.Booleans  # one per op of `facts.ops`
Floats: TypeAlias = arrays.Floats  # one per row, or one per op


def no_saving(rows: Rows) -> Floats:
    """Bounds of a problem that is a risk or a trial: no saving is known."""
    return np.zeros(len(rows))
