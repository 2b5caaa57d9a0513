"""All reasons to doubt a comparison, in one list: those about the measurement first, then those about the gain.

Two kinds stand here: a gain that the change cannot explain, that hides a loss, or that two files differ by anyway; and
times of the candidate that cannot be: below the floor of the same work, zero, or from a broken counter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison import doubts_of_capture as capture
from ttnn_mcp.analyses.comparison import doubts_of_contents as contents
from ttnn_mcp.analyses.comparison.aspects import SAME
from ttnn_mcp.analyses.comparison.comparison import device_changes
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.analyses.dataflow.likely_producers import flow_of
from ttnn_mcp.analyses.roofline.roofline import IMPOSSIBLE, roofline_of
from ttnn_mcp.analyses.time_budget.least_times import least_times_of
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.doubt import some_lines
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.op_table import CORRECTED

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison

    Doubt = Callable[[Comparison], Reason | None]

NAMED = 2
_CONVERSIONS = ("layout", "movement", "shape")  # ops that appear and disappear with formats and placements
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
    if abs(change) <= noise:
        return None
    doubtful[0][pairs.before] |= doubtful[1][pairs.after]
    doubtful[1][pairs.after] |= doubtful[0][pairs.before]
    before, after = (int(times[~mask].sum()) for times, mask in zip(comparison.times, doubtful, strict=True))
    if before and (after - before) / before * np.sign(change) > noise:
        return None  # always where none is doubtful
    how = "gained" if change < 0 else "lost"
    return Reason("impossible_times", f"without {where}, whose durations were impossible, nothing is {how}")


def within_file_noise(comparison: Comparison) -> Reason | None:
    """A gain that iterations inside the files would show, but that two files of one model may differ by."""
    noise, change = comparison.noise, comparison.change_share
    if all(comparison.stages_moved):
        return None  # a mixed verdict claims no gain
    if noise.source != "default" or noise.inside is None or not noise.inside < -change <= noise.share:
        return None
    inside = f"{figure(change, '+.2%')} is beyond the {figure(noise.inside, '.2%')} inside the files"
    return Reason(
        "within_file_noise", f"{inside}, not beyond the {figure(noise.share, '.2g')} assumed between two files"
    )


def gain_elsewhere(comparison: Comparison) -> Reason | None:
    """All of the gain lies on ops that nothing was changed about."""
    noise, total = comparison.noise.share, comparison.total
    if comparison.change_share >= -noise or comparison.work.ratio != 1.0 or comparison.little_in_common:
        return None
    pairs, (before, after) = comparison.alignment, comparison.times
    touched = np.zeros(len(pairs.before), dtype=np.bool_)
    for aspect in comparison.aspects:
        touched |= aspect.codes != SAME
    if not (touched.any() or pairs.edits):
        return None  # what changed is not in the report, such as a kernel's source, or was not aligned
    elsewhere = int(after[pairs.after[~touched]].sum()) - int(before[pairs.before[~touched]].sum())
    acted = total.delta_ns - elsewhere
    if acted < -noise * total.before_ns:
        return None
    what = (
        f"{figure(elsewhere / 1e3, '+,.1f')} us on ops with nothing changed, "
        f"{figure(acted / 1e3, '+,.1f')} us where something did"
    )
    return Reason("gain_elsewhere", what)


def several_changes(comparison: Comparison) -> Reason | None:
    """More than one kind of change, each on ops that could hold a gain."""
    if not comparison.aligns:
        return None
    kinds = {
        kind: ns
        for kind, ns in _kinds(comparison).items()
        if ns > comparison.noise.share * comparison.total.before_ns
    }
    if len(kinds) < 2:
        return None
    listed = " and ".join(sorted(kinds))
    return Reason(
        "several_changes", f"{listed} changed: if that was more than one change, nobody can tell which helped"
    )


def _kinds(comparison: Comparison) -> dict[str, int]:
    """The kinds of change, with the time of the ops that they touched."""
    (before, after), pairs = comparison.times, comparison.alignment
    names = comparison.names(0), comparison.names(1)
    kinds: dict[str, int] = {}
    for change in comparison.changes:
        touched = max(int(before[pairs.before[change.pairs]].sum()), int(after[pairs.after[change.pairs]].sum()))
        for kind in change.families & {"formats", "placement"}:
            kinds[kind] = kinds.get(kind, 0) + touched
    lost = contents.missing(comparison) is not None
    for edit in pairs.edits:
        if lost and not edit.after:
            continue  # missing work is no change
        rows = list(edit.before), list(edit.after)
        if any(family(names[side][row]) not in _CONVERSIONS for side in (0, 1) for row in rows[side]):
            touched = max(int(before[rows[0]].sum()), int(after[rows[1]].sum()))
            kinds["the ops themselves"] = kinds.get("the ops themselves", 0) + touched
    return kinds


def stage_worse(comparison: Comparison) -> Reason | None:
    """A stage of a language model that lost more than noise explains, beside one that gained."""
    gained, lost = comparison.stages_moved
    return Reason("stage_worse", ", ".join([*gained, *lost])) if gained and lost else None


def device_worse(comparison: Comparison) -> Reason | None:
    """A device that became slower, while the one that the others wait for became faster."""
    if comparison.change_share >= -comparison.noise.share:
        return None
    changes = device_changes(comparison)
    worse = sorted((-change, device) for device, change in changes.items() if change > comparison.noise.share)
    if not worse:
        return None
    listed = ", ".join(f"device {device} {figure(-change, '+.1%')}" for change, device in worse[:NAMED])
    return Reason("device_worse", f"{len(worse)} of {len(changes)} devices became slower: {listed}")


OF_ANY_PAIR: tuple[Doubt, ...] = (
    contents.same_reading,
    doubtful_report,
    capture.other_clock,
    capture.trace_on_one_side,
    capture.profiler_on_one_side,
    contents.missing,
    capture.baseline_damaged,
)
OF_ONE_MODEL: tuple[Doubt, ...] = (
    contents.nothing_aligned,
    zero_times,
    below_floor,
    impossible_times,
    within_file_noise,
    gain_elsewhere,
    several_changes,
    stage_worse,
    device_worse,
)


def reasons_of(comparison: Comparison, *, one_model: bool) -> tuple[Reason, ...]:
    """The reasons that stand.

    Args:
        comparison: the two windows.
        one_model: whether they may be compared: ops of different models differ in everything.
    """
    doubts = (*OF_ANY_PAIR, *OF_ONE_MODEL) if one_model else OF_ANY_PAIR
    return tuple(reason for doubt in doubts if (reason := doubt(comparison)) is not None)
