"""A tensor goes to the host in the middle of the model and comes back, or the host computes it.

`ttnn.to_torch` waits for every op before it, and the device is idle while the host reshapes and sends the result
back. TTNN's own tutorial does it for the heads of its attention before it shows the fused op. A `ttnn.pad` or
`ttnn.to_layout` on a host tensor runs on the host (its docstring), which cost YOLOv4 30 % of a frame (tt-metal #20777).

The line: a call that reads a device tensor, and a later one that writes the same number of elements to the device; or,
after the first op on the device, a ttnn call whose tensors are all on the host. Their bytes at 1 GB/s, a slow host
copy, are 5 % of the window. No saving is given: the capture of a report slows the host, so its time is not known.

Silent on tensors that are read and not written again (output-read-back) and on calls before the first op, which may
load weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, no_saving
from ttnn_mcp.checks.needs import MEMORY
from ttnn_mcp.checks.shared.host_traffic import (
    SLOW_COPY_BYTES_PER_NS,
    Transfer,
    cited,
    computed_on_host,
    round_trips,
)
from ttnn_mcp.checks.shared.memory_claims import counted
from ttnn_mcp.errors import shown

if TYPE_CHECKING:
    from ttnn_mcp.readers.memory.report import MemoryReport

MIN_SHARE = 0.05  # of the window: below it the trip is a token or an index (as in input-transfer-exposed; ours)
ON_DEVICE = (
    "do it on the device: ttnn.permute, ttnn.reshape, ttnn.transpose for torch's; for attention's heads "
    "ttnn.transformer.split_query_key_value_and_split_heads and ttnn.transformer.concatenate_heads"
)
SENT_FIRST = "send it first and compute there: x = ttnn.to_device(x, device), then ttnn.pad, ttnn.to_layout, ..."


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over round trips, one over calls on host tensors."""
    memory = facts.run.memory_report
    for calls, pattern, fix in (
        (round_trips(memory), "go to the host and come back", ON_DEVICE),
        (computed_on_host(memory), "are computed on the host", SENT_FIRST),
    ):
        total = sum(call.size_bytes for call in calls)
        if calls and total / SLOW_COPY_BYTES_PER_NS >= MIN_SHARE * facts.total_ns:
            yield _claim(memory, calls, pattern=pattern, fix=fix)


def _claim(memory: MemoryReport, calls: list[Transfer], *, pattern: str, fix: str) -> Claim:
    rows = np.zeros(0, dtype=np.int64)
    largest = max(calls, key=lambda call: call.size_bytes)
    total = sum(call.size_bytes for call in calls)
    return Claim(
        claim=(
            f"{total / 1e6:.2f} MB in {counted(len(calls))} {pattern}; "
            f"the largest, {largest.size_bytes / 1e6:.2f} MB, by {shown(largest.name)} (operation {largest.operation})"
        ),
        rows=rows,
        at_most_ns=no_saving(rows),
        assumption="saves the copies and the wait for them; no report has these times, so no figure",
        evidence=cited(memory, largest),
        fix=fix,
        verify="capture again: no such call; host_overhead(wall_ms=<profiler off>) moves towards device_bound",
        caveat="told by order and size; the host's work on the tensor must move to the device too",
    )


CHECK = Check(
    id="tensor-through-host",
    title="a tensor leaves the device in the middle",
    step=4,
    look=look,
    needs=(MEMORY,),
)
