"""One text per row, each distinct text stored once: a question about a million rows is asked about a few texts."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ttnn_mcp.arrays import Array, Booleans, Integers
from ttnn_mcp.readers.performance.frame import TextColumn
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Texts:
    """One text per row, each distinct text stored once.

    Attributes:
        codes: per row, an index into `distinct`; -1 means that the cell is empty.
        distinct: the texts.
    """

    codes: Integers
    distinct: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str:
        code = int(self.codes[row])
        return self.distinct[code] if code >= 0 else ""

    def where(self, is_so: Callable[[str], bool]) -> Booleans:
        """Mask of the rows whose text `is_so` accepts; never a row with an empty cell."""
        return self.mapped(is_so, missing=False, dtype=np.bool_)

    def among(self, *texts: str) -> Booleans:
        """Mask of the rows whose text is one of `texts`."""
        return self.where(lambda text: text in texts)

    def mapped(self, meaning: Callable[[str], object], *, missing: object, dtype: type) -> Array:
        """`meaning` of each row's text, called once per distinct text; `missing` for empty cells."""
        return np.array([*map(meaning, self.distinct), missing], dtype=dtype)[self.codes]

    def folded(self, fold: Callable[[str], str]) -> Texts:
        """What `fold` makes of each row's text: texts that it makes equal become one. In sorted order."""
        names = [fold(text) for text in self.distinct]
        place = {name: number for number, name in enumerate(sorted({*names}))}
        return Texts(np.array([*(place[name] for name in names), -1], dtype=np.int64)[self.codes], tuple(place))

    def occurring(self) -> list[str]:
        """The distinct texts that some row has."""
        counts = np.bincount(self.codes + 1, minlength=1)[1:]
        return [self.distinct[code] for code in np.flatnonzero(counts).tolist()]

    def take(self, rows: Integers) -> Texts:
        """The texts of `rows`."""
        return Texts(self.codes[rows], self.distinct)


def texts_of(column: TextColumn, places: Integers | None = None) -> Texts:
    """A text column, or its rows at `places`."""
    codes, texts = (column.codes if places is None else column.codes[places]), column.distinct
    if len(texts) > len(codes):  # a window of few rows holds few of a long report's texts
        used, codes = np.unique(codes, return_inverse=True)
        absent = int(len(used) > 0 and used[0] < 0)
        return Texts(codes.astype(np.int64) - absent, tuple(texts[code] for code in used[absent:].tolist()))
    return Texts(codes.astype(np.int64), texts)


def no_texts(rows: int) -> Texts:
    """A text column of so many empty cells."""
    return Texts(np.full(rows, -1, dtype=np.int64), ())
