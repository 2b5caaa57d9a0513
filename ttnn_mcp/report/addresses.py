"""L1 by address over the operations: which buffer lay where, from which operation to which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ttnn_mcp.analyses.memory.l1_moment import bounds_of
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.report.levels import places_of
from ttnn_mcp.tools.parts.memory_tables import named

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.memory.buffer_spans import Spans
    from ttnn_mcp.run.run import Run

MOST_SPANS = 20_000  # as many as operations in a picture; of more, those that hold most for longest are kept (ours)
COLUMNS = ("address", "bytes_per_bank", "from", "to", "tensor", "shape", "producer", "line")


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


def _chosen(spans: Spans, operations: int) -> NDArray[np.int64]:
    rows = np.flatnonzero(spans.buffers == L1)
    lasted = np.minimum(spans.ends[rows], 2 * operations) - spans.starts[rows] + 1
    largest = np.argsort(-spans.bytes_per_bank[rows] * lasted, kind="stable")[:MOST_SPANS]
    return rows[np.sort(largest)]
