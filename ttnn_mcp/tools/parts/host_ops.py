"""ttnn operations of a memory report by host time: what a run without device times can say of cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np

from ttnn_mcp.errors import shown
from ttnn_mcp.run.ops.groups import grouped, keyed
from ttnn_mcp.wire import Columns, Ms, Table, Wire

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run

GROUPS = Columns("operation", "count", "host_ms", "first_id", quoted=("operation",))


class HostTotals(Wire):
    """ttnn operations by name; durations are host wall time of the capture, never device time."""

    operations: int
    host_ms: Ms
    groups: Annotated[Table, GROUPS]
    unfinished: tuple[int, ...] = ()


def host_groups(run: Run, limit: int) -> HostTotals:
    """The memory report's operations, folded by name, longest host time first."""
    operations = run.memory_report.operations
    seconds = operations.duration_s
    keys, labels = keyed([shown(name) for name in operations.names])
    known = np.nan_to_num(seconds)
    return HostTotals(
        operations=len(operations),
        host_ms=float(known.sum()) * 1e3,
        groups=GROUPS.table(
            [
                (labels[group.key], len(group.rows), group.kernel_ns * 1e3, int(operations.ids[group.rows.min()]))
                for group in grouped(keys, known)[:limit]
            ]
        ),
        unfinished=tuple(int(one) for one in operations.ids[np.isnan(seconds)][:20]),
    )
