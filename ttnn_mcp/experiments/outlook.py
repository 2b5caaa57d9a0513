"""What can still be gained on a run: the findings of the checks, and the least time that its ops could take.

And targets: parsing them, how far a run is from one, and whether the remaining findings can reach it.
"""

from __future__ import annotations

import re
from typing import Literal

import numpy as np

from ttnn_mcp.analyses.time_budget.least_times import lowest_ns
from ttnn_mcp.analyses.window_facts import facts_of
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.experiments.experiment import RunSeen, Target, TargetKind
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.window import Scope
from ttnn_mcp.wire import Finding, StepStatus

Status = Literal["met", "within_reach", "out_of_reach", "unknown"]
_NUMBER = r"(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)"
_BATCH = r"(?:,?\s+(?:at\s+|with\s+)?batch(?:\s+size)?\s*=?\s*(?P<batch>[1-9]\d{0,8}))?"
_LATENCY = re.compile(
    rf"{_NUMBER}\s*(?P<unit>us|ms|s)(?:\s*(?:/|\bper\b)\s*(?:(?P<sample>sample|image|frame)"
    rf"|step|iteration|pass|inference|token|batch))?(?:\s+(?:latency|or less))?{_BATCH}",
    re.IGNORECASE,
)
_THROUGHPUT = re.compile(
    rf"{_NUMBER}\s*(?:[a-z]+\s*/\s*s(?:ec(?:ond)?)?|[a-z]+ per second|fps|hz)"
    rf"(?P<user>\s*(?:/|\bper\b)\s*u(?:ser)?)?(?:\s+or more)?{_BATCH}",
    re.IGNORECASE,
)
_ROOFLINE = re.compile(
    rf"{_NUMBER}\s*(?:(?P<percent>%)(?:\s*(?:of\s+)?(?:the\s+)?roofline)?|(?:of\s+)?(?:the\s+)?roofline)",
    re.IGNORECASE,
)
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}

CHEAP_OPS = 50_000  # ops for which the checks take about a second


@dataclass(frozen=True, slots=True)
class Reach:
    """The value of a run in the target's unit (ms, samples/s, share), now and at best.

    Attributes:
        current: the value by wall time where that was measured, otherwise by kernel time.
        at_best: the value if every remaining finding saved the most it can; None where the checks did not run.
    """

    current: float
    at_best: float | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is from its target, and whether to stop."""

    status: Status
    why: str
    stop: bool


def parse_target(text: str, baseline: RunSeen, batch: int) -> Target:
    """`10 ms`, `100 samples/s`, `60 % of roofline`; a batch in the text counts.

    A time per sample is a rate of samples. A rate per user is the time of an iteration, which makes a token for each.

    Raises:
        ArgumentsInvalid: the text is none of these, or says more that is not understood.
    """
    written = text.strip()
    kind: TargetKind = "latency_ms"
    value = 0.0
    if match := _LATENCY.fullmatch(written):
        value = float(match["number"]) * _MS[match["unit"].lower()]
        if match["sample"]:
            kind, value = "samples_per_s", _per_second(value)
        batch = int(match["batch"] or batch)
    elif match := _THROUGHPUT.fullmatch(written):
        kind, value = "samples_per_s", float(match["number"])
        if match["user"]:
            kind, value = "latency_ms", _per_second(value)
        batch = int(match["batch"] or batch)
    elif match := _ROOFLINE.fullmatch(written):
        kind, value = "roofline_share", float(match["number"]) / (100 if match["percent"] else 1)
    if not 0 < value < float("inf") or (kind == "roofline_share" and value > 1):
        raise ArgumentsInvalid(
            f"experiments: no target in '{shown(text)}'. Write '10 ms', '100 samples/s' or '60 % of roofline'; "
            "behind a time or rate may stand 'per sample', 'per user' or 'at batch 8'."
        )
    return Target(baseline, kind, value, batch)


def _per_second(value: float) -> float:
    """A rate of a time in ms, or the other way round."""
    return 1e3 / value if value else 0.0


def progress_of(target: Target, reach: Reach, *, wall_known: bool, worth_trying: bool | None) -> Progress:
    """Whether the target is met, whether the remaining findings can meet it, and whether to stop.

    Args:
        target: the target.
        reach: the value of the best run, now and at best.
        wall_known: whether that value is wall time measured with the profiler off.
        worth_trying: whether a finding could save more than the noise; None where the checks did not run.
    """
    unit = {"latency_ms": "ms", "samples_per_s": "samples/s", "roofline_share": "of the roofline"}[target.kind]
    kernel_only = not wall_known and target.kind != "roofline_share"
    position = (
        f"{figure(reach.current, '.4g')} {unit}{' by kernel time alone' if kernel_only else ''}, "
        f"target {target.text}"
    )
    if _meets(target, reach.current):
        sure = "; confirm it by wall time with the profiler off" if kernel_only else ""
        return Progress("met", f"{position}: met, stop here{sure}", stop=True)
    position += f", {figure(abs(target.value / reach.current - 1), '.0%')} to go" if reach.current else ""
    if reach.at_best is None:
        return Progress("unknown", f"{position}; list tells what is left to try", stop=False)
    if worth_trying is False:
        why = "no finding could save more than the noise: stop, or change the model"
        return Progress("out_of_reach", f"{position}; {why}", stop=True)
    best = f"all remaining findings together reach {figure(reach.at_best, '.4g')} at best"
    if not _meets(target, reach.at_best):
        return Progress("out_of_reach", f"{position}; {best}: relax the target, or change the model", stop=False)
    return Progress("within_reach", f"{position}; {best}", stop=False)


def _meets(target: Target, value: float) -> bool:
    return value <= target.value if target.kind == "latency_ms" else value >= target.value


@dataclass(frozen=True, slots=True)
class Outlook:
    """A run after all checks.

    Attributes:
        kernel_ns: kernel time of the last iteration, on the critical device.
        least_ns: time that those of its ops that have a model would take at the roofline.
        lowest_ns: what no change of formats, placement or fusion can go below; 0 where not known.
        saved_ns: kernel time that all edits of the plan save together, at most.
        saved_gaps_ns: time between kernels that they save beside it.
        findings: all findings, in the order of the plan.
        steps: the status of each step.
    """

    kernel_ns: float
    least_ns: float
    lowest_ns: float
    saved_ns: float
    saved_gaps_ns: float
    findings: tuple[Finding, ...]
    steps: tuple[StepStatus, ...]

    def saving_ns(self, *, wall: bool) -> float:
        """The most that all edits can save together; gaps between kernels count for wall time only."""
        return self.saved_ns + (self.saved_gaps_ns if wall else 0.0)

    def worth_trying(self, noise_share: float) -> bool:
        """Whether a finding could save more than the noise."""
        return any(finding.saving_us.at_most * 1e3 > noise_share * self.kernel_ns for finding in self.findings)


def outlook_of(run: Run, wall_ms: float | None = None, *, most_ops: float = CHEAP_OPS) -> Outlook | None:
    """The outlook by the same checks as optimization_check; None for a window of more ops than `most_ops`.

    With the wall time of an iteration, measured with the profiler off, gaps are no longer than it leaves them; the
    profiler inflates them. The caller must have replayed the memory report before.
    """
    scope = run.scope()
    if len(scope.ops) > most_ops:
        return None
    return run.kept.get(Outlook, wall_ms) or run.kept.store(_outlook(run, scope, wall_ms), wall_ms)


def _outlook(run: Run, scope: Scope, wall_ms: float | None) -> Outlook:
    facts = facts_of(run, scope)
    if wall_ms is not None and wall_ms * 1e6 >= facts.timeline.busy_ns:  # a shorter one is of other rows
        facts = facts.of_wall(wall_ms * 1e6)
    diagnosis = diagnose(facts, CATALOGUE)
    least = float(np.nansum(facts.roofline.efficiency * facts.kernel_ns))
    lowest = lowest_ns(facts.ops, facts.least_times, facts.roofline, facts.chip)
    plan = diagnosis.plan
    saved_ns = float((plan.ground.spent - plan.left_ns).sum())
    saved_gaps_ns = float((plan.ground.gaps - plan.left_gaps_ns).sum())
    return Outlook(facts.total_ns, least, lowest, saved_ns, saved_gaps_ns, diagnosis.findings, diagnosis.steps)


def reach_of(target: Target, kernel_ns: float, wall_ms: float | None, outlook: Outlook | None) -> Reach:
    """The value of a run in the target's unit, and the best value that its findings allow."""
    measured_ms = kernel_ns / 1e6 if wall_ms is None else wall_ms
    saved_ms = 0.0 if outlook is None else outlook.saving_ns(wall=wall_ms is not None) / 1e6
    best_ms = max(measured_ms - saved_ms, 1e-9)
    if target.kind == "roofline_share":
        if outlook is None:
            return Reach(0.0, None)
        remaining_ns = max(outlook.kernel_ns - outlook.saving_ns(wall=False), outlook.least_ns, 1.0)
        return Reach(outlook.least_ns / max(outlook.kernel_ns, 1.0), min(1.0, outlook.least_ns / remaining_ns))
    if target.kind == "samples_per_s":
        return Reach(1e3 * target.batch / measured_ms, None if outlook is None else 1e3 * target.batch / best_ms)
    return Reach(measured_ms, None if outlook is None else best_ms)
