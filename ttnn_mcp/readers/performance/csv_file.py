"""The performance report: an ops_perf_results CSV of any generation since 2024, read once.

Only the columns we use are read, by name. Repeated text becomes codes, so that a million rows hold each distinct
ATTRIBUTES text once. Cells that are not numbers, or cannot be true, become "not measured"; a caveat
counts them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ttnn_mcp.arrays import Floats
from ttnn_mcp.errors import ReportBroken, ReportForeign, shown
from ttnn_mcp.readers.performance.cells import bounded, impossible, is_number
from ttnn_mcp.readers.performance.columns import BY_NAME
from ttnn_mcp.readers.performance.frame import Frame, TextColumn
from ttnn_mcp.readers.performance.header import Header, header_of
from ttnn_mcp.readers.performance.plain_rows import plain_frame
from ttnn_mcp.readers.regular_file import opened
from ttnn_mcp.records import dataclass

ROWS_AT_MOST = 2_000_000
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
    frame: Frame
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
    if header.device_only:
        _check_device_only(path, columns, header)
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


def _columns(path: Path, header: Header) -> tuple[Frame, list[str]]:
    frame, tail, caveats = plain_frame(path, header, ROWS_AT_MOST, BLANK), b"", list[str]()
    if frame is None:
        from ttnn_mcp.readers.performance.parsed_rows import parsed  # noqa: PLC0415 - pandas takes 0.4 s to load

        frame, unread, caveats, tail = parsed(path, header, ROWS_AT_MOST + 1, BLANK)
        caveats += _counted(header, unread, "are no numbers and count as not measured")
    if len(frame) > ROWS_AT_MOST:
        raise ReportBroken(
            f"{shown(path.name)} has more than {ROWS_AT_MOST} rows. Profile fewer iterations, or keep some: "
            f"head -n {ROWS_AT_MOST + 1} of it into a new file."
        )
    if len(frame) and _cut_off(tail, len(header.names)):
        frame = frame.taken(slice(-1), len(frame) - 1)
        caveats.append(f"line {len(frame) + 2} is cut off: the file is truncated or still being written")
    return frame, caveats


def _counted(header: Header, cells: dict[str, int], verdict: str) -> list[str]:
    """One sentence with the number of cells per column, or none."""
    counts = [f"{count} cells of {header.headers[name]}" for name, count in cells.items() if count]
    return [f"{', '.join(counts)} {verdict}"] if counts else []


def _without_impossible(path: Path, frame: Frame, header: Header, caveats: list[str]) -> Frame:
    """The frame without impossible values and without texts that are too long or too many; adds to `caveats`."""
    changed: dict[str, TextColumn | Floats] = {}
    wrong: dict[str, int] = {}
    for name in header.read.values():
        if frame.is_blank(name):  # unmoved: it only spares the look at cells that are all blank
            continue
        if is_number(name):
            values = frame.numbers(name)
            beyond = impossible(BY_NAME[name], values)
            if beyond.any():  # unmoved: it only spares a copy
                changed[name] = np.where(beyond, np.nan, values)
                wrong[name] = int(beyond.sum())
            continue
        texts, change = bounded(name, frame.texts(name))
        if change:
            changed[name] = texts
            caveats.append(f"{header.headers.get(name, name)} {change}")
    caveats += _counted(header, wrong, "cannot be true (infinite, negative or absurd) and count as not measured")
    frame = frame.assigned(changed) if changed else frame
    _refuse_many_ops(path, frame)
    return frame


def _check_device_only(path: Path, frame: Frame, header: Header) -> None:
    """Raise if ops have no names, or do not stand in the order in which they ran: replays of a trace do not."""
    if not (frame.texts("op_code").codes >= 0).any():
        raise ReportForeign(f"{shown(path.name)} names no op: set TTNN_OP_PROFILER=1 and profile again.")
    if not {"device", "fw_start_cycle"} <= set(header.read.values()):
        return
    devices, starts = frame.numbers("device"), frame.numbers("fw_start_cycle")
    if any((np.diff(starts[devices == device]) < 0).any() for device in np.unique(devices[np.isfinite(devices)])):
        place = header.names.index(header.headers["fw_start_cycle"]) + 1
        raise ReportForeign(
            f"{shown(path.name)} does not list the ops in the order in which they ran. Sort a copy: "
            f"(head -n 1 IN; tail -n +2 IN | sort -t, -k{place},{place}n) > OUT."
        )


def _refuse_many_ops(path: Path, frame: Frame) -> None:
    """Raise if there are too many different device ops; signposts may all differ."""
    codes = frame.texts("op_code").codes
    if len(frame.texts("op_code").distinct) <= OP_CODES_AT_MOST:  # unmoved: it only spares the count
        return
    if "op_type" in frame:
        types = frame.texts("op_type")
        is_device = np.array([*(text == DEVICE_TYPE_MARK.decode() for text in types.distinct), False])
        codes = codes[is_device[types.codes]]
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
        with opened(path) as file:
            while block := file.read(1 << 22):
                count += (carried + block).count(DEVICE_TYPE_MARK)
                carried = block[-len(DEVICE_TYPE_MARK) + 1 :]
    except (OSError, ValueError):
        return None
    return count
