"""Rows that agree in some columns: one number for all of them, exactly, without hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

ROOM = 1 << 62  # numbers of rows stay below it while columns are added


def numbered(rows: int, columns: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    """A number per row, from 0 in order of appearance: equal for rows that agree in all columns, and only for them.

    The columns become the digits of one number per row. Before the next digit would overflow 64 bits, the distinct
    numbers so far are replaced by 0, 1, 2, ..., which makes room.
    """
    folded, room = np.zeros(rows, dtype=np.int64), 1
    if not rows:
        return folded
    for column in columns:
        digit, least, base = column, int(column.min()), int(column.max()) - int(column.min()) + 1
        if base == 1:
            continue
        if room * base > ROOM:
            folded, room = _counted(folded)
        if room * base > ROOM:
            digit, base = _counted(column)
            least = 0
        folded = folded * base
        folded += digit if not least else digit - least
        room *= base
    return _counted(folded)[0]


def first_rows(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first row of each number from 0 on, given the numbers of `numbered`."""
    rows = np.zeros(int(numbers.max(initial=-1)) + 1, dtype=np.int64)
    rows[numbers[::-1]] = np.arange(len(numbers))[::-1]  # the last one that is written stays
    return rows


def _counted(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """The distinct values numbered from 0 in order of appearance, and how many there are."""
    import pandas as pd  # noqa: PLC0415 - loaded with the report whose rows these are

    codes, distinct = pd.factorize(values)
    return codes.astype(np.int64, copy=False), len(distinct)
