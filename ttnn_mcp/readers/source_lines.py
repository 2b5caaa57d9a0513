"""The line of the model that called an operation, read from the recorded stack trace or a compiler's LOC."""

from __future__ import annotations

import re

from ttnn_mcp.records import dataclass

_FRAME = re.compile(
    r'^\s*File "([^"\n]{1,4096})", line (\d{1,9})(?:, in ([^\n]{1,200}))?(?:\n[ \t]+(?![ \t]|File ")([^\n]+))?',
    re.MULTILINE,
)
_LOC = re.compile(r'"([^"\n]{1,4096})":(\d{1,9}):\d+')
_LOC_NAME = re.compile(r'"([^"\n]{1,300})"')
_LINE_CHARS = 300


@dataclass(frozen=True, slots=True)
class SourceLine:
    """Where the model calls the operation; all texts come from the report."""

    file: str
    line: int
    function: str | None = None
    text: str | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def parse_stack_trace(trace: str) -> SourceLine | None:
    """The first Python frame of a stack trace. Traces begin with the innermost frame, so this is the ttnn call.

    None for native C++ backtraces, which some captures hold instead.
    """
    frame = _FRAME.search(trace)
    if frame is None:
        return None
    file, line, function, text = frame.groups()
    return SourceLine(
        file, int(line), function.strip() if function else None, text.strip()[:_LINE_CHARS] if text else None
    )


def parse_loc(loc: str) -> SourceLine | None:
    """A compiler's LOC cell, `loc(fused["/path/test.py":60:0, "add"])`; None for `loc(unknown)`."""
    place = _LOC.search(loc)
    if place is None:
        return None
    name = _LOC_NAME.search(loc, place.end())
    return SourceLine(place[1], int(place[2]), text=name[1] if name else None)


def text_of_line(contents: str, line: int) -> str | None:
    """A line of a source file by number, without its indentation; None where the file has no such line."""
    lines = contents.splitlines()
    return lines[line - 1].strip()[:_LINE_CHARS] or None if 0 < line <= len(lines) else None
