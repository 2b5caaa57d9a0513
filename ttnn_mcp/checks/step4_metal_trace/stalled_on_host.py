"""The device is idle between ops because the host cannot send work fast enough.

Metal Trace records the dispatch of a whole model once and replays it with one command, so the gaps between ops
shrink to the device's own overhead. Kernels do not change, so it saves at most the gaps.

The line: kernels fill less than 90 % of the warm window's wall time (domain practice; a warm CLIP encoder on Wormhole
fills 92 % without a trace and would gain at most 5 %). The bound is the measured gaps minus 1.0 us per op, which
traced dispatch also needs (Wormhole, warm: median 0.66 us, p90 1.9 us).

Silent when the run already replays a trace. Cannot tell on a cold pass (gaps are compile time), when gaps of
milliseconds dominate (a sync or a print in the loop), or when gaps were not measured.

Nothing is expected of it: the profiler adds to every gap, and by how much depends on the host. Of three public pairs
that tell the gaps of a profile, a trace saved 73 % of the bound in one, and nothing in two of one ledger: there the
host ran ahead of the device once the profiler was off (321 ms of gaps in a step of 39 ms). So time a pass without the
profiler first, and give it to `optimization_check` or `host_overhead` as `wall_ms`: of what a wall had beyond its
kernels, traces saved 89 to 100 % in six pairs of five ledgers, and nothing in a seventh, whose ops waited for other
chips.

With `wall_ms` the line is of that time: where kernels fill 90 % of it, the gaps are the profiler's, and it is clean.
Otherwise the bound is what the wall has beyond the kernels, if that is less than the gaps, and the pairs let expect
their share of it; the gaps of the whole plan are then shortened to it. Where the wall has more beyond the kernels than
the profile has gaps, the host works around the pass: the gaps are the bound, and nothing is expected.

Exchanges between chips wait in their kernels for a chip that the host feeds late: two layers on four chips took 1.90 ms
untraced, 1.63 of them kernels, and 1.40 traced (Mistral Small 24B, its port in tt-metal). So what a chip takes for them
beyond their payload and the quickest chip is a trial of its own: no more than gaps of another chip were longer than
its own until then, nor than the pass has beyond the work of the chip that works longest. Only such work fills a wall.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import (
    DEVICE_BOUND,
    TRACED_GAP_NS,
    static_shapes,
    trace_region_bytes,
)
from ttnn_mcp.analyses.devices.host_numbers import changing_numbers
from ttnn_mcp.checks.arrays import no_saving
from ttnn_mcp.checks.check import Affected, CannotTell, Clean, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LATE_CHIPS, TRACE
from ttnn_mcp.checks.shared.traced import traced
from ttnn_mcp.quoting import figure


@check(
    title="the device waits for the host",
    lever=TRACE,
    principal=True,
    of=Subject(
        lambda facts: np.full(len(facts), not facts.run.performance_report.traced),
        "this run already replays a trace",
    ),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the whole window, or why not."""
    line, wall_ns = facts.timeline, facts.wall_ns
    if wall_ns is not None and facts.working_ns >= DEVICE_BOUND * wall_ns:
        busy = figure(line.busy_in(wall_ns), ".0%")
        yield Clean(f"kernels fill {busy} of {_wall(wall_ns)}: longer gaps of the profile are the profiler's")
        return
    if not facts.scope.window.warm or not np.isfinite(line.gaps_ns).any():
        yield CannotTell("no warm iteration: gaps are compile time. Profile 2 or more iterations in one run")
        return
    saving = traced(facts, line, wall_ns, len(facts))
    if line.busy >= DEVICE_BOUND and not saving.in_kernels_ns:
        return
    nothing = saving.by_wall and not saving.most_ns and not saving.in_kernels_ns
    if wall_ns is not None and nothing:  # unmoved: by_wall says that it is known
        yield Clean(
            f"{_wall(wall_ns)} leaves no more between ops than a trace does: longer gaps are the profiler's"
        )
        return
    if line.interrupted and not saving.by_wall:
        yield CannotTell(
            f"{line.long_gaps[0]} gaps of over 1 ms hold most of the waiting: a sync or print in the loop; remove it"
        )
        return
    if saving.most_ns or not saving.in_kernels_ns:
        rows = np.arange(len(facts), dtype=np.int64)
        gap_ns = (0.0, saving.most_ns)
        yield Problem(
            rows, no_saving(rows), gap_ns=gap_ns, expected=saving.expected, tell=partial(_tell, saving.by_wall)
        )
    if saving.in_kernels_ns:
        waits_ns = facts.waits.by_device[line.device]
        rows = np.flatnonzero(waits_ns)
        at_most = waits_ns[rows] * (saving.in_kernels_ns / waits_ns.sum())
        yield Problem(rows, at_most, lever=LATE_CHIPS, tell=_tell_exchanges, is_trial=True)


def _wall(wall_ns: float) -> str:
    return f"wall_ms {figure(wall_ns / 1e6, 'g')}"


def _tell(by_wall: bool, ops: Affected) -> Words:
    facts, line, report = ops.facts, ops.facts.timeline, ops.facts.run.performance_report
    repeat = "repeat over iterations, so it can be traced" if static_shapes(report) else "may change: check first"
    if any(changing_numbers(report.steady, report.iterations)):
        repeat = "or numbers change with each pass: host-number-in-op first"
    waited = np.argsort(-np.nan_to_num(facts.ops.numbers("gap_ns")[1:]))[:2] + 1
    claim = (
        f"kernels fill {figure(line.busy, '.0%')} of the warm window: {figure(line.gap_ns / 1e3, ',.0f')} of "
        f"{figure(line.wall_ns / 1e3, ',.0f')} us are gaps, the median of {len(line.gaps_ns)} is "
        f"{figure(line.median_gap_ns / 1e3, '.1f')} us"
    )
    assumption = f"a traced op keeps {figure(TRACED_GAP_NS / 1e3, '.1f')} us of gap; kernels unchanged"
    caveat = (
        "the profiler inflates gaps, 140-fold where a trace then saved nothing: first host_overhead(wall_ms=...)"
    )
    if facts.wall_ns is not None and not by_wall:
        caveat = f"{_wall(facts.wall_ns)} leaves more than these gaps: the rest is work around the pass"
    elif facts.wall_ns is not None:
        left = figure((facts.wall_ns - line.busy_ns) / 1e3, ",.0f")
        claim = (
            f"kernels fill {figure(line.busy_in(facts.wall_ns), '.0%')} of {_wall(facts.wall_ns)}: {left} us are left, "
            f"of {figure(line.gap_ns / 1e3, ',.0f')} us of gaps in the profile"
        )
        assumption = f"{assumption}; {_wall(facts.wall_ns)} is of this window, profiler off"
        caveat = "where ops waited for other chips, a trace saved nothing of it"
    return Words(
        claim=claim,
        assumption=assumption,
        evidence=tuple(facts.ops.cite(row, "gap_ns") for row in waited.tolist()),
        fix=_fix(facts),
        verify="host_overhead(wall_ms=<profiler off>): traced true, busy_share up; PCC >= 0.99",
        caveat=f"{caveat}; shapes {repeat}",
    )


def _tell_exchanges(ops: Affected) -> Words:
    facts, wall_ns = ops.facts, ops.facts.wall_ns
    line, wall = facts.timeline, "the warm window" if wall_ns is None else _wall(wall_ns)
    return Words(
        claim=(
            f"kernels fill {figure(line.busy_in(wall_ns or line.wall_ns), '.0%')} of {wall}, of which exchanges take "
            f"{ops.time}: they wait too while the host is late to feed another chip; heaviest {ops.example}"
        ),
        assumption="at best only the work of the chip that works longest is left, and a traced gap for each op",
        fix=_fix(facts),
        verify="host_overhead(wall_ms=<profiler off>): wall time down; PCC >= 0.99",
        caveat="how much of it is waiting for the host no profile tells: device_balance has the other causes",
    )


def _fix(facts: WindowFacts) -> str:
    region = trace_region_bytes(len(facts))
    if facts.compiled:
        return (
            'torch_xla.set_custom_compile_options({"enable_trace": "true"}), '
            f"environment TT_RUNTIME_TRACE_REGION_SIZE={region}"
        )
    return (
        f"device = ttnn.open_device(device_id=0, trace_region_size={region}); after a warm-up: "
        "tid = ttnn.begin_trace_capture(device, cq_id=0); run; ttnn.end_trace_capture(device, tid, cq_id=0); "
        "then ttnn.execute_trace(device, tid, cq_id=0, blocking=False)"
    )
