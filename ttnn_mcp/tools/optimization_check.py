"""optimization_check: the skill's seven steps diagnosed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from ttnn_mcp.analyses.memory.death import death_of
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.diagnosis import diagnose
from ttnn_mcp.errors import shown
from ttnn_mcp.run.trust import caveats_of
from ttnn_mcp.tools.cursor import offset_of
from ttnn_mcp.tools.tool import Budget, OfWindow, Tool
from ttnn_mcp.wire import Columns, Finding, Ms, NextCall, Quoting, Share, StepStatus, Table, Window, Wire

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.unexplained import Unexplained
    from ttnn_mcp.run.run import Run

UNEXPLAINED = Columns("op_code", "ops", "time_us", "share", "roofline", "heaviest_op", quoted=("op_code",))
CAVEATS_SHOWN = 4


class Arguments(OfWindow):
    """Arguments of optimization_check."""

    steps: list[Annotated[int, Field(ge=1, le=7)]] | None = Field(None, description="Only these steps")
    min_saving_share: float = Field(0.005, ge=0, le=1, description="Drop findings below this share of kernel time")
    cursor: str | None = Field(None, coerce_numbers_to_str=True, description="next_cursor")


class Answer(Wire):
    """Answer of optimization_check."""

    kernel_ms: Ms
    findings: tuple[Finding, ...]
    steps: tuple[StepStatus, ...]
    unexplained_share: Share
    unexplained: Annotated[Table, UNEXPLAINED]
    trust: tuple[Quoting, ...]
    next: tuple[NextCall, ...]
    next_cursor: str | None = None
    window: Window


def optimization_check(facts: WindowFacts, asked: Arguments) -> Answer:
    """Why is this TTNN model slow? Diagnoses the seven optimisation steps from a profile.

    Findings ranked by what they can save, each with evidence, bounds, a fix and how to verify it.
    """
    wanted = [check for check in CATALOGUE if asked.steps is None or check.step in asked.steps]
    others = [check for check in CATALOGUE if check not in wanted]  # unmoved: asking twice only takes time
    diagnosis = diagnose(facts, wanted, min_saving_share=asked.min_saving_share, others=others, earlier_runs=True)
    page = diagnosis.findings[offset_of(asked.cursor, asked, facts.run.id) :]
    return Answer(
        kernel_ms=facts.total_ns / 1e6,
        findings=page,
        steps=diagnosis.steps,
        unexplained_share=diagnosis.unexplained.share,
        unexplained=_unexplained(facts, diagnosis.unexplained),
        trust=tuple(_trust(facts.run)),
        next=tuple(_next(facts.run, page)),
        window=facts.scope.window,
    )


def _unexplained(facts: WindowFacts, left: Unexplained) -> Table:
    rows = [
        (
            shown(kind.name),
            kind.ops,
            kind.kernel_ns / 1e3,
            kind.kernel_ns / facts.total_ns,
            kind.roofline,
            facts.line(kind.heaviest),
        )
        for kind in left.kinds
    ]
    return UNEXPLAINED.table(rows)


def _trust(run: Run) -> list[str]:
    """Caveats, the columns that the report lost first: they cost whole answers."""
    lost = run.performance_report.csv.lost
    death = death_of(run.memory) if run.memory is not None else None
    died = [f"{death.sentence}; memory_summary tells why"] if death else []
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
        calls.append(
            NextCall(
                tool="skill_step", arguments={"page": "quick-reference"}, why="how to profile a warm iteration"
            )
        )
    if page:
        calls.append(
            NextCall(
                tool="skill_step",
                arguments={"page": page[0].read_next.removesuffix(".md")},
                why=f"how to fix {page[0].check}",
            )
        )
    return calls


TOOL = Tool(
    name="optimization_check",
    title="Optimization check",
    arguments=Arguments,
    answer=Answer,
    ask=optimization_check,
    about="window",
    needs=("performance",),
    replay=True,
    budget=Budget(6_000, cut=("findings",)),  # 1,500 tokens
    narrow=("steps", "min_saving_share"),
    always_loaded=True,
    search_hint="why slow bottleneck diagnose optimize findings",
)
