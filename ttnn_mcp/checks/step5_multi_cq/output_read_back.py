"""A large result is read back to the host at the end of a step.

`ttnn.to_torch` and `ttnn.from_device` wait for the step, then copy the whole tensor. Logits are the usual case: a row
of 128,256 numbers per user, from which the step needs one token. With the argmax on the device gpt-oss went from 13.0
to 29.3 tokens/s on a p150 (tt-metal PR #52255). Other results can leave on a second queue while the next step runs
(tech report on advanced performance optimizations for models, 2.3.3).

The line: a memory report, calls that read device tensors which are not written back later, and their bytes at 1 GB/s,
a slow host copy, are 5 % of the window. No saving is given: the time of a copy depends on the card's slot and is in no
report. A last dim of 8192 and more counts as a vocabulary.

Silent on a tensor that comes back (tensor-through-host) and if events order two queues already.
"""

from __future__ import annotations

from ttnn_mcp.analyses.stages.heads import VOCABULARY
from ttnn_mcp.checks.check import Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import HOST
from ttnn_mcp.checks.needs import MEMORY
from ttnn_mcp.checks.shared.host_traffic import (
    Traffic,
    Transfer,
    events_order_queues,
    reads,
    round_trips,
    slow_traffic,
)


@check(
    title="a large result is read back",
    lever=HOST,
    needs=(MEMORY,),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all results that are read."""
    memory = facts.run.memory_report
    if not events_order_queues(memory):
        back = {(transfer.operation, transfer.tensor) for transfer in round_trips(memory)}
        results = [transfer for transfer in reads(memory) if (transfer.operation, transfer.tensor) not in back]
        yield from slow_traffic(facts, results, _tell)


def _tell(results: Traffic) -> Words:
    largest = results.largest
    return Words(
        claim=f"{results.amount} are read back to the host; the largest, {largest.shape}, by {largest.call}",
        assumption="saves the copy and the wait for it; no report has these times, so no figure",
        evidence=results.cells,
        fix=_fix(largest),
        verify="time a step with the profiler off: host_overhead(wall_ms=...) moves towards device_bound",
        caveat="a comparison with torch reads results too: that is no part of a step",
    )


def _fix(largest: Transfer) -> str:
    if max(largest.shape.logical[-1:], default=0) >= VOCABULARY:
        return (
            "choose the token on the device and read that: y = ttnn.argmax(logits, dim=-1, keepdim=True); with "
            "temperature ttnn.topk and ttnn.sampling; in prefill slice the last row before the head"
        )
    return (
        "read it on a second queue while the next step runs: device = ttnn.open_device(device_id=0, "
        "num_command_queues=2); host = y.cpu(blocking=False, cq_id=1) after ttnn.wait_for_event(1, done)"
    )
