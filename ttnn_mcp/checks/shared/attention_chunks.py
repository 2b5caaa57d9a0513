"""The chunks of prefill attention: the present ones, and the largest worth a trial that fit L1 and fill the grid."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from ttnn_mcp.analyses.programs.attention import DEFAULT_CHUNK, Attention
from ttnn_mcp.analyses.programs.grids import DEFAULT_GRID, grid_in, worker_grid
from ttnn_mcp.analyses.roofline.transformer_parts import START_TENSOR
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import WindowFacts
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.printed.attributes import Attributes
from ttnn_mcp.readers.printed.nesting import PrintedStruct
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered

WHOLE_GRID = "device.compute_with_storage_grid_size()"
CORES_PER_HEAD = (
    16  # at most, where a config does not say: the default of SDPAProgramConfig (tt-metal, TTNN 0.81.1)
)
SIZES = (256, 128, 64, 32)  # tt-metal's tt_transformers takes 256 for long prefill; smaller if it does not fit


def printed_chunks(facts: WindowFacts, rows: Rows) -> Rows:
    """q_chunk_size and k_chunk_size of each row; 32 if not set."""
    return of_each_kind(facts, rows, lambda row: printed(facts, row))


def larger_chunks(facts: WindowFacts, rows: Rows) -> Rows:
    """The pair to try for each row, at least the present one."""
    return of_each_kind(facts, rows, lambda row: _largest(facts, row))


def of_each_kind(facts: WindowFacts, rows: Rows, pair_of: Callable[[int], tuple[int, int]]) -> Rows:
    """`pair_of` of each row, computed once for equal signatures and attributes."""
    alike = numbered(len(facts), [signatures(facts.ops), facts.ops.texts("attributes").codes])[rows]
    _, firsts, kinds = np.unique(alike, return_index=True, return_inverse=True)
    pairs = [pair_of(int(rows[first])) for first in firsts]
    return np.array(pairs or np.zeros((0, 2)), dtype=np.int64)[kinds]


def printed(facts: WindowFacts, row: int) -> tuple[int, int]:
    """q_chunk_size and k_chunk_size of one row; 32 if not set."""
    config = facts.attributes(row).struct("program_config")
    q, k = ((config.number(key) if config else None) or DEFAULT_CHUNK for key in ("q_chunk_size", "k_chunk_size"))
    return q, k


def chunk_of_cache(attributes: Attributes) -> float | None:
    """Rows of the cache that a decode takes at a time; None or 0 where TTNN chose."""
    config = attributes.struct("program_config")
    return attributes.number("k_chunk_size") or (config.number("k_chunk_size") if config else None)


def takes_any_length(attributes: Attributes) -> bool:
    """Whether chunks of the cache need not divide it: TTNN 0.81.1 checks a paged one only where it is not causal."""
    return attributes.flag("paged_attention") is True and attributes.flag("is_causal") is not False


def grid_text(facts: WindowFacts, row: int) -> str:
    """The grid of the op's config, else that of the device."""
    grid = grid_in(facts.attributes(row).struct("program_config"))
    return str(grid) if grid else WHOLE_GRID


def program_text(facts: WindowFacts, row: int, grid: str, q: int, k: int) -> str:
    """A program config with these chunks; its exponent as now, exact where the report prints no config.

    A config that leaves it open has the approximate one (tt-metal, sdpa_program_factory.cpp). Cores that it leaves to
    others, and a number of cores for a head that is not TTNN's own, stay.
    """
    config = facts.attributes(row).struct("program_config")
    approximate = config is not None and config.text_of("exp_approx_mode") not in ("0", "false")
    return (
        f"program_config=ttnn.SDPAProgramConfig(compute_with_storage_grid_size={grid}, q_chunk_size={q}, "
        f"k_chunk_size={k}, exp_approx_mode={approximate}{_kept(config)})"
    )


def _kept(config: PrintedStruct | None) -> str:
    heads = config.number("max_cores_per_head_batch") if config else None
    cores = ", sub_core_grids=<as now>" if config and config.text_of("sub_core_grids") else ""
    return cores + (f", max_cores_per_head_batch={heads}" if heads not in (None, CORES_PER_HEAD) else "")


def _largest(facts: WindowFacts, row: int) -> tuple[int, int]:
    q, k = printed(facts, row)
    query = facts.ops.inputs[0].logical[row]
    heads, cores = int(query[:2].prod()), facts.chip.cores or DEFAULT_GRID[0] * DEFAULT_GRID[1]
    for wide in SIZES:
        for deep in SIZES:
            if wide < q or deep < k or abs(SIZES.index(wide) - SIZES.index(deep)) > 1:
                continue
            if (wide == q or heads * ceil(int(query[2]) / wide) >= cores) and fits(facts, row, wide, deep):
                return wide, deep
    return q, k


def key_count(facts: WindowFacts, row: int) -> int:
    """Keys of a head; a paged cache shows blocks, so those up to the chunk's end, and 0 where a tensor says that."""
    attributes, (query, key) = facts.attributes(row), (one.logical[row] for one in facts.ops.inputs[:2])
    start = attributes.number("chunk_start_idx")
    if start is not None:
        return int(start) + int(query[2])
    return 0 if attributes.text_of(START_TENSOR) else int(key[2])


def begins(facts: WindowFacts, row: int, q: int, k: int) -> bool:
    """Whether the chunk of a prompt begins at a multiple of both sizes: TTNN 0.81.1 refuses others.

    Of a start in a tensor it checks nothing, and rounds it down (sdpa.cpp of its kernels): the present sizes divide it.
    """
    if facts.attributes(row).text_of(START_TENSOR):
        return not any(now % then for now, then in zip(printed(facts, row), (q, k), strict=True))
    start = int(facts.attributes(row).number("chunk_start_idx") or 0)
    return not (start % q or start % k)


def fits(facts: WindowFacts, row: int, q: int, k: int) -> bool:
    """Whether chunks of that size fit L1 and where the prompt's chunk begins; no chunk of nothing does."""
    if len(facts.ops.inputs) < len("QKV") or not min(q, k) > 0 or not begins(facts, row, q, k):
        return False
    query, out = (operand.logical[row] for operand in (facts.ops.inputs[0], facts.ops.outputs[0]))
    tiles = [TILE_BYTES.get(operand.dtype[row], 4096) for operand in (*facts.ops.inputs[:3], facts.ops.outputs[0])]
    grid = worker_grid(facts.chip) or DEFAULT_GRID
    mask = facts.input(len("QKV"))
    config = facts.attributes(row).struct("compute_kernel_config")
    plan = Attention(
        heads=int(query[:2].prod()),
        rows=int(query[2]),
        keys=key_count(facts, row),
        head=int(query[3]),
        value_head=int(out[3]),
        q_bytes=tiles[0],
        k_bytes=tiles[1],
        v_bytes=tiles[2],
        out_bytes=tiles[3],
        grid=grid,
        device_grid=grid,
        q_chunk=q,
        k_chunk=k,
        causal=facts.attributes(row).flag("is_causal") is True,
        fp32=bool(config and config.number("fp32_dest_acc_en")),
        mask_bytes=TILE_BYTES.get(mask.dtype[row], 0) if mask else 0,
        chains=facts.chip.arch == "blackhole",
    )
    return sum(plan.buffers.values()) + plan.older_bytes <= facts.safe_l1_bytes
