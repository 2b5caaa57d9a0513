"""Buffers of attention over whole sequences, and of one token against a cache, paged or whole.

Forms beside the plain one as measured on TTNN 0.81.1 mock devices over chunks, heads and data types; of one token over
batches, heads, chunks, pages, windows and sinks.
"""

from __future__ import annotations

import re
from math import ceil, prod

from ttnn_mcp.analyses.from_graph.program import Buffers, Program
from ttnn_mcp.analyses.programs.attention import DEFAULT_CHUNK, Attention
from ttnn_mcp.analyses.programs.decode_attention import HALF_TILE_HEADS, DecodeAttention
from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import ELEMENT_BYTES, TILE_BYTES, TILE_SIDE, filled_up
from ttnn_mcp.readers.graph.specs import Spec

_QKV = 3
WORD = ELEMENT_BYTES["UINT32"]  # of a page table, and of a position
_HALF = TILE_BYTES["BFLOAT16"]
WINDOW_TILES = 3  # of the mask, beside the two of causal attention: both edges of a window
# scale, memory_config, program config, is_causal, where the chunk starts; behind the kernel config use_mla, head_dim_v
# and the window
_SDPA = re.compile(
    r"SDPAParams\([^,]+, MemoryConfig\(.*?\), (?:std::nullopt|SDPAProgramConfig\(([^)]*)\)), (\d), "
    r"(std::nullopt|\d+), std::nullopt, ComputeKernelConfig\([^)]*\)"
    r"(?:, 0, std::nullopt, (std::nullopt|\d+)|, 1, (\d+), std::nullopt|, 0\)|\))"
)
_JOINT = re.compile(r"JointSDPAParams\(.*SDPAProgramConfig\(([^)]*)\)")
_CHUNKS = re.compile(r"[^,]*,[^,]*, (\d+), (\d+)")  # of a printed config, behind its cores
_GRID = re.compile(r"compute_with_storage_grid_size=\(?(?:x=)?(\d+)[-,] ?(?:y=)?(\d+)")
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


def config_of(program: Program, printed: str | None) -> tuple[Grid, int, int] | None:
    """Grid and chunks of queries and keys; the chip's and none without a config, None where nobody prints them."""
    if not printed:
        return program.machine.grid, 0, 0
    chunks, cores = _CHUNKS.match(printed), _GRID.search(program.config)
    if cores is None or chunks is None:
        return None
    return (int(cores[1]), int(cores[2])), int(chunks[1]), int(chunks[2])


def sdpa(program: Program) -> Buffers | None:
    """Bytes per core of attention over whole sequences, chunks of a paged cache, windows and sinks too."""
    printed = _SDPA.match(program.attributes)
    latent = int(printed[5] or 0) if printed is not None else 0  # values are the first columns of the keys
    if printed is None or len(program.inputs) < (_QKV - 1 if latent else _QKV):
        return None
    asked = config_of(program, printed[1])
    causal, chunked, windowed = printed[2] == "1", printed[3].isdigit(), (printed[4] or "").isdigit()
    if asked is None or (windowed and not causal):
        return None
    grid, q_chunk, k_chunk = asked
    operands = (program.x, program.inputs[1], *program.inputs[1:]) if latent else program.inputs
    (q, k, v), others = operands[:_QKV], operands[_QKV:]
    masks = [] if chunked else [one for one in others if one.shape[-2:] != (1, 1)]
    more = sum(one.shape[-1] * WORD if chunked else _HALF for one in others if one not in masks)
    plan = Attention(
        heads=prod(q.shape[:-2]),
        rows=q.shape[-2],
        keys=q.shape[-2] if chunked else k.shape[-2],
        head=q.shape[-1],
        value_head=latent or v.shape[-1],
        q_bytes=q.tile_bytes,
        k_bytes=k.tile_bytes,
        v_bytes=v.tile_bytes,
        out_bytes=program.out.tile_bytes,
        grid=grid,
        device_grid=program.machine.grid,
        q_chunk=q_chunk or DEFAULT_CHUNK,
        k_chunk=k_chunk or DEFAULT_CHUNK,
        causal=causal,
        fp32=program.fp32,
        mask_bytes=float(masks[0].tile_bytes) if masks else 0,
        chains=program.machine.arch == "blackhole" and not (chunked or windowed),
    )
    return {**plan.buffers, "WORDS": int(more), "WINDOW": WINDOW_TILES * _HALF * windowed}


def joint(program: Program) -> Buffers | None:
    """Attention over two sequences joined: whole chunks, and a mask in BFLOAT4_B where one does not fill its chunks."""
    printed = _JOINT.match(program.attributes)
    asked = config_of(program, printed[1]) if printed is not None else None
    if asked is None or not asked[1] or not asked[2] or len(program.inputs) < 2 * _QKV or program.fp32:
        return None
    (x, y), q_chunk, k_chunk = asked
    q, k, v, q_joint, k_joint = program.inputs[: 2 * _QKV - 1]
    rows, keys = q_chunk // TILE_SIDE, k_chunk // TILE_SIDE
    chunks = ceil(q.shape[-2] / q_chunk) + ceil(q_joint.shape[-2] / q_chunk)
    # queries are read ahead where a core has several chunks
    times = 2 if prod(q.shape[:-2]) * chunks > x * y else 1
    is_masked = k.shape[-2] % k_chunk or k_joint.shape[-2] % k_chunk
    return {
        "Q": times * rows * q.columns * q.tile_bytes,
        "K": 2 * keys * k.columns * k.tile_bytes,
        "V": 2 * keys * v.columns * v.tile_bytes,
        "MASK": rows * keys * TILE_BYTES["BFLOAT4_B"] if is_masked else 0,
        "SCALARS": 2 * _HALF,
        "SCORES": rows * keys * _HALF,
        "OUT_SUMS": 2 * rows * v.columns * _HALF,
        "STATISTICS": 5 * rows * _HALF,
        "OUT": rows * v.columns * program.out.tile_bytes,
    }


def of_one_token(program: Program) -> Buffers | None:
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
    sizes = [
        _bytes_of_words(spec, program.machine.aligned) * (1 if paged and spec is words[-1] else 2) for spec in words
    ]
    return {
        **plan.buffers,
        "WORDS": sum(sizes),
        "SINKS": rows * tile * len(sinks),
        "WINDOW": rows * (plan.k_chunk // TILE_SIDE) * tile * windowed,
    }


def _bytes_of_words(spec: Spec, aligned: int) -> int:
    """Bytes of a row of positions, or of a page table."""
    return filled_up(spec.shape[-1] * WORD, aligned)
