"""Times of the candidate that cannot be: below the floor of the same work, zero, or from a broken counter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.aspects import SAME
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.roofline.roofline import IMPOSSIBLE, roofline_of
from ttnn_mcp.analyses.time_budget.least_times import least_times_of
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.doubt import some_lines
from ttnn_mcp.run.ops.op_table import CORRECTED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.comparison.comparison import Comparison

    Mask = NDArray[np.bool_]


DOUBTS_TOLD = 3  # of a report: whoever profiles again need not know more


def doubtful_report(comparison: Comparison) -> Reason | None:
    """A report that contradicts itself: whatever its times say, they decide nothing."""
    sides = {"baseline": comparison.before, "candidate": comparison.after}
    own = {"pass_unlike_others"} if comparison.before.run.id == comparison.after.run.id else set[str]()
    doubts = [
        f"{name}: {doubt}"
        for name, side in sides.items()
        for doubt in side.scope.doubts
        if doubt.of_all and doubt.code not in own
    ]
    more = f"; and {len(doubts) - DOUBTS_TOLD} more" if len(doubts) > DOUBTS_TOLD else ""
    return Reason("doubtful_report", "; ".join(doubts[:DOUBTS_TOLD]) + more) if doubts else None


def below_floor(comparison: Comparison) -> Reason | None:
    """Ops faster than the chip can be, by what their own row shows, or by the bound of the same op before."""
    before, after = comparison.ops
    rows_before, rows = comparison.alignment.before, comparison.alignment.after
    impossible = np.array(roofline_of(after, comparison.after.run.chip).impossible)
    impossible[rows] &= ~roofline_of(before, comparison.before.run.chip).impossible[rows_before]
    devices = len(np.unique(comparison.before.scope.ops.numbers("device")))
    least = least_times_of(before, comparison.before.run.chip, flow_of(before), devices).as_it_is_ns[rows_before]
    same_work = comparison.tokens[0].record[rows_before] == comparison.tokens[1].record[rows]
    for aspect in comparison.aspects:
        if aspect.kind == "fidelity":
            same_work &= aspect.codes == SAME
    impossible[rows] |= same_work & (least > IMPOSSIBLE * comparison.times[1][rows])
    impossible &= comparison.times[1] > 0
    if not impossible.any():
        return None
    took = comparison.times[1][impossible].sum() / 1e3
    where = some_lines(comparison.ops[1], impossible)
    return Reason(
        "below_floor",
        f"{where} took {figure(took, ',.1f')} us, less than their bytes or arithmetic need at peak rates",
    )


def zero_times(comparison: Comparison) -> Reason | None:
    """Ops that took no time at all, where their partners did."""
    pairs, (before, after) = comparison.alignment, comparison.times
    zero = after == 0
    zero[pairs.after] &= before[pairs.before] > 0
    return Reason("zero_times", f"{some_lines(comparison.ops[1], zero)} took 0 ns") if zero.any() else None


def impossible_times(comparison: Comparison) -> Reason | None:
    """A difference that rests on times which were not measured but told from other columns."""
    pairs, noise, change = comparison.alignment, comparison.noise.share, comparison.change_share
    doubtful = [ops.numbers(CORRECTED) == 1 for ops in comparison.ops]
    where = some_lines(comparison.ops[1], doubtful[1]) if doubtful[1].any() else ""
    where = where or (f"{some_lines(comparison.ops[0], doubtful[0])} of the baseline" if doubtful[0].any() else "")
    if not where or abs(change) <= noise:
        return None
    doubtful[0][pairs.before] |= doubtful[1][pairs.after]
    doubtful[1][pairs.after] |= doubtful[0][pairs.before]
    before, after = (int(times[~mask].sum()) for times, mask in zip(comparison.times, doubtful, strict=True))
    if before and (after / before - 1) * np.sign(change) > noise:
        return None
    how = "gained" if change < 0 else "lost"
    return Reason("impossible_times", f"without {where}, whose durations were impossible, nothing is {how}")
