"""A performance report as bytes that load without parsing: its columns as numpy writes them, then a summary in JSON.

Whole numbers take as few bytes as hold them, other numbers are float64, and a blank column takes none; texts are one
code per row, and each distinct text once in the summary. numpy and JSON do all of it. Parquet or Feather would need
pyarrow, a dependency of 40 MB, to load what is a plain copy of memory here; pickle would run what a file tells it to.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ttnn_mcp.arrays import Array, Floats
from ttnn_mcp.readers.performance.csv_file import PerformanceCsv
from ttnn_mcp.readers.performance.frame import Frame, TextColumn

LENGTH = struct.Struct("<Q")  # bytes of the summary
ALIGNED = 64  # bytes: columns begin at multiples of it
DTYPES = ("<f8", "|i1", "<i2", "<i4", "<i8")
WHOLE = ("|i1", "<i2", "<i4")  # in which whole numbers are tried; the least of each stands for "not measured"
BLANK = "blank"  # written as: a column without any value
NO_NUMBERS: Floats = np.zeros(0)


def packed(
    csv: PerformanceCsv, more: Mapping[str, Any], arrays: Mapping[str, Array]
) -> Iterator[bytes | memoryview]:
    """The report's bytes, one column at a time; `more` (JSON values) and `arrays` come back with it."""
    columns: list[tuple[str, tuple[str, ...] | None, str]] = []
    for name, column in csv.frame.columns.items():
        texts = column.distinct if isinstance(column, TextColumn) else None
        values = column.codes if isinstance(column, TextColumn) else _shortened(csv.frame.numbers(name))
        columns.append((name, texts, BLANK if len(values) < len(csv.frame) else _written_as(values)))
        yield from _bytes_of(values)
    for array in arrays.values():
        yield from _bytes_of(array)
    summary = {
        "generation": csv.generation,
        "compiler": csv.compiler,
        "logical_shapes": csv.logical_shapes,
        "headers": csv.headers,
        "lost": csv.lost,
        "caveats": csv.caveats,
        "rows": len(csv.frame),
        "columns": columns,
        "more": dict(more),
        "arrays": [(name, _written_as(array), len(array)) for name, array in arrays.items()],
    }
    end = json.dumps(summary).encode()
    yield end + LENGTH.pack(len(end))


def unpacked(contents: memoryview, path: Path) -> tuple[PerformanceCsv, dict[str, Any], dict[str, Array]]:
    """What `packed` was given, as the report at `path`. The columns are read-only views of `contents`.

    Raises:
        ValueError, TypeError, KeyError, RecursionError, struct.error: the bytes are not from `packed`.
    """
    end = len(contents) - LENGTH.size
    length = LENGTH.unpack_from(contents, end)[0]
    summary = json.loads(bytes(contents[max(0, end - length) : end]))
    rows, place = summary["rows"], 0
    if not isinstance(rows, int) or rows < 0:
        raise ValueError("not written by us")
    arrays: dict[str, Array] = {}
    columns: dict[str, TextColumn | Array] = {}
    for name, texts, written_as in summary["columns"]:
        values, place = (NO_NUMBERS, place) if written_as == BLANK else _array(contents, place, rows, written_as)
        columns[name] = values if texts is None else _text_column(values, texts)
    for name, written_as, count in summary["arrays"]:
        arrays[name], place = _array(contents, place, count, written_as)
    csv = PerformanceCsv(
        path=path,
        generation=summary["generation"],
        compiler=summary["compiler"],
        logical_shapes=summary["logical_shapes"],
        frame=Frame(rows, columns),
        headers=summary["headers"],
        lost=tuple(summary["lost"]),
        caveats=tuple(summary["caveats"]),
    )
    return csv, summary["more"], arrays


def _bytes_of(array: Array) -> Iterator[bytes | memoryview]:
    plain = np.ascontiguousarray(array, dtype=_written_as(array))
    yield plain.data.cast("B")
    yield _padding(plain.nbytes)


def _shortened(values: Floats) -> Array:
    """The numbers in the shortest type that holds them exactly; no numbers if all are NaN."""
    missing = np.isnan(values)
    measured = len(values) - int(np.count_nonzero(missing))
    if not measured:
        return values[:0]
    least, most = np.fmin.reduce(values), np.fmax.reduce(values)
    if np.signbit(values[values == 0]).any():
        return values  # -0.0
    for written_as in WHOLE:
        limits = np.iinfo(written_as)
        if limits.min < least and most <= limits.max:
            numbers = np.where(missing, limits.min, values) if measured < len(values) else values
            short = numbers.astype(written_as)
            return short if np.array_equal(short, numbers) else values
    return values


def _text_column(codes: Array, distinct: list[str]) -> TextColumn:
    """The column.

    Raises:
        ValueError: these are no codes of such texts.
    """
    least, most = (int(codes.min()), int(codes.max())) if len(codes) else (-1, -1)
    if codes.dtype.kind != "i" or not -1 <= least <= most < len(distinct):
        raise ValueError("not written by us")
    return TextColumn(codes, tuple(distinct))


def _written_as(array: Array) -> str:
    """The array's type, little-endian.

    Raises:
        ValueError: no such array is written.
    """
    written_as = array.dtype.newbyteorder("<").str
    if written_as not in DTYPES:
        raise ValueError(f"no column is written as {written_as}")
    return written_as


def _array(contents: memoryview, place: int, count: int, written_as: str) -> tuple[Array, int]:
    """The array at `place`, and the place of the next one."""
    if written_as not in DTYPES or count < 0:
        raise ValueError("not written by us")
    array: Array = np.frombuffer(contents, dtype=written_as, count=count, offset=place)
    return array, place + array.nbytes + len(_padding(array.nbytes))


def _padding(size: int) -> bytes:
    return bytes(-size % ALIGNED)
