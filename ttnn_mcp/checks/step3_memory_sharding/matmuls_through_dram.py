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

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import fewer_bytes_save
from ttnn_mcp.checks.check import Check, Claim, Claims, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import CORES, DRAM_BANDWIDTH, PLACEMENTS, PROGRAM_CONFIG
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

ALIKE = ("Matmul", "Linear")
FITS_SHARE = 0.25  # of all L1: circular buffers and the other operands need the rest (ours)
FELT = 0.1  # of an op's time: below it what DRAM takes hides behind the rest (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such pairs."""
    makers, readers = _pairs(facts)
    out = facts.ops.outputs[0]
    bytes_ns = out.bytes[makers] / (facts.chip.dram_achievable_gb_s or np.inf)
    took = facts.kernel_ns
    fits = out.bytes[makers] <= FITS_SHARE * (facts.chip.cores or 0) * facts.safe_l1_bytes
    fits &= bytes_ns >= FELT * np.maximum(took[makers], took[readers])
    makers, readers = makers[fits], readers[fits]
    if not len(makers):
        return
    row = facts.heaviest(makers)[0]
    after = int(readers[makers == row][0])
    rows = np.concatenate((makers, readers))
    spared = np.zeros(len(facts))
    np.add.at(spared, rows, np.concatenate((out.bytes[makers], out.bytes[makers])))
    yield Claim(
        claim=(
            f"{len(makers)} matmul output{'s pass' if len(makers) > 1 else ' passes'} through DRAM to the next matmul "
            f"({time_of(facts, np.unique(rows))}): {out.bytes[row] / 1e6:.1f} MB, {example(facts, row)}, read at line "
            f"{facts.line(after)}"
        ),
        rows=rows,
        at_most_ns=fewer_bytes_save(facts.ops, facts.roofline, spared)[rows],
        assumption="time falls at most in step with the bytes; both keep their program_config",
        evidence=(*cite_op(facts, row, (out, "MEMORY")), *cite_op(facts, after, (facts.input(0), "MEMORY"))),
        fix=(
            f"memory_config=ttnn.L1_MEMORY_CONFIG at line {facts.line(row)} (or BLOCK_SHARDED for a 2D config that "
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
    id="matmuls-through-dram",
    title="a matmul's output passed to the next through DRAM",
    step=3,
    look=look,
    of=ops_named("no Matmul ops", *ALIKE),
    needs=(PLACEMENTS, CORES, DRAM_BANDWIDTH, PROGRAM_CONFIG),
    worth=Worth(saving=USUAL),
    compiled=optimized("keeps activations in L1"),
)
