"""What is left to gain on a run: the checks' findings, and the least time its ops could take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.window_facts import facts_of
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.experiments.rules import HOST_STEPS
from ttnn_mcp.experiments.targets import Reach

if TYPE_CHECKING:
    from ttnn_mcp.experiments.experiment import Target
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.wire import Finding, StepStatus

CHEAP_OPS = 50_000  # up to here the checks take about a second


@dataclass(frozen=True, slots=True)
class Outlook:
    """A run looked at by every check.

    Attributes:
        kernel_ns: of the last iteration, on the device the others wait for.
        least_ns: what its modelled ops need at the roofline.
    """

    kernel_ns: float
    least_ns: float
    findings: tuple[Finding, ...]
    steps: tuple[StepStatus, ...]

    def saving_ns(self, *, wall: bool) -> float:
        """The most that all findings give together; those of the host steps only where wall time counts."""
        counted = [one for one in self.findings if wall or one.step not in HOST_STEPS]
        return sum(one.saving_us.at_most for one in counted) * 1e3

    def worth_trying(self, noise_share: float) -> bool:
        """Whether a finding could save more than the noise."""
        return any(one.saving_us.at_most * 1e3 > noise_share * self.kernel_ns for one in self.findings)


def outlook_of(run: Run) -> Outlook | None:
    """Ask the checks, as optimization_check does; None where that takes long. The caller replays memory before."""
    scope = run.scope()
    if len(scope.ops) > CHEAP_OPS:
        return None
    facts = facts_of(run, scope)
    found = diagnose(facts, CATALOGUE)
    least = float(np.nansum(facts.roofline.efficiency * facts.kernel_ns))
    return Outlook(facts.total_ns, least, found.findings, found.steps)


def reach_of(target: Target, kernel_ns: float, wall_ms: float | None, outlook: Outlook | None) -> Reach:
    """Where a run stands in the target's unit, and could stand."""
    now_ms = kernel_ns / 1e6 if wall_ms is None else wall_ms
    saved_ms = 0.0 if outlook is None else outlook.saving_ns(wall=wall_ms is not None) / 1e6
    best_ms = max(now_ms - saved_ms, 1e-9)
    if target.kind == "roofline_share":
        if outlook is None:
            return Reach(0.0, None)
        left = max(outlook.kernel_ns - outlook.saving_ns(wall=False), outlook.least_ns, 1.0)
        return Reach(outlook.least_ns / max(outlook.kernel_ns, 1.0), min(1.0, outlook.least_ns / left))
    if target.kind == "samples_per_s":
        return Reach(1e3 * target.batch / now_ms, None if outlook is None else 1e3 * target.batch / best_ms)
    return Reach(now_ms, None if outlook is None else best_ms)
