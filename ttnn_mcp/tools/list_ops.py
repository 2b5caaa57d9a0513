"""list_ops: ops of a window, filtered, sorted, grouped, paged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from ttnn_mcp.errors import QuestionRefused, nearest, shown, shown_path
from ttnn_mcp.readers.source_lines import parse_loc
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.groups import Group, grouped, keyed
from ttnn_mcp.run.ops.op_names import FAMILIES, canonical, family
from ttnn_mcp.tools.cursor import cursor_after, offset_of
from ttnn_mcp.tools.parts.host_ops import HostTotals, host_groups
from ttnn_mcp.tools.tool import Budget, OfWindow, Tool
from ttnn_mcp.wire import Columns, Quoting, Table, Us, Window, Wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.roofline.roofline import Roofline
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run

DEFAULT_LIMIT = 20
GroupBy = Literal["none", "op_code", "signature", "category", "source_line"]
OPS = Columns(
    *("op", "op_code", "device", "kernel_us", "share", "gap_us", "cores", "bound", "fidelity", "shapes"),
    quoted=("op_code", "fidelity"),
)
GROUPS = Columns(
    *("key", "count", "kernel_us", "share", "median_gap_us", "min_cores", "heaviest_op", "heaviest_us"),
    quoted=("key",),
)


class Arguments(OfWindow):
    """Arguments of list_ops."""

    op_code: str | None = Field(None, description="Only this op; any of its names")
    category: str | None = Field(None, description="One of " + ", ".join(FAMILIES))
    device: int | None = Field(None, description="Only this device")
    group_by: GroupBy = Field("none", description="Fold ops that are alike")
    sort: Literal["kernel", "gap", "order"] = Field("kernel", description="Largest kernel or gap first, or as run")
    min_share: float = Field(0.0, ge=0, le=1, description="Drop ops or groups below this share")
    limit: int = Field(DEFAULT_LIMIT, ge=1, le=200, description="Rows per page")
    cursor: str | None = Field(None, coerce_numbers_to_str=True, description="next_cursor")


class Total(Wire):
    """Everything that matched, not only this page."""

    count: int
    kernel_us: Us


class Answer(Wire):
    """Answer of list_ops."""

    ops: Annotated[Table, OPS] | None = None
    groups: Annotated[Table, GROUPS] | None = None
    total: Total | None = None
    host: HostTotals | None = None
    next_cursor: str | None = None
    window: Window | None = None
    caveat: Quoting | None = None


def list_ops(facts: WindowFacts, asked: Arguments) -> Answer:
    """List device ops of a window with kernel time, share, gap before, cores and bound.

    Filter, sort, group, page. On a memory report alone: ttnn operations with host durations.
    """
    run, scope = facts.run, facts.scope
    kept = _filtered(scope.ops, asked)
    ops = scope.ops.take(kept)
    total_ns = float(scope.ops.numbers("kernel_ns").sum()) or 1.0  # all zero: shares are zero, not undefined
    offset = offset_of(asked.cursor, asked, run.id)
    end = offset + asked.limit
    table = groups = caveat = None
    if asked.group_by == "none":
        order = _order(ops, asked.sort)
        order = order[ops.numbers("kernel_ns")[order] >= asked.min_share * total_ns]
        page = order[offset:end]
        table = _ops_table(ops.take(page), facts.roofline_of_devices.take(kept[page]), total_ns)
        matches = len(order)
    else:
        keys, labels, caveat = _keys(run, ops, asked.group_by)
        least_ns = asked.min_share * total_ns
        folded = [group for group in grouped(keys, ops.numbers("kernel_ns")) if group.kernel_ns >= least_ns]
        groups = _groups_table(ops, folded[offset:end], labels, total_ns)
        matches = len(folded)
    return Answer(
        ops=table,
        groups=groups,
        total=Total(count=len(ops), kernel_us=float(ops.numbers("kernel_ns").sum()) / 1e3),
        next_cursor=cursor_after(end, asked, run.id) if end < matches else None,
        window=scope.window,
        caveat=caveat,
    )


def operations_alone(run: Run, asked: Arguments) -> Answer:
    """The answer of a memory report alone: ttnn operations and host durations."""
    return Answer(
        host=host_groups(run, asked.limit), caveat="no performance report: host durations, not device times"
    )


def _filtered(ops: OpTable, asked: Arguments) -> NDArray[np.int64]:
    """Positions of the ops asked for."""
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
    return np.flatnonzero(kept)


def _order(ops: OpTable, sort: str) -> NDArray[np.int64]:
    if sort == "order":
        return np.arange(len(ops))
    by = ops.numbers("kernel_ns" if sort == "kernel" else "gap_ns")
    return np.argsort(-np.nan_to_num(by, nan=-1.0), kind="stable")


def _ops_table(chosen: OpTable, bounds: Roofline, total_ns: float) -> Table:
    kernel, gaps, cores = chosen.numbers("kernel_ns"), chosen.numbers("gap_ns"), chosen.numbers("cores")
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
                chosen.shapes(row),
            )
            for row in range(len(chosen))
        ],
    )


def _keys(run: Run, ops: OpTable, group_by: GroupBy) -> tuple[NDArray[np.int64], list[str], str | None]:
    names = ops.texts("op_code")
    if group_by == "op_code":
        return names.codes, [shown(text) for text in names.distinct], None
    if group_by == "category":
        keys = names.mapped(lambda text: FAMILIES.index(family(text)), missing=len(FAMILIES) - 1, dtype=np.int64)
        return keys, list(FAMILIES), None
    if group_by == "signature":
        _, first, keys = np.unique(signatures(ops), return_index=True, return_inverse=True)
        return (
            keys.astype(np.int64),
            [f"{shown(names[int(row)])} {ops.shapes(int(row))}" for row in first],
            None,
        )
    lines, caveat = source_lines(run, ops)
    keys, labels = keyed(lines)
    return keys, labels, caveat


def source_lines(run: Run, ops: OpTable) -> tuple[list[str], str | None]:
    """Model source line per op: LOC of a compiler's run, else the linked ttnn call's; "" where unknown.

    Raises:
        QuestionRefused: nothing in the run knows source lines.
    """
    if run.performance is not None and run.performance.csv.compiler:
        loc = ops.texts("loc")
        said = [shown_path(parse_loc(text) or "(unknown)") for text in loc.distinct]
        return [said[code] if code >= 0 else "(unknown)" for code in loc.codes], None
    if run.linked is None or run.linked.link.status != "linked":
        why = run.linked.link.why if run.linked else "the run has no memory report"
        raise QuestionRefused(
            f"Source lines are not known: {why}. Open the run with its memory report, or group by op_code."
        )
    operations = [run.linked.operation_at.get(int(line)) for line in ops.lines]
    missing = sum(operation is None for operation in operations)
    labels = [
        "(not linked)" if one is None else shown_path(run.sources.get(one) or f"operation {one}")
        for one in operations
    ]
    return labels, f"{missing} ops are not linked to a ttnn call" if missing else None


def _groups_table(ops: OpTable, groups: list[Group], labels: list[str], total_ns: float) -> Table:
    kernel, gaps, cores = ops.numbers("kernel_ns"), ops.numbers("gap_ns"), ops.numbers("cores")

    def row_of(group: Group) -> tuple[str | int | float, ...]:
        heaviest = int(group.rows[np.argmax(kernel[group.rows])])
        return (
            labels[group.key],
            len(group.rows),
            group.kernel_ns / 1e3,
            group.kernel_ns / total_ns,
            float(np.nanmedian(gaps[group.rows])) / 1e3 if np.isfinite(gaps[group.rows]).any() else float("nan"),
            float(np.nanmin(cores[group.rows])) if np.isfinite(cores[group.rows]).any() else float("nan"),
            int(ops.lines[heaviest]),
            kernel[heaviest] / 1e3,
        )

    return GROUPS.table([row_of(group) for group in groups])


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
    narrow=("limit", "op_code", "category", "group_by", "min_share", "device", "iteration"),
    search_hint="slowest ops kernels top group by op code durations signpost",
)
