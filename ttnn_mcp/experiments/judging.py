"""One experiment judged: the figure that counts, every reason to doubt it, the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.comparability import judgement_of
from ttnn_mcp.analyses.comparison.engagement import engaged_of
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.analyses.memory.accuracy import losses_of, worst_global
from ttnn_mcp.experiments.doubts import doubts_of_change, doubts_of_log, unexplained
from ttnn_mcp.experiments.experiment import Experiment
from ttnn_mcp.experiments.rules import decide, measure, memory_gain, unproven_gain
from ttnn_mcp.experiments.runs_seen import seen
from ttnn_mcp.experiments.statement import statement_of
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.engaged import Engaged
    from ttnn_mcp.analyses.comparison.grouping import Delta
    from ttnn_mcp.analyses.memory.memory_comparison import MemoryDelta
    from ttnn_mcp.experiments.rules import Measurement, Walls
    from ttnn_mcp.experiments.story import Story


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a person says of an experiment; `part` where it is about what lies between signposts."""

    change: str
    step: int | None = None
    pcc: float | None = None
    walls: Walls | None = None
    hypothesis: str | None = None
    note: str | None = None
    part: bool = False


@dataclass(frozen=True, slots=True)
class ExperimentJudged:
    """An experiment with its verdict, not yet recorded.

    Attributes:
        experiment: what will be recorded.
        total: kernel time of both windows.
        reasons: why nothing may be kept.
        changes: where the stated change took hold; where the statement fits nothing, what differs most.
        taken_as: what was taken as the stated change.
    """

    experiment: Experiment
    total: Delta
    reasons: tuple[Reason, ...]
    changes: tuple[Engaged, ...]
    taken_as: str


def judged(
    comparison: Comparison,
    attempt: Attempt,
    memory: MemoryDelta | None = None,
    known: Sequence[Experiment] = (),
    story: Story | None = None,
) -> ExperimentJudged:
    """Judge one change.

    Args:
        comparison: the runs before and after it.
        attempt: what was said of it.
        memory: what it did to memory; None where that is not known.
        known: all experiments on record.
        story: the loop that it joins; None where it begins one.
    """
    judgement = judgement_of(comparison)
    statement, changes = statement_of(attempt.change, attempt.step), engaged_of(comparison)
    measured = measure(comparison, attempt.step, attempt.walls, judgement)
    draft = _draft(comparison, attempt, measured, judgement.verdict)
    reasons = [
        *unexplained(judgement.reasons, statement),
        *doubts_of_change(comparison, statement, changes, attempt.step, attempt.walls),
        *doubts_of_log(known, story, draft, part=attempt.part),
        *_accuracy_lost(comparison),
    ]
    reasons = list({reason.code: reason for reason in reversed(reasons)}.values())[::-1]
    gain = memory_gain(memory) if measured.judged_by != "wall" else None
    verdict, why = decide(measured, draft.pcc, reasons, gain)
    if attempt.pcc is None and draft.pcc is not None:
        why += " (the lowest global comparison of the memory report: none was given)"
    if verdict == "inconclusive" and (floors := unproven_gain(memory)):
        why += f"; {floors}"
    experiment = replace(draft, verdict=verdict, why=why, flags=tuple(f"{one.code}: {one.what}" for one in reasons))
    if gain is not None and verdict == "keep" and not measured.faster:  # unmoved: only a gain is kept else
        experiment = replace(experiment, judged_by="memory", change_share=gain.change_share)
    meant = statement.meant(changes)
    taken_as = statement.basis if meant or not changes else f"{statement.basis}; shown is what differs most"
    return ExperimentJudged(experiment, comparison.total, tuple(reasons), tuple(meant or changes), taken_as)


def of_whole_runs(experiment: Experiment, whole: Comparison) -> Experiment:
    """An experiment on a part of the runs, for a loop that follows whole ones: its verdict stays, its runs are whole.

    The wall times of a part are none of its run.
    """
    return replace(
        experiment,
        baseline=seen(whole.before.run, whole.before.scope, whole.total.before_ns),
        candidate=seen(whole.after.run, whole.after.scope, whole.total.after_ns),
        wall_before_ms=None,
        wall_after_ms=None,
    )


def _draft(comparison: Comparison, attempt: Attempt, measured: Measurement, verdict: str) -> Experiment:
    total, memory = comparison.total, comparison.after.run.memory
    pcc = attempt.pcc if attempt.pcc is not None or memory is None else worst_global(memory)
    return Experiment(
        change=attempt.change,
        step=attempt.step,
        baseline=seen(comparison.before.run, comparison.before.scope, total.before_ns),
        candidate=seen(comparison.after.run, comparison.after.scope, total.after_ns),
        pcc=pcc,
        wall_before_ms=attempt.walls.before_ms if attempt.walls else None,
        wall_after_ms=attempt.walls.after_ms if attempt.walls else None,
        measured=verdict,
        judged_by=measured.judged_by,
        change_share=measured.change_share,
        noise_share=measured.noise_share,
        verdict="inconclusive",
        why="",
        hypothesis=attempt.hypothesis,
        note=attempt.note,
    )


def _accuracy_lost(comparison: Comparison) -> list[Reason]:
    """What the candidate's own comparison records say of its accuracy."""
    memory = comparison.after.run.memory
    losses = losses_of(memory) if memory is not None else []
    return [Reason("accuracy_lost", loss.sentence) for loss in losses[:1]]
