"""Numbers in plain cells, all cells of a block at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.readers.performance.digit_words import DIGITS, ZEROS, are_no_digits, as_number, decimals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.readers.performance.plain_blocks import Block

LAST_BYTES = np.array([((1 << 8 * n) - 1) << (64 - 8 * n) for n in range(DIGITS + 1)], dtype=np.uint64)
NUMBER = re.compile(rb"[+-]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,4})?")
# Texts of other numbers, which may repeat.
REMEMBERED = 100_000  # unmoved: what is forgotten is read again, and comes to the same


class Numbers:
    """Turns cells into float64; what is no plain whole number goes through Python, each text once."""

    def __init__(self, blanks: tuple[str, ...]) -> None:
        self._blanks = {text.encode(): np.nan for text in blanks}
        self._known = dict(self._blanks)

    def of(self, block: Block, fields: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Which of the fields have a cell that is not blank, and these fields' numbers, shape (filled fields, rows).

        NaN stands for a blank cell; the answer is None if a cell is no number.
        """
        after = block.after[:, fields]
        beyond = after - block.before[:, fields]  # one more than the length of a cell
        filled = np.flatnonzero((beyond > 1).any(axis=0))
        ends: NDArray[np.int64] = np.ravel(after[:, filled])
        lengths: NDArray[np.int64] = np.ravel(beyond[:, filled]) - 1
        words = np.ndarray((len(block.contents) - 7,), dtype="<u8", buffer=block.contents, strides=(1,))
        digits = (words[ends - DIGITS] ^ ZEROS) & LAST_BYTES.take(lengths, mode="clip")
        odd = are_no_digits(digits) | (lengths > 2 * DIGITS)
        whole = as_number(digits)
        long = (lengths > DIGITS).nonzero()[0]
        masks = LAST_BYTES.take(lengths[long] - DIGITS, mode="clip")
        first_digits = (words[ends[long] - 2 * DIGITS] ^ ZEROS) & masks
        odd[long] |= are_no_digits(first_digits)
        whole[long] += as_number(first_digits) * np.uint64(10**DIGITS)
        numbers = whole.astype(np.float64)
        numbers[lengths == 0] = np.nan
        rows = odd.nonzero()[0]
        numbers[rows], are_decimals = decimals(digits[rows])
        rows = rows[~are_decimals | (lengths[rows] == 1) | (lengths[rows] > DIGITS)]
        others = self._others(block.contents, ends[rows], lengths[rows])
        if others is None:
            return None
        numbers[rows] = others
        columns: NDArray[np.float64] = np.reshape(numbers, (block.rows, len(filled)))
        return filled, np.transpose(columns)

    def _others(self, contents: bytes, ends: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[float] | None:
        """Signed and very long numbers, and long decimals; None if one is no number."""
        if len(self._known) > REMEMBERED:  # unmoved: likewise
            self._known = dict(self._blanks)
        known = self._known
        begins: list[int] = (ends - lengths).tolist()
        texts = [contents[begin:end] for begin, end in zip(begins, ends.tolist(), strict=True)]
        for text in set(texts).difference(known):
            if not NUMBER.fullmatch(text):
                return None
            known[text] = float(text)
        return [known[text] for text in texts]
