"""What a run without device times can say of cost: ttnn operations of a memory report by host time."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from ttnn_mcp.arrays import Integers
from ttnn_mcp.errors import QuestionRefused, nearest, shown
from ttnn_mcp.run.ops.groups import grouped, keyed
from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.tool import Arguments
from ttnn_mcp.wire import Cell, Columns, Ms, Table, Wire

OBEYED = ("run", "op_code", "min_share", "limit", "cursor", "iteration")  # whatever their value
VALUES = {"group_by": ("none", "op_code"), "sort": ("kernel", "order")}
GROUPS = Columns("operation", "count", "host_ms", "first_id", quoted=("operation",))
OPERATIONS = Columns("op", "operation", "host_ms", quoted=("operation",))
PREFIX = "ttnn."
UNFINISHED_SHOWN = 20


class HostTotals(Wire):
    """ttnn operations; durations are host wall time of the capture, never device time."""

    operations: int
    host_ms: Ms
    listed: Annotated[Table, OPERATIONS] | None = None
    groups: Annotated[Table, GROUPS] | None = None
    unfinished: tuple[int, ...] = ()


def host_operations(
    run: Run, *, op_code: str | None, min_share: float, by_name: bool, in_order: bool, page: slice
) -> tuple[HostTotals, int]:
    """The memory report's operations, single or folded by name, the longest first or as they ran.

    Returns:
        One page of them, and how many there are on all pages.
    """
    operations = run.memory_report.operations
    seconds, known = operations.duration_s, np.nan_to_num(operations.duration_s)
    names = [shown(name) for name in operations.names]
    kept = _named(names, op_code)
    least_s = min_share * float(known.sum())
    rows: list[tuple[Cell, ...]] = []
    if by_name:
        keys, labels = keyed(names)
        for group in grouped(keys[kept], known[kept]):
            if group.kernel_ns >= least_s:
                first = int(operations.ids[kept[group.rows.min()]])
                rows.append((labels[group.key], len(group.rows), group.kernel_ns * 1e3, first))
        if in_order:
            rows.sort(key=lambda row: row[-1] or 0)
    else:
        order: Integers = kept if in_order else kept[np.argsort(-known[kept], kind="stable")]
        picked: list[int] = order[known[order] >= least_s].tolist()
        rows = [(int(operations.ids[row]), names[row], float(seconds[row]) * 1e3) for row in picked]
    unfinished = operations.ids[kept][np.isnan(seconds[kept])]
    totals = HostTotals(
        operations=len(kept),
        host_ms=float(known[kept].sum()) * 1e3,
        listed=None if by_name else OPERATIONS.table(rows[page]),
        groups=GROUPS.table(rows[page]) if by_name else None,
        unfinished=tuple(int(one) for one in unfinished[:UNFINISHED_SHOWN]),
    )
    return totals, len(rows)


def _named(names: list[str], wanted: str | None) -> Integers:
    """Positions of the operations of this name, with or without `ttnn.`; all without a name."""
    if wanted is None:
        return np.arange(len(names))
    kept = [row for row, name in enumerate(names) if wanted in (name, name.removeprefix(PREFIX))]
    if not kept:
        raise QuestionRefused(
            f"No operation '{shown(wanted)}' in this memory report.{nearest(wanted, sorted(set(names)))}"
        )
    return np.array(kept, dtype=np.int64)


def refuse_device_arguments(asked: Arguments) -> None:
    """A memory report has no device ops: what would choose among them is refused.

    Raises:
        QuestionRefused: an argument that a memory report alone cannot obey; says what works instead.
    """
    for name, field in type(asked).model_fields.items():
        value = getattr(asked, name)
        if value == field.default or name in OBEYED or value in VALUES.get(name, ()):
            continue
        instead = f"can be {' or '.join(VALUES[name])}" if name in VALUES else "must be left out"
        raise QuestionRefused(
            f"'{name}' needs device times, and this run is a memory report alone: here it {instead}."
        )
