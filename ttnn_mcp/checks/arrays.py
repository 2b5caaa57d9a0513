"""The arrays that checks compute with."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# quoted: numpy's types take 40 ms to load
Rows: TypeAlias = "NDArray[np.int64]"  # positions in `facts.ops`
Mask: TypeAlias = "NDArray[np.bool_]"  # one per op of `facts.ops`
Floats: TypeAlias = "NDArray[np.float64]"  # one per row, or one per op


def no_saving(rows: Rows) -> Floats:
    """Bounds of a problem that is a risk or a trial: no saving is known."""
    return np.zeros(len(rows))
