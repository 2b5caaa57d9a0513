"""The loop's next move: one finding to try on the best run, or why to stop."""

from __future__ import annotations

from dataclasses import astuple
from math import inf

from ttnn_mcp.experiments.decision import Decision
from ttnn_mcp.experiments.story import Story, alone, story_of
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.parts.loop_answer import RULED_OUT, Answer, Decided
from ttnn_mcp.tools.parts.loop_runs import best_line, best_run_now, log_of, run_line, seen_alone
from ttnn_mcp.tools.parts.loop_story import decision_of, target_progress
from ttnn_mcp.wire import NextCall, QuotedCell

RULED_OUT_SHOWN = 10


async def next_move(session: Session, baseline: str | None) -> Answer:
    """The decision for the loop that holds `baseline`, else for the latest; a run without a loop begins one.

    Raises:
        RunUnknown: there is no loop and no report.
        StoreUnusable: the log cannot be read.
    """
    known, targets = await log_of(session).all()
    story = story_of(known, targets) if baseline is None else None
    if story is None:
        run = await session.run(baseline)
        story = story_of(known, targets, run.id) or alone(await seen_alone(run))
    best = await best_run_now(session, story, inf)
    decision = decision_of(story, best)
    return Answer(
        baseline=run_line(story.baseline),
        best=best_line(story),
        target=target_progress(story, best),
        decided=_decided(decision),
        next=_calls(story, decision, best.wall_ms),
    )


def _decided(decision: Decision) -> Decided:
    finding, outs = decision.finding, decision.ruled_out
    table = RULED_OUT.exact([astuple(out) for out in outs[:RULED_OUT_SHOWN]]) if outs else None
    if finding is None:
        return Decided(decision="stop", reason=decision.reason, why=decision.why, ruled_out=table)
    return Decided(
        decision="try",
        reason=decision.reason,
        why=decision.why,
        finding=finding.check,
        step=finding.step,
        saving_us=finding.saving_us,
        fix=finding.fix,
        read_next=finding.read_next,
        ruled_out=table,
    )


def _calls(story: Story, decision: Decision, wall_ms: float | None) -> tuple[NextCall, ...]:
    if decision.finding is None:
        return ()
    record = NextCall(
        tool="experiments",
        arguments={"action": "record", "finding": decision.finding.check, "baseline": story.best.id},
        why="after the change: add change, candidate and pcc",
    )
    asked: dict[str, QuotedCell] = {"run": story.best.id}
    if wall_ms is not None:
        asked["wall_ms"] = wall_ms
    return NextCall(tool="optimization_check", arguments=asked, why="its evidence, rows and caveats"), record
