"""Buffers of the ops around attention: rotary embeddings, key and value caches, splitting and joining of heads.

Measured on TTNN 0.81.1 mock devices over head widths, data types and numbers of users.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.program import AtMost, Buffers, Program
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, filled_up

_HALF = TILE_BYTES["BFLOAT16"]
_WITH_NEW = 2  # operands: the cache, and the new rows
_CACHES = 4  # operands of a fused update: two caches, each with its new rows
_ALL_TOKENS = re.compile(r"(?!RotaryEmbeddingParams\(\d+, \d)")  # else: the length, then the one token
# heads of queries, of keys; their width; whether keys are transposed
_HEADS = re.compile(r"\(\d+, \d+, (\d+), (\d), ")


def rotary_llama(program: Program) -> Buffers:
    """Sharded: three intermediates of a head. Otherwise also operands and output, all twice."""
    x = program.x
    head = x.columns * x.tile_bytes
    return (
        {"BETWEEN": 3 * head}
        if x.sharded_in_l1
        else {"BETWEEN": 3 * head, "HEADS": 9 * head, "MATRIX": x.tile_bytes}
    )


def rotary(program: Program) -> Buffers:
    """Four double buffers of a head, four single tiles, and the output twice; for one token two rows of a head more."""
    x = program.x
    rows = 0 if _ALL_TOKENS.match(program.attributes) else 2
    head = x.columns * x.tile_bytes
    return {"HEADS": 10 * head, "ROWS": rows * head, "TILES": 4 * x.tile_bytes}


def rotary_hf(program: Program) -> Buffers:
    """Sharded: three intermediates of a head and a tile. Otherwise as the older op, shards read where they lie.

    Both halves of a head that is a single tile are turned in one.
    """
    x = program.x
    if x.sharded_in_l1 and program.factory != "RotaryEmbeddingHfMultiCore":
        return {"BETWEEN": 3 * x.columns * x.tile_bytes, "TILES": x.tile_bytes}
    rows = 10 - 2 * sum(spec.sharded_in_l1 for spec in (x, program.out))
    return {"HEADS": rows * x.columns * x.tile_bytes, "TILES": 4 * x.tile_bytes if x.columns > 1 else 0}


def paged_update(program: Program) -> Buffers | None:
    """A row of the cache for each user, two more rows, the rows untilized in BFLOAT16, and the page table."""
    if len(program.inputs) < _WITH_NEW:
        return None
    cache, new = program.x, program.inputs[1]
    users = new.batch
    head = cache.columns
    words = sum(spec.row_bytes for spec in program.inputs[_WITH_NEW + 1 :])
    positions = 2 * _HALF if len(program.inputs) > _WITH_NEW else 0
    return {**_updated(head, users, cache.tile_bytes), "POSITIONS": positions, "WORDS": words}


def fused_update(program: Program) -> Buffers | None:
    """As above for two caches on cores of their own, without the two rows more."""
    if len(program.inputs) < _CACHES:
        return None
    cache, new = program.x, program.inputs[1]
    users = new.batch
    words = sum(filled_up(spec.row_bytes, program.machine.aligned) for spec in program.inputs[_CACHES:])
    return {**_updated(cache.columns, users, cache.tile_bytes), "WORDS": words}


def _updated(head: int, users: int, tile: int) -> Buffers:
    return {"CACHE": 2 * head * tile, "USERS": users * head * tile, "ROWS": 4 * head * _HALF}


def fill_paged(program: Program) -> Buffers:
    """A row of tiles, twice, and the page table."""
    cache = program.x
    words = sum(program.dram_row(spec) for spec in program.inputs[2:])
    return {"ROWS": 2 * cache.columns * cache.tile_bytes, "WORDS": words}


def update_cache(program: Program) -> Buffers | None:
    """Filling: two tiles. Updating: rows of the cache and new rows, and both untilized."""
    if len(program.inputs) < _WITH_NEW:
        return None
    cache, new = program.x, program.inputs[1]
    if program.factory == "FillCacheMultiCoreProgramFactory":
        return {"TILES": 2 * cache.tile_bytes}
    if program.factory != "UpdateCacheMultiCoreProgramFactory":
        return None
    head = cache.columns
    return {
        "CACHE": 36 * head * cache.tile_bytes,
        "NEW": 2 * head * new.tile_bytes,
        "ROWS": 8 * head * _HALF,
    }


def heads_joined(program: Program) -> Buffers:
    """All heads of a row of tiles, twice; nothing for shards."""
    x = program.x
    if x.sharded_in_l1 and program.out.sharded_in_l1:
        return {}
    heads = (1, *x.shape)[-3]
    return {"ROWS": 2 * heads * x.columns * x.tile_bytes}


def heads_split(program: Program) -> Buffers | None:
    """A head, or the power of two of its tiles, twice, at least four tiles; if keys are transposed three times four."""
    printed = _HEADS.search(program.attributes)
    if printed is None:
        head = min(min(out.rows, out.columns) for out in program.outputs)
        return AtMost({"HEADS": 3 * 2 * head * program.out.tile_bytes})
    head, turned = ceil(int(printed[1]) / TILE_SIDE), printed[2] == "1"
    if program.factory:
        return {"HEADS": (3 * 4 if turned else 2 * max(head & -head, 2)) * program.out.tile_bytes}
    return {"HEADS": (3 if turned else 1) * 2 * head * program.out.tile_bytes}


def heads_from_shards(program: Program) -> Buffers | None:
    """A copy of the keys' shard, to be transposed."""
    shard = program.outputs[1].shard if len(program.outputs) > 1 else None
    return {"KEYS": shard[0] * shard[1] * program.x.tile_bytes} if shard is not None else None


def heads_of_rows(program: Program) -> Buffers:
    """Falcon, ViT, Segformer: a row of tiles of all heads, twice."""
    return {"ROWS": 2 * program.x.columns * program.x.tile_bytes}


def rotary_fused(program: Program) -> Buffers | None:
    """Queries and keys on cores of their own: three intermediates of a shard."""
    shard = program.x.shard
    return {"BETWEEN": 3 * shard[0] * shard[1] * program.x.tile_bytes} if shard is not None else None


def rotated_half(program: Program) -> Buffers:
    """Two tiles in, two negated, two out, and the scalar."""
    return {"TILES": 6 * program.x.tile_bytes, "SCALAR": program.x.tile_bytes}
