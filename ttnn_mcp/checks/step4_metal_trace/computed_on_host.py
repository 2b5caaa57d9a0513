"""The host computes a tensor in the middle of the model, before it sends it to the device.

A `ttnn.pad` or `ttnn.to_layout` on a host tensor runs on the host (its docstring), which cost YOLOv4 30 % of a frame
(tt-metal #20777).

The line: after the first op on the device, a ttnn call whose tensors are all on the host. The bytes it makes at
1 GB/s, a slow host copy, are 5 % of the window. No saving is given: the capture of a report slows the host, so its
time is not known.

Silent on calls before the first op, which may load weights, on calls that only copy, load or free, and on tensors that
come from the device and go back (tensor-through-host).
"""

from __future__ import annotations

from functools import partial

from ttnn_mcp.checks.check import Problems, WindowFacts, check
from ttnn_mcp.checks.levers import HOST
from ttnn_mcp.checks.needs import MEMORY
from ttnn_mcp.checks.shared.host_traffic import computed_on_host, left_the_device, slow_traffic

SENT_FIRST = "send it first and compute there: x = ttnn.to_device(x, device), then ttnn.pad, ttnn.to_layout, ..."


@check(
    title="the host computes in the middle",
    lever=HOST,
    needs=(MEMORY,),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all calls on host tensors."""
    calls = computed_on_host(facts.run.memory_report)
    yield from slow_traffic(facts, calls, partial(left_the_device, "are computed on the host", SENT_FIRST))
