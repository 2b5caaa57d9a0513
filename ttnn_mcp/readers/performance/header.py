"""The header line of a performance CSV: its generation, which fields are read, and what a foreign table is.

It tells which columns a report should have but has not, and which answers need them: a table that another program saved
again may have lost columns, or have them under other names.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from ttnn_mcp.errors import ReportBroken, ReportForeign, ReportMissing, shown, shown_path
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.memory_dump import is_dump, refused
from ttnn_mcp.readers.performance.columns import (
    BY_HEADER,
    BY_NAME,
    COLUMNS,
    KERNEL_TIME,
    OP_CODE,
    OP_NAME,
    OPERAND_HEADER,
    OPERAND_PARTS,
    UNREAD,
)
from ttnn_mcp.readers.regular_file import opened
from ttnn_mcp.records import dataclass

ALIKE = 0.75  # difflib ratio: allows one word added or dropped, or a dash for a blank, but no other column
NAMED = 3  # lost columns that one sentence names; the others are counted
HEADER_BYTES = 1 << 18  # the widest real header is 4 kB; anything beyond this is no CSV of ours
FIELDS_AT_MOST = 2_000  # the widest real header has 131 fields
OPERANDS_AT_MOST = 32  # of INPUT_n and of OUTPUT_n; real reports have up to eight inputs
LARGEST_BYTES = 1 << 31  # takes about six seconds to read; a million rows have 0.3 to 1.5 GB
(CALL_COUNT,) = BY_NAME["call_count"].headers
DEVICE_ONLY = (
    "the device profiler wrote it alone: no operands, settings or host calls, and ops are known by name only"
)
EXECUTION = "EXECUTION"  # the streaming profiler's column: the how-many-th time that a program ran
JOINED = "times are the streaming profiler's; names, settings and operands those of another run (ttnn-mcp join)"
REPROFILE = "Profile with `python -m tracy -r -p -v -m pytest <test>` and pass its ops_perf_results_*.csv."


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a performance CSV.

    Attributes:
        names: all fields of the file, without blanks around them.
        read: place of each field that we read -> its column (our name, or the operand's header).
        generation: "C1" (2024-10) to "C7" (2026-09), judged by the columns.
        compiler: whether tt-xla or tt-torch wrote the file (it has LOC or CONST_EVAL_OP).
        lost: sentences on the missing columns and the answers that need them.
        odd: sentences on columns that occur twice or are too many.
    """

    names: tuple[str, ...]
    read: dict[int, str]
    generation: str
    compiler: bool
    lost: tuple[str, ...]
    odd: tuple[str, ...]

    @property
    def device_only(self) -> bool:
        """Whether the device profiler wrote it alone (cpp_device_perf_report.csv)."""
        return OP_CODE not in self.names

    @property
    def headers(self) -> dict[str, str]:
        """Our column name -> its name in this file."""
        return {name: self.names[place] for place, name in self.read.items() if self.names[place] in BY_HEADER}


def header_of(path: Path) -> Header:
    """Read the first line of the CSV at `path`.

    Raises:
        ReportMissing: no such file, or it cannot be opened.
        ReportForeign: another tool's CSV, or no profile at all; says what to give instead.
        ReportBroken: empty, binary, or too large for a performance report.
    """
    names = first_line(path)
    refuse_foreign(path, names)
    if len(names) > FIELDS_AT_MOST:
        raise ReportBroken(f"{shown(path.name)} has {len(names)} columns: no report has so many. {REPROFILE}")
    return _header(names)


@lru_cache(maxsize=8)  # reports of one build begin alike  # unmoved: what is forgotten is read again
def _header(names: tuple[str, ...]) -> Header:
    generation = generation_of(names)
    compiler = "LOC" in names or "CONST_EVAL_OP" in names
    read, odd = _chosen(names)
    lost = lost_columns(names, generation, compiler=compiler)
    odd += [DEVICE_ONLY] if OP_CODE not in names else [JOINED] if EXECUTION in names else []
    return Header(names, read, generation, compiler, tuple(lost), tuple(odd))


def generation_of(names: tuple[str, ...]) -> str:
    """The header generation: the newest one that has a column of its own among the names."""
    present = set(names)
    marks = (
        ("C7", {"SUB DEVICE ID"}),
        ("C6", {"PROGRAM HASH", "PROGRAM CACHE HIT", "MULTICAST NOC UTIL (%)"}),
        ("C5", {"DEVICE ARCH", "AVAILABLE WORKER CORE COUNT"}),
        ("C4", {name for name in present if name.endswith("_PAD[LOGICAL]")}),
        ("C3", {"OP TO OP LATENCY BR/NRISC START [ns]", "PM FPU UTIL (%)", "DISPATCH GO SEND WAIT TIME [ns]"}),
        ("C2", {"METAL TRACE ID", "DEVICE KERNEL DURATION PER CORE MAX [ns]"}),
    )
    return next((generation for generation, mark in marks if mark & present), "C1")


def refuse_foreign(path: Path, names: tuple[str, ...]) -> None:
    """Refuse a file that is not an ops_perf_results CSV.

    Raises:
        ReportForeign: says what the file is and what to give instead.
    """
    present = set(names)
    # tt-metal's realtime_profiler_csv_report_handler.cpp leaves OP NAME blank
    quick = {OP_NAME, "DEVICE KERNEL START CYCLE"} <= present and "DEVICE FW START CYCLE" not in present
    if KERNEL_TIME in present and present & {OP_CODE, OP_NAME} and not quick:
        return
    if is_dump(path):
        raise refused(path)
    if is_streamed(names):
        verdict = (
            f"is the streaming profiler's table: times by {CALL_COUNT} and {EXECUTION}, without op names. Join it with "
            "the ops_perf_results_*.csv of another run of the same script: `ttnn-mcp join IT CSV > joined.csv`."
        )
    elif quick:
        verdict = f"is the real-time profiler's quick report: it names no op, its times hold dispatch. {REPROFILE}"
    elif names[0].startswith("ARCH:"):
        verdict = "is the raw device log, without op names. Give the ops_perf_results_*.csv beside it."
    elif {"Op-to-Op Gap", "Device Time"} <= present or any(name.startswith("Device Time Sum") for name in names):
        verdict = "is tt-perf-report's output. Give the ops_perf_results_*.csv it was made from."
    elif present & {OP_CODE, KERNEL_TIME, CALL_COUNT}:
        verdict = _required_column_lost(names)
    elif any(OP_CODE in name for name in names):
        verdict = "is not separated by commas. Export it again as a comma-separated file."
    else:
        columns = ", ".join(shown(name) for name in names[:4])
        verdict = f"is no TTNN performance report: its columns are {columns}, ... {REPROFILE}"
    raise ReportForeign(f"{shown(path.name)} {verdict}")


def is_streamed(names: tuple[str, ...]) -> bool:
    """Whether these are the columns of the streaming profiler's ops CSV."""
    return {CALL_COUNT, EXECUTION, KERNEL_TIME} <= {*names} and OP_CODE not in names


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
    """Place -> column for the fields we read, and sentences on what is odd. The newest header of a column wins."""
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


def first_line(path: Path) -> tuple[str, ...]:
    """The fields of the first line, without blanks around them.

    Raises:
        ReportError: there is no such file, or it has no line of a CSV.
    """
    import csv  # noqa: PLC0415 - not needed to start a server

    start, size = _opened(path)
    name = shown(path.name)
    if not start.strip():
        raise ReportBroken(f"{name} is empty: the profiler has not written it yet. {REPROFILE}")
    if size > LARGEST_BYTES:
        raise ReportBroken(
            f"{name} has {figure(size / 1e9, ',.1f')} GB, and at most {figure(LARGEST_BYTES / 1e9, '.1f')} GB "
            "are read. Profile fewer iterations."
        )
    if b"\0" in start:
        raise ReportBroken(f"{name} is binary, not a CSV (or is UTF-16: save it as UTF-8).")
    line = start.split(b"\n", 1)[0]
    if b"\r" in line.rstrip(b"\r"):
        raise ReportBroken(f"{name} ends its lines with carriage returns only. Save it with line feeds.")
    if len(line) == HEADER_BYTES:
        raise ReportBroken(f"{name} begins with a line of {HEADER_BYTES} characters and more. {REPROFILE}")
    try:
        names = next(csv.reader([line.decode("utf-8-sig", errors="replace").rstrip("\r")]), [""])
    except csv.Error:
        raise ReportBroken(does_not_read(path, 1)) from None
    if not any(field.strip() for field in names):
        raise ReportBroken(f"{name} begins with a blank line instead of a header. {REPROFILE}")
    return tuple(name.strip() for name in names)


def _opened(path: Path) -> tuple[bytes, int]:
    try:
        with opened(path) as file:
            return file.read(HEADER_BYTES), os.fstat(file.fileno()).st_size
    except (FileNotFoundError, ValueError):  # ValueError: a NUL in the path
        raise ReportMissing(f"No file {shown_path(path)}. Check the path, or call list_runs.") from None
    except OSError as failed:
        raise ReportMissing(f"{shown_path(path)} cannot be opened ({failed.strerror}).") from None


def does_not_read(path: Path, line: int | None = None) -> str:
    """The message for a file that cannot be parsed as a CSV (from `line` on, where that is known)."""
    place = f" at line {line}" if line else ""
    return (
        f"{shown(path.name)} does not read as a CSV{place}: a row does not fit the header, or a quote is never "
        "closed. The file is damaged or still being written; profile again or copy it again."
    )


def line_in(failure: BaseException) -> int | None:
    """The line number in a parser's message; None if it names none."""
    line = re.search(r"line (\d{1,12})", str(failure))
    return int(line[1]) if line else None


def lost_columns(names: Sequence[str], generation: str, *, compiler: bool) -> list[str]:
    """One sentence per kind of answer that is lost: the missing columns, and a column that may be one of them."""
    lost: dict[str, list[str]] = {}
    for header, costs in (*_of_table(names, int(generation[1:]), compiler=compiler), *_of_operands(names)):
        lost.setdefault(costs, []).append(header)
    return [f"no {_listed(headers)}{_instead(headers, names)}: {costs}" for costs, headers in lost.items()]


def nearest_header(header: str, names: Iterable[str]) -> str | None:
    """The column that is most likely `header` under a changed name; None where no name is similar."""
    strangers = {name.upper(): name for name in names if _is_stranger(name)}
    close = get_close_matches(header, strangers, n=1, cutoff=ALIKE)
    longer = [name for name in strangers if name.startswith(header)]
    return strangers[(close or longer)[0]] if close or longer else None


def _of_table(names: Sequence[str], generation: int, *, compiler: bool) -> Iterator[tuple[str, str]]:
    present = {BY_HEADER[name].name for name in names if name in BY_HEADER}
    for column in COLUMNS:
        expected = column.since <= generation and (compiler or not column.by_compiler)
        if column.costs and expected and column.name not in present:
            yield column.headers[0], column.costs


def _of_operands(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    parts: dict[str, set[str]] = {"INPUT_0": set(), "OUTPUT_0": set()}
    for name in names:
        match = OPERAND_HEADER.match(name)
        if match:
            parts.setdefault(f"{match[1]}_{match[2]}", set()).add(match[3])
    for operand, present in parts.items():
        for part, costs in OPERAND_PARTS.items():
            if part not in present:
                yield f"{operand}_{part}", costs


def _is_stranger(name: str) -> bool:
    return name not in BY_HEADER and not OPERAND_HEADER.match(name) and not UNREAD.search(name)


def _listed(headers: list[str]) -> str:
    more = f" and {len(headers) - NAMED} more" if len(headers) > NAMED else ""
    return ", ".join(headers[:NAMED]) + more


def _instead(headers: list[str], names: Sequence[str]) -> str:
    near = next((near for header in headers if (near := nearest_header(header, names))), None)
    return f" (a column '{shown(near)}' is there)" if near else ""
