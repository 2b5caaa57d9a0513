"""Buffers of attention: rotary embeddings, caches of keys and values, and attention itself, by whole operations.

Measured on TTNN 0.81.1 mock devices over head widths, data types and numbers of users.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.program_models.matmuls import fp32_of
from ttnn_mcp.analyses.settings.sdpa_plan import DEFAULT_CHUNK, Attention
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.printed.nesting import parse_struct

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttnn_mcp.analyses.memory.programs import Room
    from ttnn_mcp.analyses.program_models.machine import Machine
    from ttnn_mcp.readers.graph.launches import Launch

_HALF = TILE_BYTES["BFLOAT16"]
_QKV = 3
# scale, memory_config, program config, whether it is causal, then what other forms of attention take
_PLAIN_SDPA = re.compile(
    r"SDPAParams\([^,]+, MemoryConfig\(.*?\), (?:std::nullopt|SDPAProgramConfig\(([^)]*)\)), (\d), "
    r"std::nullopt, std::nullopt, ComputeKernelConfig"
)
_GRID = re.compile(r"compute_with_storage_grid_size=\(?(?:x=)?(\d+)[-,] ?(?:y=)?(\d+)")


def sdpa(launch: Launch, room: Room, machine: Machine, asked: Mapping[str, str]) -> int | None:
    """Bytes per core of attention over whole sequences; sliding windows, chunks and sinks are not modelled."""
    printed = _PLAIN_SDPA.match(launch.attributes)
    if printed is None or len(launch.inputs) < _QKV:
        return None
    grid = machine.grid
    chunks = (0, 0)
    if printed[1]:
        numbers = [part.strip() for part in printed[1].split(",")]
        cores = _GRID.search(asked.get("program_config", ""))
        if cores is None or len(numbers) < 4 or not (numbers[2] + numbers[3]).isdigit():
            return None
        grid, chunks = (int(cores[1]), int(cores[2])), (int(numbers[2]), int(numbers[3]))
    q, k, v = launch.inputs[:_QKV]
    mask = launch.inputs[_QKV].tile_bytes if len(launch.inputs) > _QKV else 0
    plan = Attention(
        heads=prod(q.shape[:-2]),
        rows=q.shape[-2],
        keys=k.shape[-2],
        head=q.shape[-1],
        value_head=v.shape[-1],
        q_bytes=q.tile_bytes,
        k_bytes=k.tile_bytes,
        v_bytes=v.tile_bytes,
        out_bytes=launch.outputs[0].tile_bytes,
        grid=grid,
        device_grid=machine.grid,
        q_chunk=chunks[0] or DEFAULT_CHUNK,
        k_chunk=chunks[1] or DEFAULT_CHUNK,
        causal=printed[2] == "1",
        fp32=fp32_of(launch),
        mask_bytes=float(mask),
        chains=machine.arch == "blackhole",
    )
    return sum(plan.buffers.values())


def rotary_llama(launch: Launch, room: Room, machine: Machine) -> int:
    """Sharded: three intermediates of a head. Else operands and output twice, too."""
    x = launch.inputs[0]
    head = x.columns * x.tile_bytes
    return 3 * head if x.sharded_in_l1 else 12 * head + x.tile_bytes


def rotary(launch: Launch, room: Room, machine: Machine) -> int:
    """Four double buffers of a head, four single tiles, and the output twice."""
    x = launch.inputs[0]
    return 10 * x.columns * x.tile_bytes + 4 * x.tile_bytes


def paged_update(launch: Launch, room: Room, machine: Machine) -> int | None:
    """A row of the cache for each user, twice one row, and the rows untilized in BFLOAT16; positions and pages."""
    if len(launch.inputs) < 2:
        return None
    cache, new = launch.inputs[0], launch.inputs[1]
    users = new.shape[-3] if len(new.shape) > 2 else 1
    head = cache.columns
    words = sum(spec.row_bytes for spec in launch.inputs[2:])
    return (2 + users) * head * cache.tile_bytes + 4 * head * _HALF + 2 * _HALF + max(words, 64)


def fill_paged(launch: Launch, room: Room, machine: Machine) -> int:
    """A row of tiles, twice, and the page table."""
    cache = launch.inputs[0]
    return 2 * cache.columns * cache.tile_bytes + sum(spec.row_bytes for spec in launch.inputs[2:])


def update_cache(launch: Launch, room: Room, machine: Machine) -> int | None:
    """Filling: two tiles. Updating: rows of the cache and of what is new, and both untilized."""
    if len(launch.inputs) < 2:
        return None
    cache, new = launch.inputs[0], launch.inputs[1]
    if launch.factory == "FillCacheMultiCoreProgramFactory":
        return 2 * cache.tile_bytes
    if launch.factory != "UpdateCacheMultiCoreProgramFactory":
        return None
    head = cache.columns
    return head * (4 * cache.tile_bytes + 2 * new.tile_bytes + 8 * _HALF + 32 * cache.tile_bytes)


def top_k(launch: Launch, room: Room, machine: Machine) -> int | None:
    """On one core: six tiles of values and of their places, and three for each tile of what is kept."""
    printed = re.match(r"TopkParams\((\d+),", launch.attributes)
    if launch.factory != "TopKSingleCoreProgramFactory" or printed is None:
        return None
    x = launch.inputs[0]
    kept = -(-int(printed[1]) // 32)
    place = _HALF if x.shape[-1] <= 65_535 else TILE_BYTES["UINT32"]
    return (6 + 3 * kept) * (max(x.tile_bytes, _HALF) + place)
