"""A gain that the change cannot explain, that hides a loss, or that two files differ by anyway."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.aspects import SAME
from ttnn_mcp.analyses.comparison.doubts_of_contents import missing
from ttnn_mcp.analyses.comparison.reasons import Reason
from ttnn_mcp.quoting import figure
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison

NAMED = 2
_CONVERSIONS = ("layout", "movement", "shape")  # ops that appear and disappear with formats and placements


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
    lost = missing(comparison) is not None
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
    sums: list[dict[int, float]] = []
    for side, ratio in ((comparison.before, 1.0), (comparison.after, comparison.clock_ratio)):
        ids, places = np.unique(side.scope.ops.numbers("device"), return_inverse=True)
        kernel_ns = np.bincount(places, weights=side.scope.ops.numbers("kernel_ns")) * ratio
        sums.append(dict(zip(ids.astype(int).tolist(), kernel_ns.tolist(), strict=True)))
    changes = {
        device: sums[1][device] / before - 1 for device, before in sums[0].items() if device in sums[1] and before
    }
    worse = sorted((-change, device) for device, change in changes.items() if change > comparison.noise.share)
    if not worse:
        return None
    listed = ", ".join(f"device {device} {figure(-change, '+.1%')}" for change, device in worse[:NAMED])
    return Reason("device_worse", f"{len(worse)} of {len(changes)} devices became slower: {listed}")
