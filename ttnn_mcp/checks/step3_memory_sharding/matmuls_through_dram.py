"""A matmul writes its result to DRAM and the next matmul reads it back, though L1 has room for it.

The first projection of a feed-forward into L1 saved 17 us a layer of BGE-M3 (408 us over 24), against DRAM
(tt-metal's perf_automation guide). It holds for matmuls that were given a config: one that was not is led to a slow one
by an operand interleaved in L1, four times as slow on Blackhole (tt-metal #56976).

The line: Matmul or Linear with a program config or core grid, whose output, interleaved in DRAM, one other such matmul
alone reads; the tensor fits a quarter of the grid's L1; its bytes take a tenth of
either op's time and more; 1 % of the window to save. The bound is the time of both in
step with the bytes they are spared, down to the rest of their roofline.

Silent on matmuls left to TTNN, in prefill too large for L1, on DRAM-sharded weights, and where others read it too.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import fewer_bytes_save
from ttnn_mcp.checks.check import Affected, Check, Problem, Problems, Rows, WindowFacts, Words, ops_named
from ttnn_mcp.checks.levers import PLACEMENT
from ttnn_mcp.checks.needs import CORES, DRAM_BANDWIDTH, PLACEMENTS, PROGRAM_CONFIG
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth

ALIKE = ("Matmul", "Linear")
FITS_SHARE = 0.25  # of all L1: circular buffers and the other operands need the rest (ours)
FELT = 0.1  # of an op's time: below it what DRAM takes hides behind the rest (ours)


def look(facts: WindowFacts) -> Problems:
    """Yield all such pairs."""
    makers, readers = _pairs(facts)
    out = facts.ops.outputs[0]
    bytes_ns = out.bytes[makers] / (facts.chip.dram_achievable_gb_s or np.inf)
    took = facts.kernel_ns
    fits = out.bytes[makers] <= FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes
    fits &= bytes_ns >= FELT * np.maximum(took[makers], took[readers])
    makers, readers = makers[fits], readers[fits]
    rows = np.concatenate((makers, readers))
    spared = np.zeros(len(facts))
    np.add.at(spared, rows, np.concatenate((out.bytes[makers], out.bytes[makers])))
    saved = fewer_bytes_save(facts.ops, facts.roofline, spared)[rows]
    yield Problem(rows, saved, spared_bytes=spared[rows], tell=partial(_tell, readers), about=makers)


def _tell(readers: Rows, ops: Affected) -> Words:
    facts, row, after, out = ops.facts, ops.row, int(readers[ops.at]), ops.facts.ops.outputs[0]
    return Words(
        claim=(
            f"{ops.many('matmul output', ('passes', 'pass'))} through DRAM to the next matmul ({ops.time_together}): "
            f"{out.bytes[row] / 1e6:.1f} MB, {ops.example}, read at line {facts.line(after)}"
        ),
        assumption="time falls at most in step with the bytes; both keep their program_config",
        evidence=(*cite_op(facts, row, (out, "MEMORY")), *cite_op(facts, after, (facts.input(0), "MEMORY"))),
        fix=(
            f"memory_config=ttnn.L1_MEMORY_CONFIG at line {ops.line} (or BLOCK_SHARDED for a 2D config that "
            "reads it), program_config and compute_kernel_config as now in both; ttnn.deallocate(y) after the second"
        ),
        verify="re-profile; both kernel_us fall together; memory_summary.l1_peak has room; PCC unchanged",
        caveat="without a config in both calls L1_INTERLEAVED makes them slower; who reads whom is told by shapes",
    )


def _pairs(facts: WindowFacts) -> tuple[Rows, Rows]:
    """(makers, readers): matmuls with a config, and the one matmul with a config that reads their output from DRAM."""
    choice, joins, out = facts.matmuls, facts.joins, facts.ops.outputs[0]
    able = np.zeros(len(facts), dtype=np.bool_)
    able[choice.rows[choice.has_config & ~choice.chosen & ~choice.dram_sharded]] = True
    readers = np.flatnonzero(able)
    makers = joins.makers[readers]  # nobody's place is the last op's, which nobody reads
    kept = able[makers] & (joins.reader_counts[makers] == 1) & out.in_dram[makers] & ~out.sharded[makers]
    return makers[kept], readers[kept]


CHECK = Check(
    title="a matmul's output passed to the next through DRAM",
    look=look,
    lever=PLACEMENT,
    of=ops_named("no Matmul ops", *ALIKE),
    needs=(PLACEMENTS, CORES, DRAM_BANDWIDTH, PROGRAM_CONFIG),
    worth=Worth(saving=USUAL),
    compiled=optimized("keeps activations in L1"),
)
