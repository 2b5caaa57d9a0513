"""What can still be gained on a run: the findings of the checks, and the least time that its ops could take."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.time_budget.least_times import lowest_ns
from ttnn_mcp.analyses.window_facts import facts_of
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.experiments.experiment import Target
from ttnn_mcp.experiments.targets import Reach
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.window import Scope
from ttnn_mcp.wire import Finding, StepStatus

CHEAP_OPS = 50_000  # ops for which the checks take about a second


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
