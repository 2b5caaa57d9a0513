"""Element-wise ops, norms and softmax stream activations through DRAM that would fit L1 in shards.

They do little arithmetic per byte, so DRAM sets their time. An activation that one op writes and the next reads can
stay in the cores' L1 as shards: in a DeepLabV3 report on Blackhole the same kind of add takes 43 us with all operands
in DRAM, 22 us with one, and 2 us with none.

The line: 5 us and more, and the op's DRAM bytes explain at least 30 % of its time; INPUT_0 comes from an op of the
window and the output goes to one, both interleaved in DRAM; all its operands together fit half of the grid's L1; 1 %
of the window to save. The bound keeps operands that no op made (weights) in DRAM, and the launch.

Sharded, not L1_INTERLEAVED: interleaved L1 is no faster than DRAM on some builds (tt-metal #14421) and is a trap for
the next matmul. Silent about prefill (no conv in the window, over 1024 rows; 1024 too beside matmuls): there a large
residual in L1 starves the matmuls, 1426 ms against 262 ms in one report (dots.ocr); of 1024 and 2048 rows inputs in L1
cost 0.4 and 5 % (Qwen2.5-Coder's and Qwen3.8's ports in tt-metal).
"""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.streaming import operand_bytes, passes_dram_on, unmade_dram_bytes
from ttnn_mcp.analyses.programs.grids import DEFAULT_GRID, worker_grid
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.roofline import EXPLAINS
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import PLACEMENT
from ttnn_mcp.checks.needs import CORES, DRAM_BANDWIDTH, PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.shards import block_config, spread_config
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

STREAMING = ops_of_family("no element-wise, norm or softmax ops", "eltwise", "norm", "softmax")
FITS_SHARE = 0.5  # of all L1: the rest is for circular buffers and other tensors (ours)
LARGE_M = 1024  # rows, without convs: prefill, whose residuals belong in DRAM (ours)


@check(
    title="activations streamed through DRAM",
    lever=PLACEMENT,
    of=STREAMING,
    needs=(PLACEMENTS, CORES, DRAM_BANDWIDTH),
    worth=Worth(saving=USUAL),
    compiled=optimized("keeps chains in shards"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such ops."""
    room = FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes
    sizes, stays = operand_bytes(facts.ops), unmade_dram_bytes(facts.ops, facts.flow)
    by_dram = facts.roofline.dram_ns >= EXPLAINS * facts.kernel_ns  # not where the row shows another op's operands
    rows = facts.ops.inputs[0].height
    tall = (rows > LARGE_M) | ((rows == LARGE_M) & facts.of_family("matmul").any())
    prefill = tall & ~facts.of_family("conv").any()
    able = STREAMING.mask(facts) & passes_dram_on(facts.ops, facts.joins) & (facts.kernel_ns >= SMALL_NS)
    rows = np.flatnonzero(able & by_dram & (sizes <= room) & ~prefill)
    left = np.maximum(stays / (facts.chip.dram_peak_gb_s or np.inf), LAUNCH_FLOOR_NS)
    saved, spared = np.maximum(facts.kernel_ns - left, 0), facts.roofline.dram_bytes - stays
    yield Problem(rows, saved[rows], spared_bytes=spared[rows], tell=partial(_tell, sizes))


def _tell(sizes: Floats, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    maker = int(facts.flow.producers[0][row])
    return Words(
        claim=(
            f"{ops.many('streaming op', ('passes', 'pass'))} activations through DRAM that fit L1 ({ops.time}): "
            f"{ops.name} {ops.example}, {took(float(facts.kernel_ns[row]))} for {figure(sizes[row] / 1e6, '.0f')} MB"
        ),
        assumption="producer, op and reader keep one shard spec; other tensors leave half of L1 free",
        cells=((facts.ops.inputs[0], "MEMORY"),),
        cited=2,
        fix=f"memory_config={_shards(facts, row)} at line {facts.line(maker)} and here",
        verify="re-profile; sharding_summary.distribution: kernel_us moves from DRAM to L1; PCC unchanged",
        caveat=(
            "readers are inferred from shapes: they take the shards too, a matmul by a 1D config with "
            "compute_kernel_config; not L1_INTERLEAVED; see memory_summary.l1_peak"
        ),
    )


def _shards(facts: WindowFacts, row: int) -> str:
    """Shards over all cores, cut along the side with more tiles; blocks for a norm, which TTNN 0.81.1 wants."""
    *outer, width = (int(size) for size in facts.ops.inputs[0].padded[row])
    norms, in_tiles = facts.named("LayerNorm", "RMSNorm"), facts.ops.inputs[0].layout[row] == "TILE"
    if norms[row] and in_tiles and prod(outer) >= width:
        return block_config(facts.ops.inputs[0], row, worker_grid(facts.chip) or DEFAULT_GRID)
    return spread_config(facts.ops.inputs[0], row, facts.chip.cores or 1, wide=prod(outer) < width)
