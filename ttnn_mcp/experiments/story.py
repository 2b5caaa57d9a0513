"""The story of one loop: where it began, which changes were kept, and which run is the best.

Experiments belong to one loop if they share a run, as baseline or candidate, directly or through other experiments.
Different models have no run in common, so they are different loops in one store. The skill's checklist has nine ticks;
each is measured, recorded, or not shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from ttnn_mcp.checks.check import STEP_TITLES
from ttnn_mcp.experiments.rules import PCC_AT_LEAST
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.experiments.experiment import Experiment, RunSeen, Target
    from ttnn_mcp.experiments.outlook import Outlook


RestsOn: TypeAlias = Literal["measured", "recorded", "not shown"]


class Tick(NamedTuple):
    """One line of the checklist; it is ticked unless `rests_on` is "not shown"."""

    tick: str
    rests_on: RestsOn
    why: str


@dataclass(frozen=True, slots=True)
class Story:
    """One loop.

    Attributes:
        experiments: in the order in which they were recorded.
        baseline: the run from which the loop started.
        best: the run to continue from: the last candidate in `kept`, otherwise the baseline.
        kept: the kept experiments that lead from `baseline` to `best`.
        target: the target, with the batch of `best`; None if none was set.
        others: how many other loops the store has.
    """

    experiments: tuple[Experiment, ...]
    baseline: RunSeen
    best: RunSeen
    kept: tuple[Experiment, ...]
    target: Target | None
    others: int

    @property
    def gain_share(self) -> float:
        """Relative change of kernel time per sample from baseline to best; negative is faster."""
        batches = _batches(self.experiments, self.baseline)
        per_sample = self.best.kernel_ns / batches.get(self.best.id, 1.0)
        return per_sample / self.baseline.kernel_ns - 1 if self.baseline.kernel_ns else 0.0

    @property
    def wall_ms(self) -> float | None:
        """Wall time in ms of the best run with the profiler off; None where nobody gave one."""
        return self._wall_of(self.best)

    @property
    def likely_wall_ms(self) -> float | None:
        """The same; where nobody gave one, that of the last run before it, changed as its kernel time was."""
        for run in (self.best, *(one.baseline for one in reversed(self.kept))):
            if (wall_ms := self._wall_of(run)) is not None:
                return wall_ms + (self.best.kernel_ns - run.kernel_ns) / 1e6
        return None

    def _wall_of(self, run: RunSeen) -> float | None:
        """The last one on record of the same window: when it was made, or when something was tried on it."""
        known: float | None = None
        for one in (one for one in self.experiments if not one.has_wrong_walls):
            for side, wall_ms in ((one.baseline, one.wall_before_ms), (one.candidate, one.wall_after_ms)):
                of_it = (side.id, side.reading) == (run.id, run.reading)
                if of_it and wall_ms is not None and wall_ms * 1e6 >= run.kernel_ns:
                    known = wall_ms
        return known

    @property
    def final_pcc(self) -> float | None:
        """The PCC that was recorded with the best run; None where nobody gave one."""
        return self.kept[-1].pcc if self.kept else None

    def of_step(self, step: int) -> tuple[Experiment, ...]:
        """The experiments for a step of the skill."""
        return tuple(experiment for experiment in self.experiments if experiment.step == step)


def alone(run: RunSeen) -> Story:
    """The story of a run that no experiment has yet."""
    return Story((), run, run, (), None, 0)


def story_of(experiments: Sequence[Experiment], targets: Iterable[Target], run: str | None = None) -> Story | None:
    """The loop with the given run, or for None the loop that was recorded last; None where there is no such loop."""
    targets = sorted(targets, key=lambda target: target.recorded)
    links = [(experiment.baseline.id, experiment.candidate.id) for experiment in experiments]
    links += [(target.baseline.id, target.baseline.id) for target in targets]
    loop_of = _loops(links)
    if run is None:
        latest = [(record.recorded, record.baseline.id) for record in (*experiments, *targets)]
        run = max(latest)[1] if latest else None
    if run not in loop_of:
        return None
    loop = loop_of[run]
    members = tuple(experiment for experiment in experiments if loop_of[experiment.baseline.id] == loop)
    goals = [target for target in targets if loop_of[target.baseline.id] == loop]
    baselines = [record.baseline for record in (*members, *goals)]
    first = [run for run in baselines if run.id == baselines[0].id]
    start = max(first, key=lambda run: run.kernel_ns)  # of a part of it less is on record
    chain = _kept_chain(members, start)
    best = chain[-1].candidate if chain else start
    target = _at_best(goals[-1], _batches(members, best)) if goals else None
    return Story(members, start, best, chain, target, len(set(loop_of.values())) - 1)


def _at_best(target: Target, batches: Mapping[str, float]) -> Target:
    """The target with the batch of the best run, of which the batches are shares: it was given for another run."""
    return replace(target, batch=max(1, round(target.batch / batches.get(target.baseline.id, 1.0))))


def _batches(experiments: Iterable[Experiment], run: RunSeen) -> dict[str, float]:
    """Run id -> its samples per iteration, over those of `run`, as far as experiments lead from one to the other."""
    links: dict[str, list[tuple[str, float]]] = {}
    for one in experiments:
        links.setdefault(one.baseline.id, []).append((one.candidate.id, one.batch_ratio))
        links.setdefault(one.candidate.id, []).append((one.baseline.id, 1 / one.batch_ratio))
    batches, waiting = {run.id: 1.0}, [run.id]
    while waiting:
        here = waiting.pop()
        for other, ratio in links.get(here, ()):
            if other not in batches:
                batches[other] = batches[here] * ratio
                waiting.append(other)
    return batches


def _loops(links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Run id -> the id of the run that represents its loop."""
    parent: dict[str, str] = {}

    def root(run: str) -> str:
        while parent.setdefault(run, run) != run:
            run = parent[run]
        return run

    for before, after in links:
        parent[root(after)] = root(before)
    return {run: root(run) for run in parent}


def _kept_chain(experiments: Sequence[Experiment], start: RunSeen) -> tuple[Experiment, ...]:
    """The kept experiments, each starting from the one before.

    A kept experiment that starts from an earlier run replaces what followed that run, but only if it is faster.
    """
    chain: list[Experiment] = []
    batches = _batches(experiments, start)
    for experiment in experiments:
        if experiment.verdict != "keep":
            continue
        best = chain[-1].candidate if chain else start
        if experiment.baseline.id == best.id:
            chain.append(experiment)
            continue
        until = next(
            (place for place, former in enumerate(chain) if former.candidate.id == experiment.baseline.id), -1
        )
        candidate = experiment.candidate
        per_sample = candidate.kernel_ns / batches[candidate.id]
        if experiment.judged_by == "kernel" and per_sample < best.kernel_ns / batches[best.id]:
            chain = [*chain[: until + 1], experiment]
    return tuple(chain)


def pcc_holds(story: Story) -> bool:
    """Whether the best run's PCC was recorded and is good enough."""
    return story.final_pcc is not None and story.final_pcc >= PCC_AT_LEAST


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
