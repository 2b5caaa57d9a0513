"""The device that works longest: the others wait for it in their collectives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import timelines_of

if TYPE_CHECKING:
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.window import Scope

AS_SLOW = 0.005  # devices whose times are less apart are equally slow: few repeats of a run differ by less (ours)
AS_LONG = 0.9  # of the longest pass: devices that meet in collectives take as long, but for how they start (ours)


def led_by_work(scope: Scope, chip: Chip) -> Scope:
    """The window with the device that works longest as its critical one, where devices meet in collectives.

    Most kernel time may be waiting there. Of devices that work as long, and take as long from the first op to the last,
    it is that with most kernel time. A scope that is led already stays, and so does one of a single device.
    """
    ops, devices = scope.ops, scope.ops.numbers("device")
    if (devices == devices[0]).all():  # unmoved: it only saves time
        return scope
    if scope.lead is not None or not ops.of_family("collective").any():
        return scope
    lines = timelines_of(ops, chip)
    longest = max(line.wall_ns for line in lines)
    own_ns = ops.by_device(np.where(ops.of_family("collective"), 0.0, ops.numbers("kernel_ns")))
    lines = [line for line in lines if line.wall_ns >= AS_LONG * longest]
    most = max(own_ns[line.device] for line in lines)
    slow = [line for line in lines if own_ns[line.device] >= (1 - AS_SLOW) * most]
    return replace(scope, lead=max(slow, key=lambda line: line.kernel_ns).device)
