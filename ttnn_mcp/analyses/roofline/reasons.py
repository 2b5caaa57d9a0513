"""One reason per op, said to masks of ops: why a figure is missing, or what an op is bound by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.ops.texts import Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Reasons:
    """Texts per op under construction; what was said first stays."""

    def __init__(self, rows: int) -> None:
        self._codes = np.full(rows, -1, dtype=np.int64)
        self._said: list[str] = []

    def add(self, ops: NDArray[np.bool_] | NDArray[np.int64], text: str) -> None:
        """Say `text` of these ops (a mask or positions) that nothing was said of yet."""
        places = np.flatnonzero(ops) if ops.dtype == np.bool_ else ops
        places = places[self._codes[places] < 0]
        if not len(places):
            return
        if text not in self._said:
            self._said.append(text)
        self._codes[places] = self._said.index(text)

    @property
    def silent(self) -> NDArray[np.bool_]:
        """Mask of the ops nothing was said of."""
        return self._codes < 0

    def texts(self) -> Texts:
        """What was said; empty where nothing was."""
        return Texts(np.array(self._codes), tuple(self._said))
