"""Chunk sizes of scaled dot product attention.

Buffers follow ttnn's sdpa program factory as read there; unlike the conv's they were not held against runs.
"""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.settings.trial import Op, Trial, per_step_ns, rules
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE, canonical_dtype

DEFAULT_CHUNK = 32  # without an SDPAProgramConfig: tt-metal #51911
STATISTICS = 6  # columns of row maxima, sums and their predecessors
SIZES = (32, 64, 128, 256, 512)  # tried in practice


def chunks(op: Op) -> tuple[int, int]:
    """(q_chunk_size, k_chunk_size) the op ran with."""
    config = op.said.call("program_config")
    if config is None:
        return DEFAULT_CHUNK, DEFAULT_CHUNK
    return config.number("q_chunk_size") or DEFAULT_CHUNK, config.number("k_chunk_size") or DEFAULT_CHUNK


def chunk_size(op: Op, setting: str, value: int) -> Trial:
    """`q_chunk_size` or `k_chunk_size`, the other one as it is."""
    q, k = chunks(op)
    rows, keys = (int(operand.padded[0, 2]) for operand in op.table.inputs[:2])
    length = rows if setting == "q_chunk_size" else keys
    then = (value, k) if setting == "q_chunk_size" else (q, value)
    broken = rules(
        ("a multiple of 32", value > 0 and value % TILE_SIDE == 0),
        (f"at most the {length} rows there are", value <= length),
    )
    legal = tuple(
        (size, sum(_buffers(op, *((size, k) if setting == "q_chunk_size" else (q, size))).values()))
        for size in SIZES
        if size <= length
    )
    now = q if setting == "q_chunk_size" else k
    if broken:
        return Trial(now, broken, legal=legal)
    uneven = f"; {length} rows are no multiple of it: padded, or refused by older builds" if length % value else ""
    steps = [ceil(rows / one) * ceil(keys / other) for one, other in ((q, k), then)]
    return Trial(
        now,
        buffers=_buffers(op, *then),
        change=f"{steps[0]} pairs of chunks per head become {steps[1]}{uneven}",
        at_most_ns=per_step_ns(op, *steps),
        legal=legal,
        needs="the other fields of SDPAProgramConfig as they are",
        effect=value != now,
    )


def _buffers(op: Op, q: int, k: int) -> dict[str, int]:
    inputs = op.table.inputs
    tile = [TILE_BYTES.get(canonical_dtype(one.dtype[0]), TILE_BYTES["BFLOAT16"]) for one in inputs[:3]]
    head, value_head = (ceil(int(inputs[place].padded[0, 3]) / TILE_SIDE) for place in (0, min(2, len(inputs) - 1)))
    rows, keys = ceil(q / TILE_SIDE), ceil(k / TILE_SIDE)
    half = TILE_BYTES["BFLOAT16"]  # scores and running output
    return {
        "Q": 2 * rows * head * tile[0],
        "K": 2 * keys * head * tile[1],
        "V": 2 * keys * value_head * tile[-1],
        "MASK": 2 * rows * keys * half,
        "SCORES": rows * keys * half,
        "OUT": 3 * rows * value_head * half,
        "STATISTICS": STATISTICS * rows * half,
    }
