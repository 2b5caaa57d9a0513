"""profile_log_device.csv: the marks that kernels left on each core, read for one op without loading the file.

Line 1 tells the architecture and the clock, line 2 the columns, each further line one mark: where a zone started or
ended on one processor of one core. The log of a long run has gigabytes, so it is read in blocks, and only the lines
of the op are kept. The streaming profiler's zone CSV has the same columns, a blank before each cell, the number of
the process as run host ID, the op's as trace id, and an op's replays one after the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from ttnn_mcp.errors import ReportBroken, ReportMissing, shown
from ttnn_mcp.readers.regular_file import opened
from ttnn_mcp.records import dataclass

Launch = tuple[int, int, int | None]  # device, GLOBAL CALL COUNT, replay session
NAME = "profile_log_device.csv"
BLOCK_BYTES = 4 << 20
LINE_BYTES = 1 << 16  # the longest cell comes from one of Tracy's messages, at most 64 KiB
MARKS_AT_MOST = 400_000  # of one op; 140 cores with 5 processors and 500 zones each
FIRST_LINE = re.compile(r"ARCH: *(\w+) *, *CHIP_FREQ\[MHz\]: *(\d+)")
COLUMNS = {  # ours -> theirs, newest first
    "device": ("PCIe slot",),
    "x": ("core_x",),
    "y": ("core_y",),
    "processor": ("RISC processor type",),
    "cycle": ("time[cycles since reset]",),
    "call_count": ("run host ID",),
    "zone": ("zone name",),
    "phase": ("type", "zone phase"),
}
SESSION = "trace id counter"  # newer logs only
STREAMED, STREAMED_ID = b", streaming,", "trace id"  # its source file, and where its ops stand
PHASES = {"ZONE_START": True, "begin": True, "ZONE_END": False, "end": False}


@dataclass(frozen=True, slots=True)
class Mark:
    """The start or end of a zone on one processor."""

    core: tuple[int, int]
    processor: str
    zone: str
    starts: bool
    cycle: int


@dataclass(frozen=True, slots=True)
class OpMarks:
    """What the log says about one op.

    Attributes:
        arch: as in line 1.
        clock_mhz: as in line 1; 0 where it is not known.
        marks: in the order of the file.
        complete: whether all marks of the op were kept.
    """

    arch: str
    clock_mhz: int
    marks: tuple[Mark, ...]
    complete: bool


def chip_beside(report: Path) -> tuple[str, int] | None:
    """Architecture and clock in MHz by line 1 of the log beside a report; None without a log."""
    try:
        with opened(report.parent / NAME) as file:
            first = _first_line(file)
    except OSError:
        return None
    return (first[1].lower(), int(first[2])) if first else None


def marks_of(path: Path, device: int, call_count: int, session: int | None) -> OpMarks:
    """The marks of one op; see `marks_of_ops`."""
    return marks_of_ops(path, [(device, call_count, session)])[0]


def marks_of_ops(path: Path, wanted: Sequence[Launch]) -> list[OpMarks]:
    """The marks of the ops with these GLOBAL CALL COUNTs, and of the replay where an op was replayed from a trace.

    The file is read once for all of them.

    Raises:
        ReportError: there is no such file, or it is no device log.
    """
    kept: dict[Launch, list[Mark]] = {launch: [] for launch in wanted}
    by_count: dict[int, list[Launch]] = {}
    for launch in kept:
        by_count.setdefault(launch[1], []).append(launch)
    try:
        with opened(path) as file:
            arch, clock_mhz, header = _heading(file, path)
            needle = b", %d," if header["call_count"] == header.get(STREAMED_ID) else b",%d,"
            for call_count, line in _lines_with(file, {count: needle % count for count in by_count}):
                for launch in by_count[call_count]:
                    mark = _mark(line, header, *launch) if len(kept[launch]) <= MARKS_AT_MOST else None
                    kept[launch] += [mark] if mark else []
    except OSError as failed:
        raise ReportMissing(f"{shown(path.name)} cannot be read ({failed.strerror}).") from None
    streamed, ops = STREAMED_ID in header, list[OpMarks]()
    for launch in wanted:
        marks, session = kept[launch], launch[2]
        replay = marks if session is None or not streamed else _of_execution(marks, session)
        complete = len(marks) <= MARKS_AT_MOST
        ops.append(OpMarks(arch, clock_mhz, tuple(replay[:MARKS_AT_MOST]), complete=complete))
    return ops


def _of_execution(marks: list[Mark], execution: int) -> list[Mark]:
    """Those of the how-many-th run of an op: on each processor the zone of its kernel never nests, and ends last."""
    ended, kept = Counter[tuple[tuple[int, int], str]](), list[Mark]()
    for mark in marks:
        lane = (mark.core, mark.processor)
        kept += [mark] if ended[lane] == execution - 1 else []
        ended[lane] += mark.zone.endswith("-KERNEL") and not mark.starts
    return kept


def _heading(file: BinaryIO, path: Path) -> tuple[str, int, dict[str, int]]:
    """Architecture, clock and the places of the columns."""
    first = _first_line(file)
    names = [name.strip() for name in file.readline(LINE_BYTES).decode(errors="replace").split(",")]
    header = {
        ours: next((names.index(name) for name in theirs if name in names), -1) for ours, theirs in COLUMNS.items()
    }
    if first is None or -1 in header.values():
        raise ReportBroken(
            f"{shown(path.name)} is no device log: its first two lines are not those of the profiler."
        )
    here = file.tell()
    streamed = STREAMED in file.readline(LINE_BYTES) and STREAMED_ID in names
    file.seek(here)
    if streamed:
        header["call_count"] = header[STREAMED_ID] = names.index(STREAMED_ID)
    elif SESSION in names:
        header["session"] = names.index(SESSION)
    return first[1], int(first[2]), header


def _first_line(file: BinaryIO) -> re.Match[str] | None:
    return FIRST_LINE.match(file.readline(LINE_BYTES).decode(errors="replace"))


def _lines_with(file: BinaryIO, needles: dict[int, bytes]) -> Iterator[tuple[int, bytes]]:
    """(whose, line) of the lines that hold a needle, block by block; a line that is too long for a mark is skipped."""
    rest = b""
    while block := file.read(BLOCK_BYTES):
        block = rest + block
        end = block.rfind(b"\n") + 1
        rest = block[end:] if len(block) - end <= LINE_BYTES else b""
        yield from ((whose, line) for whose, needle in needles.items() for line in _holding(block, needle, end))
    yield from ((whose, line) for whose, needle in needles.items() for line in _holding(rest, needle, len(rest)))


def _holding(block: bytes, needle: bytes, end: int) -> Iterator[bytes]:
    place = block.find(needle, 0, end)
    while place >= 0:
        start = block.rfind(b"\n", 0, place) + 1
        stop = block.find(b"\n", place, end)
        stop = end if stop < 0 else stop
        yield block[start:stop]
        place = block.find(needle, stop, end)


def _mark(line: bytes, header: dict[str, int], device: int, call_count: int, session: int | None) -> Mark | None:
    """The mark on this line; None for a line of another op, or without a zone."""
    raw = line.split(b",")
    if len(raw) <= max(header.values()) or raw[header["call_count"]].strip() != b"%d" % call_count:
        return None
    cells = [cell.strip().decode(errors="replace") for cell in raw]
    starts = PHASES.get(cells[header["phase"]])
    try:
        if starts is None or int(cells[header["device"]]) != device or not _is_of(session, cells, header):
            return None
        core = (int(cells[header["x"]]), int(cells[header["y"]]))
        return Mark(core, cells[header["processor"]], cells[header["zone"]], starts, int(cells[header["cycle"]]))
    except ValueError:
        return None


def _is_of(session: int | None, cells: list[str], header: dict[str, int]) -> bool:
    """Whether the line belongs to this replay; older logs do not tell, and one that is streamed tells it by order."""
    return session is None or "session" not in header or int(cells[header["session"]] or -1) == session
