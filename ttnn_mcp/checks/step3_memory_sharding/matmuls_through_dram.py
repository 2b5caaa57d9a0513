"""Ops beside matmuls pass activations through DRAM to the next op, though L1 has room for them.

The outputs of a BGE-M3 encoder's matmuls in L1 saved 180 us a layer, 14 % (PERF notes of its batch of 8); that of its
first projection alone 17 us (tt-metal's perf_automation guide). A matmul without a config of its own can be led to few
cores by an operand interleaved in L1, and to four times its time (tt-metal #56976): it counts where TTNN 0.81.1 would
take as many cores as now once a core_grid is given.

The line: a tensor, interleaved in DRAM, from one op to the one that alone reads it: Matmul or Linear, element-wise op
or norm, at least one of them such a matmul (hot-operands-in-dram has chains without); it takes a quarter of the grid's
L1 at most, and beside all that lies there meanwhile, with what else this claim moves there, a half; its bytes take a
tenth of either op's time and more; 1 % of the window to save. The bound is the time of both in step with the bytes
they are spared, down to the rest of their roofline.

Silent on matmuls whose choice is not modelled, in prefill too large for L1, on DRAM-sharded weights, where others
read it too, and where a later op takes two alike operands: what a norm or an addition made may be its second one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.analyses.from_graph.matmul_cores import IN_L1, chooser_of, cores_of
from ttnn_mcp.analyses.op_kinds.formats import fewer_bytes_save
from ttnn_mcp.analyses.programs.grids import Grid, worker_grid
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import PLACEMENT
from ttnn_mcp.checks.needs import CORES, DRAM_BANDWIDTH, PLACEMENTS, PROGRAM_CONFIG
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import DEFAULT_GRID
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.op_table import OpTable

ALIKE = ("Matmul", "Linear")
STREAMING = ("eltwise", "norm")  # families that read and write L1 as they do DRAM
FITS_SHARE = 0.25  # of all L1: circular buffers and the other operands need the rest (ours)
HELD_SHARE = 0.5  # of all L1, by tensors: as hot-operands-in-dram leaves it (ours)
FELT = 0.1  # of an op's time: below it what DRAM takes hides behind the rest (ours)


@check(
    title="activations between matmuls passed through DRAM",
    lever=PLACEMENT,
    of=ops_named("no Matmul ops", *ALIKE),
    needs=(PLACEMENTS, CORES, DRAM_BANDWIDTH, PROGRAM_CONFIG),
    worth=Worth(saving=USUAL),
    compiled=optimized("keeps activations in L1"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such pairs."""
    makers, readers = _pairs(facts)
    out = facts.ops.outputs[0]
    bytes_ns = out.bytes[makers] / (facts.chip.dram_achievable_gb_s or np.inf)
    took = facts.kernel_ns
    l1_bytes = (facts.chip.cores or 0) * facts.safe_l1_bytes
    fits = out.bytes[makers] <= FITS_SHARE * l1_bytes
    fits &= bytes_ns >= FELT * np.maximum(took[makers], took[readers])
    makers, readers = makers[fits], readers[fits]
    room = most_in_l1(facts.ops, facts.joins, makers, readers) <= HELD_SHARE * l1_bytes
    makers, readers = makers[room], readers[room]
    rows = np.concatenate((makers, readers))
    spared = np.zeros(len(facts))
    np.add.at(spared, rows, np.concatenate((out.bytes[makers], out.bytes[makers])))
    saved = fewer_bytes_save(facts.ops, facts.roofline, spared)[rows]
    yield Problem(rows, saved, spared_bytes=spared[rows], tell=partial(_tell, readers), about=makers)


def _tell(readers: Rows, ops: Affected) -> Words:
    facts, row, after, out = ops.facts, ops.row, int(readers[ops.at]), ops.facts.ops.outputs[0]
    choice, (x, y) = facts.matmuls, worker_grid(facts.chip) or DEFAULT_GRID
    left, configured = (
        " and ".join(str(facts.line(each)) for each in (row, after) if each in choice.rows[which])
        for which in (choice.chosen, ~choice.chosen)
    )
    core_grid = f"; core_grid=ttnn.CoreGrid(y={y}, x={x}) at line {left}" if left else ""
    program = f"program_config of line {configured}, " if configured else ""  # TTNN takes none beside a core grid
    return Words(
        claim=(
            f"{ops.many('activation', ('passes', 'pass'))} through DRAM to the next op ({ops.time_together}): "
            f"{figure(out.bytes[row] / 1e6, '.1f')} MB, {ops.example}, read at line {facts.line(after)}"
        ),
        assumption="time falls at most in step with the bytes; both keep their programs",
        evidence=(*cite_op(facts, row, (out, "MEMORY")), *cite_op(facts, after, (facts.input(0), "MEMORY"))),
        fix=(
            f"memory_config=ttnn.L1_MEMORY_CONFIG at line {ops.line} (or the shards that its reader takes: "
            f"BLOCK_SHARDED for a 2D config){core_grid}; {program}compute_kernel_config as now; "
            "ttnn.deallocate(y) after the second"
        ),
        verify="re-profile; both kernel_us fall together; memory_summary.l1_peak has room; PCC unchanged",
        caveat="watch CORE COUNT: L1_INTERLEAVED can lead TTNN to fewer cores; readers are inferred from shapes",
    )


def _pairs(facts: WindowFacts) -> tuple[Rows, Rows]:
    """(makers, readers): ops and the one that reads their output from DRAM; one is a matmul that L1 does not slow."""
    choice, joins, out = facts.matmuls, facts.joins, facts.ops.outputs[0]
    able = np.zeros(len(facts), dtype=np.bool_)
    able[choice.rows[choice.has_config & ~choice.dram_sharded]] = True
    chosen = choice.rows[choice.chosen]
    able[chosen] = _keep_their_cores(facts, chosen)
    moved = able | facts.of_family(*STREAMING)
    readers = np.flatnonzero(moved)
    makers = joins.makers[readers]  # nobody's place is the last op's, which nobody reads
    alone = able | ~(joins.doubtful | maybe_read_again(joins))
    kept = (
        moved[makers]
        & alone[makers]
        & (able[makers] | able[readers])
        & (joins.reader_counts[makers] == 1)
        & out.in_dram[makers]
        & ~out.sharded[makers]
    )
    return makers[kept], readers[kept]


def _keep_their_cores(facts: WindowFacts, rows: Rows) -> Mask:
    """Whether matmuls left to TTNN take as many cores with a core grid and their input, output, or both in L1."""
    grid = worker_grid(facts.chip)
    _, first, kind = np.unique(signatures(facts.ops)[rows], return_index=True, return_inverse=True)
    kept = [grid is not None and _keeps_its_cores(facts, int(rows[place]), grid) for place in first]
    return np.array(kept, dtype=np.bool_)[np.ravel(kind)]


def _keeps_its_cores(facts: WindowFacts, row: int, grid: Grid) -> bool:
    now = chooser_of(facts.ops, row, grid, facts.safe_l1_bytes)
    if now is None:
        return False
    a, out = (replace(spec, placement=IN_L1) for spec in (now.a, now.out))
    moved = ({"a": a}, {"out": out}, {"a": a, "out": out})
    cores = [cores_of(replace(now, given_grid=True, **each)) or 0 for each in moved]
    return min(cores) >= (cores_of(now) or np.inf)


def most_in_l1(ops: OpTable, joins: Joins, makers: Rows, readers: Rows) -> Floats:
    """Bytes on all cores at the fullest op between each maker and its reader, if all these outputs were in L1.

    A tensor counts from its maker to its last reader; an operand in L1 that no op made counts for the ops that read
    it. Of tensors that no row shows nothing is known.
    """
    size, out = len(ops), ops.outputs[0]
    into = np.where(out.in_l1, out.bytes, 0.0)
    into[makers] = out.bytes[makers]
    last = np.arange(size)
    np.maximum.at(last, joins.edges[0], joins.edges[1])
    steps = np.zeros(size + 1)
    np.add.at(steps, np.arange(size), into)
    np.add.at(steps, last + 1, -into)
    held = np.cumsum(steps)
    for operand, made_by in zip(ops.inputs, joins.by_input, strict=True):
        held[:-1] += np.where((made_by == NOBODY) & operand.in_l1, operand.bytes, 0.0)
    spans = np.stack((makers, readers + 1), axis=1).ravel()
    return np.maximum.reduceat(held, spans)[::2] if len(spans) else np.zeros(0)


def maybe_read_again(joins: Joins) -> Mask:
    """Mask of the ops with an output like both operands of some op: a report does not tell which its second one is."""
    flow, keys = joins.flow, joins.flow.keys
    first, *others = (
        np.where(made, keys[operand.name], -1) for operand, made in zip(joins.ops.inputs, flow.made, strict=True)
    )
    twice = np.concatenate([first[first == other] for other in others]) if others else first[:0]
    return np.isin(keys[joins.ops.outputs[0].name], twice[twice >= 0])
