"""Eight digits as one 64-bit word, the first digit in the lowest byte: they become one number in a few operations.

A digit is a byte from 0 to 9, as its character exclusive-or "0". A text of fewer characters has zeros before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIGITS = 8  # of a word
ZEROS = np.uint64(0x3030303030303030)
POINTS = np.uint64(0x1E1E1E1E1E1E1E1E)  # "." exclusive-or "0"
ONE, BYTE = np.uint64(1), np.uint64(8)
TOP_BITS = np.uint64(0x8080808080808080)
OTHER_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
BEYOND_NINE = np.uint64(0x7676767676767676)  # added to a byte of 10 or more, it sets the top bit
TOP_BIT_OF = np.array([1 << (8 * place + 7) for place in range(DIGITS)], dtype=np.uint64)
DIVISORS = 10.0 ** np.arange(DIGITS - 1, -1, -1)  # by the place of the point


def are_no_digits(digits: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which words hold something else than digits."""
    return ((digits | (digits + BEYOND_NINE)) & TOP_BITS) != 0


def as_number(digits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The words of digits as numbers: pairs, then fours, then all eight at once."""
    pairs = digits * np.uint64(10) + (digits >> BYTE)
    of_each = np.uint64(0x000000FF000000FF)
    high = (pairs & of_each) * np.uint64(0x000F424000000064)  # 100 + (1000000 << 32)
    low = ((pairs >> np.uint64(16)) & of_each) * np.uint64(0x0000271000000001)  # 1 + (10000 << 32)
    return (high + low) >> np.uint64(32)


def decimals(words: NDArray[np.uint64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
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
