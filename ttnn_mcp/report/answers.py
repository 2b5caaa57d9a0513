"""The answers that a report is made of: what the tools say about a run, unshortened where a picture needs all rows.

L1 by address is no tool's answer: which buffer lay where, from which operation to which.
"""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import Spans
from ttnn_mcp.analyses.memory.l1_moment import bounds_of
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.quoting import cleaned
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.records import dataclass
from ttnn_mcp.report.rows import levels_of, places_of, window_rows
from ttnn_mcp.run.run import Run
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools import TOOLS, answering
from ttnn_mcp.tools.parts.memory_tables import named
from ttnn_mcp.tools.tool import OfWindow

Answer = dict[str, Any]
MOST_SPANS = 20_000  # as many as operations in a picture; of more, those that hold most for longest are kept (ours)
COLUMNS = ("address", "bytes_per_bank", "from", "to", "tensor", "shape", "producer", "line")
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
        predicted=await part.predicted() if run.performance is None else None,
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


async def addresses_of(run: Run) -> dict[str, Any] | None:
    """The buffers of the fullest device, and DRAM beside them; None where the report tells no addresses.

    `from` and `to` count the rows of the levels, the second excluded; addresses are those of a bank.
    """
    replayed = await replay_of(run)
    bounds = bounds_of(replayed)
    if bounds is None or replayed.unplaced or not len(replayed.operations):
        return None
    device, places = replayed.fullest, np.array(places_of(replayed), dtype=np.int64)
    spans, bottom = device.spans, bounds[0]
    chosen = _chosen(spans, len(replayed.operations))
    first = np.searchsorted(places, spans.starts[chosen] // 2)
    last = np.searchsorted(places, np.minimum((spans.ends[chosen] + 1) // 2, len(replayed.operations)))
    rows = [
        [
            int(spans.addresses[row]) - bottom,
            int(spans.bytes_per_bank[row]),
            begin,
            max(end, begin + 1),
            *named(replayed, row),
        ]
        for row, begin, end in zip(chosen.tolist(), first.tolist(), last.tolist(), strict=True)
    ]
    return {
        "spans": {"columns": list(COLUMNS), "rows": rows},
        "left_out": int((spans.buffers == L1).sum()) - len(rows),
        "bytes_of_bank": bounds[1] - bottom,
        "dram_bytes_per_bank": device.dram[places].tolist(),
    }


def _chosen(spans: Spans, operations: int) -> Integers:
    rows = np.flatnonzero(spans.buffers == L1)
    lasted = np.minimum(spans.ends[rows], 2 * operations) - spans.starts[rows] + 1
    largest = np.argsort(-spans.bytes_per_bank[rows] * lasted, kind="stable")[:MOST_SPANS]
    return rows[np.sort(largest)]
