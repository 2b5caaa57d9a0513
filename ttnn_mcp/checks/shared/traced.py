"""What Metal Trace saves of a device's time: bounded by the gaps, or by the wall time without the profiler.

Something is expected of it only where the wall time is known: gaps of a profile tell too little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import (
    DEVICE_BOUND,
    TRACED_GAP_NS,
    trace_saving_ns,
    trace_saving_of_wall_ns,
)
from ttnn_mcp.checks.expectation import by_wall
from ttnn_mcp.checks.levers import TRACE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.devices.host_gaps import Timeline
    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.expectation import Expectation


class Traced(NamedTuple):
    """What a trace saves.

    Attributes:
        most_ns: at most of the gaps.
        by_wall: whether the wall time leaves it less than the gaps of the profile do.
        expected: an equal part for each op; None where nothing is known.
        in_kernels_ns: at most of what exchanges wait in their kernels for chips that the host feeds late.
    """

    most_ns: float
    by_wall: bool
    expected: Expectation | None
    in_kernels_ns: float = 0.0


def traced(facts: WindowFacts, line: Timeline, wall_ns: float | None, ops: int = 1) -> Traced:
    """What a trace saves on a device.

    Args:
        facts: the window.
        line: the device's timeline.
        wall_ns: what its pass takes with the profiler off; None where that is not known.
        ops: how many share what is expected.
    """
    by_gaps = trace_saving_ns(line)
    if wall_ns is None and facts.alone:
        return Traced(by_gaps, by_wall=False, expected=None)
    whole_ns = line.wall_ns if wall_ns is None else wall_ns
    # the kernels that wait for no host stay, on the device that works longest, with the gaps of a trace
    beyond_ns = max(0.0, whole_ns - facts.working_ns - len(line.gaps_ns) * TRACED_GAP_NS)
    most_ns = min(by_gaps if wall_ns is None else trace_saving_of_wall_ns(line, wall_ns), beyond_ns)
    in_kernels_ns = min(float(facts.waits.by_device[line.device].sum()), beyond_ns - most_ns)
    if wall_ns is None:
        in_kernels_ns *= facts.waits.bounded  # else a profile alone tells nothing of it
        return Traced(most_ns, by_wall=False, expected=None, in_kernels_ns=in_kernels_ns)
    # the measured pairs are of passes that wait, and whose walls have less beyond the kernels than a profile has gaps
    alike = line.busy_in(wall_ns) < DEVICE_BOUND and 0 < most_ns < by_gaps and not line.interrupted
    expected = by_wall(TRACE.name, np.full(ops, most_ns / ops)) if alike else None
    return Traced(most_ns, most_ns < by_gaps, expected, in_kernels_ns)
