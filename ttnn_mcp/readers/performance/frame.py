"""The columns of a report: numbers and texts as numpy arrays, kept as short as they were read or stored."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ttnn_mcp.arrays import Array, Codes, Floats, Integers, Short
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class TextColumn:
    """One text per row, each distinct text stored once.

    Attributes:
        codes: per row, an index into `distinct`; -1 means that the cell is empty.
        distinct: the texts.
        alike: per row, a number: rows of the same number have the same text in all columns with these numbers. None
            where they were not compared.
    """

    codes: Short
    distinct: tuple[str, ...]
    alike: Codes | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """The rows of a file, column by column.

    Attributes:
        rows: how many rows there are.
        columns: per name, texts or numbers: float64 (NaN = not measured), whole numbers whose least value stands for
            "not measured", or no numbers at all where no row has one.
    """

    rows: int
    columns: Mapping[str, TextColumn | Array]

    def __len__(self) -> int:
        return self.rows

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def is_blank(self, name: str) -> bool:
        """Whether no row has a number in this column, so that it holds none at all."""
        column = self.columns[name]
        return not isinstance(column, TextColumn) and len(column) != self.rows

    def numbers(self, name: str, places: Integers | None = None) -> Floats:
        """A number column, or its rows at `places`, with NaN for "not measured"."""
        values = self.columns[name]
        assert not isinstance(values, TextColumn)  # noqa: S101 - `columns` declares which columns hold numbers
        if len(values) != self.rows:
            return np.full(self.rows if places is None else len(places), np.nan)
        return lengthened(values if places is None else values[places])

    def texts(self, name: str) -> TextColumn:
        """A text column."""
        column = self.columns[name]
        assert isinstance(column, TextColumn)  # noqa: S101 - the same
        return column

    def assigned(self, columns: Mapping[str, TextColumn | Array]) -> Frame:
        """The same rows with some columns more, or others of the same name."""
        return Frame(self.rows, {**self.columns, **columns})

    def taken(self, places: Integers | slice, rows: int) -> Frame:
        """The rows at `places`, of which there are `rows`."""
        return Frame(rows, {name: _taken(column, places, self.rows) for name, column in self.columns.items()})


def lengthened(values: Array) -> Floats:
    """Whole numbers as float64, NaN for the least that their type has; float64 as it is."""
    if values.dtype == np.float64:
        return values
    numbers = values.astype(np.float64)
    numbers[values == np.iinfo(values.dtype).min] = np.nan
    return numbers


def _taken(column: TextColumn | Array, places: Integers | slice, rows: int) -> TextColumn | Array:
    if isinstance(column, TextColumn):
        return TextColumn(column.codes[places], column.distinct)
    return column[places] if len(column) == rows else column
