"""profile_log_device.csv: the marks that kernels left on each core, read for one op without loading the file.

Line 1 tells the architecture and the clock, line 2 the columns, each further line one mark: where a zone started or
ended on one processor of one core. The log of a long run has gigabytes, so it is read in blocks, and only the lines
of the op are kept.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from ttnn_mcp.errors import ReportBroken, ReportMissing, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import BinaryIO

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


def marks_of(path: Path, device: int, call_count: int, session: int | None) -> OpMarks:
    """The marks of the op with this GLOBAL CALL COUNT, and of this replay where the op was replayed from a trace.

    Raises:
        ReportError: there is no such file, or it is no device log.
    """
    try:
        with path.open("rb") as file:
            arch, clock_mhz, header = _heading(file, path)
            lines = _lines_with(file, b",%d," % call_count)
            marks = (_mark(line, header, device, call_count, session) for line in lines)
            kept = tuple(islice((mark for mark in marks if mark), MARKS_AT_MOST + 1))
    except OSError as failed:
        raise ReportMissing(f"{shown(path.name)} cannot be read ({failed.strerror}).") from None
    return OpMarks(arch, clock_mhz, kept[:MARKS_AT_MOST], complete=len(kept) <= MARKS_AT_MOST)


def _heading(file: BinaryIO, path: Path) -> tuple[str, int, dict[str, int]]:
    """Architecture, clock and the places of the columns."""
    first = FIRST_LINE.match(file.readline(LINE_BYTES).decode(errors="replace"))
    names = [name.strip() for name in file.readline(LINE_BYTES).decode(errors="replace").split(",")]
    header = {
        ours: next((names.index(name) for name in theirs if name in names), -1) for ours, theirs in COLUMNS.items()
    }
    if first is None or -1 in header.values():
        raise ReportBroken(
            f"{shown(path.name)} is no device log: its first two lines are not those of the profiler."
        )
    if SESSION in names:
        header["session"] = names.index(SESSION)
    return first[1], int(first[2]), header


def _lines_with(file: BinaryIO, needle: bytes) -> Iterator[bytes]:
    """The lines that hold `needle`, read block by block; a line that is too long for a mark is skipped."""
    rest = b""
    while block := file.read(BLOCK_BYTES):
        block = rest + block
        end = block.rfind(b"\n") + 1
        rest = block[end:] if len(block) - end <= LINE_BYTES else b""
        yield from _holding(block, needle, end)
    yield from _holding(rest, needle, len(rest))


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
    """Whether the line belongs to this replay; older logs do not tell."""
    return session is None or "session" not in header or int(cells[header["session"]] or -1) == session
