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

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.checks.check import CannotTell, Check, Claim, Claims, Evidence, WindowFacts

if TYPE_CHECKING:
    from ttnn_mcp.readers.memory.columns import Tensor
    from ttnn_mcp.readers.memory.report import MemoryReport

SLOW_COPY_BYTES_PER_NS = 1.0  # pageable host memory; pinned copies over PCIe 4.0 x16 reach 20 times as much (ours)
MIN_TRANSFER_SHARE = 0.05  # of a step: the skill's line for a second queue
FILLS = ("ttnn.to_device", "ttnn.from_torch")  # their output is the tensor on the device
COPIES = "ttnn.copy_host_to_device_tensor"  # host tensor, device tensor; no output
EVENTS = ("ttnn.record_event", "ttnn.wait_for_event")


def look(facts: WindowFacts) -> Claims:
    """Yield the bytes written where a memory report shows them; else what to measure."""
    kernel_ms = facts.total_ns / 1e6
    memory = facts.run.memory
    written = _written(memory) if memory else []
    if memory is None or not written:  # unmoved: without a report nothing is written
        yield CannotTell(
            "reports have no transfer times. Give: input bytes per step, time T of copying them, is trace on "
            f"({'yes' if facts.run.performance_report.traced else 'none seen'}); "
            f"two queues save at most min(T, {kernel_ms:.2f} ms)"
        )
        return
    total = sum(tensor.size_bytes or 0 for _, tensor in written)
    if _two_queues(memory) or total / SLOW_COPY_BYTES_PER_NS < MIN_TRANSFER_SHARE * facts.total_ns:
        return
    operation, largest = max(written, key=lambda pair: pair[1].size_bytes or 0)
    row = memory.operations.row(operation)
    name = memory.operations.names[row] if row is not None else FILLS[0]
    rows = np.zeros(0, dtype=np.int64)
    yield Claim(
        claim=(
            f"{total / 1e6:.2f} MB in {len(written)} tensor{'s' * (len(written) > 1)} are written to the device "
            f"on the compute queue, {(largest.size_bytes or 0) / 1e6:.2f} MB of it by {name} (operation "
            f"{operation})"
        ),
        rows=rows,
        at_most_ns=np.zeros(0),
        assumption=f"saves at most min(copy time, {kernel_ms:.2f} ms); no report has the copy time, so no figure",
        evidence=(
            Evidence(source=memory.path.name, row=f"operations:{operation}", column="name", value=name),
            Evidence(
                source=memory.path.name,
                row=f"tensors:{largest.id}",
                column="size",
                value=largest.size_bytes,
                unit="B",
            ),
        ),
        fix=(
            "once traced, ttnn.open_device(device_id=0, num_command_queues=2), per step: ttnn.wait_for_event(1, used); "
            "ttnn.copy_host_to_device_tensor(host, x, 1); e = ttnn.record_event(device, 1); ttnn.wait_for_event(0, e); "
            "reshard x; used = ttnn.record_event(device, 0)"
        ),
        verify="time a step with the profiler off: host_overhead(wall_ms=...) verdict moves towards device_bound",
        caveat=(
            "helps only after Metal Trace "
            f"({'traced' if facts.run.performance_report.traced else 'no traced row here'}); "
            "weights loaded inside the capture are counted too"
        ),
    )


def _written(memory: MemoryReport) -> list[tuple[int, Tensor]]:
    """(operation, tensor on the device) of every call that writes from the host."""
    inputs: list[tuple[int, Tensor]] = []
    for operation, name in zip(memory.operations.ids.tolist(), memory.operations.names, strict=True):
        if name == COPIES:
            ids = memory.inputs.of(operation)[-1:]
        elif name in FILLS:
            ids = memory.outputs.of(operation)
        else:
            continue
        tensors = [tensor for tensor_id in ids if (tensor := memory.tensors.get(tensor_id)) is not None]
        inputs += [(operation, tensor) for tensor in tensors if tensor.size_bytes and tensor.device is not None]
    return inputs


def _two_queues(memory: MemoryReport) -> bool:
    """Whether events order two queues, or launches went to more than one."""
    if any(name in EVENTS for name in memory.operations.names):
        return True
    return memory.executions is not None and len(np.unique(memory.executions.queues)) > 1


CHECK = Check(
    id="input-transfer-exposed",
    title="steps wait for their input",
    step=5,
    look=look,
)
