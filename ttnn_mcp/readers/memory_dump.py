"""What TTNN's dump of a device's memory tells: blocks of each memory by address, without the tensors in them.

`ttnn.dump_device_memory_state` writes it as detailed_memory_usage.csv, sections of text rather than a table. Sizes of
blocks are those of one bank; as TTNN 0.81.1 wrote it on a mock device.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from ttnn_mcp.errors import ReportForeign, shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.regular_file import text_of

DETAILED = "detailed_memory_usage.csv"
NAMES = (DETAILED, "memory_usage_summary.csv", "l1_usage_summary.csv")
LARGEST_BYTES = 20_000_000  # a dump of each program of a long run; of more, the begin (ours)
_PART = re.compile(
    r"^\d{0,18},(?P<memory>DRAM|L1|L1_SMALL|TRACE)[ \t]*$"
    r"|^[ \t]*\d{1,9}[ \t]+\d{1,18}[ \t]+(?P<size>\d{1,18})[ \t]+\w{1,18}[ \t]+\w{1,18}[ \t]+(?P<taken>yes|no)\b",
    re.MULTILINE | re.ASCII,
)


def is_dump(path: Path) -> bool:
    """Whether TTNN writes its dumps under such a name; a prefix is its caller's."""
    return path.name.endswith(NAMES)


def refused(path: Path) -> ReportForeign:
    """Why a dump is no report, with what it tells all the same. Blocks."""
    state = ""
    if path.name.endswith(DETAILED):
        with suppress(OSError, ValueError):
            state = _fullest_state(text_of(path, LARGEST_BYTES))
    figures = f"; of a bank, {state}" if state else ""
    return ReportForeign(
        f"{shown(path.name)} is a dump of device memory, blocks without tensors{figures}. Give the db.sqlite of a "
        "memory report, which tells whose they are."
    )


def _fullest_state(text: str) -> str:
    """The fullest state of each memory in words: bytes of a bank that are taken, and the largest free block."""
    states: list[tuple[str, list[int], list[int]]] = []
    for part in _PART.finditer(text):
        if part["memory"]:
            states.append((part["memory"], [], []))
        elif states:
            _, taken, free = states[-1]
            (taken if part["taken"] == "yes" else free).append(int(part["size"]))
    fullest: dict[str, tuple[list[int], list[int]]] = {}
    for memory, taken, free in states:
        if sum(taken) + sum(free) and sum(taken) >= sum(fullest.get(memory, ((), ()))[0]):
            fullest[memory] = (taken, free)
    return "; ".join(
        f"{memory} has {figure(sum(taken), ',')} B taken in {len(taken)} "
        f"block{'' if len(taken) == 1 else 's'} and {figure(max(free, default=0), ',')} B free in one piece"
        for memory, (taken, free) in fullest.items()
    )
