"""Buffers of a group norm, on interleaved tiles and in shards.

Measured on TTNN 0.81.1 mock devices over channels, groups, batches and grids: equal to the byte for BFLOAT16.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.settings.group_norm_plan import GroupNorm
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program
    from ttnn_mcp.readers.graph.specs import Spec

_TILE = TILE_BYTES["BFLOAT16"]
_GROUPS = re.compile(r"GroupNormParams\([^,]+, (\d+), ")
_PLAIN = re.compile(r"fp32_dest_acc_en=0[^)]*\), 0, \d\)$")  # neither FLOAT32 within nor Welford's algorithm
_CORES = re.compile(r"x=(\d+), ?y=(\d+)")
SINGLE = 8  # tiles of scalars, means and variances of a norm in shards


def group_norm(program: Program) -> int | None:
    """The buffers that lie on no tensor; None for FLOAT32, for Welford's algorithm, and where no mask is passed."""
    printed, dtypes = _GROUPS.match(program.attributes), {program.x.dtype, program.out.dtype}
    if printed is None or not _PLAIN.search(program.attributes) or dtypes != {"BFLOAT16"}:
        return None
    groups = int(printed[1])
    masks = [spec for spec in program.inputs[1:] if spec.tiled and len(spec.shape) > 2 and spec.shape[-3] == groups]
    weights = sum(not spec.tiled for spec in program.inputs[1:])
    if len(masks) != 1:
        return None
    if program.factory == "GroupNormShardedProgramFactory":
        return _in_shards(program, masks[0], weights)
    return _interleaved(program, groups, masks[0], weights)


def _in_shards(program: Program, mask: Spec, weights: int) -> int | None:
    """A copy of the shard, two if it has to become tiles; the rows of one batch that a group reaches into."""
    x, shard = program.x, program.x.shard
    if shard is None:
        return None
    (rows, columns), of_batch = shard, min(shard[0], x.rows)
    tiles = rows * columns * (1 if x.tiled else 2) + weights * columns + of_batch * mask.columns + SINGLE
    return tiles * _TILE + 2 * mask.columns * mask.tile_bytes


def _interleaved(program: Program, groups: int, mask: Spec, weights: int) -> int | None:
    """The plan of `check_setting`, with the mask that was passed in place of its own."""
    x, cores = program.x, _CORES.search(program.settings.get("core_grid", ""))
    blocks = program.settings.get("num_out_blocks", "1")
    if cores is None or x.shape[-2] % TILE_SIDE:
        return None
    norm = GroupNorm(
        batches=x.shape[0],
        rows=x.batch * x.rows,
        channels=x.shape[-1],
        groups=groups,
        grid=(int(cores[1]), int(cores[2])),
        out_blocks=int(blocks) if blocks.isdigit() and int(blocks) else 1,
        weights=weights,
    )
    if not all(norm.rules().values()):
        return None
    return sum(norm.buffers.values()) - norm.buffers["MASK"] + 2 * mask.columns * mask.tile_bytes
