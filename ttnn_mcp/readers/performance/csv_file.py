"""The performance report: an ops_perf_results CSV of any generation since 2024, read once.

Only the columns we use are read, by name. Repeated text becomes categories, so that a million rows hold each
distinct ATTRIBUTES text once. Cells that are not numbers, or cannot be true, become "not measured"; a caveat
counts them.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (pandas' stubs leave many types unknown)

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ttnn_mcp.errors import ReportBroken, shown
from ttnn_mcp.readers.performance.cells import as_numbers, as_texts, bounded, impossible, is_number
from ttnn_mcp.readers.performance.columns import BY_NAME
from ttnn_mcp.readers.performance.csv_bytes import CsvBytes
from ttnn_mcp.readers.performance.header import does_not_read, header_of, line_in
from ttnn_mcp.readers.performance.plain_rows import plain_frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from ttnn_mcp.readers.performance.header import Header

ROWS_AT_MOST = 2_000_000
ROWS_AT_A_TIME = 1 << 16  # when the type of a column has to be inferred
OP_CODES_AT_MOST = 5_000  # different device ops; TTNN has a few hundred
COUNTED_BYTES = 1 << 28  # device rows are counted in files up to this size
DEVICE_TYPE_MARK = b"tt_dnn_device"
BLANK = ("", "-", "nan", "NaN")  # TTNN leaves cells empty; other programs write a dash or what pandas prints


@dataclass(frozen=True, slots=True)
class PerformanceCsv:
    """A performance report as read from its file.

    Attributes:
        path: the CSV.
        generation: "C1" (2024-10) to "C7" (2026-09), judged by its columns.
        compiler: whether tt-xla or tt-torch wrote it (it has LOC or CONST_EVAL_OP).
        logical_shapes: whether shape cells hold "padded[logical]"; before C4 they hold padded shapes only.
        frame: one row per row of the file; our column names, and operands under their file headers.
        headers: our column name -> its name in this file.
        lost: sentences on the missing columns and the answers that need them.
        caveats: sentences on whatever else was wrong with the file.
    """

    path: Path
    generation: str
    compiler: bool
    logical_shapes: bool
    frame: pd.DataFrame
    headers: dict[str, str]
    lost: tuple[str, ...]
    caveats: tuple[str, ...]


def read_performance_csv(path: Path) -> PerformanceCsv:
    """Read the CSV at `path`.

    Raises:
        ReportMissing: no such file, or it cannot be opened.
        ReportForeign: another tool's CSV, or no profile at all; says what to give instead.
        ReportBroken: binary, cut off before its first row, rows that do not fit the header, or too large.
    """
    header = header_of(path)
    columns, caveats = _columns(path, header)
    return PerformanceCsv(
        path=path,
        generation=header.generation,
        compiler=header.compiler,
        logical_shapes=any(name.endswith("_PAD[LOGICAL]") for name in header.names),
        frame=_without_impossible(path, columns, header, caveats),
        headers=header.headers,
        lost=header.lost,
        caveats=(*header.odd, *caveats),
    )


def _columns(path: Path, header: Header) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd  # noqa: PLC0415 - half a second that only reading a report may cost

    plain = plain_frame(path, header, ROWS_AT_MOST, BLANK)
    try:
        try:
            frame, caveats, tail = (plain, [], b"") if plain is not None else _read(path, header, sure=True)
        except (ReportBroken, pd.errors.ParserError):
            raise
        except ValueError:  # a number cell holds text: read in pieces, infer types, and count such cells
            frame, caveats, tail = _read(path, header, sure=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, MemoryError) as failed:
        raise ReportBroken(does_not_read(path, line_in(failed))) from None
    if len(frame) > ROWS_AT_MOST:
        raise ReportBroken(
            f"{shown(path.name)} has more than {ROWS_AT_MOST} rows. Profile fewer iterations, or keep some: "
            f"head -n {ROWS_AT_MOST + 1} of it into a new file."
        )
    if len(frame) and _cut_off(tail, len(header.names)):
        frame = frame.iloc[:-1]
        caveats.append(f"line {len(frame) + 2} is cut off: the file is truncated or still being written")
    return frame, caveats


def _read(path: Path, header: Header, *, sure: bool) -> tuple[pd.DataFrame, list[str], bytes]:
    """The columns we read, caveats, and the bytes after the last line break.

    `sure` expects a number in every number cell, which is faster; pandas raises ValueError where that is wrong.
    """
    import pandas as pd  # noqa: PLC0415

    names = [header.read.get(place, f"#{place}") for place in range(len(header.names))]
    numbers = [name for name in header.read.values() if is_number(name)]
    texts = dict.fromkeys((name for name in header.read.values() if not is_number(name)), "category")
    options: dict[str, Any] = {
        "names": names,  # our own name for every field: the file may have a name twice
        "header": 0,
        "usecols": list(header.read.values()),
        "dtype": {**texts, **dict.fromkeys(numbers, "float64")} if sure else texts,
        "na_values": list(BLANK),
        "keep_default_na": False,
        "skip_blank_lines": False,  # a blank line counts as well: rows are named by their line
        "encoding_errors": "replace",
        "nrows": ROWS_AT_MOST + 1,
    }
    with closing(CsvBytes(path)) as file:
        source: Any = file  # pandas needs `read` only, but its stubs ask for a whole file
        if sure:
            frame = pd.read_csv(source, **options)
            unread: dict[str, int] = {}
        else:
            with pd.read_csv(source, chunksize=ROWS_AT_A_TIME, low_memory=False, **options) as pieces:
                frame, unread = _joined(pieces, numbers)
        if not isinstance(frame.index, pd.RangeIndex):  # pandas makes an index of fields beyond the header
            raise ReportBroken(does_not_read(path, 2))
        odd = _counted(header, unread, "are no numbers and count as not measured")
        return frame, [*file.caveats, *odd], file.tail


def _counted(header: Header, cells: dict[str, int], verdict: str) -> list[str]:
    """One sentence with the number of cells per column, or none."""
    counts = [f"{count} cells of {header.headers[name]}" for name, count in cells.items() if count]
    return [f"{', '.join(counts)} {verdict}"] if counts else []


def _joined(pieces: Iterator[pd.DataFrame], numbers: list[str]) -> tuple[pd.DataFrame, dict[str, int]]:
    """All pieces as one frame of float64 and categories; and per number column, how many cells are not numbers."""
    import pandas as pd  # noqa: PLC0415

    unread = dict.fromkeys(numbers, 0)
    parts: dict[str, list[Any]] = {}
    texts: dict[str, dict[str, int]] = {}
    for piece in pieces:
        if not isinstance(piece.index, pd.RangeIndex):
            return piece, unread
        for name in piece.columns:
            if name in unread:
                values, odd = as_numbers(piece[name])
                unread[name] += odd
            else:
                number = texts.setdefault(name, {})
                distinct = [number.setdefault(str(text), len(number)) for text in piece[name].cat.categories]
                values = np.array([*distinct, -1], dtype=np.int64)[piece[name].cat.codes.to_numpy()]
            parts.setdefault(name, []).append(values)
    columns: dict[str, Any] = {name: np.concatenate(part) for name, part in parts.items()}
    for name, number in texts.items():
        columns[name] = pd.Categorical.from_codes(columns[name], categories=pd.Index(list(number), dtype="str"))
    return pd.DataFrame(columns), unread


def _without_impossible(path: Path, frame: pd.DataFrame, header: Header, caveats: list[str]) -> pd.DataFrame:
    """The frame without impossible values and without texts that are too long or too many; adds to `caveats`."""
    changed: dict[str, Any] = {}
    wrong: dict[str, int] = {}
    for name in header.read.values():
        if is_number(name):
            values = frame[name].to_numpy()
            beyond = impossible(BY_NAME[name], values)
            if beyond.any():
                changed[name] = np.where(beyond, np.nan, values)
                wrong[name] = int(beyond.sum())
            continue
        column = frame[name]
        texts, change = bounded(name, as_texts(column))
        if texts is not column:
            changed[name] = texts
        if change:
            caveats.append(f"{header.headers.get(name, name)} {change}")
    caveats += _counted(header, wrong, "cannot be true (infinite, negative or absurd) and count as not measured")
    frame = frame.assign(**changed) if changed else frame
    _refuse_many_ops(path, frame)
    return frame


def _refuse_many_ops(path: Path, frame: pd.DataFrame) -> None:
    """Raise if there are too many different device ops; signposts may all differ."""
    codes = frame["op_code"].cat.codes.to_numpy()
    if len(frame["op_code"].cat.categories) <= OP_CODES_AT_MOST:
        return
    if "op_type" in frame:
        codes = codes[(frame["op_type"] == DEVICE_TYPE_MARK.decode()).to_numpy()]
    names = len(np.unique(codes))
    if names > OP_CODES_AT_MOST:
        raise ReportBroken(
            f"{shown(path.name)} names {names} different device ops, and TTNN has some hundred: its OP CODE column "
            "does not hold op names. Give the CSV as the profiler wrote it."
        )


def _cut_off(last_line: bytes, fields: int) -> bool:
    """Whether the last line has too few fields; `last_line` holds the bytes after the last line break."""
    import csv  # noqa: PLC0415

    if not last_line:
        return False
    try:
        return len(next(csv.reader([last_line.decode("utf-8", errors="replace")]), [""])) < fields
    except csv.Error:
        return True


def count_device_ops(path: Path) -> int | None:
    """The number of device rows, counted without parsing; None for a file that is large or cannot be read."""
    count, carried = 0, b""
    try:
        if path.stat().st_size > COUNTED_BYTES:
            return None
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                count += (carried + block).count(DEVICE_TYPE_MARK)
                carried = block[-len(DEVICE_TYPE_MARK) + 1 :]
    except (OSError, ValueError):
        return None
    return count
