"""A made profile_log_device.csv: known spans on known cores, in the format of tt-metal. No real log was at hand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

OLD = (
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], stat value, run ID, "
    "run host ID,  zone name, zone phase, source line, source file"
)
NEW = (
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, "
    "trace id counter, zone name, type, source line, source file, meta data"
)
Zone = tuple[tuple[int, int], str, str, int, int]  # core, processor, zone, start, end


def zone_lines(
    zones: Iterable[Zone], call_count: int, *, device: int = 0, session: int | None = None, old: bool = False
) -> list[str]:
    """Two lines per zone."""
    lines: list[str] = []
    for (x, y), processor, zone, start, end in zones:
        for cycle, phase in ((start, "begin" if old else "ZONE_START"), (end, "end" if old else "ZONE_END")):
            where = f"{device},{x},{y},{processor},22845,{cycle},0"
            trace = "" if session is None else session
            ids = f"7,{call_count}" if old else f"{call_count},{trace and 1},{trace}"
            lines.append(f"{where},{ids},{zone},{phase},396,/made/kernel.cc" + ("" if old else ","))
    return lines


def streamed_lines(zones: Iterable[Zone], call_count: int) -> list[str]:
    """The same by the streaming profiler (tt-metal, impl/streaming_profiler/zone_csv.cpp): process 4242, one device."""
    return [
        f"0, {x}, {y}, {processor}, 22845, {cycle}, 0, 4242, {call_count}, 0, {zone}, {phase}, 0, streaming, , 0, 0"
        for (x, y), processor, zone, start, end in zones
        for cycle, phase in ((start, "ZONE_START"), (end, "ZONE_END"))
    ]


def write_device_log(
    folder: Path, lines: Iterable[str], *, arch: str = "wormhole_b0", mhz: int = 1000, old: bool = False
) -> Path:
    path = folder / "profile_log_device.csv"
    first = f"ARCH: {arch}, CHIP_FREQ[MHz]: {mhz}" + ("" if old else ", Max Compute Cores: 64")
    path.write_text("\n".join([first, OLD if old else NEW, *lines]) + "\n")
    return path


def write_no_log(folder: Path, size: int) -> None:
    """A file of that name and size which is no log at all, which only its reader finds out."""
    path = folder / "profile_log_device.csv"
    path.write_text("no log\n")
    os.truncate(path, size)
