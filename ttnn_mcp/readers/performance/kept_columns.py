"""A performance report as bytes that load without parsing: a header in JSON, then its columns as numpy writes them.

Whole numbers take as few bytes as hold them, other numbers are float64, and a blank column takes none; texts are one
code per row, and each distinct text once in the header. numpy and JSON do all of it. Parquet or Feather would need
pyarrow, a dependency of 40 MB, to load what is a plain copy of memory here; pickle would run what a file tells it to.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (pandas' stubs leave many types unknown)

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ttnn_mcp.readers.performance.csv_file import PerformanceCsv

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

LENGTH = struct.Struct("<Q")  # bytes of the header
ALIGNED = 64  # bytes: columns begin at multiples of it
KINDS = ("str", "object")  # of distinct texts: pandas has none of a column without any, and names that "object"
DTYPES = ("<f8", "|i1", "<i2", "<i4", "<i8")
WHOLE = ("|i1", "<i2", "<i4")  # in which whole numbers are tried; the least of each stands for "not measured"
BLANK = "blank"  # written as: a column without any value


def packed(
    csv: PerformanceCsv, more: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> list[bytes | memoryview]:
    """The report's bytes in parts; `more` (JSON values) and `arrays` come back with it."""
    columns: list[tuple[str, list[str] | None, str, str]] = []
    values: list[NDArray[Any]] = []
    for name in csv.frame.columns:
        column = csv.frame[name]
        is_text = column.dtype == "category"
        values.append(column.cat.codes.to_numpy() if is_text else _shortened(column.to_numpy(dtype=np.float64)))
        texts = list(column.cat.categories) if is_text else None
        kind = str(column.cat.categories.dtype) if is_text else ""
        is_blank = not is_text and len(values[-1]) < len(csv.frame)
        columns.append((name, texts, kind, BLANK if is_blank else _written_as(values[-1])))
    values += arrays.values()
    header = {
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
    start = json.dumps(header).encode()
    parts: list[bytes | memoryview] = [LENGTH.pack(len(start)) + start]
    parts.append(_padding(len(parts[0])))
    for array in values:
        plain = np.ascontiguousarray(array, dtype=_written_as(array))
        parts += [plain.data.cast("B") if len(plain) else b"", _padding(plain.nbytes)]
    return parts


def unpacked(contents: memoryview, path: Path) -> tuple[PerformanceCsv, dict[str, Any], dict[str, NDArray[Any]]]:
    """What `packed` was given, as the report at `path`. The columns are read-only views of `contents`.

    Raises:
        ValueError, TypeError, KeyError, RecursionError: the bytes are not from `packed`.
    """
    import pandas as pd  # noqa: PLC0415 - half a second that only reading a report may cost

    start = LENGTH.size + LENGTH.unpack_from(contents)[0]
    header = json.loads(bytes(contents[LENGTH.size : start]))
    rows, place = header["rows"], start + len(_padding(start))
    arrays: dict[str, NDArray[Any]] = {}
    frame: dict[str, Any] = {}
    blank = np.full(rows, np.nan)
    for name, texts, kind, written_as in header["columns"]:
        if written_as == BLANK:
            frame[name] = blank
            continue
        values, place = _array(contents, place, rows, written_as)
        if texts is not None and kind not in KINDS:
            raise ValueError("not written by us")
        frame[name] = (
            _lengthened(values) if texts is None else pd.Categorical.from_codes(values, pd.Index(texts, dtype=kind))
        )
    for name, written_as, count in header["arrays"]:
        arrays[name], place = _array(contents, place, count, written_as)
    csv = PerformanceCsv(
        path=path,
        generation=header["generation"],
        compiler=header["compiler"],
        logical_shapes=header["logical_shapes"],
        frame=pd.DataFrame(frame, index=pd.RangeIndex(rows), copy=False),
        headers=header["headers"],
        lost=tuple(header["lost"]),
        caveats=tuple(header["caveats"]),
    )
    return csv, header["more"], arrays


def _shortened(values: NDArray[np.float64]) -> NDArray[Any]:
    """The numbers in the shortest type that holds them exactly; no numbers if all are NaN."""
    if np.isnan(values).all():
        return values[:0]
    least, most = np.fmin.reduce(values), np.fmax.reduce(values)
    if (values[values == 0].view(np.int64) != 0).any():
        return values  # -0.0
    for written_as in WHOLE:
        limits = np.iinfo(written_as)
        if limits.min < least and most <= limits.max:
            short = np.where(np.isnan(values), limits.min, values).astype(written_as)
            return short if np.array_equal(_lengthened(short), values, equal_nan=True) else values
    return values


def _lengthened(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype == np.float64:
        return values
    numbers = values.astype(np.float64)
    missing = values == np.iinfo(values.dtype).min
    if missing.any():
        numbers[missing] = np.nan
    return numbers


def _written_as(array: NDArray[Any]) -> str:
    """The array's type, little-endian.

    Raises:
        ValueError: no such array is written.
    """
    written_as = array.dtype.newbyteorder("<").str
    if written_as not in DTYPES:
        raise ValueError(f"no column is written as {written_as}")
    return written_as


def _array(contents: memoryview, place: int, count: int, written_as: str) -> tuple[NDArray[Any], int]:
    """The array at `place`, and the place of the next one."""
    if written_as not in DTYPES or count < 0:
        raise ValueError("not written by us")
    array: NDArray[Any] = np.frombuffer(contents, dtype=written_as, count=count, offset=place)
    return array, place + array.nbytes + len(_padding(array.nbytes))


def _padding(size: int) -> bytes:
    return bytes(-size % ALIGNED)
