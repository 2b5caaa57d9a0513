"""A tensor as a captured graph prints it, in the sizes that programs count in: tiles, rows, pages, shards."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, prod

from ttnn_mcp.hardware import (
    ELEMENT_BYTES,
    ELEMENTS_AT_MOST,
    LOCAL_L1_ALIGNMENT_BYTES,
    TILE_BYTES,
    TILE_SIDE,
    filled_up,
)
from ttnn_mcp.readers.printed.memory_config import CoreRange, Placement, parse_memory_config
from ttnn_mcp.readers.printed.shapes import Shape, parse_database_shape
from ttnn_mcp.records import dataclass


@dataclass(frozen=True, slots=True)
class Spec:
    """A tensor as a graph prints it.

    Attributes:
        shape: logical, at least two dimensions, each at least 1.
        dtype: as in `hardware.TILE_BYTES`.
        tiled: TILE layout, not ROW_MAJOR.
        placement: None where the text cannot be read.
    """

    shape: tuple[int, ...]
    dtype: str
    tiled: bool
    placement: Placement | None

    @property
    def rows(self) -> int:
        """Tiles of one matrix's height."""
        return ceil(self.shape[-2] / TILE_SIDE)

    @property
    def columns(self) -> int:
        """Tiles of its width."""
        return ceil(self.shape[-1] / TILE_SIDE)

    @property
    def batch(self) -> int:
        """How many matrices there are."""
        return prod(self.shape[:-2])

    @property
    def tiles(self) -> int:
        """All tiles."""
        return self.batch * self.rows * self.columns

    @property
    def tile_bytes(self) -> int:
        """Bytes of a tile of its data type."""
        return TILE_BYTES[self.dtype]

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of elements, as rows are stored in ROW_MAJOR layout."""
        return filled_up(self.shape[-1] * ELEMENT_BYTES[self.dtype], LOCAL_L1_ALIGNMENT_BYTES)

    @property
    def page_bytes(self) -> int:
        """Bytes of a page of an interleaved tensor: a tile, or a row."""
        return self.tile_bytes if self.tiled else self.row_bytes

    @property
    def in_l1(self) -> bool:
        """Whether it lies in L1, as far as that can be read."""
        return self.placement is not None and self.placement.buffer == "L1"

    @property
    def sharded_in_l1(self) -> bool:
        """Whether cores hold shards of it, which most programs read where they lie."""
        return self._on_cores is not None

    @property
    def _on_cores(self) -> Placement | None:
        """Its placement where that is shards in L1."""
        place = self.placement
        return place if place is not None and place.sharded and place.buffer == "L1" else None

    @property
    def shard(self) -> tuple[int, int] | None:
        """Rows and columns of a shard, in tiles; None where it has none."""
        spec = self.placement.shard if self.placement is not None and self.placement.sharded else None
        if spec is None or len(spec.shape) < 2:
            return None
        return ceil(spec.shape[-2] / TILE_SIDE), ceil(spec.shape[-1] / TILE_SIDE)

    @property
    def held(self) -> tuple[str, int, int] | None:
        """Layout, rows and columns of the shard that a core holds; None where cores hold none, or nobody tells."""
        place, shard = self._on_cores, self.shard
        return (place.layout, *shard) if place is not None and shard is not None else None

    @property
    def held_width(self) -> int | None:
        """Elements of a row of that shard."""
        spec = self._on_cores.shard if self._on_cores is not None else None
        return spec.shape[-1] if spec is not None and spec.shape else None

    @property
    def ranges(self) -> tuple[CoreRange, ...]:
        """The cores, or banks, that hold its shards; none where nobody tells."""
        spec = self.placement.shard if self.placement is not None else None
        return spec.ranges if spec is not None else ()


@lru_cache(maxsize=2048)  # of a few hundred, again and again  # unmoved: what is forgotten is read again
def read_spec(shape: str, dtype: str, layout: str, placement: str) -> Spec | None:
    """A tensor from what is printed of it; None where that cannot be read."""
    sizes = parse_database_shape(shape)
    return made_spec(sizes, dtype, layout, parse_memory_config(placement)) if sizes is not None else None


def made_spec(shape: Shape, dtype: str, layout: str, placement: Placement | None) -> Spec | None:
    """A tensor of a shape; None for a data type without tiles, without elements, and of more than a chip could hold."""
    name = dtype.rpartition("::")[2].rpartition(".")[2]
    if name not in TILE_BYTES or not 0 < shape.elements <= ELEMENTS_AT_MOST:
        return None
    sizes = (1, 1, *shape.logical)[-max(len(shape.logical), 2) :]
    return Spec(sizes, name, "TILE" in layout, placement)
