"""Sharded layer norm, RMS norm and softmax: the rules that TTNN asserts, and their buffers.

tt-metal ttnn/cpp/ttnn/operations/normalization: layernorm/device/layernorm_device_operation.cpp and
sharded_layernorm_factory_helpers.cpp, softmax/device/softmax_device_operation.cpp and
softmax_program_factory_attention_optimized_sharded.cpp. Compared with TTNN 0.81.1 on mock devices.
"""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES
from ttnn_mcp.records import dataclass

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]


@dataclass(frozen=True, slots=True)
class ShardedNorm:
    """LayerNormShardedMultiCoreProgramConfig, sizes in tiles.

    Attributes:
        rows, columns: of the input, all batches.
        shards: columns and rows of the grid that holds the input.
        grid: compute_with_storage_grid_size.
        root_mean_square: whether it is an RMS norm: without a mean it has one reduction less.
        weight_bytes, bias_bytes: of a tile of gamma and beta; 0 without one. A residual is read in place.
    """

    rows: int
    columns: int
    shards: Grid
    grid: Grid
    block_h: int
    block_w: int
    subblock_w: int
    device_grid: Grid | None = None
    root_mean_square: bool = False
    fp32: bool = False
    full_sync: bool = False
    weight_bytes: float = _HALF
    bias_bytes: float = 0.0

    def rules(self) -> dict[str, bool]:
        """What TTNN asserts, each by its sentence, and whether it holds."""
        if min(self.block_h, self.block_w, self.subblock_w) < 1:
            return {"at least 1": False}
        dst = (DST_TILES_FP32 if self.fp32 else DST_TILES) * (2 if self.full_sync else 1)
        x, y = self.shards
        rules = {
            f"subblock_w divides block_w {self.block_w}": self.block_w % self.subblock_w == 0,
            f"subblock_w <= {dst} (DST)": self.subblock_w <= dst,
            f"the shards' grid {x}x{y} lies within compute_with_storage_grid_size": (
                x <= self.grid[0] and y <= self.grid[1]
            ),
        }
        rules |= _within(self.grid, self.device_grid)
        across = x * y if self._is_flat else x
        shard_columns = ceil(self.columns / across)
        rules[f"block_w is the {shard_columns} tiles of a shard's width"] = self.block_w == shard_columns
        if not self._is_flat:
            high = ceil(self.rows / y)
            rules[f"block_h is the {high} tiles of a shard's height"] = self.block_h == high
        return rules

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of the buffers that are no tensors."""
        tile = _FULL if self.fp32 else _HALF
        x, y = self.shards
        shares, each = x, x
        if self._is_flat:  # in two stages: along the rows of cores, then along a column
            shares, each = (x + y - 1, x) if x > 1 else (y, y)
        reductions = 1 if self.root_mean_square else 2
        block = self.block_h * self.block_w
        sizes = {
            "SCALARS": 2 * _HALF + tile,
            "REDUCED": (1 + 2 * reductions) * self.block_h * tile,
            "GATHERED": reductions * shares * tile,
            "VARIANCE": ceil(self.block_h / each) * tile,
            "WEIGHT": self.block_w * self.weight_bytes,
            "BIAS": self.block_w * self.bias_bytes,
            "CENTERED": 2 * block * tile,
        }
        return {name: int(size) for name, size in sizes.items()}

    @property
    def _is_flat(self) -> bool:
        """Whether every core has all rows, and all cores share the columns (mcast_1d)."""
        return self.rows == self.block_h


def blocks_on(rows: int, columns: int, cores: Grid) -> tuple[int, int]:
    """The rows and columns of a core's shard: of one row of tiles all cores share the width."""
    x, y = cores
    return (1, ceil(columns / (x * y))) if rows == 1 else (ceil(rows / y), ceil(columns / x))


def leaves_none_out(rows: int, columns: int, cores: Grid) -> bool:
    """Whether each core of the grid gets a shard; the last ones may be smaller (TTNN 0.81.1)."""
    (high, wide), (x, y) = blocks_on(rows, columns, cores), cores
    return ceil(columns / wide) == x * y if rows == 1 else (ceil(columns / wide), ceil(rows / high)) == cores


def _within(grid: Grid, device_grid: Grid | None) -> dict[str, bool]:
    """0.81.1: "program_config grid must be contained within device grid", as an n300 of 8x7 cores says of 8x8."""
    if device_grid is None:
        return {}
    x, y = device_grid
    return {f"within the worker grid {x}x{y}": grid[0] <= x and grid[1] <= y}


@dataclass(frozen=True, slots=True)
class ShardedSoftmax:
    """SoftmaxShardedMultiCoreProgramConfig, sizes in tiles.

    Attributes:
        shard: rows and columns of a shard of the input.
        shards: columns and rows of the grid that holds the input.
        stable: numeric_stable: maxima are subtracted first.
        mask_bytes: of a tile of a fused mask; 0 without one.
    """

    shard: tuple[int, int]
    shards: Grid
    grid: Grid
    block_h: int
    block_w: int
    subblock_w: int
    fp32: bool = False
    stable: bool = True
    mask_bytes: float = 0.0
    device_grid: Grid | None = None

    def rules(self) -> dict[str, bool]:
        """What TTNN asserts, each by its sentence, and whether it holds."""
        if min(self.block_h, self.block_w, self.subblock_w) < 1:
            return {"at least 1": False}
        (high, wide), (x, y) = self.shard, self.shards
        return {
            f"block_h is the {high} tiles of a shard's height": self.block_h == high,
            f"block_w is the {wide} tiles of a shard's width": self.block_w == wide,
            f"the shards' grid {x}x{y} lies within compute_with_storage_grid_size": (
                x <= self.grid[0] and y <= self.grid[1]
            ),
            **_within(self.grid, self.device_grid),
        }

    @property
    def buffers(self) -> dict[str, int]:
        """Bytes per core of the buffers that are no tensors."""
        tile, masked = _FULL if self.fp32 else _HALF, bool(self.mask_bytes)
        sizes = {
            "SCALARS": _HALF + tile + _HALF * masked,
            "EXPONENTS": self.block_w * tile,
            "SUMS": tile,
            "MAXIMA": (tile + self.block_w * tile) * self.stable,
            "MASK": self.block_w * (tile + self.mask_bytes) * masked,
        }
        return {name: int(size) for name, size in sizes.items()}
