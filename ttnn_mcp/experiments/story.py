"""The story so far of one loop: where it began, what was kept, the best run, what each step came to.

A loop is every experiment whose runs are linked, by being another's baseline or candidate. Different models have no
run in common, so they are different loops in one store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn_mcp.experiments.rules import PCC_AT_LEAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ttnn_mcp.experiments.experiment import Experiment, RunSeen, Target


@dataclass(frozen=True, slots=True)
class Story:
    """One loop.

    Attributes:
        experiments: in the order recorded.
        baseline: the run the loop started from.
        best: the run to go on from: the end of the chain of kept changes.
        kept: the experiments that lead from `baseline` to `best`.
        target: None where none was set.
        others: loops of other models in the store.
    """

    experiments: tuple[Experiment, ...]
    baseline: RunSeen
    best: RunSeen
    kept: tuple[Experiment, ...]
    target: Target | None
    others: int

    @property
    def gain_share(self) -> float:
        """Relative change of kernel time from baseline to best; negative is faster."""
        return self.best.kernel_ns / self.baseline.kernel_ns - 1 if self.baseline.kernel_ns else 0.0

    @property
    def wall_ms(self) -> float | None:
        """Wall time of the best run measured with the profiler off, where it was given."""
        return next((one.wall_after_ms for one in reversed(self.kept) if one.candidate.id == self.best.id), None)

    @property
    def final_pcc(self) -> float | None:
        """The PCC recorded with the best run."""
        return next((one.pcc for one in reversed(self.kept) if one.candidate.id == self.best.id), None)

    def of_step(self, step: int) -> tuple[Experiment, ...]:
        """What was tried for a step of the skill."""
        return tuple(one for one in self.experiments if one.step == step)


def story_of(experiments: Sequence[Experiment], targets: Iterable[Target], run: str | None = None) -> Story | None:
    """The loop that holds `run`, else the one recorded last; None where there is none."""
    targets = sorted(targets, key=lambda one: one.recorded)
    links = [(one.baseline.id, one.candidate.id) for one in experiments]
    links += [(one.baseline.id, one.baseline.id) for one in targets]
    loop_of = _loops(links)
    if run is None:
        latest = [(one.recorded, one.baseline.id) for one in (*experiments, *targets)]
        run = max(latest)[1] if latest else None
    if run not in loop_of:
        return None
    loop = loop_of[run]
    own = tuple(one for one in experiments if loop_of[one.baseline.id] == loop)
    goals = [one for one in targets if loop_of[one.baseline.id] == loop]
    start = own[0].baseline if own else goals[0].baseline
    kept = _kept_chain(own, start)
    best = kept[-1].candidate if kept else start
    return Story(own, start, best, kept, goals[-1] if goals else None, len(set(loop_of.values())) - 1)


def _loops(links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Run id -> the id that stands for its loop."""
    parent: dict[str, str] = {}

    def root(run: str) -> str:
        while parent.setdefault(run, run) != run:
            run = parent[run]
        return run

    for before, after in links:
        parent[root(after)] = root(before)
    return {run: root(run) for run in parent}


def _kept_chain(experiments: Sequence[Experiment], start: RunSeen) -> tuple[Experiment, ...]:
    """Kept changes one upon the other. One that began elsewhere takes over only where it ends faster."""
    chain: list[Experiment] = []
    for one in experiments:
        if one.verdict != "keep":
            continue
        best = chain[-1].candidate if chain else start
        if one.baseline.id == best.id:
            chain.append(one)
            continue
        until = next((n for n, kept in enumerate(chain) if kept.candidate.id == one.baseline.id), -1)
        if one.judged_by == "kernel" and one.candidate.kernel_ns < best.kernel_ns:
            chain = [*chain[: until + 1], one]
    return tuple(chain)


def pcc_holds(story: Story) -> bool:
    """Whether the best run's PCC was recorded and is good enough."""
    return story.final_pcc is not None and story.final_pcc >= PCC_AT_LEAST


def flags_of(story: Story | None, experiment: Experiment) -> list[str]:
    """What is odd about an experiment, given the loop it joins."""
    said: list[str] = []
    if experiment.baseline.id == experiment.candidate.id:
        said.append("both runs are the same one: nothing was measured")
    if story is None:
        return said
    if experiment.baseline.id != story.best.id:
        said.append(f"its baseline is not the best run so far ({story.best.name}, {story.best.id})")
    again = [one.id for one in story.experiments if one.candidate.id == experiment.candidate.id]
    if again:
        said.append(f"the same candidate run as experiment {again[-1]}")
    return said


def overwritten(experiments: Iterable[Experiment], run: RunSeen) -> str | None:
    """Whether the file of `run` held another run when an experiment was recorded."""
    for one in experiments:
        for seen in (one.baseline, one.candidate):
            if run.performance is not None and seen.performance == run.performance and seen.id != run.id:
                return (
                    f"{run.name}: its report was overwritten; in experiment {one.id} that file held run {seen.id}"
                )
    return None
