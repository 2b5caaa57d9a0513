"""Why figures of ops are missing, or what the ops are bound by."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.run.ops.texts import Texts


class Reasons:
    """Collects one reason per op; the first one added stays."""

    def __init__(self, rows: int) -> None:
        self._codes = np.full(rows, -1, dtype=np.int64)
        self._texts: list[str] = []

    def add(self, ops: Booleans | Integers, text: str) -> None:
        """Give these ops (a mask or positions) the reason `text`, if they have none yet."""
        places = np.flatnonzero(ops) if ops.dtype == np.bool_ else ops
        places = places[self._codes[places] < 0]
        if not len(places):
            return
        if text not in self._texts:
            self._texts.append(text)
        self._codes[places] = self._texts.index(text)

    def texts(self) -> Texts:
        """The reason of each op; empty where it has none."""
        return Texts(np.array(self._codes), tuple(self._texts))
