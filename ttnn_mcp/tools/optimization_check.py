"""optimization_check: the plan for a window, and the findings behind it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Literal

from pydantic import Field

from ttnn_mcp.analyses.time_budget.least_times import MODELLED
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import Diagnosis, diagnose
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.trust import caveats_of
from ttnn_mcp.tools.budget import offset_of
from ttnn_mcp.tools.parts.memory_errors import ending_of
from ttnn_mcp.tools.parts.plan_tables import (
    PLAN,
    RISKS,
    SETTINGS,
    TRIALS,
    UNEXPLAINED,
    plan_table,
    risks_table,
    settings_table,
    trials_table,
    unexplained_table,
)
from ttnn_mcp.tools.parts.without_times import PredictedPlan, predicted_plan, refuse_device_arguments
from ttnn_mcp.tools.tool import Budget, OfWindow, Tool, WallMs, refuse_other_rows
from ttnn_mcp.wire import Finding, Ms, NextCall, Quoting, Share, StepStatus, Table, Us, Window, Wire

CAVEATS_SHOWN = 4


class Arguments(OfWindow):
    """Arguments of optimization_check."""

    steps: list[Annotated[int, Field(ge=1, le=7)]] | None = Field(None, description="Only these steps")
    details: list[str] | None = Field(None, description="Findings of these edits")
    min_saving_share: float = Field(0.005, ge=0, le=1, description="Drop edits that save a smaller share")
    wall_ms: WallMs = None
    cursor: str | None = Field(None, coerce_numbers_to_str=True, description="next_cursor")


class Total(Wire):
    """The window before the plan, and at best after it; of `details` those edits alone are made.

    `of` names the whole that every share speaks of; `expected_after_us` is what is left if each edit saves what is
    expected of it, and trials nothing; `floor_us` is what is left at peak rates after the plan, and at least a launch
    for each op, `speed_of_light_us` the same of the program as it is. Where they model only a part of the kernel
    time, `modelled_share` is that part, and more is needed.
    """

    of: Literal["kernels and gaps", "kernels"]
    before_us: Us
    after_us: Us
    expected_after_us: Us
    floor_us: Us
    speed_of_light_us: Us
    modelled_share: Share | None = None


class Answer(Wire):
    """Answer of optimization_check; pages behind the first hold findings only, `settings` come with details."""

    ran_out: Quoting | None = None
    kernel_ms: Ms | None = None
    total: Total | None = None
    plan: Annotated[Table, PLAN] | None = None
    smaller_edits: int = 0
    trials: Annotated[Table, TRIALS] | None = None
    risks: Annotated[Table, RISKS] | None = None
    settings: Annotated[Table, SETTINGS] | None = None
    predicted: PredictedPlan | None = None
    findings: tuple[Finding, ...]
    steps: tuple[StepStatus, ...] = ()
    unexplained_us: dict[str, Us] = Field(default={})
    unexplained: Annotated[Table, UNEXPLAINED] | None = None
    trust: tuple[Quoting, ...]
    next: tuple[NextCall, ...] = ()
    next_cursor: str | None = None
    window: Window | None = None


async def optimization_check(facts: WindowFacts, asked: Arguments) -> Answer:
    """Why is this TTNN model slow, and what to change in which order? Diagnoses the seven optimisation steps.

    A plan of all edits: what each is expected to save (8 of 10 between low and high) and saves at most, alone and
    after those above it; a trial tells how many measured tries gained. Then the total beside the speed of light, and
    findings, each with evidence, savings, a fix and how to verify it; `details` names edits. On a memory report
    alone: predicted by laws of time.
    """
    if asked.wall_ms is not None:
        refuse_other_rows(facts, facts.timeline, asked.wall_ms)
        facts = facts.of_wall(asked.wall_ms * 1e6)
    wanted = [check for check in CATALOGUE if asked.steps is None or check.step in asked.steps]
    diagnosis = diagnose(
        facts, wanted, min_saving_share=asked.min_saving_share, others=CATALOGUE, earlier_runs=True
    )
    findings = diagnosis.findings if asked.details is None else _of_edits(diagnosis, asked.details)
    offset = offset_of(asked.cursor, asked, facts.run.id)
    page = findings[offset:]
    ending = await ending_of(facts.run)
    answer = Answer(
        ran_out=ending.ran_out,
        kernel_ms=facts.total_ns / 1e6,
        findings=page,
        trust=tuple(_trust(facts.run, ending.died)),
        window=facts.scope.window,
    )
    if offset:
        return answer
    plan = diagnosis.plan if asked.details is None else diagnosis.plan.only(asked.details)
    total = Total(
        of=plan.of,
        before_us=plan.before_ns / 1e3,
        after_us=plan.after_ns / 1e3,
        expected_after_us=plan.expected_ns / 1e3,
        floor_us=float(plan.floors_ns.sum()) / 1e3,
        speed_of_light_us=float(plan.ground.floors.sum()) / 1e3,
        modelled_share=facts.modelled_share if facts.modelled_share < MODELLED else None,
    )
    if asked.details is not None:
        settings = settings_table(facts, diagnosis.configs, plan.edits)
        return answer.model_copy(update={"total": total, "settings": settings})
    least_ns = asked.min_saving_share * plan.before_ns
    return answer.model_copy(
        update={
            "total": total,
            "plan": plan_table(facts, plan, least_ns),
            "smaller_edits": sum(ranked.alone_ns < least_ns for ranked in plan.ranked)
            + len(plan.trials)
            - len(plan.trials_from(least_ns)),
            "trials": trials_table(facts, plan, least_ns),
            "risks": risks_table(facts, plan),
            "steps": diagnosis.steps,
            "unexplained_us": {why: ns / 1e3 for why, ns in diagnosis.unexplained.by_why.items()},
            "unexplained": unexplained_table(facts, diagnosis.unexplained),
            "next": tuple(_next(facts.run, page)),
        }
    )


async def plan_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: what laws of time predict that settings would change."""
    refuse_device_arguments(asked)
    offset_of(asked.cursor, asked, run.id)
    ending = await ending_of(run)
    calls = {
        "memory_summary": "does it fit L1, where is the peak, what is freed late",
        "time_budget": "which kinds of op the prediction is about, and why no law covers the others",
    }
    return Answer(
        ran_out=ending.ran_out,
        predicted=await predicted_plan(run),
        findings=(),
        trust=(
            *((f"{ending.died}; memory_summary tells why",) if ending.died else ()),
            f"the {len(CATALOGUE)} checks of the seven steps need device times: none of them was asked",
            *run.chip.caveats,
        )[:CAVEATS_SHOWN],
        next=tuple(NextCall(tool=tool, arguments={"run": run.id}, why=why) for tool, why in calls.items()),
    )


def _of_edits(diagnosis: Diagnosis, names: list[str]) -> tuple[Finding, ...]:
    """The findings of some edits.

    Raises:
        QuestionRefused: there is no such edit; names the nearest.
    """
    known = [edit.name for edit in diagnosis.plan.edits]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"Did you mean '{near[0]}'?" if near else "Take names from the plan of optimization_check."
            raise QuestionRefused(f"The plan of this window has no edit '{shown(name)}'. {hint}")
    return tuple(finding for finding in diagnosis.findings if finding.edit in names)


def _trust(run: Run, death: str | None) -> list[str]:
    """Caveats, the columns that the report lost first: they cost whole answers."""
    lost = run.performance_report.csv.lost
    died = [f"{death}; memory_summary tells why"] if death else []
    others = [caveat for caveat in (*run.chip.caveats, *caveats_of(run.performance_report)) if caveat not in lost]
    return [*died, *lost, *others][: max(CAVEATS_SHOWN, len(died) + len(lost) + 1)]


def _next(run: Run, page: tuple[Finding, ...]) -> list[NextCall]:
    calls: list[NextCall] = []
    for finding in page:
        row = finding.evidence[0].row
        if isinstance(row, int):
            calls.append(
                NextCall(
                    tool="op_detail", arguments={"run": run.id, "op": row}, why=f"the op behind {finding.check}"
                )
            )
            break
    if not run.scope().window.warm:
        calls.append(NextCall(tool="skill_step", arguments={"page": "quick-reference"}, why="how to profile warm"))
    return calls


TOOL = Tool(
    name="optimization_check",
    title="Optimization check",
    arguments=Arguments,
    answer=Answer,
    ask=optimization_check,
    about="window",
    needs=("performance",),
    alone=plan_alone,
    replay=True,
    budget=Budget(6_300, cut=("findings",)),  # 1,600 tokens
    narrow=("steps", "details", "min_saving_share"),
    always_loaded=True,
    search_hint="why slow bottleneck diagnose optimize findings plan what first",
)
