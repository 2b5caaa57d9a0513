"""Why two windows may not be compared at all: other hardware, other windows, other work."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.quoting import figure

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.wire import Window

PART = 1.8  # times the ops of the shorter window: a change does not remove so many ops and leave all others as they are
WHOLE = 0.9  # share of the shorter window's ops that are in the longer one: then it is a part of it


def hardware_barriers(comparison: Comparison) -> list[str]:
    """Differences of chip, number of devices or grid."""
    before, after = comparison.before.run, comparison.after.run
    barriers: list[str] = []
    if before.chip.arch and after.chip.arch and before.chip.arch != after.chip.arch:
        barriers.append(f"architecture {before.chip.arch} -> {after.chip.arch}")
    devices = [len(np.unique(side.scope.ops.numbers("device"))) for side in (comparison.before, comparison.after)]
    if devices[0] != devices[1]:
        barriers.append(f"devices {devices[0]} -> {devices[1]}: compare samples per second instead")
    grids = before.chip.worker_cores, after.chip.worker_cores
    if grids[0] and grids[1] and grids[0] != grids[1]:
        barriers.append(f"compute grid {grids[0]} -> {grids[1]} cores")
    return barriers


def window_barriers(comparison: Comparison) -> list[str]:
    """Windows that do not hold the same pass of the model."""
    before, after = comparison.before.scope.window, comparison.after.scope.window
    if comparison.mixed_windows and not comparison.same_arithmetic:
        differ = f"windows differ: baseline {window_name(before)}, candidate {window_name(after)}"
        return [f"{differ}; choose the same (iteration, signposts), or profile both with 2 or more iterations"]
    if comparison.mixed_windows:
        return []
    passes = before.of_iterations or 1, after.of_iterations or 1
    if before.kind != "iteration" and passes[0] != passes[1]:
        return [f"the windows hold {passes[0]} and {passes[1]} iterations; take iteration='last'"]
    if passes[0] != passes[1] and _is_part(comparison):
        counts = comparison.total.before_count, comparison.total.after_count
        differ = f"windows of {counts[0]} and {counts[1]} ops, one is part of the other"
        return [
            f"{differ}: a layer was taken for an iteration; mark iterations with signposts, or profile both alike"
        ]
    return []


def _is_part(comparison: Comparison) -> bool:
    """Whether the longer window has far more ops, among them nearly all ops of the shorter one."""
    shorter, longer = sorted((comparison.total.before_count, comparison.total.after_count))
    return longer >= PART * shorter and comparison.alignment.same_shape.sum() >= WHOLE * shorter


def window_name(window: Window) -> str:
    """The window in a few words."""
    warm = "warm" if window.warm else "cold"
    if window.kind == "iteration":
        return f"{warm} iteration {window.iteration} of {window.of_iterations}"
    return f"{warm} {window.kind.replace('_', ' ')}"


def work_barriers(comparison: Comparison) -> list[str]:
    """Other work: another model, batch or input."""
    if not comparison.total.before_ns or not comparison.total.after_ns:
        return ["no kernel time on one side"]
    if not comparison.alignment.complete:
        return []
    if not {*comparison.names(0)} & {*comparison.names(1)}:
        return ["no op in common: these are different models"]
    batch, work = batch_barrier(comparison), comparison.work
    if batch is not None:
        return [batch]
    if work.ratio != 1.0:
        return [f"tensors are {figure(work.ratio, '.3g')}x the size throughout: another batch, or longer inputs"]
    return (
        [f"shapes differ on {figure(work.share, '.0%')} of the ops both have: other inputs, or another model"]
        if work.differs
        else []
    )


def batch_barrier(comparison: Comparison) -> str | None:
    """The batches, where they are certain to differ."""
    batch = comparison.work.batch
    return None if batch is None else f"batch {batch[0]} -> {batch[1]}"
