"""Which finding an experiment tried, and what that finding promised on the baseline."""

from __future__ import annotations

from difflib import get_close_matches
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.errors import ArgumentsInvalid, shown
from ttnn_mcp.experiments.tries import check_named
from ttnn_mcp.tools.parts.loop_runs import outlook_now

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.tools.parts.loop_answer import Arguments


class Tried(NamedTuple):
    """A check, and the most that its finding promised; None where it is not known."""

    finding: str | None
    at_most_us: float | None


def finding_of(asked: Arguments) -> str | None:
    """The check that was given, or the one that the texts name.

    Raises:
        ArgumentsInvalid: there is no such check; names the nearest.
    """
    checks = {check.id for check in CATALOGUE}
    if asked.finding is None:
        return check_named(f"{asked.change} {asked.hypothesis}", checks)
    if asked.finding not in checks:
        near = get_close_matches(asked.finding, checks, n=1)
        hint = f"Did you mean '{near[0]}'?" if near else "Take it from a finding's `check` in optimization_check."
        raise ArgumentsInvalid(f"experiments: no check is called '{shown(asked.finding)}'. {hint}")
    return asked.finding


async def tried(baseline: Run, finding: str | None) -> Tried:
    """What a finding promises on the run before the change; 0 where the run does not have it."""
    if finding is None:
        return Tried(None, None)
    outlook = await outlook_now(baseline, inf)
    if outlook is None:
        return Tried(finding, None)
    promises = [each.saving_us.at_most for each in outlook.findings if each.check == finding]
    return Tried(finding, max(promises, default=0.0))
