"""Between two matmuls many small ops pass tensors on, which one kernel could keep to itself: a trial.

Each of them is launched, reads what the one before wrote, and writes it again. A kernel of the model's own
(`ttnn.generic_op`) reads what comes in, and writes what goes out, once. Engineers wrote such kernels where no op of
TTNN does the work: nine ops of a gate's gradient took 3.15 ms and then 0.47, seven of another 1.02 and 0.33, the 19 of
a norm 1.7 ms less (AlphaFold 2, tt-bio); 58 ops around a recurrence took 0.48 ms and then 0.31 (Qwen3.8 Flash Next). A
kernel has to be written, proved and kept, so it is a trial, and for what other findings leave.

The line: ops in a row that move or change elements, of which at least two read what another one made; 1 % of the
window to save. Norms, softmax and sums along rows count too. The bound is all above one launch, or above the bytes in
DRAM that come in from outside, each tensor once, and go out, at peak bandwidth.

Silent on matmuls, convs, attention, exchanges, updates of caches, TopK, ArgMax, calls of the host and the end of a
pass, which end a chain, and on ops that are quicker than their bytes.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.traffic import dram_touched
from ttnn_mcp.analyses.stages.attentions import writes_cache
from ttnn_mcp.checks.check import (
    Affected,
    Floats,
    Mask,
    Problem,
    Problems,
    Rows,
    WindowFacts,
    Words,
    check,
    ops_of_family,
)
from ttnn_mcp.checks.levers import OWN_KERNEL
from ttnn_mcp.checks.needs import PLACEMENTS
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.alike import numbered

SMALL = ("eltwise", "layout", "movement", "shape", "norm", "softmax", "reduction")
NOT_SMALL = ("TopK", "ArgMax", "ArgMaxNC", "Halo", "MeshPartition")  # their order of work is their own
READERS = 2  # ops that read what another one made: of two in all, other checks know the op of TTNN (ours)


class Chains(NamedTuple):
    """Rows of all chains, the number of the chain per row, and the least time per chain."""

    rows: Rows
    of: Rows
    least_ns: Floats


@check(
    title="chains of small ops",
    lever=OWN_KERNEL,
    general=True,
    of=ops_of_family("no small ops", *SMALL),
    needs=(PLACEMENTS,),
    worth=Worth(saving=USUAL),
    compiled="a compiled model takes no kernels of yours: an op of TTNN or tt-mlir has to do it",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops of such chains."""
    chains = chains_of(facts)
    taken_ns = _sums(chains.of, chains.of, facts.kernel_ns[chains.rows])
    left = np.minimum(chains.least_ns / np.maximum(taken_ns, 1.0), 1.0)
    saved = facts.kernel_ns[chains.rows] * (1 - left[chains.of])
    saved[facts.roofline.impossible[chains.rows]] = 0.0  # time or operands of such a row are those of another op
    yield Problem(chains.rows, saved, tell=partial(_tell, chains), is_trial=True)


def _tell(chains: Chains, ops: Affected) -> Words:
    facts = ops.facts
    own = np.isin(chains.rows, ops.rows)
    each_ns = np.bincount(chains.of[own], weights=facts.kernel_ns[chains.rows[own]])
    heaviest = int(each_ns.argmax())
    rows = chains.rows[chains.of == heaviest]
    many = np.unique(chains.of[own]).size
    return Words(
        claim=(
            f"{ops.many('op')} in {many} chain{'s' * (many > 1)} only move and change elements ({ops.time}): heaviest "
            f"{len(rows)} ops from line {facts.line(int(rows[0]))} to {facts.line(int(rows[-1]))}, "
            f"{took(each_ns[heaviest])}"
        ),
        assumption="a trial: one kernel reads what comes in and writes what goes out, once",
        cells=((facts.input(0), "MEMORY"), (facts.output(), "MEMORY")),
        fix=(
            f"one kernel of your own for these {len(rows)} ops, fused: ttnn.generic_op with a ttnn.ProgramDescriptor "
            "of its kernels, circular buffers and cores"
        ),
        verify="list_ops(group_by='op_code') shows GenericOp in their place; PCC of the chain alone, then of the model",
        caveat="yours to write, prove and keep: only for what the findings that name an op of TTNN leave",
    )


def chains_of(facts: WindowFacts) -> Chains:
    """Runs of small ops that pass tensors on, and what they read and write at least."""
    small = facts.of_family(*SMALL) & ~facts.named(*NOT_SMALL) & ~writes_cache(facts.ops)
    # an op that is not small begins one, without being of it; an op behind a call of the host or a pass is of it
    runs: Rows = np.cumsum(~small | _behind_border(facts), dtype=np.int64)
    passed = [small[made] & (made != NOBODY) & (runs[made] == runs) for made in facts.joins.by_input]
    reads = np.any(passed, axis=0)
    joined = np.bincount(runs[reads], minlength=int(runs[-1]) + 1) >= READERS
    rows = np.flatnonzero(small & joined[runs])
    _, of = np.unique(runs[rows], return_inverse=True)
    touched = dram_touched(facts.ops, Reasons(len(facts)))  # what is not known of them counts as nothing
    moved = _read_from_outside(facts, rows, of, passed, np.nan_to_num(touched.reads))
    written = np.nan_to_num(touched.writes).sum(axis=0)
    written[_stays_within(facts, runs)] = 0.0
    peak = facts.chip.dram_peak_gb_s or np.inf
    return Chains(rows, of, np.maximum((moved + _sums(of, of, written[rows])) / peak, LAUNCH_FLOOR_NS))


def _behind_border(facts: WindowFacts) -> Mask:
    """Ops with a call of the host, or the end of a pass, between them and the op before."""
    report = facts.run.performance_report
    calls = np.searchsorted(np.sort(report.host_rows.lines), facts.ops.lines)
    passes = report.iterations.number[report.steady.at_lines(facts.ops.lines)]
    return (np.diff(calls, prepend=0) != 0) | (np.diff(passes, prepend=0) != 0)


def _read_from_outside(facts: WindowFacts, rows: Rows, of: Rows, passed: list[Mask], reads: Floats) -> Floats:
    """Bytes per chain; a tensor that several of its ops read counts once, and no more of it than they read."""
    parts: list[tuple[Rows, Rows, Rows, Floats, Floats]] = []
    inputs = zip(facts.ops.inputs, passed, facts.joins.by_input, reads, strict=True)
    for operand, within, made, read in inputs:
        outside = ~within[rows]
        these = rows[outside]
        looks = facts.flow.keys[operand.name][these]
        parts.append((of[outside], looks, made[these], operand.bytes[these], read[these]))
    chain, look, maker, whole, read = (np.concatenate(part) for part in zip(*parts, strict=True))
    tensor = numbered(len(chain), [chain, look, maker])
    _, first = np.unique(tensor, return_index=True)
    each = np.minimum(np.bincount(tensor, weights=read), whole[first])
    return _sums(of, chain[first], each)


def _stays_within(facts: WindowFacts, runs: Rows) -> Mask:
    """Ops whose result is read in their own chain, and nowhere else."""
    makers, readers = facts.joins.edges
    outside = np.zeros(len(facts), dtype=np.bool_)
    outside[makers[runs[makers] != runs[readers]]] = True
    return (facts.joins.reader_counts > 0) & ~outside


def _sums(of: Rows, chain: Rows, bytes_each: Floats) -> Floats:
    sums: Floats = np.zeros(int(of.max(initial=-1)) + 1)
    np.add.at(sums, chain, bytes_each)
    return sums
