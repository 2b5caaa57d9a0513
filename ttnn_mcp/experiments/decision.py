"""What a loop should do next: try one finding, or stop. The same log and reports always give the same decision.

A finding is ruled out once a try was reverted, or after two tries that decided nothing. It counts again if it promises
more on the best run than it promised when it was tried: then something has changed. A kept try clears the count,
because what a finding still claims after it are other ops.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from ttnn_mcp.analyses.time_budget.least_times import ASSUMED
from ttnn_mcp.experiments.rules import PCC_AT_LEAST
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.experiments.experiment import Experiment, Target
    from ttnn_mcp.experiments.outlook import Outlook, Progress
    from ttnn_mcp.experiments.story import Story
    from ttnn_mcp.wire import Finding

TRIES = 2  # without a decision: one more than a single noisy measurement, so that no try is repeated for ever
Ground: TypeAlias = Literal[
    "promising", "target_met", "out_of_reach", "budget_spent", "within_noise", "all_tried", "blocked"
]
FLAT_ROUNDS = 2  # without a gain: then the next finding of the list is hardly the lever


@dataclass(frozen=True, slots=True)
class RuledOut:
    """A finding that is not worth another try, with the experiment that says so."""

    check: str
    tries: int
    experiment: int
    why: str


def check_named(text: str, checks: Collection[str]) -> str | None:
    """The one check that a text names by its id; None if it names none or several."""
    named = {word for word in re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", text.lower()) if word in checks}
    return named.pop() if len(named) == 1 else None


def ruled_out(check: str, at_most_us: float, experiments: Sequence[Experiment], noise_us: float) -> RuledOut | None:
    """Why a finding is not worth another try; None if it is.

    Args:
        check: the finding's check.
        at_most_us: the most that it can save on the best run now.
        experiments: of the loop, in the order recorded.
        noise_us: a smaller gain cannot be measured.
    """
    tries: list[Experiment] = []
    for experiment in experiments:
        if experiment.finding == check:
            tries = [] if experiment.verdict == "keep" else [*tries, experiment]
    if not tries:
        return None
    last = tries[-1]
    inaccurate = last.pcc is not None and last.pcc < PCC_AT_LEAST  # more to gain does not mend accuracy
    promised_us = last.at_most_us
    if not inaccurate and promised_us is not None and at_most_us > promised_us + noise_us and len(tries) < TRIES:
        return None
    if last.verdict == "revert":
        return RuledOut(check, len(tries), last.id, "PCC too low" if inaccurate else "not faster")
    if len(tries) >= TRIES:
        return RuledOut(check, len(tries), last.id, f"{len(tries)} tries decided nothing")
    return None


@dataclass(frozen=True, slots=True)
class Decision:
    """One finding to try, or the reason to stop.

    Attributes:
        finding: what to try; None to stop.
        reason: a short code.
        why: the reason in words, with its figures.
        untried: further findings above the noise that are not ruled out, most promising first.
        ruled_out: findings that are not worth another try.
    """

    finding: Finding | None
    reason: Ground
    why: str
    untried: tuple[Finding, ...] = ()
    ruled_out: tuple[RuledOut, ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """Where a loop stands.

    Attributes:
        story: the loop.
        outlook: its best run after all checks; None where it could not be read.
        progress: how far its target is; None where none was set.
        noise_share: a smaller relative change cannot be measured.
        gone: why the best run could not be read.
        now: seconds since 1970.
    """

    story: Story
    outlook: Outlook | None
    progress: Progress | None
    noise_share: float
    gone: str | None
    now: float


def decide(position: Position) -> Decision:
    """The decision for a loop that stands here."""
    outlook, stop = position.outlook, _end(position)
    if stop is not None:
        return stop
    if outlook is None:
        return Decision(None, "blocked", position.gone or "the best run's report cannot be read")
    story, noise_us = position.story, position.noise_share * outlook.kernel_ns / 1e3
    worth = [finding for finding in outlook.findings if finding.saving_us.at_most > noise_us]
    barred = {
        finding.check: out
        for finding in worth
        if (out := ruled_out(finding.check, finding.saving_us.at_most, story.experiments, noise_us)) is not None
    }
    untried = [finding for finding in worth if finding.check not in barred]
    outs = tuple(barred.values())
    if untried:
        why = _promise(story, untried[0], position.progress)
        return Decision(untried[0], "promising", why, (*untried[1:],), outs)
    if outs:
        listed = ", ".join(f"{out.check} in #{out.experiment}" for out in outs)
        return Decision(None, "all_tried", f"every finding above the noise was tried: {listed}", (), outs)
    return Decision(
        None, "within_noise", f"no finding can save more than the noise of {figure(noise_us, '.4g')} us"
    )


def _end(position: Position) -> Decision | None:
    """The reason to stop that lies in the target; None where it does not end the loop."""
    target, progress, outlook = position.story.target, position.progress, position.outlook
    if progress is not None and progress.status == "met":
        return Decision(None, "target_met", progress.why)
    if target is None:
        return None
    if spent := _spent(position.story, target, position.now):
        return Decision(None, "budget_spent", spent)
    if outlook is not None and (beyond := _beyond(target, outlook)):
        return Decision(None, "out_of_reach", beyond)
    return None


def _spent(story: Story, target: Target, now: float) -> str | None:
    rounds = sum(experiment.recorded >= target.recorded for experiment in story.experiments)
    hours = (now - target.recorded) / 3600
    if target.rounds is not None and rounds >= target.rounds:
        return f"{rounds} of {target.rounds} rounds are spent"
    if target.hours is not None and hours >= target.hours:
        return f"{figure(hours, '.1f')} of {figure(target.hours, 'g')} hours are spent"
    return None


def _beyond(target: Target, outlook: Outlook) -> str | None:
    """A sentence if no program on this chip can meet the target."""
    lowest_ms = outlook.lowest_ns / 1e6
    if target.kind == "roofline_share":
        return None
    allowed_ms = target.value if target.kind == "latency_ms" else 1e3 * target.batch / target.value
    if allowed_ms >= lowest_ms:
        return None
    return (
        f"target {target.text} allows {figure(allowed_ms, '.4g')} ms, but the "
        f"floor is {figure(lowest_ms, '.4g')} ms ({ASSUMED})"
    )


def _promise(story: Story, finding: Finding, progress: Progress | None) -> str:
    parts = [f"{finding.check} saves at most {figure(finding.saving_us.at_most, '.4g')} us"]
    last = next((each for each in reversed(story.experiments) if each.finding == finding.check), None)
    if last is not None:
        undecided = last is story.experiments[-1] and last.verdict == "inconclusive"
        more = "; profile more iterations" if undecided else ""
        parts.append(f"tried in #{last.id}, not decided against{more}")
    if progress is not None and progress.status == "out_of_reach":
        parts.append("all findings together do not reach the target")
    recent = story.experiments[-FLAT_ROUNDS:]
    if len(recent) == FLAT_ROUNDS and all(experiment.verdict != "keep" for experiment in recent):
        parts.append(f"{FLAT_ROUNDS} rounds without a gain: look at time_budget before this try")
    return "; ".join(parts)
