"""What real TTNN allocated for its programs on a core, as stored facts: each proves the model of a device op.

`python -m tests.real.rig proofs` writes them. A tensor is told as '1x8x256x512 BFLOAT16 TILE DRAM INTERLEAVED', shards
with their elements, cores and orientation behind.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ttnn_mcp.analyses.from_graph.program import Machine
from ttnn_mcp.analyses.memory.left_out import Room
from ttnn_mcp.readers.graph.launches import Launch
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.memory_config import BufferType, MemoryLayout, Placement, ShardSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = ("op", "factory", "chip", "attributes", "in", "out", "asked", "room", "buffers")
FILE = Path(__file__).with_name("l1_captures.json")
_RANGE = re.compile(r"(\d+)-(\d+):(\d+)-(\d+)")


@dataclass(frozen=True)
class Capture:
    """A program as TTNN built it.

    Attributes:
        machine: its chip.
        launch: its device op.
        room: bytes of a core below the lowest tensor.
        asked: arguments of its call that decide its program.
        buffers: bytes of each circular and dataflow buffer and scratchpad on the fullest core that lies on no tensor.
    """

    machine: Machine
    launch: Launch
    room: int
    asked: Mapping[str, str]
    buffers: tuple[int, ...]

    @property
    def total(self) -> int:
        """Bytes on that core."""
        return sum(self.buffers)

    @property
    def rooms(self) -> Room:
        """The same before its outputs are placed and while it runs: a dry capture places nothing."""
        return Room(self.room, self.room)


def text_of(spec: Spec) -> str:
    """A tensor in one line."""
    words = ["x".join(map(str, spec.shape)), spec.dtype, "TILE" if spec.tiled else "ROW_MAJOR"]
    place = spec.placement
    if place is None:
        return " ".join(words)
    words += [place.buffer, place.layout]
    if place.shard is not None:
        ranges = ",".join(f"{x0}-{y0}:{x1}-{y1}" for (x0, y0), (x1, y1) in place.shard.ranges)
        words += ["x".join(map(str, place.shard.shape)), ranges, str(place.shard.orientation)]
    return " ".join(words)


def spec_of(text: str) -> Spec:
    """A tensor from that line."""
    shape, dtype, layout, *place = text.split(" ")
    return Spec(_sizes(shape), dtype, layout == "TILE", _placement(place) if place else None)


def _placement(words: list[str]) -> Placement:
    shard = None
    if len(words) > 2:
        shape, ranges, orientation = words[2:]
        corners = [tuple(map(int, found)) for found in _RANGE.findall(ranges)]
        grid = tuple(((x0, y0), (x1, y1)) for x0, y0, x1, y1 in corners)
        shard = ShardSpec(grid, _sizes(shape), None if orientation == "None" else orientation)
    return Placement(cast("MemoryLayout", words[1]), cast("BufferType", words[0]), shard)


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x"))) if text else ()


def read_back() -> tuple[dict[str, Machine], list[dict[str, Any]]]:
    """The chips and rows of the file, attributes in full; what a row does not tell is None."""
    stored: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    chips = {name: Machine(tuple(grid), *others) for name, grid, *others in stored["chips"]}
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in stored["programs"]]
    attributes = dict(stored["attributes"])
    return chips, [{**row, "attributes": attributes[row["attributes"]]} for row in rows]


@cache
def captures() -> tuple[Capture, ...]:
    """All that are stored."""
    chips, rows = read_back()
    return tuple(capture_of(row, chips) for row in rows)


def capture_of(row: dict[str, Any], chips: Mapping[str, Machine]) -> Capture:
    """A row of the file, its attributes in full."""
    inputs, outputs = (tuple(map(spec_of, row[side])) for side in ("in", "out"))
    machine = chips[row["chip"]]
    launch = Launch(row["op"], row["factory"], row.get("attributes") or "", inputs, outputs)
    room = machine.bank_bytes if row.get("room") is None else row["room"]
    return Capture(machine, launch, room, row.get("asked") or {}, tuple(row["buffers"]))
