"""Buffers of attention of one token against a cache, paged or whole.

As measured on TTNN 0.81.1 mock devices over batches, heads, chunks, pages, windows and sinks.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.attention import WORD, config_of
from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.analyses.programs.decode_attention import HALF_TILE_HEADS, DecodeAttention
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, filled_up
from ttnn_mcp.readers.graph.specs import Spec

_QK = 2
DYNAMIC_CHUNK = 256  # keys at a time where a chunk of 0 leaves it to the kernel
# is_causal, whether the cache is paged, positions, scale, window, memory_config, program config, kernel config, the
# chunk of keys, whether users share a cache, and of latent attention that it is one, and how wide its values are
_PARAMS = re.compile(
    r"SdpaDecodeParams\((\d), (\d), \{[^}]*\}, [^,]+, (std::nullopt|\d+), MemoryConfig\(.*?\), "
    r"(?:std::nullopt|SDPAProgramConfig\(([^)]*)\)), ComputeKernelConfig\([^)]*\), (\d+), (?:std::nullopt|0),"
)
_WORDS = {"INT32", "UINT32"}
_CORES_PER_HEAD = 5  # its place in a program config


def attention(program: Program) -> Buffers | None:
    """Bytes per core; latent attention reads its values from the front of its keys."""
    printed = _PARAMS.match(program.attributes)
    if printed is None or len(program.inputs) <= _QK:
        return None
    fields = (printed[4] or "").split(",")
    most = fields[_CORES_PER_HEAD].strip() if len(fields) > _CORES_PER_HEAD else ""
    # where no cores share a head, as TTNN chooses itself, the cores do not matter
    asked = (program.machine.grid, 0, 0) if most == "1" else config_of(program, printed[4])
    if asked is None:
        return None
    causal, paged, windowed = printed[1] == "1", printed[2] == "1", printed[3].isdigit()
    (q, k), others = program.inputs[:_QK], program.inputs[_QK:]
    is_latent = others[0].dtype in _WORDS  # no values: they are the front of the keys
    v, others = (k, others) if is_latent else (others[0], others[1:])
    plan = DecodeAttention(
        batch=max(q.shape[-3], 1),
        heads=q.shape[-2],
        key_heads=k.shape[-3],
        keys=k.shape[-2],
        head=k.shape[-1],
        value_head=program.out.shape[-1],
        k_chunk=int(printed[5]) or DYNAMIC_CHUNK,
        grid=asked[0],
        device_grid=program.machine.grid,
        q_bytes=q.tile_bytes,
        k_bytes=k.tile_bytes,
        v_bytes=v.tile_bytes,
        out_bytes=program.out.tile_bytes,
        cores_per_head=int(most) if most.isdigit() else asked[0][0] * asked[0][1],
        half_tiles=causal and q.dtype == "BFLOAT16",
        in_place=program.out.sharded_in_l1,
    )
    words = [spec for spec in others if spec.dtype in _WORDS]
    sinks = [spec for spec in others if spec not in words] if causal else []
    halved = plan.half_tiles and plan.heads <= HALF_TILE_HEADS
    tile = TILE_BYTES["BFLOAT16"] // (2 if halved else 1)
    rows = ceil(plan.heads / TILE_SIDE)
    sizes = [_words(spec, program.machine.aligned) * (1 if paged and spec is words[-1] else 2) for spec in words]
    return {
        **plan.buffers,
        "WORDS": sum(sizes),
        "SINKS": rows * tile * len(sinks),
        "WINDOW": rows * (plan.k_chunk // TILE_SIDE) * tile * windowed,
    }


def _words(spec: Spec, aligned: int) -> int:
    """Bytes of a row of positions, or of a page table."""
    return filled_up(spec.shape[-1] * WORD, aligned)
