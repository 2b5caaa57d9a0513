"""How much two measurements of the same thing differ: below that, a difference is no difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.run.iterations import iterations_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.run.run import Run
    from ttnn_mcp.run.window import Scope

DEFAULT_SHARE = 0.02  # of kernel time, where nothing was measured twice: field practice for unchanged TTNN models
FLOOR_SHARE = 0.005  # iterations of one run share clock, placement and temperature; two runs never agree better
KEPT_ITERATIONS = 8
_RANGE_PER_SIGMA = {2: 1.128, 3: 1.693, 4: 2.059, 5: 2.326, 6: 2.534, 7: 2.704, 8: 2.847}  # d2 of control charts
_CERTAIN = 1.96 * np.sqrt(2)  # sigmas that two single measurements differ by in 19 of 20 cases


@dataclass(frozen=True, slots=True)
class Noise:
    """The share of kernel time below which a change proves nothing.

    Attributes:
        source: iterations inside the runs, repeat runs, or the default.
        why: how it was found.
    """

    share: float
    source: Literal["iterations", "repeats", "default"]
    why: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One side of a comparison.

    Attributes:
        scope: the window.
        everything: all rows among which the window is one iteration.
        joined: how many of the report's iterations the window spans.
    """

    run: Run
    scope: Scope
    everything: Scope
    joined: int = 1

    @property
    def kernel_ns(self) -> float:
        """Kernel time of the window on the device the others wait for."""
        return float(self.scope.critical.numbers("kernel_ns").sum())


def noise_of(sides: Sequence[Measured], repeats: Sequence[float] = (), *, least: float = 0.0) -> Noise:
    """The noise floor of a comparison.

    Args:
        sides: what is compared.
        repeats: kernel sums of runs of the same thing; one alone tells nothing.
        least: a floor for what iterations inside the runs cannot show.
    """
    inside = [_spread(sums) for sums in map(_iteration_sums, sides) if len(sums) > 1]
    if len(repeats) > 1:
        share = max([_spread(repeats), *inside])
        return Noise(
            share, "repeats", f"{len(repeats)} runs of the same tell apart what differs by {share:.2%} or more"
        )
    if inside and least <= FLOOR_SHARE:
        measured = max(inside)
        said = f"iterations inside the runs tell apart what differs by {measured:.2%} or more"
        floor = f", between runs {FLOOR_SHARE:.1%}" if measured < FLOOR_SHARE else ""
        return Noise(max(measured, FLOOR_SHARE), "iterations", said + floor)
    share = max([DEFAULT_SHARE, least, *inside])
    return Noise(share, "default", f"nothing alike was measured twice: {share:.2g} is assumed")


def _spread(sums: Sequence[float]) -> float:
    """The share by which two of such measurements differ in 19 of 20 cases, from their range."""
    middle = float(np.mean(sums))
    if not middle:
        return 0.0
    sigma = (max(sums) - min(sums)) / _RANGE_PER_SIGMA[min(len(sums), KEPT_ITERATIONS)]
    return float(_CERTAIN * sigma / middle)


def _iteration_sums(measured: Measured) -> list[float]:
    """Kernel time of each repeat of the window within its run; without the first where others are enough."""
    report, scope = measured.run.timed, measured.scope
    if scope.window.kind != "iteration" or (scope.window.of_iterations or 0) < 2:
        return []
    ops, found = report.steady, report.iterations
    if len(ops) != len(measured.everything.ops):  # between signposts
        ops = measured.everything.ops
        found = iterations_of(ops, report.signposts)
    on_device = ops.numbers("device") == scope.critical_device
    number = (found.number[on_device] + measured.joined - 1) // measured.joined  # 0 stays 0
    sums, rows = np.bincount(number, weights=ops.numbers("kernel_ns")[on_device]), np.bincount(number)
    whole = [float(one) for one, count in zip(sums[1:], rows[1:], strict=True) if count == len(scope.critical)]
    return (whole[1:] if len(whole) > 2 else whole)[-KEPT_ITERATIONS:]
