"""compare_runs: did the change help?"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ttnn_mcp.analyses.comparison.comparability import Credit, Judgement, Verdict, judgement_of
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.edits import edits_of
from ttnn_mcp.analyses.comparison.engagement import engaged_of
from ttnn_mcp.analyses.comparison.grouping import Grouping
from ttnn_mcp.analyses.devices.host_gaps import slowest_timeline
from ttnn_mcp.analyses.memory.memory_comparison import memory_delta
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.parts import comparing as tables
from ttnn_mcp.tools.parts.comparing import RunsCompared, Windows, compared, runs_compared
from ttnn_mcp.tools.parts.memory_errors import ending_of
from ttnn_mcp.tools.parts.proof_tables import ENGAGED, SUSPICIOUS, engaged, suspicious
from ttnn_mcp.tools.tool import Arguments as Closed
from ttnn_mcp.tools.tool import Tool
from ttnn_mcp.wire import BeforeAfterMs, Ms, Quoting, Share, Table, Window, Wire

FEWER = (10, 7, 5, 3)  # rows tried until a default answer is short enough
ANSWER_BYTES = 3_900  # of the 4 kB of a default list


class Arguments(Closed):
    """Arguments of compare_runs."""

    baseline: str = Field(description="Run before the change")
    candidate: str | None = Field(None, description="Run after it; default: newest")
    iteration: Literal["last", "all"] | int = Field("last", description="Window of both")
    candidate_iteration: int | None = Field(None, description="If the candidate's differs")
    start_signpost: str | None = None
    end_signpost: str | None = None
    repeats: list[str] | None = Field(None, description="More runs of the baseline, for the noise")
    group_by: Grouping = "op_code"
    limit: int | None = Field(None, ge=1, le=200)
    picture: Literal["before_after"] | None = None


class Shares(Wire):
    """Shares on both sides."""

    before: Share
    after: Share


class SampleTimes(Wire):
    """Kernel time of one sample, where the batch differs; batches are None where it may be no batch at all."""

    batch_before: int | None
    batch_after: int | None
    before_ms: Ms
    after_ms: Ms
    change_share: Share


class Answer(Wire):
    """Answer of compare_runs."""

    ran_out: Quoting | None = None
    verdict: Verdict
    credit: Credit | None = None
    why: Quoting
    suspicious: Annotated[Table, SUSPICIOUS] | None = None
    caveats: tuple[Quoting, ...] = ()
    kernel_ms: BeforeAfterMs
    change_share: Share
    noise_share: Share
    noise_from: str
    per_sample: SampleTimes | None = None
    wall_ms: BeforeAfterMs | None = None
    busy_share: Shares | None = None
    groups: Annotated[Table, tables.GROUPS]
    layers: Annotated[Table, tables.GROUPS] | None = None
    stages: Annotated[Table, tables.GROUPS] | None = None
    added: Annotated[Table, tables.ADDED] | None = None
    removed: Annotated[Table, tables.REMOVED] | None = None
    rewritten: Annotated[Table, tables.REWRITTEN] | None = None
    changed: Annotated[Table, tables.CHANGED] | None = None
    engaged: Annotated[Table, ENGAGED] | None = None
    memory: Annotated[Table, tables.MEMORY] | None = None
    baseline: str
    candidate: str
    baseline_window: Window
    window: Window


def compare_runs(pair: RunsCompared, asked: Arguments) -> Answer:
    """Did a change help?

    Compares two runs like with like: verdict against the noise, deltas by op, layer and stage that add up to the total,
    what was inserted, removed, fused or changed, and where it took hold (`engaged`). No `suspicious` measurement is
    called faster; `credit`: whether one change made it so.
    """
    windows = Windows(asked.iteration, asked.candidate_iteration, asked.start_signpost, asked.end_signpost)
    return answer_of(compared(pair, windows), asked, pair)


async def _opened(session: Session, asked: Arguments) -> RunsCompared:
    pair = await runs_compared(session, asked.baseline, asked.candidate, asked.repeats or ())
    sides = {"candidate": await ending_of(pair.after), "baseline": await ending_of(pair.before)}
    short = [f"the {side} {ending.ran_out}" for side, ending in sides.items() if ending.ran_out]
    return pair._replace(memory=await memory_delta(pair.before, pair.after), ran_out="; ".join(short) or None)


def answer_of(comparison: Comparison, asked: Arguments, pair: RunsCompared) -> Answer:
    """The answer, with fewer rows where it would be long.

    Raises:
        QuestionRefused: grouped by layers, and there are none.
    """
    verdict = judgement_of(comparison)
    if asked.group_by == "layer" and comparison.layers is None:
        raise QuestionRefused("No block of ops repeats over most of the baseline: it has no layers to group by.")
    if asked.limit is not None:
        return _answer(comparison, verdict, pair, asked.group_by, asked.limit)
    answers = (_answer(comparison, verdict, pair, asked.group_by, rows) for rows in FEWER)
    short = (one for one in answers if len(one.model_dump_json(exclude_defaults=True)) <= ANSWER_BYTES)
    return next(short, None) or _answer(comparison, verdict, pair, asked.group_by, FEWER[-1])


def _answer(comparison: Comparison, verdict: Judgement, pair: RunsCompared, by: Grouping, rows: int) -> Answer:
    edits = edits_of(comparison)
    some = max(3, rows // 2)
    total = comparison.total
    per = comparison.per_sample
    wall, busy = _host(comparison)
    memory = pair.memory
    return Answer(
        ran_out=pair.ran_out,
        verdict=verdict.verdict,
        credit=verdict.credit,
        why=verdict.why,
        suspicious=suspicious(verdict.reasons),
        caveats=(*verdict.caveats, *(memory.caveats if memory else ())),
        kernel_ms=BeforeAfterMs(before=total.before_ns / 1e6, after=total.after_ns / 1e6),
        change_share=comparison.change_share,
        noise_share=comparison.noise.share,
        noise_from=comparison.noise.why,
        per_sample=None
        if per is None
        else SampleTimes(
            batch_before=per.batch[0] if per.batch else None,
            batch_after=per.batch[1] if per.batch else None,
            before_ms=per.before_ns / 1e6,
            after_ms=per.after_ns / 1e6,
            change_share=per.change_share,
        ),
        wall_ms=wall,
        busy_share=busy,
        groups=tables.groups(comparison.groups(by), rows),
        layers=tables.groups(comparison.groups("layer"), some) if by != "layer" and comparison.layers else None,
        stages=tables.groups(comparison.stages, some) if by != "stage" and len(comparison.stages) > 1 else None,
        added=tables.added(edits.added, some, comparison.ops[1].lines.tolist()),
        removed=tables.removed(edits.removed, some, comparison.ops[0].lines.tolist()),
        rewritten=tables.rewritten(edits.rewritten, some, comparison.ops[1].lines.tolist()),
        changed=tables.changed(comparison, some),
        engaged=engaged(engaged_of(comparison), some),
        memory=tables.memory(memory),
        baseline=comparison.before.run.id,
        candidate=comparison.after.run.id,
        baseline_window=comparison.before.scope.window,
        window=comparison.after.scope.window,
    )


def _host(comparison: Comparison) -> tuple[BeforeAfterMs | None, Shares | None]:
    """Wall time and busy share under the profiler; only where both windows are warm."""
    sides = (comparison.before, comparison.after)
    if not all(one.scope.window.warm for one in sides):
        return None, None
    before, after = (slowest_timeline(one.scope.ops, one.run.chip) for one in sides)
    wall = BeforeAfterMs(before=before.wall_ns / 1e6, after=after.wall_ns / 1e6)
    return wall, Shares(before=before.busy, after=after.busy)


TOOL = Tool(
    name="compare_runs",
    title="Compare runs",
    arguments=Arguments,
    answer=Answer,
    ask=compare_runs,
    about="pair",
    opens=_opened,
    needs=("performance",),
    search_hint="did it help before after faster slower regression diff speedup two profiles",
    view="ui://ttnn-mcp/pictures",
)
