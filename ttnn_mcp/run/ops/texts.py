"""One text per row, each distinct text stored once: a question about a million rows is asked about a few texts."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Texts:
    """One text per row, each distinct text stored once.

    Attributes:
        codes: per row, an index into `distinct`; -1 means that the cell is empty.
        distinct: the texts.
    """

    codes: NDArray[np.int64]
    distinct: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str:
        code = int(self.codes[row])
        return self.distinct[code] if code >= 0 else ""

    def where(self, is_so: Callable[[str], bool]) -> NDArray[np.bool_]:
        """Mask of the rows whose text `is_so` accepts; never a row with an empty cell."""
        return self.mapped(is_so, missing=False, dtype=np.bool_)

    def among(self, *texts: str) -> NDArray[np.bool_]:
        """Mask of the rows whose text is one of `texts`."""
        return self.where(lambda text: text in texts)

    def mapped(self, meaning: Callable[[str], object], *, missing: object, dtype: type) -> NDArray[Any]:
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

    def take(self, rows: NDArray[np.int64]) -> Texts:
        """The texts of `rows`."""
        return Texts(self.codes[rows], self.distinct)


def texts_of(column: pd.Series, places: NDArray[np.int64] | None = None) -> Texts:
    """A categorical column, or its rows at `places`, as codes and distinct texts."""
    codes = column.cat.codes.to_numpy()
    codes = (codes if places is None else codes[places]).astype(np.int64)
    texts = column.cat.categories
    if len(texts) > len(codes):  # a window of few rows holds few of a long report's texts
        used, codes = np.unique(codes, return_inverse=True)
        absent = int(len(used) > 0 and used[0] < 0)
        return Texts(codes - absent, tuple(map(str, texts[used[absent:]])))
    return Texts(codes, tuple(map(str, texts)))


def no_texts(rows: int) -> Texts:
    """A text column of so many empty cells."""
    return Texts(np.full(rows, -1, dtype=np.int64), ())
