"""The longest common subsequence of two long sequences: exact, in memory linear in their length.

The classic algorithm fills a table with a row per symbol of one sequence and a column per symbol of the other. Here
one row is a single long integer with a bit per column, so that a machine word does the work of 64 cells (Hyyrö,
Bit-parallel LCS-length computation revisited, 2004). The table is never stored: the problem is cut into halves until
each part is small (Hirschberg, 1975).
"""
# Not rapidfuzz's LCSseq, which holds the table. Measured with 5 % of the ops changed: 90,000 symbols (30,000 ops)
# take 0.7 s and 948 MB there, 1.3 s and 16 MB here; 200,000 symbols 9.3 s and 4.7 GB there, 5.6 s and 36 MB here.

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers

# Bits of a table that is small enough to store: half a megabyte.
CELLS_HELD = 4_000_000  # unmoved: a larger table takes memory, a smaller one time
PLACES_HELD_BYTES = 32_000_000  # memory for the integers of frequent symbols
CELLS_AT_MOST = 40_000_000_000  # about five seconds; 200,000 x 200,000


def cells(before: Integers, after: Integers) -> int:
    """The size of the table for the two, without what they share at both ends: a measure of the work."""
    start, end = _shared_ends(before, after)
    return (len(before) - start - end) * (len(after) - start - end)


def common(before: Integers, after: Integers) -> tuple[Integers, Integers]:
    """Positions in `before` and in `after` of a longest common subsequence, both ascending."""
    pairs: list[tuple[Integers, Integers]] = [(_none(), _none())]
    waiting = [(before, np.arange(len(before)), after, np.arange(len(after)))]
    while waiting:
        left, left_at, right, right_at = waiting.pop()
        start, end = _shared_ends(left, right)
        pairs.append((left_at[:start], right_at[:start]))
        pairs.append((left_at[len(left) - end :], right_at[len(right) - end :]))
        left, left_at = left[start : len(left) - end], left_at[start : len(left) - end]
        right, right_at = right[start : len(right) - end], right_at[start : len(right) - end]
        in_both, in_both_right = np.isin(left, right), np.isin(right, left)
        left, left_at, right, right_at = (
            left[in_both],
            left_at[in_both],
            right[in_both_right],
            right_at[in_both_right],
        )
        if len(left) * len(right) <= CELLS_HELD:
            rows, columns = _walked_back(left, right)
            pairs.append((left_at[rows], right_at[columns]))
            continue
        half = len(left) // 2
        backward = _lengths(left[half:][::-1], right[::-1])[::-1]
        cut = int(np.argmax(_lengths(left[:half], right) + backward))
        waiting.append((left[:half], left_at[:half], right[:cut], right_at[:cut]))
        waiting.append((left[half:], left_at[half:], right[cut:], right_at[cut:]))
    rows_found, partners = (np.concatenate(side) for side in zip(*pairs, strict=True))
    order = np.argsort(rows_found)
    return rows_found[order], partners[order]


def _none() -> Integers:
    return np.zeros(0, dtype=np.int64)


def _shared_ends(left: Integers, right: Integers) -> tuple[int, int]:
    """How many symbols the two share at the start, and how many more at the end."""
    least = min(len(left), len(right))
    start = _first_false(left[:least] == right[:least])
    return start, _first_false(left[::-1][: least - start] == right[::-1][: least - start])


def _first_false(mask: Booleans) -> int:
    return len(mask) if mask.all() else int(np.argmin(mask))


class _Places:
    """Per symbol, an integer with a bit set for each of its positions in a sequence."""

    def __init__(self, sequence: Integers) -> None:
        self._length = len(sequence)
        distinct, codes = np.unique(sequence, return_inverse=True)
        self._order = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[self._order], np.arange(len(distinct) + 1)).tolist()
        self._bounds = dict(zip(distinct.tolist(), pairwise(bounds), strict=True))
        self._bits: dict[int, int] = {}
        self._room = PLACES_HELD_BYTES // (self._length // 8 + 1)

    def bits(self, symbol: int) -> int:
        """The integer of a symbol; 0 if the symbol does not occur."""
        known = self._bits.get(symbol)
        if known is not None:  # unmoved: it spares time
            return known
        start, end = self._bounds.get(symbol, (0, 0))
        if end - start <= 2:  # unmoved: few places are quicker one by one
            return sum(1 << place for place in self._order[start:end].tolist())
        marks = np.zeros(self._length, dtype=np.uint8)
        marks[self._order[start:end]] = 1
        bits = int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")
        if len(self._bits) < self._room:
            self._bits[symbol] = bits
        return bits


def _rows(left: Integers, right: Integers) -> list[int]:
    """One integer per row of the table: a zero bit means that the length grows by one at that column."""
    places, full = _Places(right), (1 << len(right)) - 1
    row, rows = full, list[int]()
    for symbol in left.tolist():
        grows = row & places.bits(symbol)
        row = ((row + grows) | (row - grows)) & full  # unmoved: it keeps the integers short
        rows.append(row)
    return rows


def _lengths(left: Integers, right: Integers) -> Integers:
    """Lengths of the longest common subsequences of `left` and each prefix of `right`, the empty prefix first."""
    places, full = _Places(right), (1 << len(right)) - 1
    row = full
    for symbol in left.tolist():
        grows = row & places.bits(symbol)
        row = ((row + grows) | (row - grows)) & full
    packed = np.frombuffer(row.to_bytes(-(-len(right) // 8), "little"), dtype=np.uint8)
    flat = np.unpackbits(packed, bitorder="little", count=len(right))
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(1 - flat.astype(np.int64))))


def _walked_back(left: Integers, right: Integers) -> tuple[Integers, Integers]:
    rows = _rows(left, right)
    pair_rows: list[int] = []
    pair_columns: list[int] = []
    row, column = len(rows) - 1, len(right) - 1
    while row >= 0 and column >= 0:
        if rows[row] >> column & 1:
            column -= 1  # this column adds nothing
        elif row and not rows[row - 1] >> column & 1:
            row -= 1  # the length grew at this column in the row before already
        else:
            pair_rows.append(row)
            pair_columns.append(column)
            row, column = row - 1, column - 1
    return np.array(pair_rows[::-1], dtype=np.int64), np.array(pair_columns[::-1], dtype=np.int64)
