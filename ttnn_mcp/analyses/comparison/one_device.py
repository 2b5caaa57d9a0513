"""One device for both sides: a mesh whose devices take nearly the same time has another slowest one in each run.

The ops of two devices differ though nothing was changed: links, cores and tensor slices depend on a device's place.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.noise import FLOOR_SHARE

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.noise import Measured


def on_one_device(before: Measured, after: Measured) -> tuple[Measured, Measured]:
    """Both sides on one device, where on either side it takes as long as the slowest one but for the least noise."""
    first, second = before.scope.critical_device, after.scope.critical_device
    if first == second:  # unmoved: another scope of the same device would only compute all anew
        return before, after
    if _as_slow(after, first):
        return before, led_by(after, first)
    return (led_by(before, second), after) if _as_slow(before, second) else (before, after)


def led_by(side: Measured, device: int) -> Measured:
    """The side with this device in place of its slowest one."""
    return replace(side, scope=replace(side.scope, lead=device))


def _as_slow(side: Measured, device: int) -> bool:
    kernel_ns = float(side.scope.of_device(device).numbers("kernel_ns").sum())
    return kernel_ns >= (1 - FLOOR_SHARE) * side.kernel_ns
