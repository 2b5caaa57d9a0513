"""op_detail: one op, its roofline, its operands and the ttnn call behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.roofline.roofline import Roofline, roofline_of
from ttnn_mcp.analyses.window_facts import facts_of
from ttnn_mcp.errors import QuestionRefused, shown, shown_path
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.tools.parts.op_at import row_at
from ttnn_mcp.tools.parts.ttnn_call import Call, call_of
from ttnn_mcp.tools.tool import Budget, OfRun, Tool
from ttnn_mcp.wire import Columns, Gbps, Share, Table, Us, Wire

if TYPE_CHECKING:
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run

VALUE_CHARS = 180  # an attribute's value: enough for a program config, not for a kernel list
OPERANDS_SHOWN = 5
REPEATS = Columns("count", "devices", "min_us", "median_us", "max_us")
TELLING = (
    *("program_config", "config", "block_config", "parallelization_config", "compute_kernel_config"),
    *("memory_config", "output_mem_config", "output_memory_config", "dtype", "output_dtype", "groups"),
    *("enable_act_double_buffer", "enable_weights_double_buffer", "transpose_a", "transpose_b", "user_core_coord"),
)


class Arguments(OfRun):
    """Arguments of op_detail."""

    op: int = Field(description="The op's line in its CSV; on a memory report alone, the operation id")


class RooflineOf(Wire):
    """Bounds of one op; what is not modelled is left out and `why` says so."""

    flops: int | None = None
    padded_flops: int | None = None
    dram_bytes: int | None = None
    compute_us: Us | None = None
    dram_us: Us | None = None
    dram_achievable_us: Us | None = None
    achieved_dram_gb_s: Gbps | None = None
    bound: str | None = None
    efficiency: Share | None = None
    why: str | None = None


class Placed(Wire):
    """An operand (INPUT_0) or tensor and where it lives."""

    name: str
    shape: str
    layout: str
    dtype: str
    placement: str
    bytes: int | None = None


class Answer(Wire):
    """Answer of op_detail."""

    op: int
    op_code: str
    device: int | None = None
    kernel_us: Us | None = None
    gap_us: Us | None = None
    cores: int | None = None
    worker_cores: int | None = None
    fidelity: str | None = None
    roofline: RooflineOf | None = None
    operands: tuple[Placed, ...] = ()
    attributes: dict[str, str] = Field(default_factory=dict)
    more_attributes: int = 0
    more_operands: int = 0
    repeats: Annotated[Table, REPEATS] | None = None
    call: Call | None = None
    loc: str | None = None
    caveat: str | None = None


async def op_detail(run: Run, asked: Arguments) -> Answer:
    """One op by its CSV line: kernel time, roofline (flops, DRAM bytes, bound, efficiency), operands, attributes.

    With a linked memory report also the ttnn call and its model line.
    """
    ops = run.timed.ops
    row = row_at(run, asked.op)
    op = ops.take(np.array([row]))
    operation = run.linked.operation_at.get(asked.op) if run.linked else None
    operands, more_operands = _operands(op)
    kernel_ns = float(op.numbers("kernel_ns")[0])
    return Answer(
        op=asked.op,
        op_code=shown(op.texts("op_code")[0]),
        device=int(op.numbers("device")[0]),
        kernel_us=kernel_ns / 1e3,
        gap_us=_measured(op, "gap_ns", 1e3),
        cores=_whole(op, "cores"),
        worker_cores=run.chip.worker_cores,
        fidelity=op.texts("fidelity")[0] or None,
        roofline=_roofline(_bounds(run, asked.op, op), kernel_ns),
        operands=operands,
        more_operands=more_operands,
        attributes=_attributes(op),
        repeats=_repeats(ops, row),
        call=await call_of(run, operation) if operation is not None else None,
        loc=shown_path(op.texts("loc")[0]) or None,
        caveat=_why_no_call(run, operation),
    )


def _bounds(run: Run, line: int, op: OpTable) -> Roofline:
    """The op's bounds, judged among its neighbours: in the default window if it lies there, else in the report."""
    for scope in (run.scope(), run.scope("all")):
        place = scope.ops.at_line(line)
        if place is not None:
            return facts_of(run, scope).roofline_of_devices.take(np.array([place]))
    return roofline_of(op, run.chip)  # const-eval: outside every window


def _measured(ops: OpTable, name: str, per: float) -> float | None:
    value = float(ops.numbers(name)[0])
    return value / per if np.isfinite(value) else None


def _whole(ops: OpTable, name: str) -> int | None:
    value = _measured(ops, name, 1)
    return None if value is None else int(value)


def _roofline(bounds: Roofline, kernel_ns: float) -> RooflineOf:
    def said(value: float) -> float | None:
        return value if np.isfinite(value) else None

    def whole(value: float) -> int | None:
        return int(value) if np.isfinite(value) else None

    moved = said(float(bounds.dram_bytes[0]))
    compute, dram = said(float(bounds.compute_ns[0])), said(float(bounds.dram_ns[0]))
    achievable = said(float(bounds.dram_achievable_ns[0]))
    return RooflineOf(
        flops=whole(float(bounds.flops[0])),
        padded_flops=whole(float(bounds.padded_flops[0])),
        dram_bytes=whole(float(bounds.dram_bytes[0])),
        compute_us=None if compute is None else compute / 1e3,
        dram_us=None if dram is None else dram / 1e3,
        dram_achievable_us=None if achievable is None else achievable / 1e3,
        achieved_dram_gb_s=moved / kernel_ns if moved and kernel_ns else None,
        bound=bounds.bound[0] or None,
        efficiency=said(float(bounds.efficiency[0])),
        why=bounds.why[0] or None,
    )


def _operands(ops: OpTable) -> tuple[tuple[Placed, ...], int]:
    """The operands, outputs first where not all fit; and how many did not."""
    there = [one for one in (*ops.outputs, *ops.inputs) if one.present[0]]
    shown_first = sorted(there[:OPERANDS_SHOWN], key=lambda one: one.name)
    placed = (
        Placed(
            name=one.name,
            shape=one.shape_text(0),
            layout=shown(one.layout[0]),
            dtype=shown(one.dtype[0]),
            placement=one.placement[0],
            bytes=int(one.bytes[0]),
        )
        for one in shown_first
    )
    return tuple(placed), max(0, len(there) - OPERANDS_SHOWN)


def _attributes(op: OpTable) -> dict[str, str]:
    """The attributes with a value, the telling ones first; long values are cut."""
    attributes = parse_attributes(op.texts("attributes")[0])
    order = dict.fromkeys(
        [*(name for name in TELLING if name in attributes), *(name for name in attributes if name not in TELLING)]
    )
    return {shown(name): _cut(attributes[name]) for name in order if attributes[name] not in ("std::nullopt", "")}


def _cut(value: str) -> str:
    short = value if len(value) <= VALUE_CHARS else f"{value[: VALUE_CHARS - 3]}..."
    return "".join(char for char in short if char.isprintable())


def _repeats(ops: OpTable, row: int) -> Table | None:
    """How the same op (same signature) fared over the whole report."""
    same = signatures(ops) == signatures(ops)[row]
    if same.sum() < 2:
        return None
    kernel = ops.numbers("kernel_ns")[same] / 1e3
    devices = len(np.unique(ops.numbers("device")[same]))
    return REPEATS.table(
        [(len(kernel), devices, float(kernel.min()), float(np.median(kernel)), float(kernel.max()))]
    )


def _why_no_call(run: Run, operation: int | None) -> str | None:
    if operation is not None or run.memory is None:
        return None
    if run.linked is not None and run.linked.said.status == "not_linked":
        return f"no ttnn call: the reports are not linked ({run.linked.said.why})"
    return "no ttnn call: this op lies outside the linked pass"


async def operation_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: one ttnn operation by its id."""
    operation = asked.op
    memory = run.remembered
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
    return Answer(
        op=operation,
        op_code=shown(memory.operations.names[place]),
        operands=tuple(placed),
        call=await call_of(run, operation),
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
    budget=Budget(1_500, cut=("attributes",), keep=0),
    search_hint="why is this op slow roofline placement source line bandwidth utilization arithmetic intensity",
)
