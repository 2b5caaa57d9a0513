"""Suggests a program config for a matmul: TTNN accepts it and it fits L1."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ttnn_mcp.analyses.programs.grids import Grid, even_share
from ttnn_mcp.hardware import DST_TILES, DST_TILES_FP32, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.printed.attributes import Attributes, parse_attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_table import OpTable

NARROW = 8  # above this ratio of the sides, only the longer one is divided: tt-metal's create_matmul_program_config
MOST_UNEVEN = 2  # times an equal share of N: beyond it half of the cores would be idle (ours)
BLOCKS = (8, 4, 2, 1)  # tiles of K per step, largest first


@dataclass(frozen=True, slots=True)
class Tiles:
    """A matmul in tiles: M (all batches), K, N, and the bytes of one tile of A, B and the output."""

    m: int
    k: int
    n: int
    a_bytes: float
    b_bytes: float
    out_bytes: float


@dataclass(frozen=True, slots=True)
class MatmulConfig:
    """A program config with block sizes in tiles; "1D" divides one side of the output over all cores, "2D" both.

    `activation` is the function it applies, as a ttnn expression.
    """

    kind: Literal["1D", "2D"]
    grid: Grid
    in0_block_w: int
    out_subblock_h: int
    out_subblock_w: int
    per_core_m: int
    per_core_n: int
    mcast_in0: bool
    l1_bytes: float
    fuse_batch: bool = True
    activation: str = "None"

    def __str__(self) -> str:
        """The ttnn call that makes this config."""
        name = "MatmulMultiCoreReuseMultiCastProgramConfig"
        tail = f"transpose_mcast=False{'' if self.fuse_batch else ', fuse_batch=False'}"
        if self.kind == "1D":
            name = "MatmulMultiCoreReuseMultiCast1DProgramConfig"
            tail = f"fuse_batch=True, mcast_in0={self.mcast_in0}"
        return (
            f"ttnn.{name}(compute_with_storage_grid_size={self.grid}, in0_block_w={self.in0_block_w}, "
            f"out_subblock_h={self.out_subblock_h}, out_subblock_w={self.out_subblock_w}, "
            f"per_core_M={self.per_core_m}, per_core_N={self.per_core_n}, {tail}, "
            f"fused_activation={self.activation})"
        )


def turns_first(ops: OpTable, row: int, attributes: Attributes) -> bool:
    """Whether the matmul at `row` reads A as [K, M] and turns it within the op, by way of a buffer more.

    TTNN 0.81.1 does; other builds turn it in an op before, and print the wish all the same.
    """
    a, out = ops.inputs[0].padded[row], ops.outputs[0].padded[row]
    return attributes.flag("transpose_a") is True and bool(a[3] == out[2])


def inner_tiles(ops: OpTable, row: int) -> int:
    """K of the matmul at `row`, in tiles.

    TTNN 0.81.1 turns operands within the op, so A may be printed as [K, M]; other builds turn it in an op before.
    """
    a, out = ops.inputs[0].padded[row], ops.outputs[0].padded[row]
    turned = a[3] == out[2]  # of a square A both sides are K
    return int(a[2 if turned else 3]) // TILE_SIDE


def most_cores(ops: OpTable, row: int, cores: int) -> int:
    """Of `cores`, those that can work on the matmul at `row`: one for each tile of its output at most."""
    out = ops.outputs[0]
    tiles = -(-int(out.height[row]) // TILE_SIDE) * -(-int(out.padded[row, 3]) // TILE_SIDE)
    return min(cores, tiles) if tiles else cores  # the row may have lost its output


def tile_bytes_of(ops: OpTable, row: int) -> tuple[int, int, int]:
    """Bytes of a tile of A, of B and of the output of the matmul at `row`; of an unknown type the most there are."""
    a, b, out = (
        TILE_BYTES.get(operand.dtype[row], max(TILE_BYTES.values()))
        for operand in (*ops.inputs[:2], ops.outputs[0])
    )
    return a, b, out


def suggested_for(
    ops: OpTable, row: int, grid: Grid, l1_bytes: float, *, two_sided: bool = False
) -> MatmulConfig | None:
    """The suggested config for the matmul at `row`; None if none fits, or if the second operand is batched."""
    b, out, sizes = ops.inputs[1], ops.outputs[0], tile_bytes_of(ops, row)
    m, k, n = int(out.height[row]) // TILE_SIDE, inner_tiles(ops, row), int(out.padded[row, 3]) // TILE_SIDE
    if min(m, k, n) < 1 or int(b.padded[row, :2].prod()) != 1:
        return None
    kernel_config = parse_attributes(ops.texts("attributes")[row]).text_of("compute_kernel_config") or ""
    fp32 = "fp32_dest_acc_en=1" in kernel_config or "fp32_dest_acc_en=true" in kernel_config
    config = suggested(Tiles(m, k, n, *sizes), grid, l1_bytes, fp32_acc=fp32, two_sided=two_sided)
    rows = int(out.padded[row, 2]) // TILE_SIDE
    if config is None and rows < m:  # one batch after the other, as tt_transformers does from 2048 rows on
        config = suggested(Tiles(rows, k, n, *sizes), grid, l1_bytes, fp32_acc=fp32, two_sided=True)
        return config and replace(config, fuse_batch=False)
    return config


def suggested(
    tiles: Tiles, grid: Grid, l1_bytes: float, *, fp32_acc: bool, two_sided: bool = False
) -> MatmulConfig | None:
    """The config with the deepest K step whose circular buffers fit `l1_bytes` per core; None if none does.

    One side of the output alone is divided where it is far longer than the other, unless `two_sided`. A 2D one
    gives all columns of cores as many columns of tiles; an N that divides badly has none.
    """
    x, y = grid
    one_sided = max(tiles.m, tiles.n) > NARROW * min(tiles.m, tiles.n) or min(tiles.m, tiles.n) == 1
    one_sided &= not two_sided
    wide = tiles.n >= tiles.m
    per_m, per_n = -(-tiles.m // y), even_share(tiles.n, x)
    if one_sided:
        per_m, per_n = (tiles.m, -(-tiles.n // (x * y))) if wide else (-(-tiles.m // (x * y)), tiles.n)
    elif per_n > MOST_UNEVEN * -(-tiles.n // x):
        return None
    sub_h, sub_w = widest_subblock(per_m, per_n, fp32=fp32_acc)
    for block in BLOCKS:
        if tiles.k % block:
            continue
        # both inputs are double buffered where there is more than one step; sums in another format need their own
        steps = tiles.k // block
        inputs = min(steps, 2) * block * (per_m * tiles.a_bytes + per_n * tiles.b_bytes)
        used = inputs + per_m * per_n * (tiles.out_bytes + _partial_bytes(tiles.out_bytes, fp32=fp32_acc))
        if used <= l1_bytes:
            kind = "1D" if one_sided else "2D"
            return MatmulConfig(kind, grid, block, sub_h, sub_w, per_m, per_n, one_sided and wide, used)
    return None


def widest_subblock(rows: int, columns: int, *, fp32: bool) -> tuple[int, int]:
    """Height and width of an output subblock that divides the block and fits the destination register, widest first."""
    room = DST_TILES_FP32 if fp32 else DST_TILES
    wide = max(side for side in range(1, min(room, columns) + 1) if columns % side == 0)
    return max(side for side in range(1, min(room // wide, rows) + 1) if rows % side == 0), wide


def _partial_bytes(out_bytes: float, *, fp32: bool) -> float:
    """Bytes of a tile of partial sums with packer_l1_acc; 0 if they share the output's buffer."""
    partial = TILE_BYTES["FLOAT32" if fp32 else "BFLOAT16"]
    return 0.0 if partial == out_bytes else float(partial)
