"""Buffers of attention over whole sequences."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.settings.sdpa_plan import DEFAULT_CHUNK, Attention

if TYPE_CHECKING:
    from ttnn_mcp.analyses.program_models.program import Program

_QKV = 3
_NUMBERS = 4  # of a config, up to its chunks
# scale, memory_config, program config, is_causal, then fields of other forms of attention
_PLAIN_SDPA = re.compile(
    r"SDPAParams\([^,]+, MemoryConfig\(.*?\), (?:std::nullopt|SDPAProgramConfig\(([^)]*)\)), (\d), "
    r"std::nullopt, std::nullopt, ComputeKernelConfig"
)
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
