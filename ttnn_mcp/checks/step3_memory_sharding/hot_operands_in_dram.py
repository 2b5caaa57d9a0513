"""Element-wise ops, norms and softmax stream activations through DRAM that would fit L1 in shards.

They do little arithmetic per byte, so DRAM sets their time. An activation that one op writes and the next
reads can stay in the cores' L1 as shards: in a DeepLabV3 report on Blackhole the same kind of add takes 43 us
with all operands in DRAM, 22 us with one, and 2 us with none.

The line: 5 us and more, and the op's DRAM bytes explain at least 30 % of its time; INPUT_0 comes from an op
of the window and the output goes to one, both interleaved in DRAM; all its operands together fit half of the
grid's L1; 1 % of the window to save. The bound leaves the operands no op made (weights) in DRAM, and the
launch.

Sharded, not L1_INTERLEAVED: interleaved L1 is no faster than DRAM on some builds (tt-metal #14421) and is a
trap for the next matmul. Silent about prefill (no conv in the window, over 1024 rows): there a large residual
in L1 starves the matmuls, 1426 ms against 262 ms in one report (dots.ocr).
"""

from __future__ import annotations

from math import prod

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.roofline import EXPLAINS
from ttnn_mcp.checks.check import Check, Claim, Claims, Floats, Mask, WindowFacts, ops_of_family
from ttnn_mcp.checks.needs import CORES, DRAM_BANDWIDTH, PLACEMENTS
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_op, example, name_of, time_of, took
from ttnn_mcp.checks.worth import USUAL, Worth

STREAMING = ops_of_family("no element-wise, norm or softmax ops", "eltwise", "norm", "softmax")
FITS_SHARE = 0.5  # of all L1: the rest is for circular buffers and other tensors (ours)
LARGE_M = 1024  # rows, without convs: prefill, whose residuals belong in DRAM (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such ops."""
    room = FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes
    stays = _from_elsewhere(facts) / (facts.chip.dram_peak_gb_s or np.inf)
    by_dram = facts.roofline.dram_ns >= EXPLAINS * facts.kernel_ns  # not where the row shows another op's operands
    rows = np.flatnonzero(STREAMING.mask(facts) & _between_ops(facts) & by_dram & (_all_bytes(facts) <= room))
    at_most = np.maximum(facts.kernel_ns - np.maximum(stays, LAUNCH_FLOOR_NS), 0)[rows]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    name, size = name_of(facts, row), float(_all_bytes(facts)[row])
    maker = int(facts.flow.producers[0][row])
    yield Claim(
        claim=(
            f"{len(rows)} streaming ops pass activations through DRAM that fit L1 ({time_of(facts, rows)}): "
            f"{name} {example(facts, row)}, {took(float(facts.kernel_ns[row]))} for {size / 1e6:.0f} MB"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption="producer, op and reader keep one shard spec; other tensors leave half of L1 free",
        evidence=tuple(
            one for n in facts.heaviest(rows, 2) for one in cite_op(facts, n, (facts.ops.inputs[0], "MEMORY"))
        ),
        fix=(
            "cfg = ttnn.create_sharded_memory_config(x.shape, core_grid=..., "
            f"strategy=ttnn.ShardStrategy.{_cut(facts, row)}); memory_config=cfg at line {facts.line(maker)}, here "
            "and at the reader; a matmul among them: 1D program_config and compute_kernel_config"
        ),
        verify="re-profile; sharding_summary.distribution: kernel_us moves from DRAM to L1; PCC unchanged",
        caveat="who reads whose output is told by shapes; not L1_INTERLEAVED; check memory_summary.l1_peak",
    )


def _cut(facts: WindowFacts, row: int) -> str:
    """The side with more tiles."""
    *outer, width = (int(size) for size in facts.ops.inputs[0].padded[row])
    return "HEIGHT" if prod(outer) >= width else "WIDTH"


def _between_ops(facts: WindowFacts) -> Mask:
    """Ops between two others, INPUT_0 and output interleaved in DRAM."""
    source, result = facts.ops.inputs[0], facts.ops.outputs[0]
    joins = facts.joins
    passed_on = (joins.makers >= 0) & (joins.reader_counts > 0) & (facts.kernel_ns >= SMALL_NS)
    in_dram = source.in_dram & ~source.sharded & result.in_dram & ~result.sharded
    if not facts.of_family("conv").any():
        in_dram &= source.padded[:, :3].prod(axis=1) <= LARGE_M
    return passed_on & in_dram


def _from_elsewhere(facts: WindowFacts) -> Floats:
    """DRAM bytes of operands that no op of the window made: they stay where they are."""
    total = np.zeros(len(facts))
    for operand, made in zip(facts.ops.inputs, facts.flow.made, strict=True):
        total += np.where(operand.in_dram & ~made, operand.bytes, 0.0)
    return total


def _all_bytes(facts: WindowFacts) -> Floats:
    operands = (*facts.ops.inputs, *facts.ops.outputs)
    return np.sum([operand.bytes for operand in operands], axis=0)


CHECK = Check(
    id="hot-operands-in-dram",
    title="activations streamed through DRAM",
    step=3,
    look=look,
    of=STREAMING,
    needs=(PLACEMENTS, CORES, DRAM_BANDWIDTH),
    worth=Worth(saving=USUAL),
    compiled=optimized("keeps chains in shards"),
)
