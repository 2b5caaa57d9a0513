"""The columns of any CSV, read by pandas: for files that are not plain (quotes, odd rows, words for numbers)."""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (pandas' stubs leave many types unknown)

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ttnn_mcp.arrays import Array, Floats, Integers, Short
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.performance.cells import is_number
from ttnn_mcp.readers.performance.csv_bytes import CsvBytes
from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.readers.performance.header import does_not_read, line_in

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from ttnn_mcp.readers.performance.header import Header

ROWS_AT_A_TIME = 65_536  # unmoved: pieces of any size make the same columns, whose types have to be inferred

# Ways to read a file, the fastest first. `sure`: expect a number in every number cell; pandas raises ValueError at any
# other. `chosen`: parse our columns only, in half of the time; pandas then leaves out fields beyond the header unsaid.
WAYS = ((True, True), (False, True), (False, False))


class Parsed(NamedTuple):
    """What a file holds.

    Attributes:
        frame: its columns.
        unread: per number column, how many of its cells are not numbers.
        caveats: sentences on the file.
        tail: the bytes after the last line break.
    """

    frame: Frame
    unread: dict[str, int]
    caveats: list[str]
    tail: bytes


def parsed(path: Path, header: Header, rows_at_most: int, blanks: tuple[str, ...]) -> Parsed:
    """The columns that we read, at most `rows_at_most` rows of them.

    Raises:
        ReportBroken: the file is no CSV, or its rows do not fit the header.
    """
    import pandas as pd  # noqa: PLC0415 - 0.4 s that only such a file may cost

    failure: BaseException | None = None
    for sure, chosen in WAYS:
        try:
            report = _read(path, header, rows_at_most, blanks, sure=sure, chosen=chosen)
        except (pd.errors.ParserError, pd.errors.EmptyDataError, MemoryError) as failed:  # noqa: PERF203 - three ways
            raise ReportBroken(does_not_read(path, line_in(failed))) from None
        except ValueError as failed:  # a number cell holds text, or all rows are too long
            failure = failed
        else:
            if report is not None:
                return report
    raise ReportBroken(does_not_read(path)) from failure


def _read(
    path: Path, header: Header, rows_at_most: int, blanks: tuple[str, ...], *, sure: bool, chosen: bool
) -> Parsed | None:
    """The file, read in one of the ways above; None where rows may have more fields than the header, unseen by pandas.

    Raises:
        ValueError: of pandas.
        ReportBroken: the rows do not fit the header.
    """
    import pandas as pd  # noqa: PLC0415

    names = [header.read.get(place, f"#{place}") for place in range(len(header.names))]
    numbers = [name for name in header.read.values() if is_number(name)]
    words = [name for name in header.read.values() if not is_number(name)]  # unmoved: it spares numbers a detour
    texts = dict.fromkeys(words, "category")
    options: dict[str, Any] = {
        "names": names,  # our own name for every field: the file may have a name twice
        "header": 0,
        "usecols": list(header.read.values()) if chosen else None,
        "dtype": {**texts, **dict.fromkeys(numbers, "float64")} if sure else texts,
        "na_values": list(blanks),
        "keep_default_na": False,
        "skip_blank_lines": False,  # a blank line counts as well: rows are named by their line
        "encoding_errors": "replace",
        "nrows": rows_at_most,
    }
    with closing(CsvBytes(path, len(names))) as file:
        source: Any = file  # pandas needs `read` only, but its stubs ask for a whole file
        if sure:  # unmoved: in pieces it takes a quarter longer
            frame, unread = _joined(iter([pd.read_csv(source, **options)]), numbers)
        else:
            with pd.read_csv(source, chunksize=ROWS_AT_A_TIME, low_memory=False, **options) as pieces:
                frame, unread = _joined((_columns(path, piece, header) for piece in pieces), numbers)
        if chosen and file.lengths.may_be_long:  # unmoved: it spares other files the slow way
            return None
        return Parsed(frame, unread, file.caveats, file.tail)


def _columns(path: Path, piece: pd.DataFrame, header: Header) -> pd.DataFrame:
    """The columns that we read, of a piece whose rows fit the header."""
    import pandas as pd  # noqa: PLC0415

    if not isinstance(piece.index, pd.RangeIndex):  # pandas makes one of the first fields if all rows are too long
        raise ReportBroken(does_not_read(path, 2))
    return piece[[header.read[place] for place in sorted(header.read)]]


def _joined(pieces: Iterator[pd.DataFrame], numbers: list[str]) -> tuple[Frame, dict[str, int]]:
    """All pieces as one frame; and per number column, how many cells are not numbers."""
    unread = dict.fromkeys(numbers, 0)
    parts: dict[str, list[Array]] = {}
    texts: dict[str, dict[str, int]] = {}
    rows = 0
    for piece in pieces:
        rows += len(piece)
        for name in piece.columns:
            if name in unread:
                values, odd = _as_numbers(piece[name])
                unread[name] += odd
            else:
                values = _as_codes(piece[name], texts.setdefault(name, {}))
            parts.setdefault(name, []).append(values)
    joined = {name: np.concatenate(part) for name, part in parts.items()}
    columns = {
        name: TextColumn(_short(values, texts[name]), tuple(texts[name])) if name in texts else values
        for name, values in joined.items()
    }
    return Frame(rows, columns), unread


def _as_codes(column: pd.Series, number: dict[str, int]) -> Integers:
    """A code per cell; `number` has the code of each distinct text, and gets new ones.

    pandas 3 turns categories into numbers if all of them look like numbers.
    """
    distinct = [number.setdefault(str(text), len(number)) for text in column.cat.categories]
    return np.array([*distinct, -1], dtype=np.int64)[column.cat.codes.to_numpy()]


def _short(codes: Integers, distinct: dict[str, int]) -> Short:
    return codes.astype(np.min_scalar_type(-max(len(distinct), 1)))


def _as_numbers(column: pd.Series) -> tuple[Floats, int]:
    """The column as float64 (NaN = not measured), and how many of its cells hold something else than a number."""
    import pandas as pd  # noqa: PLC0415

    if column.dtype.kind in "fiu":  # unmoved: it spares numbers the way through texts
        return column.to_numpy(dtype=np.float64), 0
    numbers = pd.to_numeric(column.astype("str"), errors="coerce").where(column.notna())
    return numbers.to_numpy(dtype=np.float64), int((numbers.isna() & column.notna()).sum())
