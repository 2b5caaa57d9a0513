"""Whether rows of a CSV may have more fields than its header, judged from its bytes as they pass.

pandas leaves out the fields beyond the header without a word where columns are chosen by name. But a row is too long
because a text holds a comma without quotes: the cells behind it stand under the wrong headers.
"""

from __future__ import annotations

import numpy as np

SEPARATOR, NEWLINE, QUOTE = b',\n"'


class RowLengths:
    """Counts separators outside of quotes, line by line.

    Attributes:
        may_be_long: whether a row has more fields than the header; a stray quote inside a cell may mislead it.
    """

    def __init__(self, fields: int) -> None:
        self._separators_at_most = fields - 1
        self._is_quoted = False  # whether the next byte is inside quotes
        self._separators = 0  # in the line so far
        self.may_be_long = False

    def add(self, block: bytes) -> None:
        """Take the next bytes into account."""
        if not block:
            return
        cells = np.frombuffer(block, dtype=np.uint8)
        outside = np.logical_xor.accumulate(cells == QUOTE) == self._is_quoted
        ends = np.flatnonzero((cells == NEWLINE) & outside)
        separators = ((cells == SEPARATOR) & outside).view(np.uint8)
        counts = np.add.reduceat(separators, [0, *ends.tolist()], dtype=np.int32)  # at last the line that goes on
        counts[0] += self._separators
        self._separators = int(counts[-1])
        self._is_quoted = not outside[-1]
        self.may_be_long |= bool((counts > self._separators_at_most).any())
