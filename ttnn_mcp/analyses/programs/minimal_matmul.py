"""MinimalMatmul: the rules that TTNN asserts, and its buffers.

tt-metal ttnn/cpp/ttnn/operations/experimental/minimal_matmul/device: minimal_matmul_device_operation.cpp (rules),
minimal_matmul_program_descriptor.cpp (buffers, and the blocks that it uses without a config).
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import ClassVar

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES
from ttnn_mcp.records import dataclass

FIELDS = ("M_block_size", "K_block_size", "N_block_size", "subblock_h", "subblock_w")
DEFAULT_BLOCK = 8  # tiles, of each side: determine_default_block_sizes
SMALLEST_GRID = 2


def dealt(m: int, n: int, grid: Grid) -> tuple[int, int]:
    """Tiles of M and N that each core of the grid gets, x by y: the longer side is dealt over its columns.

    transpose_core_grid in its factory.
    """
    over_m, over_n = grid if m > n else grid[::-1]
    return ceil(m / over_m), ceil(n / over_n)


@dataclass(frozen=True, slots=True)
class MinimalMatmul:
    """A MinimalMatmulConfig and the bytes of a tile of each operand; sizes in tiles."""

    block: tuple[int, int, int]
    """M, K, N."""
    subblock: tuple[int, int]
    grid: Grid
    device_grid: Grid | None
    a_bytes: float
    b_bytes: float
    out_bytes: float
    bias_bytes: float = 0.0
    fp32: bool = True
    output_shard_bytes: ClassVar[int] = 0  # its output is interleaved

    def with_field(self, field: str, value: int) -> MinimalMatmul:
        """The same with one field of the config changed."""
        place = FIELDS.index(field)
        numbers = [*self.block, *self.subblock]
        numbers[place] = value
        return replace(self, block=(numbers[0], numbers[1], numbers[2]), subblock=(numbers[3], numbers[4]))

    def field(self, name: str) -> int:
        """One number of the config."""
        return (*self.block, *self.subblock)[FIELDS.index(name)]

    def rules(self) -> dict[str, bool]:
        """The rules that TTNN asserts, in words, and whether each holds."""
        (m, k, n), (high, wide) = self.block, self.subblock
        if min(m, k, n, high, wide) < 1:
            return {"at least 1": False}
        dst = DST_TILES_FP32 if self.fp32 else DST_TILES
        rules = {
            f"subblock_h divides M_block_size {m}": m % high == 0,
            f"subblock_w divides N_block_size {n}": n % wide == 0,
            f"subblock_h x subblock_w <= {dst} (DST)": high * wide <= dst,
            "a grid of at least 2x2": min(self.grid) >= SMALLEST_GRID,
        }
        if self.device_grid is not None:
            rules["within the worker grid {}x{}".format(*self.device_grid)] = (
                self.grid[0] <= self.device_grid[0] and self.grid[1] <= self.device_grid[1]
            )
        return rules

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of its buffers: operands and output are double buffered, sums have the format of DST."""
        m, k, n = self.block
        sizes = {
            "IN0": 2 * m * k * self.a_bytes,
            "IN1": 2 * k * n * self.b_bytes,
            "OUT": 2 * m * n * self.out_bytes,
            "PARTIALS": m * n * TILE_BYTES["FLOAT32" if self.fp32 else "BFLOAT16"],
            "BIAS": n * self.bias_bytes,
        }
        return {name: int(size) for name, size in sizes.items()}


def default_config(m: int, n: int, *, fp32: bool) -> tuple[tuple[int, int, int], tuple[int, int]]:
    """The blocks and the sub-block that TTNN uses without a config, for an output of m x n tiles."""
    block = (DEFAULT_BLOCK, DEFAULT_BLOCK, DEFAULT_BLOCK)
    return block, (2, 2) if fp32 else (2, 4) if n >= m else (4, 2)
