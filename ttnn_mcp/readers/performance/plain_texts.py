"""Texts in plain cells: fields that stand side by side are looked up together, since their texts repeat together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.readers.performance.plain_blocks import Block

KNOWN_BYTES_AT_MOST = 1 << 26  # of different texts of one group; real reports have some hundred kB


class TextGroup:
    """Fields from `first` to `last`, side by side: one number per row, each distinct text stored once."""

    def __init__(self, first: int, last: int) -> None:
        self.first, self.last = first, last
        self._known: dict[bytes, int] = {}
        self._known_bytes = 0

    def of(self, block: Block) -> NDArray[np.int32] | None:
        """The number of each row's text; None if too many differ."""
        contents, number_of = block.contents, self._known.get
        begins: list[int] = (block.before[:, self.first] + 1).tolist()
        ends: list[int] = block.after[:, self.last].tolist()
        codes = [number_of(contents[begin:end], -1) for begin, end in zip(begins, ends, strict=True)]
        numbers = np.array(codes, dtype=np.int32)
        for row in np.flatnonzero(numbers < 0).tolist():
            numbers[row] = self._number(contents[begins[row] : ends[row]])
        return None if self._known_bytes > KNOWN_BYTES_AT_MOST else numbers

    def _number(self, text: bytes) -> int:
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = len(self._known)
            self._known_bytes += len(text)
        return number

    def columns(self, blanks: Sequence[str]) -> list[tuple[list[str], NDArray[np.int32]]]:
        """Per field: its distinct texts in order, and the place of each group text's part among them (-1 = blank)."""
        columns: list[tuple[list[str], NDArray[np.int32]]] = []
        for cells in zip(*(text.split(b",") for text in self._known), strict=True):
            texts = [cell.decode("utf-8", errors="replace") for cell in cells]
            distinct = sorted(set(texts).difference(blanks))
            place = {text: number for number, text in enumerate(distinct)}
            columns.append((distinct, np.array([place.get(text, -1) for text in texts], dtype=np.int32)))
        return columns or [([], np.zeros(0, dtype=np.int32))] * (self.last - self.first + 1)
