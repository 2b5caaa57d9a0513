"""The performance report: an ops_perf_results CSV of any generation since 2024, read once.

Only the columns we use are read, by name. Repeated text becomes categories, so that a million rows hold each
distinct ATTRIBUTES text once. What cannot be read as a number becomes "not measured" and is counted.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# (pandas' stubs leave half of what a frame hands out unknown)

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportBroken, ReportForeign, ReportMissing, shown
from ttnn_mcp.readers.performance.columns import BY_HEADER, OPERAND_HEADER

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

HEADER_BYTES = 1 << 18  # the widest real header is 4 kB; anything beyond this is no CSV of ours
DEVICE_TYPE_MARK = b"tt_dnn_device"
NOT_SAID = ("", "-", "nan", "NaN")  # writers leave cells empty; some consumers write a dash or what pandas prints

_REPROFILE = "Profile with `python -m tracy -r -p -v -m pytest <test>` and pass its ops_perf_results_*.csv."


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
        lines: line of each row in the file (the header is line 1).
        caveats: what was odd while reading.
    """

    path: Path
    generation: str
    compiler: bool
    logical_shapes: bool
    frame: pd.DataFrame
    headers: dict[str, str]
    caveats: tuple[str, ...]


def read_performance_csv(path: Path) -> PerformanceCsv:
    """Read the CSV at `path`.

    Raises:
        ReportMissing: no such file, or it cannot be opened.
        ReportForeign: another tool's CSV, or no profile at all; names what to give instead.
        ReportBroken: binary, cut off before its first row, or rows that do not fit the header.
    """
    header = _header(path)
    names = [name.strip() for name in header]
    refuse_foreign(path, names)
    frame, lost = _frame(path, header, names)
    headers = {BY_HEADER[name].name: name for name in names if name in BY_HEADER}
    frame.columns = [BY_HEADER[name].name if name in BY_HEADER else name for name in frame.columns]
    caveats = [*lost, *_made_numeric(frame, headers)]
    return PerformanceCsv(
        path=path,
        generation=generation_of(names),
        compiler="LOC" in names or "CONST_EVAL_OP" in names,
        logical_shapes=any(name.endswith("_PAD[LOGICAL]") for name in names),
        frame=frame,
        headers=headers,
        caveats=tuple(caveats),
    )


def generation_of(names: list[str]) -> str:
    """The header generation, newest mark first."""
    there = set(names)
    marks = (
        ("C7", {"SUB DEVICE ID"}),
        ("C6", {"PROGRAM HASH", "PROGRAM CACHE HIT", "MULTICAST NOC UTIL (%)"}),
        ("C5", {"DEVICE ARCH", "AVAILABLE WORKER CORE COUNT"}),
        ("C4", {name for name in there if name.endswith("_PAD[LOGICAL]")}),
        ("C3", {"OP TO OP LATENCY BR/NRISC START [ns]", "PM FPU UTIL (%)", "DISPATCH GO SEND WAIT TIME [ns]"}),
        ("C2", {"METAL TRACE ID", "DEVICE KERNEL DURATION PER CORE MAX [ns]"}),
    )
    return next((generation for generation, mark in marks if mark & there), "C1")


def refuse_foreign(path: Path, names: list[str]) -> None:
    """Name what the file is, where it is not an ops_perf_results CSV, and what to give instead."""
    there = set(names)
    name = shown(path.name)
    if {"OP CODE", "DEVICE KERNEL DURATION [ns]"} <= there:
        return
    if names[0].startswith("ARCH:"):
        said = "is the raw device log, without op names. Give the ops_perf_results_*.csv beside it."
    elif {"Op-to-Op Gap", "Device Time"} <= there or any(one.startswith("Device Time Sum") for one in names):
        said = "is tt-perf-report's output. Give the ops_perf_results_*.csv it was made from."
    elif "OP CODE" in there:
        said = f"has no DEVICE KERNEL DURATION column: device times were not collected. {_REPROFILE}"
    elif "GLOBAL CALL COUNT" in there or "DEVICE KERNEL DURATION [ns]" in there:
        said = f"is a device-only report, without op names (no OP CODE column). {_REPROFILE}"
    elif any("OP CODE" in one for one in names):
        said = "is not separated by commas. Export it again as a comma-separated file."
    else:
        columns = ", ".join(shown(one) for one in names[:4])
        said = f"is no TTNN performance report: its columns are {columns}, ... {_REPROFILE}"
    raise ReportForeign(f"{name} {said}")


def _header(path: Path) -> list[str]:
    import csv  # noqa: PLC0415 - not needed to start a server

    try:
        with path.open("rb") as file:
            start = file.read(HEADER_BYTES)
    except FileNotFoundError:
        raise ReportMissing(f"No file {shown(path)}. Check the path, or call list_runs.") from None
    except OSError as failed:
        raise ReportMissing(f"{shown(path)} cannot be opened ({failed.strerror}).") from None
    if not start.strip():
        raise ReportBroken(f"{shown(path.name)} is empty: the profiler has not written it yet. {_REPROFILE}")
    if b"\0" in start:
        raise ReportBroken(f"{shown(path.name)} is binary, not a CSV (or is UTF-16: save it as UTF-8).")
    first = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    try:
        names = next(csv.reader([first.rstrip("\r")]), [""])
    except csv.Error:
        raise ReportBroken(_said_of(path, ValueError("line 1"))) from None
    if not any(name.strip() for name in names):
        raise ReportBroken(f"{shown(path.name)} begins with a blank line instead of a header. {_REPROFILE}")
    return names


def _frame(path: Path, header: list[str], names: list[str]) -> tuple[pd.DataFrame, list[str]]:
    import pandas as pd  # noqa: PLC0415 - half a second that only reading a report may cost

    wanted = {raw: name for raw, name in zip(header, names, strict=True) if _is_read(name)}
    numbers = {raw for raw, name in wanted.items() if name in BY_HEADER and BY_HEADER[name].kind == "number"}
    texts = {raw: "category" for raw in wanted if raw not in numbers}
    try:
        try:
            frame = _read(path, list(wanted), {**texts, **dict.fromkeys(numbers, "float64")}, sure=True)
        except ValueError:  # some number cell holds text: let pandas infer, and count such cells afterwards
            frame = _read(path, list(wanted), texts, sure=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, ValueError, MemoryError) as failed:
        raise ReportBroken(_said_of(path, failed)) from None
    if not isinstance(frame.index, pd.RangeIndex):  # rows longer than the header would silently become an index
        raise ReportBroken(_said_of(path, ValueError("line 2")))
    frame = frame[list(wanted)].rename(columns=wanted)
    lost: list[str] = []
    if len(frame) and _cut_off(path, len(header)):
        frame = frame.iloc[:-1]
        lost.append(f"line {len(frame) + 2} is cut off: the file is truncated or still being written")
    return frame, lost


def _read(path: Path, columns: list[str], types: dict[str, str], *, sure: bool) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    return pd.read_csv(
        path,
        usecols=columns,
        dtype=types,  # pyright: ignore[reportArgumentType]
        na_values=list(NOT_SAID),
        keep_default_na=False,
        skip_blank_lines=False,  # a blank line still counts: rows are named by their line
        low_memory=sure,  # in chunks, which is faster, once no type has to be inferred over all of them
        encoding="utf-8",
        encoding_errors="replace",
    )


def _is_read(name: str) -> bool:
    return name in BY_HEADER or OPERAND_HEADER.match(name) is not None


def _cut_off(path: Path, fields: int) -> bool:
    """Whether the last line ends before its last field."""
    import csv  # noqa: PLC0415

    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - HEADER_BYTES))
        tail = file.read()
    if tail.endswith(b"\n"):
        return False
    last = tail.rsplit(b"\n", 1)[-1].decode("utf-8", errors="replace")
    try:
        return len(next(csv.reader([last]), [""])) < fields
    except csv.Error:
        return True


def _said_of(path: Path, failed: BaseException) -> str:
    line = re.search(r"line (\d+)", str(failed))
    where = f" at line {line[1]}" if line else ""
    return (
        f"{shown(path.name)} does not read as a CSV{where}: a row does not fit the header, or a quote is never "
        "closed. The file is damaged or still being written; profile again or copy it anew."
    )


def _made_numeric(frame: pd.DataFrame, headers: dict[str, str]) -> list[str]:
    """Turn every number column into float64 in place; say how many cells could not be read."""
    import pandas as pd  # noqa: PLC0415

    caveats: list[str] = []
    for name, header in headers.items():
        if BY_HEADER[header].kind != "number":
            continue
        column = frame[name]
        if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
            read = pd.to_numeric(column.astype("str"), errors="coerce").where(column.notna())
            unread = int((read.isna() & column.notna()).sum())
            if unread:
                caveats.append(f"{unread} cells of {header} are no numbers and count as not measured")
            column = read
        frame[name] = column.astype("float64")
    return caveats


def count_device_ops(path: Path) -> int | None:
    """Device rows without parsing: occurrences of their type; None where the file cannot be read."""
    count, carried = 0, b""
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 22):
                count += (carried + block).count(DEVICE_TYPE_MARK)
                carried = block[-len(DEVICE_TYPE_MARK) + 1 :]
    except OSError:
        return None
    return count
