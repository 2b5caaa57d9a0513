"""optimization_check: the skill's seven steps diagnosed."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from pydantic import Field

from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.checks import CATALOGUE
from ttnn_mcp.checks.case import case_of
from ttnn_mcp.checks.diagnosis import Diagnosis, diagnose
from ttnn_mcp.run.trust import caveats_of
from ttnn_mcp.tools.tool import OfWindow, Tool
from ttnn_mcp.wire import Finding, Ms, NextCall, Share, StepStatus, Window, Wire

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session

ANSWER_BYTES = 8_000  # 2,000 tokens: findings fill what steps, trust and next calls leave
NEXT_CALLS = 3


class Arguments(OfWindow):
    """Arguments of optimization_check."""

    steps: list[int] | None = Field(None, description="Only these steps of the skill, 1 to 7")
    min_saving_share: float = Field(0.005, ge=0, le=1, description="Drop findings below this share of kernel time")
    cursor: int = Field(0, ge=0, description="Findings to skip: next_cursor of the page before")


class Answer(Wire):
    """Answer of optimization_check."""

    kernel_ms: Ms
    findings: tuple[Finding, ...]
    steps: tuple[StepStatus, ...]
    unexplained_share: Share
    trust: tuple[str, ...]
    next: tuple[NextCall, ...]
    next_cursor: int | None = None
    window: Window


async def optimization_check(session: Session, asked: Arguments) -> Answer:
    """Why is this TTNN model slow? Diagnoses the seven optimisation steps from a profile.

    Findings ranked by what they can save, each with evidence, bounds, a fix and how to verify it.
    """
    run = await session.run(asked.run)
    if run.memory is not None:
        await replay_of(run)  # the checks on memory read it
    scope = run.scope(asked.iteration, asked.start_signpost, asked.end_signpost)
    wanted = [check for check in CATALOGUE if asked.steps is None or check.step in asked.steps]
    found = await asyncio.to_thread(diagnose, case_of(run, scope), wanted, min_saving_share=asked.min_saving_share)
    answer = Answer(
        kernel_ms=float(scope.critical.numbers("kernel_ns").sum()) / 1e6,
        findings=(),
        steps=found.steps,
        unexplained_share=found.unexplained_share,
        trust=tuple(_trust(run)),
        next=tuple(_next(run, found.findings[asked.cursor :])),
        next_cursor=len(found.findings),
        window=scope.window,
    )
    page, following = _page(found, asked.cursor, ANSWER_BYTES - _bytes(answer))
    return answer.model_copy(update={"findings": page, "next_cursor": following})


def _bytes(said: Wire) -> int:
    return len(json.dumps(said.spoken(), ensure_ascii=False, separators=(",", ":")).encode())


def _page(found: Diagnosis, start: int, room: int) -> tuple[tuple[Finding, ...], int | None]:
    """Findings from `start` until the answer is as long as an assistant should read at once."""
    page: list[Finding] = []
    for finding in found.findings[start:]:
        room -= _bytes(finding) + 1
        if page and room < 0:
            return tuple(page), start + len(page)
        page.append(finding)
    return tuple(page), None


def _trust(run: Run) -> list[str]:
    return [*run.chip.caveats, *caveats_of(run.timed)][:4]


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
    return calls[:NEXT_CALLS]


TOOL = Tool(
    name="optimization_check",
    title="Optimization check",
    arguments=Arguments,
    answer=Answer,
    ask=optimization_check,
    always_loaded=True,
    search_hint="why slow bottleneck diagnose optimize findings",
)
