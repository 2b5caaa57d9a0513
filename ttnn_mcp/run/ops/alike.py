"""Rows that agree in some columns: one number for all of them, exactly, without hashes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ttnn_mcp.arrays import Array, Integers, Short

ROOM = 2**62  # numbers of rows stay below it while columns are added  # unmoved: less room only costs time
# Numbers below it are told apart by a table of them, which stays in the cache of a core.
TABLE_AT_MOST = 2**20  # unmoved: it only decides how long the same numbers take
# A table with more room than that takes longer than sorting the rows.
TABLE_PER_ROW = 8  # unmoved: it only decides how long the same numbers take
# So few rows are looked up one by one in less time than numpy takes to begin with as many columns.
FEW_ROWS = 64  # unmoved: it only decides how long the same numbers take


def numbered(rows: int, columns: Iterable[Short]) -> Integers:
    """A number per row, from 0 in order of appearance: equal for rows that agree in all columns, and only for them.

    The columns become the digits of one number per row. Before the numbers outgrow a table, or if that is too late,
    before the next digit would overflow 64 bits, the distinct numbers so far are replaced by 0, 1, 2, ..., which makes
    room.
    """
    if rows <= FEW_ROWS:
        return _of_few(rows, columns)
    folded, room, table = np.zeros(rows, dtype=np.int64), 1, min(rows * TABLE_PER_ROW, TABLE_AT_MOST)
    for column in columns:
        least, most = int(column.min()), int(column.max())
        base = most - least + 1
        if base == 1:  # unmoved: a column of one value adds nothing but time
            continue
        digit = column - least if least else column  # beyond 64 bits it wraps: equal values stay equal, others not
        most_room = table if room <= table else ROOM
        if room * base > most_room:  # unmoved: numbers that were counted early are the same in the end
            folded, room = _counted(folded, room, table)
        if room * base > most_room:  # unmoved: the same
            digit, base = _counted(digit, base, table)
        folded = folded * base
        folded += digit
        room *= base
    return _by_appearance(*_counted(folded, room, table))


def first_rows(numbers: Integers) -> Integers:
    """The first row of each number from 0 on, given the numbers of `numbered`."""
    rows = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    rows[numbers[::-1]] = np.arange(len(numbers))[::-1]  # the last one that is written stays
    return rows


def count_distinct(values: Array) -> int:
    """How many of these numbers differ, none of them NaN.

    Sorted: np.unique of numpy 2.4 takes 74 ms for 200,000 multiples of 1024, as call counts are, and sorting 2.
    """
    return int(np.count_nonzero(np.diff(np.sort(values)))) + (len(values) > 0)


def _of_few(rows: int, columns: Iterable[Short]) -> Integers:
    """The numbers of `numbered`, of a few rows."""
    number: dict[tuple[int, ...], int] = {}
    alike = zip([0] * rows, *(column.tolist() for column in columns), strict=True)
    return np.array([number.setdefault(cells, len(number)) for cells in alike], dtype=np.int64)


def _counted(values: Integers, room: int, table: int) -> tuple[Integers, int]:
    """The distinct values, which lie below `room`, replaced by 0, 1, 2, ... in their order; and how many there are."""
    if room > table:
        distinct, numbers = np.unique(values, return_inverse=True)
        return numbers.astype(np.int64, copy=False), len(distinct)
    occurs = np.zeros(room, dtype=np.int64)
    occurs[values] = 1
    number = np.cumsum(occurs)
    return (number - 1)[values], int(number[-1])


def _by_appearance(numbers: Integers, count: int) -> Integers:
    """The numbers below `count`, all of which occur, replaced by 0, 1, 2, ... in order of appearance."""
    place: Integers = np.empty(count, dtype=np.int64)
    place[np.argsort(first_rows(numbers))] = np.arange(count)
    return place[numbers]
