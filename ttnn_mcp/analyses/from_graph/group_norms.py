"""Buffers of a group norm, on interleaved tiles and in shards.

Measured on TTNN 0.81.1 mock devices over channels, groups, batches and grids: equal to the byte, for BFLOAT16 with sums
in either format, and for interleaved FLOAT32. Welford's algorithm, measured over blocks too, keeps a core's whole part
of the input.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.program import Buffers, Program
from ttnn_mcp.analyses.programs.group_norms import SINGLE, GroupNorm
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.graph.specs import Spec

_TILE, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
_GROUPS = re.compile(r"GroupNormParams\([^,]+, (\d+), ")
_WELFORD = re.compile(r"fp32_dest_acc_en=\d[^)]*\), (\d), \d\)$")  # whether it runs Welford's algorithm
_CORES = re.compile(r"x=(\d+), ?y=(\d+)")
WELFORD_SINGLE = 5  # tiles of scalars and sums beside one of BFLOAT16
WELFORD_SINGLE_IN_SHARDS = 7
WELFORD_BLOCKS = 3  # read, written, and between
WELFORD_OF_GROUP = 3  # tiles: its mean and variance twice, and once of all cores


def group_norm(program: Program) -> Buffers | None:
    """The buffers that lie on no tensor; None for FLOAT32 in shards, and where no mask is passed."""
    printed, welford = _GROUPS.match(program.attributes), _WELFORD.search(program.attributes)
    dtypes, in_shards = {program.x.dtype, program.out.dtype}, program.factory == "GroupNormShardedProgramFactory"
    if printed is None or welford is None or dtypes not in ({"BFLOAT16"}, {"FLOAT32"}):
        return None
    groups = int(printed[1])
    masks = [spec for spec in program.inputs[1:] if spec.tiled and spec.batch == groups]
    weights = sum(not spec.tiled for spec in program.inputs[1:])
    if len(masks) != 1:
        return None
    if in_shards:
        return _in_shards(program, groups, masks[0], weights, is_welford=welford[1] == "1")
    norm = _plan(program, groups, weights)
    if norm is None:
        return None
    if welford[1] == "1":
        return _welford_interleaved(norm, program.x.tile_bytes, masks[0])
    return _interleaved(program, norm, masks[0])


def _in_shards(program: Program, groups: int, mask: Spec, weights: int, *, is_welford: bool) -> Buffers | None:
    """A copy of the shard, two if it has to become tiles; the rows of one batch that a group reaches into."""
    x, shard = program.x, program.x.shard
    if shard is None or x.dtype != "BFLOAT16":
        return None
    if is_welford:
        return _welford_in_shards(x, shard, groups, mask, weights)
    (rows, columns), of_batch = shard, min(shard[0], x.rows)
    return {
        "SHARD": rows * columns * (1 if x.tiled else 2) * _TILE,
        "WEIGHTS": weights * columns * _TILE,
        "GROUP": of_batch * mask.columns * _TILE,
        "SCALARS": SINGLE * _TILE,
        "MASK": 2 * mask.columns * mask.tile_bytes,
    }


def _plan(program: Program, groups: int, weights: int) -> GroupNorm | None:
    """How `check_setting` plans it; None where the call prints no cores, or TTNN would refuse them."""
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
        out_blocks=max(int(blocks), 1) if blocks.isdigit() else 1,
        weights=weights,
    )
    return norm if all(norm.rules().values()) else None


def _interleaved(program: Program, norm: GroupNorm, mask: Spec) -> Buffers:
    """That plan, with the mask that was passed in place of its own; one scalar stays BFLOAT16 beside FLOAT32."""
    sizes = norm.buffers
    scalars, blocks = sizes["SCALARS"] // _TILE, sizes["BLOCKS"]
    if program.x.dtype == "FLOAT32":
        blocks *= 2
        scalars = SINGLE + ceil((scalars - SINGLE) / 2)
        sizes |= {"BLOCKS": blocks, "SCALARS": scalars * _FULL - _TILE}
    return {**sizes, "MASK": 2 * mask.columns * mask.tile_bytes}


def _welford_interleaved(norm: GroupNorm, tile: int, mask: Spec) -> Buffers:
    """All of the input that a core has, three blocks, and the mask of each of its groups."""
    columns = norm.channels // (norm.columns_of_cores * TILE_SIDE)
    groups = norm.groups // norm.columns_of_cores
    block = max(norm.block_h // norm.out_blocks, 1) * mask.columns
    return {
        "IN": norm.block_h * columns * tile,
        "BLOCKS": WELFORD_BLOCKS * block * tile,
        "SCALARS": WELFORD_SINGLE * tile + _TILE,
        "STATISTICS": WELFORD_OF_GROUP * groups * tile,
        "WEIGHTS": norm.weights * columns * _TILE,
        "MASK": groups * mask.columns * mask.tile_bytes,
    }


def _welford_in_shards(x: Spec, shard: tuple[int, int], groups: int, mask: Spec, weights: int) -> Buffers | None:
    """A copy of the shard, two if it has to become tiles; None for shards of several batches."""
    (rows, columns) = shard
    if rows > x.rows:
        return None
    of_core = max(groups * columns // x.columns, 1)
    return {
        "SHARD": rows * columns * (1 if x.tiled else 2) * _TILE,
        "WEIGHTS": weights * columns * _TILE,
        "SCALARS": WELFORD_SINGLE_IN_SHARDS * _TILE,
        "STATISTICS": WELFORD_OF_GROUP * of_core * _TILE,
        "MASK": of_core * mask.columns * mask.tile_bytes,
    }
