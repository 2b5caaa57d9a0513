"""All reasons to doubt a comparison, in one list: those about the measurement first, then those about the gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison import doubts_of_capture as capture
from ttnn_mcp.analyses.comparison import doubts_of_contents as contents
from ttnn_mcp.analyses.comparison import doubts_of_gain as gain
from ttnn_mcp.analyses.comparison import doubts_of_times as times

if TYPE_CHECKING:
    from collections.abc import Callable

    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.reasons import Reason

    Doubt = Callable[[Comparison], Reason | None]

OF_ANY_PAIR: tuple[Doubt, ...] = (
    contents.same_reading,
    times.doubtful_report,
    capture.other_clock,
    capture.trace_on_one_side,
    capture.profiler_on_one_side,
    contents.missing,
    capture.baseline_damaged,
)
OF_ONE_MODEL: tuple[Doubt, ...] = (
    contents.nothing_aligned,
    times.zero_times,
    times.below_floor,
    times.impossible_times,
    gain.within_file_noise,
    gain.gain_elsewhere,
    gain.several_changes,
    gain.stage_worse,
    gain.device_worse,
)


def reasons_of(comparison: Comparison, *, one_model: bool) -> tuple[Reason, ...]:
    """The reasons that stand.

    Args:
        comparison: the two windows.
        one_model: whether they may be compared: ops of different models differ in everything.
    """
    doubts = (*OF_ANY_PAIR, *OF_ONE_MODEL) if one_model else OF_ANY_PAIR
    return tuple(reason for doubt in doubts if (reason := doubt(comparison)) is not None)
