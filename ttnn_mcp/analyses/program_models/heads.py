"""Buffers of the ops around attention: rotary embeddings, key and value caches, splitting and joining of heads.

Measured on TTNN 0.81.1 mock devices over head widths, data types and numbers of users.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program

_HALF = TILE_BYTES["BFLOAT16"]
_WITH_NEW = 2  # operands: the cache, and the new rows
_HEADS = re.compile(
    r"\(\d+, \d+, (\d+), (\d), "
)  # heads of queries, of keys; their width; whether keys are transposed


def rotary_llama(program: Program) -> int:
    """Sharded: three intermediates of a head. Otherwise also operands and output, all twice."""
    x = program.x
    head = x.columns * x.tile_bytes
    return 3 * head if x.sharded_in_l1 else 12 * head + x.tile_bytes


def rotary(program: Program) -> int:
    """Four double buffers of a head, four single tiles, and the output twice."""
    x = program.x
    return 10 * x.columns * x.tile_bytes + 4 * x.tile_bytes


def paged_update(program: Program) -> int | None:
    """A row of the cache for each user, two more rows, the rows untilized in BFLOAT16, positions and page table."""
    if len(program.inputs) < _WITH_NEW:
        return None
    cache, new = program.x, program.inputs[1]
    users = new.shape[-3] if len(new.shape) > 2 else 1
    head = cache.columns
    words = sum(spec.row_bytes for spec in program.inputs[2:])
    return (2 + users) * head * cache.tile_bytes + 4 * head * _HALF + 2 * _HALF + max(words, 64)


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
    """All heads of a row of tiles, twice."""
    x = program.x
    heads = x.shape[-3] if len(x.shape) > 2 else 1
    return 2 * heads * x.columns * x.tile_bytes


def heads_split(program: Program) -> int | None:
    """A head, twice; three times as much if keys are transposed."""
    printed = _HEADS.search(program.attributes)
    if printed is None:
        head = min(min(out.rows, out.columns) for out in program.outputs)
        return 3 * 2 * head * program.x.tile_bytes
    head = ceil(int(printed[1]) / TILE_SIDE)
    return (3 if printed[2] == "1" else 1) * 2 * head * program.x.tile_bytes
