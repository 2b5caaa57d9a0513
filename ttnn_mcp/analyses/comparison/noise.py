"""How much two measurements of the same model differ: a smaller difference proves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.iterations import iterations_of

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.run.window import Scope

DEFAULT_SHARE = 0.02  # of kernel time, if nothing was measured twice: field practice for unchanged TTNN models
FLOOR_SHARE = 0.005  # the least noise: few repeats can agree by luck
KEPT_ITERATIONS = 8
_RANGE_PER_SIGMA = {2: 1.128, 3: 1.693, 4: 2.059, 5: 2.326, 6: 2.534, 7: 2.704, 8: 2.847}  # d2 of control charts
_CERTAIN = 1.96 * np.sqrt(2)  # in 19 of 20 cases, two single measurements differ by no more sigmas


@dataclass(frozen=True, slots=True)
class Noise:
    """The share of kernel time below which a change proves nothing.

    Attributes:
        share: the share.
        source: iterations inside the runs, repeat runs, or the default.
        why: how the share was found, in words.
        inside: the share that iterations inside the files tell apart; None where none repeats.
    """

    share: float
    source: Literal["iterations", "repeats", "default"]
    why: str
    inside: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """One side of a comparison.

    Attributes:
        run: the run.
        scope: the ops of the window.
        everything: all rows of which the window is one iteration.
        joined: how many of the report's iterations the window spans.
    """

    run: Run
    scope: Scope
    everything: Scope
    joined: int = 1

    @property
    def kernel_ns(self) -> float:
        """Kernel time of the window on its critical device."""
        return float(self.scope.critical.numbers("kernel_ns").sum())


def noise_of(sides: Sequence[Measured], repeats: Sequence[float] = (), *, one_file: bool = False) -> Noise:
    """The noise floor of a comparison.

    Iterations of one file share clock, placement and temperature. They say nothing of how far two files of an
    unchanged model lie apart: repeats do, and without them the default holds.

    Args:
        sides: the two windows.
        repeats: kernel times in ns of the baseline and its repeats; a single one proves nothing.
        one_file: whether both windows are iterations of one file.
    """
    spreads = [_spread(sums) for sums in map(_iteration_sums, sides) if len(sums) > 1]
    inside = max([*spreads, FLOOR_SHARE]) if spreads else None
    if len(repeats) > 1:
        share = max([_spread(repeats), FLOOR_SHARE, *spreads])
        why = f"{len(repeats)} runs of the same tell apart what differs by {figure(share, '.2%')} or more"
        return Noise(share, "repeats", why, inside)
    if one_file and inside is not None:
        measured = max(spreads)
        floor = f", between iterations {figure(FLOOR_SHARE, '.1%')}" if measured < FLOOR_SHARE else ""
        why = f"iterations inside the run tell apart what differs by {figure(measured, '.2%')} or more{floor}"
        return Noise(inside, "iterations", why, inside)
    share = max([DEFAULT_SHARE, *spreads])
    why = f"no repeats of the baseline: {figure(share, '.2%')} assumed between two files"
    return Noise(share, "default", why, inside)


def _spread(sums: Sequence[float]) -> float:
    """The share by which two such measurements differ at most in 19 of 20 cases, from the range of these."""
    middle = float(np.mean(sums))
    if not middle:
        return 0.0
    sigma = (max(sums) - min(sums)) / _RANGE_PER_SIGMA[min(len(sums), KEPT_ITERATIONS)]
    return float(_CERTAIN * sigma / middle)


def _iteration_sums(measured: Measured) -> list[float]:
    """Kernel time of each repeat of the window within its run; without the first one if there are more than two."""
    report, scope = measured.run.performance_report, measured.scope
    if scope.window.kind != "iteration":  # unmoved: only spares time, no iteration holds all rows of a wider window
        return []
    ops, iterations = report.steady, report.iterations
    if len(ops) != len(measured.everything.ops):  # between signposts # unmoved: only spares time
        ops = measured.everything.ops
        iterations = iterations_of(ops, report.signposts)
    on_device = ops.numbers("device") == scope.critical_device
    number = (iterations.number[on_device] + measured.joined - 1) // measured.joined  # 0 stays 0
    sums, rows = np.bincount(number, weights=ops.numbers("kernel_ns")[on_device]), np.bincount(number)
    whole = [
        float(kernel_ns)
        for kernel_ns, count in zip(sums[1:], rows[1:], strict=True)
        if count == len(scope.critical)
    ]
    return (whole[1:] if len(whole) > 2 else whole)[-KEPT_ITERATIONS:]
