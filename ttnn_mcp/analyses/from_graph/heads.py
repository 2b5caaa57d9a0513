"""Buffers of the ops around attention: rotary embeddings, key and value caches, splitting and joining of heads.

Measured on TTNN 0.81.1 mock devices over head widths, data types and numbers of users.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, filled_up

if TYPE_CHECKING:
    from ttnn_mcp.analyses.from_graph.program import Program

_HALF = TILE_BYTES["BFLOAT16"]
_WITH_NEW = 2  # operands: the cache, and the new rows
_CACHES = 4  # operands of a fused update: two caches, each with its new rows
_ALL_TOKENS = re.compile(r"(?!RotaryEmbeddingParams\(\d+, \d)")  # else: the length, then the one token
_HEADS = re.compile(
    r"\(\d+, \d+, (\d+), (\d), "
)  # heads of queries, of keys; their width; whether keys are transposed


def rotary_llama(program: Program) -> int:
    """Sharded: three intermediates of a head. Otherwise also operands and output, all twice."""
    x = program.x
    head = x.columns * x.tile_bytes
    return 3 * head if x.sharded_in_l1 else 12 * head + x.tile_bytes


def rotary(program: Program) -> int:
    """Four double buffers of a head, four single tiles, and the output twice; for one token two rows of a head more."""
    x = program.x
    rows = 0 if _ALL_TOKENS.match(program.attributes) else 2
    return (10 + rows) * x.columns * x.tile_bytes + 4 * x.tile_bytes


def rotary_hf(program: Program) -> int:
    """Sharded: three intermediates of a head and a tile. Otherwise as the older op, shards read where they lie."""
    x = program.x
    if x.sharded_in_l1 and program.factory != "RotaryEmbeddingHfMultiCore":
        return 3 * x.columns * x.tile_bytes + x.tile_bytes
    rows = 10 - 2 * sum(spec.sharded_in_l1 for spec in (x, program.out))
    return rows * x.columns * x.tile_bytes + 4 * x.tile_bytes


def paged_update(program: Program) -> int | None:
    """A row of the cache for each user, two more rows, the rows untilized in BFLOAT16, positions and page table."""
    if len(program.inputs) < _WITH_NEW:
        return None
    cache, new = program.x, program.inputs[1]
    users = new.batch
    head = cache.columns
    words = sum(spec.row_bytes for spec in program.inputs[2:])
    return (2 + users) * head * cache.tile_bytes + 4 * head * _HALF + 2 * _HALF + max(words, 64)


def fused_update(program: Program) -> int | None:
    """As above for two caches on cores of their own, without the two rows more."""
    if len(program.inputs) < _CACHES:
        return None
    cache, new = program.x, program.inputs[1]
    users = new.batch
    words = sum(filled_up(spec.row_bytes, program.machine.aligned) for spec in program.inputs[_CACHES:])
    return (2 + users) * cache.columns * cache.tile_bytes + 4 * cache.columns * _HALF + words


def fill_paged(program: Program) -> int:
    """A row of tiles, twice, and the page table."""
    cache = program.x
    return 2 * cache.columns * cache.tile_bytes + sum(spec.row_bytes for spec in program.inputs[2:])


def update_cache(program: Program) -> int | None:
    """Filling: two tiles. Updating: rows of the cache and new rows, and both untilized."""
    if len(program.inputs) < _WITH_NEW:
        return None
    cache, new = program.x, program.inputs[1]
    if program.factory == "FillCacheMultiCoreProgramFactory":
        return 2 * cache.tile_bytes
    if program.factory != "UpdateCacheMultiCoreProgramFactory":
        return None
    head = cache.columns
    return head * (4 * cache.tile_bytes + 2 * new.tile_bytes + 8 * _HALF + 32 * cache.tile_bytes)


def heads_joined(program: Program) -> int:
    """All heads of a row of tiles, twice; nothing for shards."""
    x = program.x
    if x.sharded_in_l1 and program.out.sharded_in_l1:
        return 0
    heads = (1, *x.shape)[-3]
    return 2 * heads * x.columns * x.tile_bytes


def heads_split(program: Program) -> int | None:
    """A head twice, at least four tiles; three times four tiles if keys are transposed, before 0.78 of a head."""
    printed = _HEADS.search(program.attributes)
    if printed is None:
        head = min(min(out.rows, out.columns) for out in program.outputs)
        return 3 * 2 * head * program.out.tile_bytes
    head, turned = ceil(int(printed[1]) / TILE_SIDE), printed[2] == "1"
    if program.factory:
        return (3 * 4 if turned else 2 * max(head, 2)) * program.out.tile_bytes
    return (3 if turned else 1) * 2 * head * program.out.tile_bytes


def heads_from_shards(program: Program) -> int | None:
    """A copy of the keys' shard, to be transposed."""
    shard = program.outputs[1].shard if len(program.outputs) > 1 else None
    return shard[0] * shard[1] * program.x.tile_bytes if shard is not None else None


def heads_of_rows(program: Program) -> int:
    """Falcon, ViT, Segformer: a row of tiles of all heads, twice."""
    return 2 * program.x.columns * program.x.tile_bytes


def rotary_fused(program: Program) -> int | None:
    """Queries and keys on cores of their own: three intermediates of a shard."""
    shard = program.x.shard
    return 3 * shard[0] * shard[1] * program.x.tile_bytes if shard is not None else None


def rotated_half(program: Program) -> int:
    """Two tiles in, two negated, two out, and the scalar."""
    return 7 * program.x.tile_bytes
