"""Operands for the calls of `tests/real/proofs`: zeros on a mock device, made before the capture begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DTYPES = {"bf": "bfloat16", "b8": "bfloat8_b", "b4": "bfloat4_b", "f32": "float32", "u32": "uint32", "u16": "uint16",
          "i32": "int32"}  # fmt: skip


@dataclass(frozen=True)
class Operands:
    """TTNN and a device."""

    ttnn: Any
    device: Any

    def tiles(self, *shape: int, dtype: str = "bf", memory: Any = None) -> Any:
        """A tensor in tiles, in DRAM and interleaved unless told otherwise."""
        return self._zeros(shape, dtype, self.ttnn.TILE_LAYOUT, memory)

    def rows(self, *shape: int, dtype: str = "bf", memory: Any = None) -> Any:
        """A tensor in rows."""
        return self._zeros(shape, dtype, self.ttnn.ROW_MAJOR_LAYOUT, memory)

    def shards(
        self, layout: str, shard: tuple[int, int], cores: tuple[int, int] | int, *, buffer: str = "L1"
    ) -> Any:
        """A placement: shards of so many elements on the first columns and rows of cores, or on so many, row by row."""
        ttnn = self.ttnn
        if isinstance(cores, int):
            grid = ttnn.num_cores_to_corerangeset(
                cores, self.device.compute_with_storage_grid_size(), row_wise=True
            )
        else:
            last = ttnn.CoreCoord(cores[0] - 1, cores[1] - 1)
            grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), last)})
        spec = ttnn.ShardSpec(grid, list(shard), ttnn.ShardOrientation.ROW_MAJOR)
        layouts = ttnn.TensorMemoryLayout
        return ttnn.MemoryConfig(getattr(layouts, f"{layout}_SHARDED"), getattr(ttnn.BufferType, buffer), spec)

    def _zeros(self, shape: tuple[int, ...], dtype: str, layout: Any, memory: Any) -> Any:
        ttnn = self.ttnn
        kind = getattr(ttnn, DTYPES[dtype])
        place = memory or ttnn.DRAM_MEMORY_CONFIG
        return ttnn.zeros(shape, dtype=kind, layout=layout, device=self.device, memory_config=place)
