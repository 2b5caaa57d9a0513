"""Laws of ops that compute nothing: copies, conversions of layout, moves between placements."""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.laws.descriptions import Described, in_dram, tiles
from ttnn_mcp.analyses.laws.law import Law
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class MoveDescription(Described):
    """An op that computes nothing.

    Attributes:
        kind: clone, typecast, tilize, untilize, to_shards, from_shards.
        rows: of the tensor as it lies in memory, padded: all dims but the last.
        width: of its last dim, padded in the same way.
        ragged: whether some of these rows or columns are padding.
    """

    kind: str = ""
    rows: int = 0
    width: int = 0
    dtype: str = ""
    out_dtype: str = ""
    from_place: str = ""
    to_place: str = ""
    ragged: bool = False

    @property
    def count(self) -> float:
        """Its tiles."""
        return self.rows * self.width / TILE_SIDE**2

    @property
    def dram_bytes(self) -> float:
        """Read once, written once; of a ragged tensor the padding may stay."""
        count = 0.0 if self.ragged else self.count
        return in_dram(self.from_place, count, self.dtype) + in_dram(
            self.to_place, count, self.out_dtype or self.dtype
        )


def copied(op: MoveDescription) -> tuple[float, ...] | None:
    """Read and written once."""
    return (1.0, op.dram_us(op.dram_bytes)) if op.kind in ("clone", "typecast") else None


def tilized(op: MoveDescription) -> tuple[float, ...] | None:
    """A core takes a row of tiles at a time, which is longer the wider it is."""
    return (1.0, tiles(op.width), op.count) if op.kind == "tilize" else None


def untilized(op: MoveDescription) -> tuple[float, ...] | None:
    """A core takes rows of tiles, one at a time; ragged ones are written row by row without their padding."""
    if op.kind != "untilize" or not op.usable_cores:
        return None
    rows = ceil(tiles(op.rows) / op.usable_cores)
    return 1.0, rows * tiles(op.width), float(rows * op.ragged)


def resharded(op: MoveDescription) -> tuple[float, ...] | None:
    """From or to DRAM, or among cores."""
    if op.kind not in ("to_shards", "from_shards") or not op.usable_cores:
        return None
    return 1.0, op.dram_us(op.dram_bytes), op.count / op.usable_cores


MOVES = (
    Law(
        name="copy and typecast",
        formula="a start, and what is read and written in DRAM",
        of=MoveDescription,
        terms=("us", "DRAM at peak"),
        factors=copied,
        sizes=("rows", "width"),
        alike=("from_place", "to_place"),
        pooled=True,
    ),
    Law(
        name="tilize",
        formula="a start, the tiles of a row of tiles, and all tiles; the sources tell no formats, so it speaks of all",
        of=MoveDescription,
        terms=("us", "us per tile of a row", "us per tile"),
        factors=tilized,
        sizes=("rows", "width"),
        alike=("from_place",),
    ),
    Law(
        name="untilize",
        formula="a start, the tiles of the busiest core, and its rows of tiles where padding is left away; the sources "
        "tell no formats, so it speaks of all",
        of=MoveDescription,
        terms=("us", "us per tile of a core", "us per ragged row of tiles"),
        factors=untilized,
        sizes=("rows", "width"),
        alike=("to_place",),
    ),
    Law(
        name="into and out of shards",
        formula="a start, what is read or written in DRAM, and the tiles of a core",
        of=MoveDescription,
        terms=("us", "DRAM at peak", "us per tile of a core"),
        factors=resharded,
        sizes=("rows", "width", "usable_cores"),
        alike=("kind", "from_place"),
    ),
)
