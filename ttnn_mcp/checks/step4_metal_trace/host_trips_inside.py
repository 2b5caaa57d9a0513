"""The device waits in the middle of a pass for a tensor that no op of the pass made.

A tensor that the host computes or converts between two ops drains the device: it is read back, worked on and uploaded,
and nothing runs meanwhile. No trace can hold such a trip. The profiler may write no row for the host's work; what shows
it is a gap of milliseconds before an op whose input comes from nowhere.

The line: gaps of 1 ms and more, behind the first op, before an op whose activation no op of the window made, or beside
which an element-wise op reads a tensor that none made; together 1 % of the window's kernel time. Dispatch never takes a
millisecond; compiling does, so an op counts only if its program ran before in the report. The bound is the gaps, less a
launch each.

Silent where the profiler wrote the host's calls (host-calls-inside) and on gaps before ops that read what others made:
a print, a synchronisation or a busy host, which stalled-on-host speaks of. Cannot tell on a cold pass.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import COLD_GAP_NS, TRACED_GAP_NS
from ttnn_mcp.checks.arrays import Mask, Rows, no_saving
from ttnn_mcp.checks.check import CannotTell, Problems, Subject, WindowFacts, check
from ttnn_mcp.checks.levers import HOST
from ttnn_mcp.checks.problem import Affected, Problem, Words
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth

WITH_WEIGHTS = ("matmul", "conv", "norm", "embedding", "attention")  # further inputs are weights, tables and caches


def _long_gaps(facts: WindowFacts) -> Mask:
    gaps = facts.timeline.idle_ns >= COLD_GAP_NS
    gaps[:1] = False
    return gaps


@check(
    title="the pass waits for tensors of the host",
    lever=HOST,
    of=Subject(_long_gaps, "no gap of a millisecond inside the pass"),
    worth=Worth(saving=USUAL),
    compiled="keep every op of the step in the compiled graph: no .cpu(), .item() or print in forward()",
    principal=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such gaps."""
    if not facts.scope.window.warm:
        yield CannotTell("no warm iteration: gaps are compile time. Profile 2 or more iterations in one run")
        return
    hosts, lines = facts.run.performance_report.host_rows.lines, facts.ops.lines
    if ((hosts > lines.min()) & (hosts < lines.max())).any():
        return
    rows = np.flatnonzero(_long_gaps(facts) & _reads_unmade(facts))
    saved = float((facts.timeline.idle_ns[rows] - TRACED_GAP_NS).sum())
    yield Problem(rows, no_saving(rows), gap_ns=(0.0, saved), tell=partial(_tell, rows))


def _reads_unmade(facts: WindowFacts) -> Mask:
    """Ops whose activation no op of the window made."""
    weighted, unmade = facts.of_family(*WITH_WEIGHTS), np.zeros(len(facts), dtype=np.bool_)
    for place, (operand, made) in enumerate(zip(facts.ops.inputs, facts.flow.made, strict=True)):
        unmade |= operand.present & ~made & (~weighted | (place == 0))
    return unmade


def _tell(rows: Rows, ops: Affected) -> Words:
    facts, gaps = ops.facts, ops.facts.timeline.idle_ns[rows]
    longest = [int(row) for row in rows[np.argsort(-gaps, kind="stable")][:3]]
    return Words(
        claim=(
            f"{ops.many('gap')} of a millisecond and more ({took(float(gaps.sum()))}) before ops whose input no op "
            f"made; longest {took(float(gaps.max()))} before line {facts.line(longest[0])}"
        ),
        assumption="the tensors are made on the device, or uploaded before the first op; a launch stays",
        evidence=tuple(facts.ops.cite(row, "gap_ns") for row in longest),
        fix=(
            "compute it on the device (ttnn.reshape, ttnn.permute, ttnn.pad, ttnn.where for torch's), or upload it "
            "before the pass: ttnn.copy_host_to_device_tensor(host, x) into a tensor that stays"
        ),
        verify="re-profile: host_overhead.largest_gaps has none of these lines; busy_share up",
        caveat="the profiler adds to each gap; an input that the caller made before may look the same",
    )
