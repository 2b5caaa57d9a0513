"""What a report shows of a capture that went wrong: no times, raw timestamps, lost rows, no signposts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.run.trust import dropped_rows
from ttnn_mcp.shell.capture.failures import MORE_OPS, READ_OFTEN, Fault

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run

KERNEL_TIME = "DEVICE KERNEL DURATION"
FIRMWARE = "install the firmware that this tt-metal asks for, then profile again"


def doubts_of(run: Run) -> list[Fault]:
    """The failures that the report shows, the worst first."""
    performance = run.performance
    if performance is None:
        return []
    absurd = [caveat for caveat in performance.csv.caveats if KERNEL_TIME in caveat]
    raw = f"{performance.outlasting} device ops have" if performance.outlasting else absurd and f"{absurd[0]}:"
    doubts = [Fault("raw-timestamps", f"{raw} raw timestamps instead of durations.", FIRMWARE)] if raw else []
    kernel = performance.steady.numbers("kernel_ns")
    if not kernel.any():
        what = "No device op has a kernel time: the device's profiler was off, or its log cannot be read."
        return [
            *doubts,
            Fault("no-times", what, "profile on a device, with a tt-metal that was built with Tracy"),
        ]
    dropped = dropped_rows(performance)
    if dropped:
        doubts.append(Fault("rows-dropped", f"{dropped[0]}.", READ_OFTEN, (f"--op-support-count={MORE_OPS}",)))
    if not performance.iterations.count and not len(performance.signposts):  # one is a trace's replay, so warm
        what = "No signpost and no repeated iteration: nothing tells a warm pass from the first."
        doubts.append(
            Fault("no-signposts", what, 'run the model three times, tracy.signpost("iteration") before each')
        )
    return doubts
