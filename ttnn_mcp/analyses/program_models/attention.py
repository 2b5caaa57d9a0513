"""Buffers of attention: rotary embeddings, caches of keys and values, and attention itself, by whole operations.

Measured on TTNN 0.81.1 mock devices over head widths, data types and numbers of users.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program

import re
from math import ceil, prod

from ttnn_mcp.analyses.settings.sdpa_plan import DEFAULT_CHUNK, Attention
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

_HALF = TILE_BYTES["BFLOAT16"]
_QKV = 3
_WITH_NEW = 2  # operands: the cache, and what is new
_NUMBERS = 4  # of a config, up to its chunks
# scale, memory_config, program config, whether it is causal, then what other forms of attention take
_PLAIN_SDPA = re.compile(
    r"SDPAParams\([^,]+, MemoryConfig\(.*?\), (?:std::nullopt|SDPAProgramConfig\(([^)]*)\)), (\d), "
    r"std::nullopt, std::nullopt, ComputeKernelConfig"
)
_HEADS = re.compile(r"\(\d+, \d+, (\d+), (\d), ")  # heads of queries, of keys; their width; whether keys are turned
_GRID = re.compile(r"compute_with_storage_grid_size=\(?(?:x=)?(\d+)[-,] ?(?:y=)?(\d+)")


def sdpa(program: Program) -> int | None:
    """Bytes per core of attention over whole sequences; sliding windows, chunks and sinks are not modelled."""
    printed = _PLAIN_SDPA.match(program.attributes)
    if printed is None or len(program.inputs) < _QKV:
        return None
    grid = program.machine.grid
    chunks = (0, 0)
    if printed[1]:
        numbers = [part.strip() for part in printed[1].split(",")]
        cores = _GRID.search(program.config)
        if cores is None or len(numbers) < _NUMBERS or not (numbers[2] + numbers[3]).isdigit():
            return None
        grid, chunks = (int(cores[1]), int(cores[2])), (int(numbers[2]), int(numbers[3]))
    q, k, v = program.inputs[:_QKV]
    mask = program.inputs[_QKV].tile_bytes if len(program.inputs) > _QKV else 0
    plan = Attention(
        heads=prod(q.shape[:-2]),
        rows=q.shape[-2],
        keys=k.shape[-2],
        head=q.shape[-1],
        value_head=v.shape[-1],
        q_bytes=q.tile_bytes,
        k_bytes=k.tile_bytes,
        v_bytes=v.tile_bytes,
        out_bytes=program.out.tile_bytes,
        grid=grid,
        device_grid=program.machine.grid,
        q_chunk=chunks[0] or DEFAULT_CHUNK,
        k_chunk=chunks[1] or DEFAULT_CHUNK,
        causal=printed[2] == "1",
        fp32=program.fp32,
        mask_bytes=float(mask),
        chains=program.machine.arch == "blackhole",
    )
    return sum(plan.buffers.values())


def rotary_llama(program: Program) -> int:
    """Sharded: three intermediates of a head. Else operands and output twice, too."""
    x = program.x
    head = x.columns * x.tile_bytes
    return 3 * head if x.sharded_in_l1 else 12 * head + x.tile_bytes


def rotary(program: Program) -> int:
    """Four double buffers of a head, four single tiles, and the output twice."""
    x = program.x
    return 10 * x.columns * x.tile_bytes + 4 * x.tile_bytes


def paged_update(program: Program) -> int | None:
    """A row of the cache for each user, twice one row, and the rows untilized in BFLOAT16; positions and pages."""
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
    """Filling: two tiles. Updating: rows of the cache and of what is new, and both untilized."""
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
    """A head, twice; three times over where keys are turned."""
    printed = _HEADS.search(program.attributes)
    if printed is None:
        head = min(min(out.rows, out.columns) for out in program.outputs)
        return 3 * 2 * head * program.x.tile_bytes
    head = ceil(int(printed[1]) / TILE_SIDE)
    return (3 if printed[2] == "1" else 1) * 2 * head * program.x.tile_bytes
