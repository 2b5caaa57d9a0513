"""op_detail: one op, its roofline, its operands and the ttnn call behind it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Annotated

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.roofline.roofline import Roofline, roofline_of
from ttnn_mcp.analyses.settings.captured_op import captured_op
from ttnn_mcp.errors import QuestionRefused, shown, shown_path
from ttnn_mcp.replay.kept import cited
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.parts.op_cores import CoresOfOp, cores_of_op
from ttnn_mcp.tools.parts.op_roofline import Inside, RooflineOf, inside_of, roofline_said
from ttnn_mcp.tools.parts.op_seen import SEEN_ROWS, doubt_at, facts_at, row_at, seen_of
from ttnn_mcp.tools.parts.ttnn_call import Call, Placed, attributes_of_op, call_of, operands_of_op
from ttnn_mcp.tools.tool import Budget, OfRun, Tool
from ttnn_mcp.wire import Columns, Quoted, Quoting, Table, Us, Wire

REPEATS = Columns("count", "devices", "min_us", "median_us", "max_us")


class Arguments(OfRun):
    """Arguments of op_detail."""

    op: int = Field(description="Its line in the CSV; on a memory report alone, the operation id")
    whole: str | None = Field(None, description="Show this value in full (cores: of any device log)")


class Answer(Wire):
    """Answer of op_detail."""

    op: int
    op_code: Quoted
    device: int | None = None
    kernel_us: Us | None = None
    gap_us: Us | None = None
    cores: int | None = None
    worker_cores: int | None = None
    fidelity: Quoted | None = None
    roofline: RooflineOf | None = None
    inside: Inside | None = None
    on_cores: CoresOfOp | None = None
    operands: tuple[Placed, ...] = ()
    attributes: dict[Quoted, Quoted] = Field(default_factory=dict)
    more_attributes: int = 0
    more_operands: int = 0
    repeats: Annotated[Table, REPEATS] | None = None
    earlier: Annotated[Table, SEEN_ROWS] | None = None
    replayed: Quoting | None = None
    call: Call | None = None
    loc: Quoted | None = None
    caveat: Quoting | None = None


async def op_detail(run: Run, asked: Arguments) -> Answer:
    """One op by its CSV line: kernel time, roofline (flops, DRAM bytes, bound, efficiency), operands, attributes.

    With a linked memory report also the ttnn call and its model line.
    """
    ops = run.performance_report.ops
    row = row_at(run, asked.op)
    op = ops.take(np.array([row]))
    operation = run.linked.operation_at.get(asked.op) if run.linked else None
    operands, more_operands = operands_of_op(op)
    kernel_ns = float(op.numbers("kernel_ns")[0])
    on_cores, why_no_cores = await asyncio.to_thread(cores_of_op, run, op, asked.whole)
    return Answer(
        op=asked.op,
        op_code=shown(op.texts("op_code")[0]),
        device=int(op.numbers("device")[0]),
        kernel_us=kernel_ns / 1e3,
        gap_us=_measured(op, "gap_ns", 1e3, least=0.0),  # it began before the last one ended
        cores=_whole(op, "cores"),
        worker_cores=run.chip.worker_cores,
        fidelity=shown(op.texts("fidelity")[0]) or None,
        roofline=roofline_said(_bounds(run, asked.op, op), kernel_ns, op),
        inside=inside_of(op),
        on_cores=on_cores,
        operands=operands,
        more_operands=more_operands,
        attributes=attributes_of_op(op, asked.whole),
        repeats=_repeats(ops, row),
        earlier=seen_of(run, asked.op),
        replayed=cited(run, op) or None,
        call=await call_of(run, operation, asked.whole) if operation is not None else None,
        loc=shown_path(op.texts("loc")[0]) or None,
        caveat="; ".join(filter(None, (doubt_at(run, asked.op), _why_no_call(run, operation), why_no_cores)))
        or None,
    )


def _bounds(run: Run, line: int, op: OpTable) -> Roofline:
    """The op's bounds, judged among its neighbours: in the default window if it lies there, else in the report."""
    facts = facts_at(run, line)
    if facts is None:
        return roofline_of(op, run.chip)
    return facts.roofline_of_devices.take(np.flatnonzero(facts.scope.ops.lines == line))


def _measured(ops: OpTable, name: str, per: float, least: float = -np.inf) -> float | None:
    value = float(ops.numbers(name)[0])
    return max(value / per, least) if np.isfinite(value) else None


def _whole(ops: OpTable, name: str) -> int | None:
    value = _measured(ops, name, 1)
    return None if value is None else int(value)


def _repeats(ops: OpTable, row: int) -> Table | None:
    """How the same op fared over the whole report. With other cores or another fidelity it is another program."""
    cores, fidelity = ops.numbers("cores"), ops.texts("fidelity").codes
    same = (signatures(ops) == signatures(ops)[row]) & (fidelity == fidelity[row])
    same &= np.isclose(cores, cores[row], equal_nan=True)
    if same.sum() < 2:
        return None
    kernel = ops.numbers("kernel_ns")[same] / 1e3
    devices = len(np.unique(ops.numbers("device")[same]))
    return REPEATS.table(
        [(len(kernel), devices, float(kernel.min()), float(np.median(kernel)), float(kernel.max()))]
    )


def _why_no_call(run: Run, operation: int | None) -> str | None:
    if operation is not None or run.linked is None:
        return None
    if run.linked.link.status == "not_linked":
        return f"no ttnn call: the reports are not linked ({run.linked.link.why})"
    return "no ttnn call: this op lies outside the linked pass"


async def operation_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: one ttnn operation by its id."""
    operation = asked.op
    memory = run.memory_report
    place = memory.operations.row(operation)
    if place is None:
        ids = memory.operations.ids
        raise QuestionRefused(
            f"No operation {operation}: this memory report (no device ops) has {ids.min()} to {ids.max()}."
            if len(ids)
            else "This memory report holds no operations."
        )
    tensors = [
        (role, memory.tensors.get(tensor))
        for role, links in (("in", memory.inputs), ("out", memory.outputs))
        for tensor in links.of(operation)
    ]
    placed = (
        Placed(
            name=f"{role} {one.id}",
            shape="x".join(map(str, one.shape.logical)) if one.shape else "",
            layout=shown(one.layout or ""),
            dtype=shown(one.dtype or ""),
            placement=shown(str(one.placement)) if one.placement else "host",
            bytes=one.size_bytes,
        )
        for role, one in tensors
        if one is not None
    )
    measured = ""
    with suppress(QuestionRefused):  # its graph does not print all of it, and no replay of it is known
        measured = cited(run, (await captured_op(run, operation))[0].table)
    return Answer(
        op=operation,
        op_code=shown(memory.operations.names[place]),
        operands=tuple(placed),
        replayed=measured or None,
        call=await call_of(run, operation, asked.whole),
        caveat="no performance report: no device time, no roofline",
    )


TOOL = Tool(
    name="op_detail",
    title="Op detail",
    arguments=Arguments,
    answer=Answer,
    ask=op_detail,
    about="run",
    needs=("performance",),
    alone=operation_alone,
    budget=Budget(1_500, cut=("attributes",)),
    search_hint="why is this op slow roofline placement source line bandwidth utilization arithmetic intensity",
)
