"""The least time of an op after any change: savings end there."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.streaming import unmade_dram_bytes
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Floats, Mask, Rows, WindowFacts

WELL_USED = 0.6  # of the roofline: tuned matmuls of tt-metal reach 0.6 to 0.8
FELT = 0.1  # of the time: bytes that take less hide behind the rest (ours)
OF_PARTIAL_SUMS = 0.5  # of a matmul's time: reading one back takes no longer than packing (ours; 40 % measured)
OF_UNKNOWN = 0.68  # of the time: 67 % at most of 61 tries in ledgers of tt-metal, most of them less than a third


def least_ns(facts: WindowFacts) -> Floats:
    """Per op: its arithmetic at its present fidelity, its DRAM bytes at peak bandwidth, or its launch."""
    return _floor(facts, np.fmax(facts.roofline.compute_ns, facts.roofline.dram_ns))


def achievable_ns(facts: WindowFacts) -> Floats:
    """Per op: its arithmetic on all cores that can work, its DRAM bytes at achievable bandwidth, or its launch."""
    return _floor(facts, np.fmax(facts.roofline.compute_ns, facts.roofline.dram_achievable_ns))


def spread_saves(facts: WindowFacts, rows: Rows) -> Floats:
    """Per row, the saving if its work is distributed evenly over all cores; 5 us stay."""
    took, used = facts.kernel_ns[rows], facts.ops.numbers("cores")[rows]
    best = np.maximum(took * used / (facts.chip.cores or 1), achievable_ns(facts)[rows])
    return np.maximum(took - np.maximum(best, SMALL_NS), 0.0)


def accumulation_saves(facts: WindowFacts, rows: Rows) -> Floats:
    """Per row, the most that another way to keep partial sums saves: part of a matmul; of a conv nobody measured it."""
    saved = np.minimum(facts.kernel_ns - least_ns(facts), OF_PARTIAL_SUMS * facts.kernel_ns)
    return np.where(facts.of_family("matmul"), saved, 0.0)[rows]


def compute_saves(facts: WindowFacts, left: Floats | float = 1.0) -> Floats:
    """Per op, all above its arithmetic, of whose passes such a share is left: the most that fewer bytes save."""
    return facts.kernel_ns - _floor(facts, left * facts.roofline.compute_ns)


def made_bytes_save(facts: WindowFacts) -> Floats:
    """Per op, all above its arithmetic and the bytes in DRAM that no op made: the rest may stay in L1."""
    unmade_ns = unmade_dram_bytes(facts.ops, facts.flow) / (facts.chip.dram_peak_gb_s or np.inf)
    return facts.kernel_ns - _floor(facts, np.fmax(facts.roofline.compute_ns, unmade_ns))


def trial_saves(facts: WindowFacts) -> Floats:
    """Per op, the most that a try at another setting may save: all above its arithmetic and its operands' bytes.

    The bytes of its result may stay in L1. An op whose least time is not known keeps four tenths.
    """
    out, roofline = facts.ops.outputs[0], facts.roofline
    written_ns = np.where(out.in_dram, out.bytes, 0.0) / (facts.chip.dram_peak_gb_s or np.inf)
    needed_ns = np.fmax(roofline.compute_ns, roofline.dram_ns - written_ns)
    unknown = np.isnan(needed_ns) & ~roofline.impossible
    return np.where(unknown, OF_UNKNOWN * facts.kernel_ns, facts.kernel_ns - _floor(facts, needed_ns))


def leaves_much(facts: WindowFacts, saved: Floats) -> Mask:
    """Ops long enough to be felt, of whose time a try may save so much that they stay short of their roofline."""
    return (saved > (1 - WELL_USED) * facts.kernel_ns) & (facts.kernel_ns >= SMALL_NS)


def results_felt(facts: WindowFacts) -> Mask:
    """Ops of which writing the first result to DRAM takes, or would take, a part of their time that is felt."""
    written = facts.ops.outputs[0].bytes
    return written >= FELT * facts.kernel_ns * (facts.chip.dram_achievable_gb_s or np.inf)


def _floor(facts: WindowFacts, bounds: Floats) -> Floats:
    """A row faster than its bounds saves nothing: its time or its operands are those of another op."""
    bounds = np.where(facts.roofline.impossible, np.inf, bounds)
    return np.minimum(np.fmax(bounds, LAUNCH_FLOOR_NS), facts.kernel_ns)
