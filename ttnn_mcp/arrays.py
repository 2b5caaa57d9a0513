"""The arrays of numpy that we compute with, by what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

# quoted: numpy's types take 40 ms to load
Integers: TypeAlias = "NDArray[np.int64]"  # often positions: rows, ops, places
Floats: TypeAlias = "NDArray[np.float64]"
Booleans: TypeAlias = "NDArray[np.bool_]"
Short: TypeAlias = "NDArray[np.signedinteger[Any]]"  # integers that take as few bytes as they need
Codes: TypeAlias = "NDArray[np.int32]"  # which of the distinct values
Array: TypeAlias = "NDArray[Any]"  # of whatever kind
