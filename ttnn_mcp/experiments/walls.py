"""Wall times of one iteration on both sides: given, or those of the profiles."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.devices.host_gaps import timelines_of
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.noise import Measured


@dataclass(frozen=True, slots=True)
class Walls:
    """Milliseconds of one iteration before and after; `profiled` where the profiler was on.

    `blocks` are those of traced replays on each side, in ms, where they are known: before and after are their medians.
    """

    before_ms: float
    after_ms: float
    profiled: bool
    blocks: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())

    @property
    def change_share(self) -> float:
        """Relative change; negative is faster."""
        return self.after_ms / self.before_ms - 1


def walls_of_blocks(before: Sequence[float], after: Sequence[float]) -> Walls:
    """Those that a person measured, in ms, with the profiler off."""
    return Walls(median(before), median(after), profiled=False, blocks=(tuple(before), tuple(after)))


def profiled_walls(comparison: Comparison) -> Walls | None:
    """Wall times of both windows under the profiler; None unless both are warm."""
    sides = (comparison.before, comparison.after)
    if not all(side.scope.window.warm for side in sides):
        return None
    before, after = map(_wall_ns, sides)
    return Walls(before / 1e6, after / 1e6, profiled=True) if before > 0 else None


def _wall_ns(side: Measured) -> float:
    return max(line.wall_ns for line in timelines_of(side.scope.ops, side.run.chip))
