"""The performance report: an ops_perf_results CSV of any generation since 2024, read once.

Only the columns we use are read, by name. Repeated text becomes categories, so that a million rows hold each
distinct ATTRIBUTES text once. What cannot be read as a number, or cannot be true, becomes "not measured" and is
counted.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (pandas' stubs leave half of what a frame hands out unknown)

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

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from ttnn_mcp.readers.performance.header import Header

ROWS_AT_MOST = 2_000_000
ROWS_AT_A_TIME = 1 << 16  # where a column has to be inferred
OP_CODES_AT_MOST = 5_000  # different device ops; TTNN has some hundred
COUNTED_BYTES = 1 << 28  # files up to here are counted through for a list
DEVICE_TYPE_MARK = b"tt_dnn_device"
NOT_SAID = ("", "-", "nan", "NaN")  # writers leave cells empty; some consumers write a dash or what pandas prints


@dataclass(frozen=True, slots=True)
class PerformanceCsv:
    """A performance report as it stands in its file.

    Attributes:
        path: the CSV.
        generation: "C1" (2024-10) to "C7" (2026-09), by the columns that are there.
        compiler: written through tt-xla / tt-torch (LOC, CONST_EVAL_OP).
        logical_shapes: cells hold "padded[logical]"; before C4 only padded shapes were written.
        frame: one row per line of the file; our column names, and operands under their file headers.
        headers: our column name -> its name in this file.
        lost: columns that are not there, and the answers that costs.
        caveats: what else was odd while reading.
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
        ReportForeign: another tool's CSV, or no profile at all; names what to give instead.
        ReportBroken: binary, cut off before its first row, rows that do not fit the header, or larger than any
            report.
    """
    header = header_of(path)
    columns, caveats = _columns(path, header)
    return PerformanceCsv(
        path=path,
        generation=header.generation,
        compiler=header.compiler,
        logical_shapes=any(name.endswith("_PAD[LOGICAL]") for name in header.names),
        frame=_made_true(path, columns, header, caveats),
        headers=header.headers,
        lost=header.lost,
        caveats=(*header.odd, *caveats),
    )


def _columns(path: Path, header: Header) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd  # noqa: PLC0415 - half a second that only reading a report may cost

    try:
        try:
            frame, caveats, tail = _read(path, header, sure=True)
        except (ReportBroken, pd.errors.ParserError):
            raise
        except ValueError:  # some number cell holds text: infer piece by piece, and count such cells
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
    """The columns we read, what happened meanwhile, and the last line; `sure` that all number cells are numbers."""
    import pandas as pd  # noqa: PLC0415

    names = [header.read.get(place, f"#{place}") for place in range(len(header.names))]
    numbers = [name for name in header.read.values() if is_number(name)]
    texts = dict.fromkeys((name for name in header.read.values() if not is_number(name)), "category")
    given: dict[str, Any] = {
        "names": names,  # one of our own for every field: the file's may stand twice
        "header": 0,
        "usecols": list(header.read.values()),
        "dtype": {**texts, **dict.fromkeys(numbers, "float64")} if sure else texts,
        "na_values": list(NOT_SAID),
        "keep_default_na": False,
        "skip_blank_lines": False,  # a blank line still counts: rows are named by their line
        "encoding_errors": "replace",
        "nrows": ROWS_AT_MOST + 1,
    }
    with closing(CsvBytes(path)) as file:
        source: Any = file  # pandas asks for `read` alone, its stubs for a whole file
        if sure:
            frame = pd.read_csv(source, **given)
            unread: dict[str, int] = {}
        else:
            with pd.read_csv(source, chunksize=ROWS_AT_A_TIME, low_memory=False, **given) as pieces:
                frame, unread = _joined(pieces, numbers)
        if not isinstance(frame.index, pd.RangeIndex):  # rows longer than the header would silently be an index
            raise ReportBroken(does_not_read(path, 2))
        odd = _counted(header, unread, "are no numbers and count as not measured")
        return frame, [*file.caveats, *odd], file.tail


def _counted(header: Header, cells: dict[str, int], what: str) -> list[str]:
    """One sentence on some cells of some columns."""
    counts = [f"{count} cells of {header.headers[name]}" for name, count in cells.items() if count]
    return [f"{', '.join(counts)} {what}"] if counts else []


def _joined(pieces: Iterator[pd.DataFrame], numbers: list[str]) -> tuple[pd.DataFrame, dict[str, int]]:
    """All pieces as one frame of float64 and categories; how many cells of each number column are no numbers."""
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


def _made_true(path: Path, frame: pd.DataFrame, header: Header, caveats: list[str]) -> pd.DataFrame:
    """The frame without values that cannot be true and texts too long or too many; adds what it changed."""
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
        texts, told = bounded(name, as_texts(column))
        if texts is not column:
            changed[name] = texts
        if told:
            caveats.append(f"{header.headers.get(name, name)} {told}")
    caveats += _counted(header, wrong, "cannot be true (infinite, negative or absurd) and count as not measured")
    frame = frame.assign(**changed) if changed else frame
    _refuse_many_ops(path, frame)
    return frame


def _refuse_many_ops(path: Path, frame: pd.DataFrame) -> None:
    """A device op has one of some hundred names; signposts may all differ."""
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


def _cut_off(last: bytes, fields: int) -> bool:
    """Whether the last line ends before its last field; `last` is what stands behind the last line break."""
    import csv  # noqa: PLC0415

    if not last:
        return False
    try:
        return len(next(csv.reader([last.decode("utf-8", errors="replace")]), [""])) < fields
    except csv.Error:
        return True


def count_device_ops(path: Path) -> int | None:
    """Device rows without parsing: occurrences of their type; None where the file cannot be read or is large."""
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
