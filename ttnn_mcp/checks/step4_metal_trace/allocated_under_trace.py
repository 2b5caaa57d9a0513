"""A result is allocated beside a live trace and read after its next replay, which may have overwritten it.

A replay writes to the addresses that its ops had when it was captured. TTNN gives such addresses to new tensors, as the
intermediates of the capture are freed, and warns once ("Allocating device buffers is unsafe"). What is used up before
the next replay is safe (tt-metal PR #13696); the rest may be garbage, or the replay hangs (tt-metal #54032, open since
August 2026: the same decode ran with 32 steps and hung with 1024).

The line: an op outside of all traces, after a replay, whose result an op outside of traces reads first after a later
replay of the report began; once is enough. No time is at stake.

Silent on writes of caches and of tensors that exist already, and on results that no op reads: the host may have read
them in time. Who reads whom is inferred from shapes. A report without replays tells nothing.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.readers import joins_of
from ttnn_mcp.checks.arrays import Rows, no_saving
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import TRACE
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

WRITES_IN_PLACE = ("Copy", "PlusOne")  # and caches


@check(
    title="results that a replay may overwrite",
    lever=TRACE,
    risk=True,
    of=Subject(
        lambda facts: np.full(len(facts), facts.run.performance_report.traced),
        "no trace is replayed in this report",
    ),
    needs=(OPERANDS,),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the results that outlive a replay, in whichever window they lie."""
    steady = facts.run.performance_report.steady
    ops = steady.take(steady.numbers("device") == facts.ops.numbers("device")[0])
    makers, readers = _outlive(ops)
    if len(makers):
        rows = np.flatnonzero(np.isin(facts.ops.lines, ops.lines[makers]))
        yield Problem(rows, no_saving(rows), tell=partial(_tell, ops, makers, readers), of_window=True)


def _outlive(ops: OpTable) -> tuple[Rows, Rows]:
    """The ops whose results outlive a replay, and the first reader of each."""
    inside = np.isfinite(ops.numbers("trace_id"))
    replayed = np.cumsum(inside)  # ops, so far
    every, reads = joins_of(ops).edges
    makers, first = np.unique(every, return_index=True)  # by maker, then by reader: the first comes first
    readers = reads[first]
    new = ops.texts("op_code").where(lambda name: "Cache" not in name and canonical(name) not in WRITES_IN_PLACE)
    outlives = (replayed[makers] > 0) & (replayed[readers] > replayed[makers]) & new[makers]
    outlives &= ~inside[makers] & ~inside[readers]
    return makers[outlives], readers[outlives]


def _tell(ops: OpTable, makers: Rows, readers: Rows, _affected: Affected) -> Words:
    maker, reader = int(makers[0]), int(readers[0])
    name = canonical(ops.texts("op_code")[maker])
    return Words(
        claim=(
            f"{counted(len(makers), 'result')} allocated beside a live trace, read after its next replay, which may "
            f"overwrite them: first {name} at line {ops.lines[maker]}, read at line {ops.lines[reader]}"
        ),
        assumption="a risk, no saving: wrong values without an error, or a hang",
        evidence=(ops.cite(maker, "kernel_ns"), ops.cite(reader, "kernel_ns")),
        fix=(
            "before the capture out = ttnn.allocate_tensor_on_device(spec, device), given as output_tensor=out; or use "
            "the result up before ttnn.execute_trace; or ttnn.release_trace first"
        ),
        verify="no 'Allocating device buffers is unsafe' in the log; the output equals that of an untraced run",
        caveat="joins are inferred from shapes: a tensor of the same shape that was there before is safe",
    )
