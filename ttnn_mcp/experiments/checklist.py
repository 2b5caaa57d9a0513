"""The skill's checklist of nine ticks; each is measured, recorded, or not shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ttnn_mcp.checks.check import STEP_TITLES
from ttnn_mcp.experiments.story import pcc_holds
from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.experiments.outlook import Outlook
    from ttnn_mcp.experiments.story import Story

RestsOn: TypeAlias = Literal["measured", "recorded", "not shown"]


class Tick(NamedTuple):
    """One line of the checklist; it is ticked unless `rests_on` is "not shown"."""

    tick: str
    rests_on: RestsOn
    why: str


def checklist(story: Story | None, outlook: Outlook | None) -> list[Tick]:
    """All nine ticks, in the order of the skill."""
    return [_baseline(story), *(_step(step, story, outlook) for step in STEP_TITLES), _accuracy(story)]


def _baseline(story: Story | None) -> Tick:
    if story is None:
        return Tick("Baseline", "not shown", "nothing recorded yet")
    lacks = [
        *([] if story.baseline.warm else ["no warm iteration"]),
        *([] if story.target else ["no target set"]),
    ]
    return Tick("Baseline", "not shown" if lacks else "measured", " and ".join(lacks) or f"run {story.baseline.id}")


def _step(step: int, story: Story | None, outlook: Outlook | None) -> Tick:
    name = f"{step} {STEP_TITLES[step]}"
    status = (
        next((step_status for step_status in outlook.steps if step_status.step == step), None) if outlook else None
    )
    if status is not None and status.status in ("clean", "not_applicable"):
        return Tick(name, "measured", f"{status.status.replace('_', ' ')} on the best run")
    tried = story.of_step(step) if story else ()
    decided = [
        f"#{experiment.id} {experiment.verdict}" for experiment in tried if experiment.verdict != "inconclusive"
    ]
    if decided:
        return Tick(name, "recorded", ", ".join(decided[-3:]))
    if tried:
        return Tick(name, "not shown", f"#{tried[-1].id} inconclusive")
    return Tick(name, "not shown", status.status.replace("_", " ") if status else "not tried")


def _accuracy(story: Story | None) -> Tick:
    if story is not None and pcc_holds(story):
        return Tick("Final PCC", "recorded", f"{figure(story.final_pcc, '.5g')} with the best run")
    return Tick("Final PCC", "not shown", "no PCC of the best run")
