"""Numbers in plain cells, all cells of a block at once: eight digits are one 64-bit word, and become one number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.readers.performance.plain_blocks import Block

DIGITS = 8  # of a word
ZEROS = np.uint64(0x3030303030303030)
TOP_BITS = np.uint64(0x8080808080808080)
BEYOND_NINE = np.uint64(0x7676767676767676)  # added to a byte of 10 or more, it sets the top bit
LAST_BYTES = np.array([((1 << 8 * n) - 1) << (64 - 8 * n) for n in range(DIGITS + 1)], dtype=np.uint64)
NUMBER = re.compile(rb"[+-]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,4})?")
REMEMBERED = 100_000  # texts of other numbers; percentages and small times repeat


class Numbers:
    """Turns cells into float64; what is no plain whole number goes through Python, each text once."""

    def __init__(self, blanks: tuple[str, ...]) -> None:
        self._blanks = {text.encode(): np.nan for text in blanks}
        self._known: dict[bytes, float] = {}

    def of(self, block: Block, fields: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Which of the fields have a cell that is not blank, and these fields' numbers, shape (filled fields, rows).

        NaN stands for a blank cell; the answer is None if a cell is no number.
        """
        lengths = block.ends(fields) - block.begins(fields)
        filled = np.flatnonzero(lengths.any(axis=0))
        lengths: NDArray[np.int64] = np.ravel(lengths[:, filled])
        ends: NDArray[np.int64] = np.ravel(block.ends(fields[filled]))
        words = np.ndarray((len(block.contents) - 7,), dtype="<u8", buffer=block.contents, strides=(1,))
        digits = (words[ends - DIGITS] ^ ZEROS) & LAST_BYTES.take(lengths, mode="clip")
        odd = _are_no_digits(digits) | (lengths > 2 * DIGITS)
        whole = _as_number(digits)
        long = np.flatnonzero(lengths > DIGITS)
        if len(long):
            masks = LAST_BYTES.take(lengths[long] - DIGITS, mode="clip")
            digits = (words[ends[long] - 2 * DIGITS] ^ ZEROS) & masks
            odd[long] |= _are_no_digits(digits)
            whole[long] += _as_number(digits) * np.uint64(10**DIGITS)
        numbers = whole.astype(np.float64)
        numbers[lengths == 0] = np.nan
        rows = np.flatnonzero(odd)
        if len(rows):
            others = self._others(block.contents, ends[rows], lengths[rows])
            if others is None:
                return None
            numbers[rows] = others
        columns: NDArray[np.float64] = np.reshape(numbers, (block.rows, len(filled)))
        return filled, np.transpose(columns)

    def _others(self, contents: bytes, ends: NDArray[np.int64], lengths: NDArray[np.int64]) -> list[float] | None:
        """Signed, fractional and very long numbers; None if one is no number."""
        if len(self._known) > REMEMBERED:
            self._known = {}
        known = self._known
        begins: list[int] = (ends - lengths).tolist()
        texts = [contents[begin:end] for begin, end in zip(begins, ends.tolist(), strict=True)]
        for text in set(texts) - known.keys():
            value = self._blanks.get(text)
            if value is None:
                if not NUMBER.fullmatch(text):
                    return None
                value = float(text)
            known[text] = value
        return [known[text] for text in texts]


def _are_no_digits(digits: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return ((digits | (digits + BEYOND_NINE)) & TOP_BITS) != 0


def _as_number(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Eight digits, the first in the lowest byte, as a number: pairs, then fours, then all eight at once."""
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    of_each = np.uint64(0x000000FF000000FF)
    high = (pairs & of_each) * np.uint64(0x000F424000000064)  # 100 + (1000000 << 32)
    low = ((pairs >> np.uint64(16)) & of_each) * np.uint64(0x0000271000000001)  # 1 + (10000 << 32)
    return (high + low) >> np.uint64(32)
