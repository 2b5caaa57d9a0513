"""Numbers in plain cells, all cells of a block at once.

Eight digits are one 64-bit word, the first digit in the lowest byte: they become one number in a few operations. A
digit is a byte from 0 to 9, as its character exclusive-or "0". A text of fewer characters has zeros before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats, Integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.readers.performance.plain_blocks import Block

DIGITS = 8  # of a word
ZEROS = np.uint64(0x3030303030303030)
POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)  # "." exclusive-or "0"
ONE, BYTE = np.uint64(1), np.uint64(8)
TOP_BITS = np.uint64(0x8080808080808080)
OTHER_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
BEYOND_NINE = np.uint64(0x7676767676767676)  # added to a byte of 10 or more, it sets the top bit
TOP_BIT_OF = np.array([1 << (8 * place + 7) for place in range(DIGITS)], dtype=np.uint64)
DIVISORS = 10.0 ** np.arange(DIGITS - 1, -1, -1)  # by the place of the point
LAST_BYTES = np.array([((1 << 8 * n) - 1) << (64 - 8 * n) for n in range(DIGITS + 1)], dtype=np.uint64)
NUMBER = re.compile(rb"[+-]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,4})?")
# Texts of other numbers, which may repeat.
REMEMBERED = 100_000  # unmoved: what is forgotten is read again, and comes to the same


class Numbers:
    """Turns cells into float64; what is no plain whole number goes through Python, each text once."""

    def __init__(self, blanks: tuple[str, ...]) -> None:
        self._blanks = {text.encode(): np.nan for text in blanks}
        self._known = dict(self._blanks)

    def of(self, block: Block, fields: Integers) -> tuple[Integers, Floats] | None:
        """Which of the fields have a cell that is not blank, and these fields' numbers, shape (filled fields, rows).

        NaN stands for a blank cell; the answer is None if a cell is no number.
        """
        after = block.after[:, fields]
        beyond = after - block.before[:, fields]  # one more than the length of a cell
        filled = np.flatnonzero((beyond > 1).any(axis=0))
        ends: Integers = np.ravel(after[:, filled])
        lengths: Integers = np.ravel(beyond[:, filled]) - 1
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
        columns: Floats = np.reshape(numbers, (block.rows, len(filled)))
        return filled, np.transpose(columns)

    def _others(self, contents: bytes, ends: Integers, lengths: Integers) -> list[float] | None:
        """Signed and very long numbers, and long decimals; None if one is no number."""
        if len(self._known) > REMEMBERED:  # unmoved: the same
            self._known = dict(self._blanks)
        known = self._known
        begins: list[int] = (ends - lengths).tolist()
        texts = [contents[begin:end] for begin, end in zip(begins, ends.tolist(), strict=True)]
        for text in set(texts).difference(known):
            if not NUMBER.fullmatch(text):
                return None
            known[text] = float(text)
        return [known[text] for text in texts]


def are_no_digits(digits: NDArray[np.uint64]) -> Booleans:
    """Which words hold something else than digits."""
    return ((digits | (digits + BEYOND_NINE)) & TOP_BITS) != 0


def as_number(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The words of digits as numbers: pairs, then fours, then all eight at once."""
    pairs = digits * np.uint64(10) + (digits >> BYTE)
    of_each = np.uint64(0x000000FF000000FF)
    high = (pairs & of_each) * np.uint64(0x000F424000000064)  # 100 + (1000000 << 32)
    low = ((pairs >> np.uint64(16)) & of_each) * np.uint64(0x0000271000000001)  # 1 + (10000 << 32)
    return (high + low) >> np.uint64(32)


def decimals(words: NDArray[np.uint64]) -> tuple[Floats, Booleans]:
    """The words as numbers, and which of them are digits with one point.

    The digits without the point are a whole number, and a power of ten divides it: float64 holds both exactly, so the
    quotient is the float64 next to the decimal, as for a parser.
    """
    points = words ^ POINTS  # a byte of 0 where the point is
    tops = ~(points + OTHER_BITS | points) & TOP_BITS  # the top bit of such bytes, but beside what is no digit
    after = ~((tops << ONE) - ONE)
    digits = (words & after) | (words & ((tops >> np.uint64(7)) - ONE)) << BYTE
    divisors = DIVISORS.take(np.searchsorted(TOP_BIT_OF, tops), mode="clip")
    return as_number(digits) / divisors, (tops != 0) & ~are_no_digits(digits)  # a second point is no digit
