"""The command `join`: the streaming profiler's ops CSV with the names of a report of the same program, as one CSV.

The streaming profiler (TT_METAL_STREAMING_PROFILER_OPS_CSV) writes times by GLOBAL CALL COUNT, and EXECUTION where a
trace replays a program; an ops_perf_results CSV has the same numbers, and names, settings and operands beside them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ttnn_mcp.errors import ReportBroken, ReportForeign, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.performance.columns import BY_HEADER, BY_NAME, is_operand
from ttnn_mcp.readers.performance.header import EXECUTION, does_not_read, first_line, header_of, is_streamed
from ttnn_mcp.readers.regular_file import opened

Row = dict[str, str]
NAMES = {  # what one run tells of another run of the same program
    "op_code", "op_type", "call_count", "device", "sub_device", "arch", "attributes", "fidelity", "worker_cores",
    "program_hash", "pm_ideal_ns", "loc", "const_eval",
}  # fmt: skip
DEVICE, CALL_COUNT, CORES, TRACE_ID, SESSION, GAP, TIME = (
    BY_NAME[name].headers[0]
    for name in ("device", "call_count", "cores", "trace_id", "trace_session", "gap_ns", "kernel_ns")
)
START, END = "DEVICE KERNEL START CYCLE", "DEVICE KERNEL END CYCLE"  # of kernels, where reports tell the firmware's
DIGITS = 20  # of a number of 64 bits
SAME = 0.5  # of the programs, at least, used as many cores in the other run (ours)


def join(times: Path, report: Path) -> tuple[str, str]:
    """The joined CSV, and what of it is left out, or nothing.

    Raises:
        ReportError: one of the files is another one, or they are not of the same program.
    """
    if not is_streamed(first_line(times)):
        raise ReportForeign(f"{shown(times.name)} is not the streaming profiler's ops CSV: give that one first.")
    names = header_of(report).names
    kept = [name for name in names if is_operand(name) or (name in BY_HEADER and BY_HEADER[name].name in NAMES)]
    named: dict[tuple[str, str], Row] = {}
    for row in _rows(report):
        named.setdefault(_key(row), {name: row.get(name, "") for name in (*kept, CORES, TRACE_ID)})
    rows = [*_rows(times)]
    known = [row for row in rows if _key(row) in named]
    alike = sum(row.get(CORES) == named[_key(row)][CORES] for row in known)
    if not known or alike < SAME * len(known):
        raise ReportForeign(
            f"{shown(times.name)} and {shown(report.name)} are not of the same program: of {figure(len(rows), ',')} "
            f"launches {figure(len(known), ',')} stand in both, {figure(alike, ',')} on as many cores. "
            "Profile one script both times."
        )
    left_out = len(rows) - len(known)
    note = f"{figure(left_out, ',')} launches are not in {shown(report.name)}: left out" if left_out else ""
    return _written(known, named, kept), note


def _written(rows: list[Row], named: dict[tuple[str, str], Row], kept: list[str]) -> str:
    out = io.StringIO()
    columns = [
        name for name in dict.fromkeys([*kept, *rows[0], TRACE_ID, SESSION, GAP]) if name not in {START, END}
    ]
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    replayed = {_key(row) for row in rows if row[EXECUTION] != "0"}
    for row in _in_order(rows):
        name = named[_key(row)]
        session, trace = (
            (str(int(row[EXECUTION]) + 1), name[TRACE_ID] or "0") if _key(row) in replayed else ("", "")
        )
        writer.writerow({**{column: name[column] for column in kept}, **row, TRACE_ID: trace, SESSION: session})
    return out.getvalue()


def _rows(path: Path) -> Iterator[Row]:
    """The rows of launches; a line that is cut off, or without a number of its launch, is none."""
    with opened(path) as file:
        lines = io.TextIOWrapper(file, encoding="utf-8-sig", errors="replace", newline="")
        try:
            for row in csv.DictReader(lines):
                cells = {name.strip(): cell for name, cell in row.items() if name}
                whole = None not in row and None not in cells.values()
                if whole and _is_number(cells[CALL_COUNT]) and _is_number(cells.get(EXECUTION, "0")):
                    yield cells
        except csv.Error:
            raise ReportBroken(does_not_read(path)) from None


def _key(row: Row) -> tuple[str, str]:
    return row.get(DEVICE, ""), row[CALL_COUNT]


def _in_order(rows: list[Row]) -> Iterator[Row]:
    """Device by device as the launches began, with the gap before each; one without cycles stays where it is."""
    cycles, times = Counter[str](), Counter[str]()
    placed: list[tuple[str, int, Row]] = []
    for row in rows:
        device, start = row.get(DEVICE, ""), _whole(row, START)
        if start:
            cycles[device] += _whole(row, END) - start
            times[device] += _whole(row, TIME)
        placed.append((device, start or (placed[-1][1] if placed else 0), row))
    ends: dict[str, int] = {}
    for device, at, row in sorted(placed, key=lambda one: one[:2]):
        idle = at - ends.get(device, at)
        gap = max(idle, 0) * times[device] / cycles[device] if cycles[device] > 0 else 0.0
        yield {**row, GAP: f"{gap:.0f}"}
        ends[device] = max(ends.get(device, 0), _whole(row, END))


def _whole(row: Row, name: str) -> int:
    cell = row.get(name, "")
    return int(cell) if _is_number(cell) else 0


def _is_number(cell: str) -> bool:
    return cell.isdecimal() and len(cell) <= DIGITS
