"""list_ops: ops of a window, filtered, sorted, grouped, paged."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.layers.layering import Layering
from ttnn_mcp.analyses.roofline.roofline import Roofline
from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.errors import QuestionRefused, nearest, shown
from ttnn_mcp.run.ops.groups import grouped
from ttnn_mcp.run.ops.op_names import FAMILIES, canonical, family
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.budget import cursor_after, offset_of
from ttnn_mcp.tools.parts.op_groups import GROUPS, GroupBy, grouping_of, groups_table
from ttnn_mcp.tools.parts.without_times import (
    HostTotals,
    PredictedRun,
    host_operations,
    predicted_run,
    refuse_device_arguments,
)
from ttnn_mcp.tools.tool import Budget, OfWindow, Tool
from ttnn_mcp.wire import Columns, Quoting, Table, Us, Window, Wire

DEFAULT_LIMIT = 20
AS_ABOVE = "as above"  # of the row before, on another device: a mesh lists each op once per device
OPS = Columns(
    *("op", "op_code", "device", "kernel_us", "share", "gap_us", "cores", "bound", "fidelity", "shapes"),
    quoted=("op_code", "fidelity"),
)


Bound = Literal["compute", "dram", "l1", "overhead"]


class Arguments(OfWindow):
    """Arguments of list_ops."""

    op_code: str | None = Field(None, description="Only this op; any of its names")
    category: str | None = Field(None, description="One of " + ", ".join(FAMILIES))
    device: int | None = None  # a filter, as its name and the tool's description say; so are the next three
    max_cores: int | None = Field(None, ge=1)
    bound: Bound | None = None
    layer: int | None = Field(None, ge=1)
    group_by: GroupBy = Field("none", description="Fold ops that are alike")
    sort: Literal["kernel", "gap", "order"] = Field("kernel", description="Largest kernel or gap first, or as run")
    min_share: float = Field(0.0, ge=0, le=1, description="Drop ops or groups below")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=200, description="Rows per page")
    cursor: str | None = Field(None, coerce_numbers_to_str=True, description="next_cursor")


class OpsTotal(Wire):
    """Everything that matched, not only this page."""

    count: int
    kernel_us: Us


class Answer(Wire):
    """Answer of list_ops."""

    ops: Annotated[Table, OPS] | None = None
    groups: Annotated[Table, GROUPS] | None = None
    total: OpsTotal | None = None
    host: HostTotals | None = None
    next_cursor: str | None = None
    window: Window | None = None
    caveat: Quoting | None = None
    predicted: PredictedRun | None = None


def list_ops(facts: WindowFacts, asked: Arguments) -> Answer:
    """List device ops of a window with kernel time, share, gap before, cores and bound.

    Filter, sort, group, page. On a memory report alone: ttnn operations with host durations, predicted kernel times.
    """
    run, scope = facts.run, facts.scope
    kept = _filtered(facts, asked)
    ops, gaps_ns = scope.ops.take(kept), _gaps_inside(scope.ops)[kept]
    # devices work at the same time, so what is asked of one is a share of its own time
    whole = scope.ops if asked.device is None else scope.of_device(asked.device)
    total_ns = float(whole.numbers("kernel_ns").sum()) or 1.0  # all zero: shares are zero, not undefined
    offset = offset_of(asked.cursor, asked, run.id)
    end = offset + asked.limit
    table = groups = caveat = None
    if asked.group_by == "none":
        order = _order(ops, gaps_ns, asked.sort)
        order = order[ops.numbers("kernel_ns")[order] >= asked.min_share * total_ns]
        page = order[offset:end]
        table = _ops_table(ops.take(page), gaps_ns[page], facts.roofline_of_devices.take(kept[page]), total_ns)
        matches = len(order)
    else:
        layering = facts.layering if asked.group_by in ("layer", "role") else None
        grouping = grouping_of(run, scope.ops, kept, asked.group_by, layering)
        least_ns = asked.min_share * total_ns
        folded = [
            group for group in grouped(grouping.keys, ops.numbers("kernel_ns")) if group.kernel_ns >= least_ns
        ]
        bounds = facts.roofline_of_devices.take(kept)
        groups = groups_table(
            run, ops, bounds, folded[offset:end], gaps_ns=gaps_ns, grouping=grouping, total_ns=total_ns
        )
        caveat = grouping.caveat
        matches = len(folded)
    return Answer(
        ops=table,
        groups=groups,
        total=OpsTotal(count=len(ops), kernel_us=float(ops.numbers("kernel_ns").sum()) / 1e3),
        next_cursor=cursor_after(end, asked, run.id) if end < matches else None,
        window=scope.window,
        caveat=caveat,
    )


async def operations_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: ttnn operations and host durations, and what device ops would take."""
    refuse_device_arguments(asked)
    offset = offset_of(asked.cursor, asked, run.id)
    end = offset + asked.limit
    host, matches = host_operations(
        run,
        op_code=asked.op_code,
        min_share=asked.min_share,
        by_name=asked.group_by == "op_code",
        in_order=asked.sort == "order",
        page=slice(offset, end),
    )
    return Answer(
        host=host,
        next_cursor=cursor_after(end, asked, run.id) if end < matches else None,
        caveat="no performance report: host durations, not device times",
        predicted=await predicted_run(run) if offset == 0 else None,
    )


def _filtered(facts: WindowFacts, asked: Arguments) -> Integers:
    """Positions of the ops asked for."""
    ops = facts.scope.ops
    names = ops.texts("op_code")
    kept = np.ones(len(ops), dtype=np.bool_)
    if asked.op_code is not None:
        wanted = canonical(asked.op_code)
        kept &= names.where(lambda text: canonical(text) == wanted or text == asked.op_code)
        if not kept.any():
            raise QuestionRefused(
                f"No op '{shown(asked.op_code)}' in this window.{nearest(asked.op_code, names.occurring())}"
            )
    if asked.category is not None:
        if asked.category not in FAMILIES:
            raise QuestionRefused(f"No category '{shown(asked.category)}'.{nearest(asked.category, FAMILIES)}")
        kept &= names.where(lambda text: family(text) == asked.category)
    if asked.device is not None:
        devices = sorted({int(device) for device in ops.numbers("device")})
        if asked.device not in devices:
            raise QuestionRefused(
                f"No device {asked.device} in this window. There is: {', '.join(map(str, devices))}."
            )
        kept &= ops.numbers("device") == asked.device
    if asked.max_cores is not None:
        kept &= ops.numbers("cores") <= asked.max_cores
    if asked.bound is not None:
        kept &= facts.roofline_of_devices.bound.among(asked.bound)
    if asked.layer is not None:
        kept &= _of_layer(facts.layering, asked.layer)
    return np.flatnonzero(kept)


def _of_layer(layering: Layering | None, layer: int) -> Booleans:
    if layering is None:
        raise QuestionRefused(
            "No layers in this window: nothing marks any, and no block of op names repeats over half of it."
        )
    if layer > layering.count:
        raise QuestionRefused(f"No layer {layer}: there are {layering.count} layers ({layering.why}).")
    return layering.layer == layer


def _order(ops: OpTable, gaps_ns: Floats, sort: str) -> Integers:
    if sort == "order":
        return np.arange(len(ops))
    by = ops.numbers("kernel_ns") if sort == "kernel" else gaps_ns
    return np.argsort(-np.nan_to_num(by, nan=-1.0), kind="stable")


def _gaps_inside(ops: OpTable) -> Floats:
    """The gap before each op of a window; none before the first on its device, which is no part of the window."""
    gaps_ns = np.array(ops.numbers("gap_ns"), dtype=np.float64)
    gaps_ns[np.unique(ops.numbers("device"), return_index=True)[1]] = np.nan
    return gaps_ns


def _ops_table(chosen: OpTable, gaps: Floats, bounds: Roofline, total_ns: float) -> Table:
    kernel, cores = chosen.numbers("kernel_ns"), chosen.numbers("cores")
    again = np.diff(chosen.numbers("device")) != 0
    shapes = [chosen.shapes(row) for row in range(len(chosen))]
    return OPS.table(
        [
            (
                int(chosen.lines[row]),
                shown(chosen.texts("op_code")[row]),
                int(chosen.numbers("device")[row]),
                kernel[row] / 1e3,
                kernel[row] / total_ns,
                gaps[row] / 1e3,
                cores[row],
                bounds.bound[row] or None,
                shown(chosen.texts("fidelity")[row]) or None,
                AS_ABOVE if row and again[row - 1] and shapes[row] == shapes[row - 1] else shapes[row],
            )
            for row in range(len(chosen))
        ],
    )


TOOL = Tool(
    name="list_ops",
    title="List ops",
    arguments=Arguments,
    answer=Answer,
    ask=list_ops,
    about="window",
    needs=("performance",),
    alone=operations_alone,
    budget=Budget(4_000, cut=("ops", "groups")),  # 1,000 tokens: what a default list may cost
    narrow=("limit", "op_code", "category", "group_by", "min_share", "device", "layer", "iteration"),
    search_hint="slowest ops kernels top group by op code durations signpost",
)
