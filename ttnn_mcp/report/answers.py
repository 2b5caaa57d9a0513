"""The answers that a report is made of: what the tools say about a run, unshortened where a picture needs all rows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.quoting import cleaned
from ttnn_mcp.records import dataclass
from ttnn_mcp.report.addresses import addresses_of
from ttnn_mcp.report.levels import levels_of
from ttnn_mcp.report.rows import window_rows
from ttnn_mcp.tools import TOOLS, answering
from ttnn_mcp.tools.tool import OfWindow

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session

    Answer = dict[str, Any]

GROUPS = 200  # of a comparison: the most that compare_runs gives


@dataclass(frozen=True)
class Answers:
    """What the tools say; a part is None where the run cannot answer it, and `left_out` says why.

    Attributes:
        card: open_run.
        check: optimization_check, with the findings of all pages.
        budget: time_budget.
        ops: list_ops in the order the ops ran, all of them or as many as a page can show.
        rooflines: the roofline that op_detail gives, per row of `ops`.
        stages: model_stages.
        stage_of_op: the stage of each row of `ops`; None outside of all.
        layer_of_op: its layer.
        kinds: list_ops by op code, on the device that the others wait for.
        memory: memory_summary.
        levels: the L1 that memory_summary gives for one operation, for all of them.
        spans: L1 by address, as memory_summary's replay has it; None where the report tells no addresses.
        base: open_run of the run before the change.
        comparison: compare_runs.
        predicted: what laws of time tell of a memory report alone: the kinds of time_budget, the plan of
            optimization_check.
        left_out: why a part is missing.
    """

    card: Answer
    check: Answer | None
    budget: Answer | None
    ops: Answer | None
    rooflines: Answer | None
    stages: Answer | None
    stage_of_op: list[str | None]
    layer_of_op: list[int | None]
    kinds: Answer | None
    memory: Answer | None
    levels: Answer | None
    spans: Answer | None
    base: Answer | None
    comparison: Answer | None
    predicted: Answer | None
    left_out: tuple[str, ...]


async def answers_of(session: Session, name: str | None, against: str | None) -> Answers:
    """Ask everything that a report shows.

    Raises:
        TtnnMcpError: a run cannot be opened, or the two cannot be compared.
    """
    run = await session.run(name)
    base = await session.run(against) if against is not None else None
    left_out: list[str] = []
    timed = _answerable(run, "list_ops", left_out)
    remembered = _answerable(run, "memory_summary", left_out)
    rows = levels = spans = None
    if timed:
        facts = await asyncio.to_thread(answering.window_asked, run, OfWindow.model_construct(run=run.id))
        rows = await asyncio.to_thread(window_rows, facts)
    if remembered:
        levels, spans = cleaned(await levels_of(run)), cleaned(await addresses_of(run))
    part = _Parts(session, run, left_out)
    return Answers(
        card=await _ask(session, "open_run", run=run.id),
        check=await part.answer("optimization_check", timed),
        budget=await part.answer("time_budget", timed),
        ops=rows.ops if rows else None,
        rooflines=rows.rooflines if rows else None,
        stages=await part.answer("model_stages", timed),
        stage_of_op=rows.stages if rows else [],
        layer_of_op=rows.layers if rows else [],
        kinds=rows.kinds if rows else None,
        memory=await part.answer("memory_summary", remembered),
        levels=levels,
        spans=spans,
        base=await _ask(session, "open_run", run=base.id) if base else None,
        comparison=await _ask(session, "compare_runs", baseline=base.id, candidate=run.id, limit=GROUPS)
        if base
        else None,
        predicted=await part.predicted() if run.performance is None and remembered else None,
        left_out=tuple(left_out),
    )


class _Parts:
    """Answers that a page can do without: what a tool refuses is left out, with its sentence."""

    def __init__(self, session: Session, run: Run, left_out: list[str]) -> None:
        self.session, self.run, self.left_out = session, run, left_out

    async def answer(self, tool: str, answerable: bool) -> Answer | None:
        if not answerable:
            return None
        try:
            if tool == "optimization_check":
                check = answering.tool_named(tool, TOOLS)
                return await answering.all_findings(self.session, check, {"run": self.run.id})
            return await _ask(self.session, tool, run=self.run.id)
        except QuestionRefused as refusal:
            self.left_out.append(f"No {tool}: {refusal}")
            return None

    async def predicted(self) -> Answer | None:
        """What laws of time tell of a run without times; None where its report holds nothing for them."""
        try:
            budget = await _ask(self.session, "time_budget", run=self.run.id)
            check = await _ask(self.session, "optimization_check", run=self.run.id)
        except QuestionRefused:
            return None
        return {**check["predicted"], "kinds": budget["predicted"]["kinds"]}


def _answerable(run: Run, tool: str, left_out: list[str]) -> bool:
    """Whether the run can answer the tool; why not goes to `left_out`."""
    if tool == "list_ops" and (run.performance is None or not len(run.performance.steady)):
        why = (
            "No performance report"
            if run.performance is None
            else "The performance report holds no times of a device"
        )
        left_out.append(f"{why}: no timeline, no budget, no findings.")
        return False
    lacking = answering.lacks(answering.tool_named(tool, TOOLS), run)
    if lacking:
        left_out.append("No memory report: nothing about L1.")
    return not lacking


async def _ask(session: Session, name: str, **arguments: object) -> Answer:
    answer, _text = await answering.answer(session, answering.tool_named(name, TOOLS), arguments)
    return answer
