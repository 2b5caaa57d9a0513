"""Writes performance reports: `ops_perf_results_<timestamp>.csv` in any header generation, and the log beside it."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from .csv_header import header
from .performance_cells import STYLE, CsvStyle, RowCells
from .program import DEVICES
from .timeline import Iteration, timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from .program import Program

TIMESTAMP = "2026_01_01_00_00_00"
COLD_THEN_WARM = (Iteration(cold=True), Iteration())
LOG_HEADER = (
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
    " zone name, type, source line, source file, meta data"
)


def performance_rows(
    program: Program,
    iterations: Iterable[Iteration] = COLD_THEN_WARM,
    generation: str = "C7",
    style: CsvStyle = STYLE,
) -> list[dict[str, str]]:
    """Just the rows, to be changed, dropped or doubled before `write_rows`."""
    return list(map(RowCells(program, generation, style).of, timeline(program, iterations)))


def keep_per_device(rows: Iterable[dict[str, str]], count: int) -> list[dict[str, str]]:
    """What is left when the profiler's buffer holds `count` ops per device and drops the rest unsaid."""
    seen: dict[str, int] = {}
    kept: list[dict[str, str]] = []
    for row in rows:
        device = row.get("DEVICE ID", "")
        seen[device] = seen.get(device, 0) + 1
        if not device or seen[device] <= count:
            kept.append(row)
    return kept


def header_of(rows: Iterable[Mapping[str, str]], generation: str, style: CsvStyle = STYLE) -> list[str]:
    """The generation's header with as many operand groups as the rows use (three inputs, one output at least)."""
    used = set().union(*rows)

    def groups(side: str, least: int) -> int:
        return max([least, *(int(name.split("_")[1]) + 1 for name in used if name.startswith(f"{side}_"))])

    return header(generation, inputs=groups("INPUT", 3), outputs=groups("OUTPUT", 1), counters=style.counters)


def write_rows(
    path: Path, rows: Sequence[Mapping[str, str]], columns: Sequence[str], style: CsvStyle = STYLE
) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    quoting = csv.QUOTE_ALL if style.quoting == "all" else csv.QUOTE_MINIMAL
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, quoting=quoting, lineterminator=style.line_ending)
        writer.writerow(columns)
        writer.writerows([row.get(name) or style.blank for name in columns] for row in rows)
    return path


def write_performance_report(
    folder: Path,
    program: Program,
    iterations: Iterable[Iteration] = COLD_THEN_WARM,
    *,
    generation: str = "C7",
    style: CsvStyle = STYLE,
    timestamp: str = TIMESTAMP,
) -> Path:
    """`folder/<timestamp>/ops_perf_results_<timestamp>.csv` and its log; returns the CSV's path.

    tt-torch writes one `folder/device_ops_perf_trace.csv`.
    """
    rows = performance_rows(program, iterations, generation, style)
    columns = header_of(rows, generation, style)
    if generation == "tt-torch":
        return write_rows(folder / "device_ops_perf_trace.csv", rows, columns, style)
    path = write_rows(folder / timestamp / f"ops_perf_results_{timestamp}.csv", rows, columns, style)
    write_device_log(path.parent, program)
    return path


def write_device_log(folder: Path, program: Program) -> Path:
    """`profile_log_device.csv` with a zone or two: readers only ask that it is there, and for its first line."""
    firmware = "/tt-metal/tt_metal/hw/firmware/src/brisc.cc"
    zones = ((14_168_404_359_408, "ZONE_START"), (14_168_404_371_219, "ZONE_END"))
    device = program.device
    known = device.clock_ghz == DEVICES[device.arch].clock_ghz  # at another clock a test wants an unknown chip
    lines = [
        f"ARCH: {device.arch if known else 'unheard_of'}, CHIP_FREQ[MHz]: {round(device.clock_ghz * 1000)}",
        LOG_HEADER,
        *(f"0,1,1,BRISC,22845,{time},0,1024,BRISC-FW,{kind},396,{firmware}," for time, kind in zones),
    ]
    path = folder / "profile_log_device.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
