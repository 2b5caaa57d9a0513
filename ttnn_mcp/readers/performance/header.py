"""The header line of a performance CSV: which generation it is, what another table is, which fields are read."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from stat import S_ISREG
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportBroken, ReportForeign, ReportMissing, shown
from ttnn_mcp.readers.performance.columns import BY_HEADER, KERNEL_TIME, OP_CODE, OPERAND_HEADER
from ttnn_mcp.readers.performance.lost_columns import lost_columns, nearest_header

if TYPE_CHECKING:
    from pathlib import Path

HEADER_BYTES = 1 << 18  # the widest real header is 4 kB; anything beyond this is no CSV of ours
FIELDS_AT_MOST = 2_000  # the widest real header has 131 fields
OPERANDS_AT_MOST = 32  # of INPUT_n and of OUTPUT_n; real reports have up to eight inputs
LARGEST_BYTES = 1 << 31  # read in about six seconds; a million rows take 0.3 to 1.5 GB
CALL_COUNT = BY_HEADER["GLOBAL CALL COUNT"].headers[0]

REPROFILE = "Profile with `python -m tracy -r -p -v -m pytest <test>` and pass its ops_perf_results_*.csv."


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a performance CSV.

    Attributes:
        names: every field, as it stands in the file without the blanks around it.
        read: place of each field we read -> its column (our name, or the operand's header).
        generation: "C1" (2024-10) to "C7" (2026-09), by the columns that are there.
        compiler: written through tt-xla / tt-torch (LOC, CONST_EVAL_OP).
        lost: columns that should be there and are not, and the answers that costs.
        odd: columns that stand twice or are too many.
    """

    names: tuple[str, ...]
    read: dict[int, str]
    generation: str
    compiler: bool
    lost: tuple[str, ...]
    odd: tuple[str, ...]

    @property
    def headers(self) -> dict[str, str]:
        """Our column name -> its name in this file."""
        return {name: self.names[place] for place, name in self.read.items() if self.names[place] in BY_HEADER}


def header_of(path: Path) -> Header:
    """Read the first line of the CSV at `path`.

    Raises:
        ReportMissing: no such file, or it cannot be opened.
        ReportForeign: another tool's CSV, or no profile at all; names what to give instead.
        ReportBroken: empty, binary, or too large for a performance report.
    """
    names = tuple(name.strip() for name in _first_line(path))
    refuse_foreign(path, names)
    if len(names) > FIELDS_AT_MOST:
        raise ReportBroken(f"{shown(path.name)} has {len(names)} columns: no performance report has. {REPROFILE}")
    generation = generation_of(names)
    compiler = "LOC" in names or "CONST_EVAL_OP" in names
    read, odd = _chosen(names)
    lost = lost_columns(names, generation, compiler=compiler)
    return Header(names, read, generation, compiler, tuple(lost), tuple(odd))


def generation_of(names: tuple[str, ...]) -> str:
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


def refuse_foreign(path: Path, names: tuple[str, ...]) -> None:
    """Name what the file is, where it is not an ops_perf_results CSV, and what to give instead."""
    there = set(names)
    if {OP_CODE, KERNEL_TIME} <= there:
        return
    if names[0].startswith("ARCH:"):
        what = "is the raw device log, without op names. Give the ops_perf_results_*.csv beside it."
    elif {"Op-to-Op Gap", "Device Time"} <= there or any(name.startswith("Device Time Sum") for name in names):
        what = "is tt-perf-report's output. Give the ops_perf_results_*.csv it was made from."
    elif there & {OP_CODE, KERNEL_TIME, CALL_COUNT}:
        what = _required_column_lost(names)
    elif any(OP_CODE in name for name in names):
        what = "is not separated by commas. Export it again as a comma-separated file."
    else:
        columns = ", ".join(shown(name) for name in names[:4])
        what = f"is no TTNN performance report: its columns are {columns}, ... {REPROFILE}"
    raise ReportForeign(f"{shown(path.name)} {what}")


def _required_column_lost(names: tuple[str, ...]) -> str:
    required = OP_CODE if OP_CODE not in names else KERNEL_TIME
    near = nearest_header(required, names)
    if near is not None:
        return (
            f"has no {required} column, but one named '{shown(near)}'. "
            "Give the CSV as the profiler wrote it, or rename that column back."
        )
    if required == OP_CODE:
        return f"is a device-only report, without op names (no {OP_CODE} column). {REPROFILE}"
    return f"has no {KERNEL_TIME} column: device times were not collected. {REPROFILE}"


def _chosen(names: tuple[str, ...]) -> tuple[dict[int, str], list[str]]:
    """Place -> column of what is read, each column once and its newest header first; and what was left out."""
    read: dict[str, int] = {}
    odd: list[str] = []
    for name, count in Counter(names).items():
        if count > 1 and (name in BY_HEADER or OPERAND_HEADER.match(name)):
            odd.append(f"column {shown(name)} stands {count} times: the first is read")
    for column in dict.fromkeys(BY_HEADER.values()):
        present = [header for header in column.headers if header in names]
        if present:
            read[column.name] = names.index(present[0])
        if len(present) > 1:
            odd.append(f"{' and '.join(present)} are the same column: the first is read")
    left_out: set[str] = set()
    for place, name in enumerate(names):
        match = OPERAND_HEADER.match(name)
        if match is None:
            continue
        if int(match[2]) < OPERANDS_AT_MOST:
            read.setdefault(name, place)
        else:
            left_out.add(f"{match[1]}_{match[2]}")
    if left_out:
        odd.append(f"{len(left_out)} operands beyond {OPERANDS_AT_MOST} inputs or outputs are left out")
    return {place: name for name, place in read.items()}, odd


def _first_line(path: Path) -> list[str]:
    import csv  # noqa: PLC0415 - not needed to start a server

    start, size = _opened(path)
    name = shown(path.name)
    if not start.strip():
        raise ReportBroken(f"{name} is empty: the profiler has not written it yet. {REPROFILE}")
    if size > LARGEST_BYTES:
        raise ReportBroken(
            f"{name} has {size / 1e9:,.1f} GB, and at most {LARGEST_BYTES / 1e9:.1f} GB are read. "
            "Profile fewer iterations."
        )
    if b"\0" in start:
        raise ReportBroken(f"{name} is binary, not a CSV (or is UTF-16: save it as UTF-8).")
    first = start.split(b"\n", 1)[0]
    if b"\r" in first.rstrip(b"\r"):
        raise ReportBroken(f"{name} ends its lines with carriage returns only. Save it with line feeds.")
    if len(first) == HEADER_BYTES:
        raise ReportBroken(f"{name} begins with a line of {HEADER_BYTES} characters and more. {REPROFILE}")
    try:
        names = next(csv.reader([first.decode("utf-8-sig", errors="replace").rstrip("\r")]), [""])
    except csv.Error:
        raise ReportBroken(does_not_read(path, 1)) from None
    if not any(field.strip() for field in names):
        raise ReportBroken(f"{name} begins with a blank line instead of a header. {REPROFILE}")
    return names


def _opened(path: Path) -> tuple[bytes, int]:
    try:
        seen = path.stat()
        if not S_ISREG(seen.st_mode):  # a pipe would block, a device never end
            raise ReportMissing(f"{shown(path)} is not a regular file. Give an ops_perf_results_*.csv.")
        with path.open("rb") as file:
            return file.read(HEADER_BYTES), os.fstat(file.fileno()).st_size
    except (FileNotFoundError, ValueError):  # ValueError: a NUL in the path
        raise ReportMissing(f"No file {shown(path)}. Check the path, or call list_runs.") from None
    except OSError as failed:
        raise ReportMissing(f"{shown(path)} cannot be opened ({failed.strerror}).") from None


def does_not_read(path: Path, line: int | None = None) -> str:
    """What to say of a file that is no CSV from some line on."""
    where = f" at line {line}" if line else ""
    return (
        f"{shown(path.name)} does not read as a CSV{where}: a row does not fit the header, or a quote is never "
        "closed. The file is damaged or still being written; profile again or copy it anew."
    )


def line_in(failure: BaseException) -> int | None:
    """The line that a parser's message names."""
    line = re.search(r"line (\d{1,12})", str(failure))
    return int(line[1]) if line else None
