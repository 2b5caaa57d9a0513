"""L1 in use at every operation: what memory_summary says of one, for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.tools.parts.memory_tables import operation_name

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.run.run import Run

MOST_OPERATIONS = 20_000  # several for each pixel of a screen; of more, the fullest of each stretch is kept (ours)
COLUMNS = ("operation", "name", "bytes_per_bank", "tensors_bytes", "circular_buffers_bytes")


async def levels_of(run: Run) -> dict[str, Any] | None:
    """The levels on the fullest device; None where the report holds no operations."""
    replayed = await replay_of(run)
    if not len(replayed.operations):
        return None
    device = replayed.fullest
    rows = [
        [
            int(replayed.operations[place]),
            operation_name(replayed, place),
            int(device.l1[place]),
            int(device.tensors[place]),
            int(device.circular[place]),
        ]
        for place in places_of(replayed)
    ]
    return {"columns": list(COLUMNS), "rows": rows, "operations": len(replayed.operations)}


def places_of(replayed: Replayed) -> list[int]:
    """The operations that are drawn."""
    levels = replayed.fullest.l1
    if len(levels) <= MOST_OPERATIONS:
        return list(range(len(levels)))
    stretches = np.array_split(np.arange(len(levels)), MOST_OPERATIONS)
    return [int(places[np.argmax(levels[places])]) for places in stretches]
