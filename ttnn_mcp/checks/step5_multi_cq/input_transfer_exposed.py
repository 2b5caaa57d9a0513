"""Each step waits for its input to reach the device.

With a second command queue the next input is written while the present step computes. It saves at most the shorter of
the two, and only after a Metal Trace: without one the host is busy with dispatch.

No column of a performance report shows queues or transfers, so without a memory report the check cannot tell, and says
what to measure. A memory report lists the calls that write tensors to the device and their sizes. Then the claim gives
the bytes without a saving: the time of a copy depends on the card's slot and is in no report.

The line: with a memory report, the bytes written would take 5 % of the step at 1 GB/s, a slow host copy; below it the
transfer is not worth a queue (an LLM's next token). Silent if the run already uses a second queue.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import CannotTell, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import HOST
from ttnn_mcp.checks.shared.host_traffic import Traffic, events_order_queues, slow_traffic, writes
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.memory.report import MemoryReport


@check(
    title="steps wait for their input",
    lever=HOST,
    principal=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield the bytes written where a memory report shows them; else what to measure."""
    memory = facts.run.memory
    written = writes(memory) if memory else []
    if memory is None or not written:  # unmoved: without a report nothing is written
        yield CannotTell(
            "reports have no transfer times. Give: input bytes per step, time T of copying them, is trace on "
            f"({'yes' if facts.run.performance_report.traced else 'none seen'}); "
            f"two queues save at most min(T, {figure(facts.total_ns / 1e6, '.2f')} ms)"
        )
    elif not _two_queues(memory):
        yield from slow_traffic(facts, written, _tell)


def _tell(written: Traffic) -> Words:
    facts, largest = written.facts, written.largest
    return Words(
        claim=(
            f"{written.amount} are written to the device on the compute queue, {largest.megabytes} of it by "
            f"{largest.call}"
        ),
        assumption=(
            f"saves at most min(copy time, {figure(facts.total_ns / 1e6, '.2f')} "
            "ms); no report has the copy time, so no figure"
        ),
        evidence=written.cells,
        fix=(
            "traced: device = ttnn.open_device(device_id=0, num_command_queues=2); a step: "
            "ttnn.wait_for_event(1, used); ttnn.copy_host_to_device_tensor(host, x, 1); "
            "e = ttnn.record_event(device, 1); ttnn.wait_for_event(0, e); reshard x; "
            "used = ttnn.record_event(device, 0)"
        ),
        verify="time a step with the profiler off: host_overhead(wall_ms=...) verdict moves towards device_bound",
        caveat=(
            "helps only after Metal Trace "
            f"({'traced' if facts.run.performance_report.traced else 'no traced row here'}); "
            "weights loaded inside the capture are counted too"
        ),
    )


def _two_queues(memory: MemoryReport) -> bool:
    """Whether events order two queues, or launches went to more than one."""
    queues = memory.executions.queues if memory.executions else ()
    return events_order_queues(memory) or len(np.unique(queues)) > 1
