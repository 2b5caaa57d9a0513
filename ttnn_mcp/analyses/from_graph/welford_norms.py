"""Buffers of a group norm by Welford's algorithm, which keeps a core's whole part of the input.

Measured on TTNN 0.81.1 mock devices over channels, groups, batches, blocks and grids: equal to the byte, for BFLOAT16
with sums in either format, and for interleaved FLOAT32.
"""

from __future__ import annotations

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.programs.group_norms import GroupNorm
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.graph.specs import Spec

_TILE = TILE_BYTES["BFLOAT16"]
SINGLE = 5  # tiles of scalars and sums beside one of BFLOAT16
SINGLE_IN_SHARDS = 7
BLOCKS = 3  # read, written, and between
OF_GROUP = 3  # tiles: its mean and variance twice, and once of all cores


def interleaved(norm: GroupNorm, tile: int, mask: Spec) -> Buffers:
    """All of the input that a core has, three blocks, and the mask of each of its groups."""
    columns = norm.channels // (norm.columns_of_cores * TILE_SIDE)
    groups = norm.groups // norm.columns_of_cores
    block = max(norm.block_h // norm.out_blocks, 1) * mask.columns
    return {
        "IN": norm.block_h * columns * tile,
        "BLOCKS": BLOCKS * block * tile,
        "SCALARS": SINGLE * tile + _TILE,
        "STATISTICS": OF_GROUP * groups * tile,
        "WEIGHTS": norm.weights * columns * _TILE,
        "MASK": groups * mask.columns * mask.tile_bytes,
    }


def in_shards(x: Spec, shard: tuple[int, int], groups: int, mask: Spec, weights: int) -> Buffers | None:
    """A copy of the shard, two if it has to become tiles; None for shards of several batches."""
    (rows, columns) = shard
    if rows > x.rows:
        return None
    of_core = max(groups * columns // x.columns, 1)
    return {
        "SHARD": rows * columns * (1 if x.tiled else 2) * _TILE,
        "WEIGHTS": weights * columns * _TILE,
        "SCALARS": SINGLE_IN_SHARDS * _TILE,
        "STATISTICS": OF_GROUP * of_core * _TILE,
        "MASK": of_core * mask.columns * mask.tile_bytes,
    }
