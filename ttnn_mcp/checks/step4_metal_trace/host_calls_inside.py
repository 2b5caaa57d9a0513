"""The host works on tensors between the device ops of a step.

A torch call, `ttnn.to_torch` or `ttnn.from_torch` in the middle drains the device: it is idle until the host has read
the tensor, worked on it and sent it back. No trace can include it (tech report on advanced performance optimizations
for models). The profiler writes such calls as separate rows (`python_fallback`, `tt_dnn_cpu`).

The line: host rows between the first and the last device op of a warm window, whose gaps together are 1 % of its
kernel time. The bound is the gap before the next device op of each, minus the launch, which stays.

Silent if host rows are only before and after the device ops: they load weights, send the input and read the result.
Cannot tell on a cold pass, whose gaps are compile time. A run without recorded calls has no such rows, so the check is
silent.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import TRACED_GAP_NS
from ttnn_mcp.checks.arrays import Floats, Mask, Rows, no_saving
from ttnn_mcp.checks.check import Affected, CannotTell, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import HOST
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.run.ops.op_table import OpTable

NAMED = 3  # kinds of calls that a claim names (ours)


def _about(facts: WindowFacts) -> Mask:
    return np.full(len(facts), len(_inside(facts)[0]) > 0)


@check(
    title="host calls between device ops",
    lever=HOST,
    of=Subject(_about, "no host calls between the ops of this window"),
    worth=Worth(saving=USUAL),
    compiled="keep every op of the step in the compiled graph: no .cpu(), .item() or print in forward()",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all gaps with host calls in them."""
    if not facts.scope.window.warm:
        yield CannotTell("no warm iteration: gaps are compile time. Profile 2 or more iterations in one run")
        return
    calls, places = _inside(facts)
    rows = np.unique(places)
    gaps = np.nan_to_num(facts.ops.numbers("gap_ns")[rows])
    waited = float(np.maximum(gaps - TRACED_GAP_NS, 0.0).sum())
    yield Problem(rows, no_saving(rows), gap_ns=(0.0, waited), tell=partial(_tell, calls, gaps))


def _tell(calls: OpTable, gaps: Floats, ops: Affected) -> Words:
    facts, longest = ops.facts, ops.rows[np.argsort(-gaps)][:2].tolist()
    kinds = Counter(shown(calls.texts("op_code")[row]) for row in range(len(calls))).most_common(NAMED)
    return Words(
        claim=(
            f"Host calls lie between device ops ({len(calls)}x: {', '.join(name for name, _ in kinds)}), in gaps of "
            f"{took(float(gaps.sum()))} together; longest before line {facts.line(longest[0])}"
        ),
        assumption="the tensors stay on the device, and each gap shrinks to a launch",
        evidence=(*(facts.ops.cite(row, "gap_ns") for row in longest), calls.cite(0, "host_ns")),
        fix=(
            "keep them on the device: ttnn.reshape, ttnn.permute, ttnn.pad, ttnn.transpose for torch's; "
            "ttnn.from_torch before the first op, ttnn.to_torch after the last"
        ),
        verify="re-profile: no host rows between device ops; host_overhead(wall_ms=<profiler off>) busy_share up",
        caveat="the profiler adds to each gap, and a part of the wait may stay",
    )


def _inside(facts: WindowFacts) -> tuple[OpTable, Rows]:
    """Host rows between the window's ops, and the op behind each."""
    hosts, lines = facts.run.performance_report.host_rows, facts.ops.lines
    order = np.argsort(lines, kind="stable")
    within = (hosts.lines > lines.min(initial=hosts.lines.max(initial=0))) & (hosts.lines < lines.max(initial=0))
    calls = hosts.take(within)
    return calls, order[np.searchsorted(lines[order], calls.lines)]
