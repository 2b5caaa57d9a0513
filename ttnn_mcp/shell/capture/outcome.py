"""What `profile` says of the reports it got: whether they can be believed, and what is slow.

No times, raw timestamps, lost rows or no signposts show a capture that went wrong.
"""

from __future__ import annotations

import sys

from ttnn_mcp.errors import TtnnMcpError
from ttnn_mcp.run.run import Run
from ttnn_mcp.run.trust import dropped_rows
from ttnn_mcp.session.session import Session
from ttnn_mcp.shell.asking import all_findings
from ttnn_mcp.shell.capture.failures import MORE_OPS, READ_OFTEN, Fault
from ttnn_mcp.shell.capture.profiled import Capture
from ttnn_mcp.shell.check_screen import check_screen
from ttnn_mcp.shell.terminal import coloured, width

KERNEL_TIME = "DEVICE KERNEL DURATION"
FIRMWARE = "install the firmware that this tt-metal asks for, then profile again"
UNUSABLE = "no-times"


async def findings_of(session: Session, capture: Capture) -> str:
    """The findings as `check` prints them; empty where the report holds no times."""
    memory = str(capture.memory_report) if capture.memory_report else None
    try:
        run = await session.open(str(capture.performance), memory)
        doubts = doubts_of(run)
        for doubt in doubts:
            capture.explain(doubt)
        if any(doubt.name == UNUSABLE for doubt in doubts):
            capture.status = capture.status or 1
            return ""
        answer = await all_findings(session, {"run": run.id})
    except TtnnMcpError as refusal:
        capture.tell(str(refusal))
        capture.status = capture.status or 1
        return ""
    return check_screen(answer, run=run.id, colour=coloured(sys.stdout), width=width())


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
