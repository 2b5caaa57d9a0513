"""The manifest beside a report: how `ttnn-mcp profile` or `capture` made it. A file like any other: not trusted."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from ttnn_mcp.quoting import line
from ttnn_mcp.readers.regular_file import begin_of
from ttnn_mcp.records import dataclass

NAME = "run_manifest.json"
MOST_BYTES = 64_000  # one that we wrote takes less than two
LONGEST_TEXT = 200  # characters shown of each
MOCK = "mock "  # how `device` begins where the command ran on TTNN's mock devices


@dataclass(frozen=True, slots=True)
class Manifest:
    """How a report was made; None where that is not known.

    Attributes:
        command: the user's command.
        started: when, in UTC.
        exit_status: of the user's command.
        commit: of the repository in which it ran.
        dirty: whether that had changes that were not committed.
        build: version of TTNN, and the commit of tt-metal.
        device: architecture of the chips.
        clock_mhz: of the chips.
    """

    command: str | None = None
    started: str | None = None
    exit_status: int | None = None
    commit: str | None = None
    dirty: bool | None = None
    build: str | None = None
    device: str | None = None
    clock_mhz: int | None = None

    @property
    def on_mock(self) -> bool:
        """Whether no kernel ran: what took time is the host's work for a chip that is not there."""
        return (self.device or "").startswith(MOCK)


TYPES: dict[str, type] = {"exit_status": int, "dirty": bool, "clock_mhz": int}
LARGEST = 10**6  # of a number


def manifest_beside(report: Path) -> Manifest | None:
    """The manifest in the folder of a report's file; None without one that says anything."""
    try:
        content: Any = json.loads(begin_of(report.parent / NAME, MOST_BYTES, links=False))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    pairs = cast("dict[str, Any]", content)
    sound = {field.name: _sound(field.name, pairs.get(field.name)) for field in fields(Manifest)}
    return Manifest(**sound) if any(value is not None for value in sound.values()) else None


def _sound(name: str, value: Any) -> Any:
    """The value if it is what that field holds, cleaned and bounded; else None."""
    wanted = TYPES.get(name, str)
    if type(value) is not wanted or value == "":
        return None
    if wanted is int:
        return value if abs(value) <= LARGEST else None
    return line(value, LONGEST_TEXT) if wanted is str else value
