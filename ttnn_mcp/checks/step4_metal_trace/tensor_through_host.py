"""A tensor goes to the host in the middle of the model and comes back.

`ttnn.to_torch` waits for every op before it, and the device is idle while the host reshapes and sends the result
back. TTNN's own tutorial does it for the heads of its attention before it shows the fused op.

The line: a call that reads a device tensor, and a later one that writes the same number of elements to the device.
Their bytes at 1 GB/s, a slow host copy, are 5 % of the window. No saving is given: the capture of a report slows the
host, so its time is not known.

Silent on tensors that are read and not written again (output-read-back), and on what the host computes without a
device tensor (computed-on-host).
"""

from __future__ import annotations

from functools import partial

from ttnn_mcp.checks.check import Problems, WindowFacts, check
from ttnn_mcp.checks.levers import HOST
from ttnn_mcp.checks.needs import MEMORY
from ttnn_mcp.checks.shared.host_traffic import left_the_device, round_trips, slow_traffic

ON_DEVICE = (
    "do it on the device: ttnn.permute, ttnn.reshape, ttnn.transpose for torch's; for attention's heads "
    "ttnn.transformer.split_query_key_value_and_split_heads and ttnn.transformer.concatenate_heads"
)


@check(
    title="a tensor leaves the device in the middle",
    lever=HOST,
    needs=(MEMORY,),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all round trips."""
    trips = round_trips(facts.run.memory_report)
    yield from slow_traffic(facts, trips, partial(left_the_device, "go to the host and come back", ON_DEVICE))
