"""Whether two windows may be compared at all, and the verdict of their comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.trust import dropped_rows

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison, Verdict
    from ttnn_mcp.wire import Window

SAME_CLOCK = 0.01  # measured clocks of one architecture differ by far less
PART = 1.8  # times the ops of the shorter window: a change does not remove so many ops and leave all others as they are
WHOLE = 0.9  # share of the shorter window's ops that are in the longer one: then it is a part of it
MOVED_NAMED = 2  # op names that are gone, and as many new ones, in the sentence


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a comparison.

    Attributes:
        verdict: faster, slower, unchanged or not comparable; mixed where one stage of a language model gained and
            another one lost.
        why: the reason, with the figures.
        barriers: why the two cannot be compared; empty where they can.
        caveats: what else differs, to be read with the figures.
        other_hardware: whether the chip, its grid or the number of devices is among the barriers.
        only_batch: whether the only barrier is a difference in batch that is certain.
    """

    verdict: Verdict
    why: str
    barriers: tuple[str, ...]
    caveats: tuple[str, ...]
    other_hardware: bool = False
    only_batch: bool = False


def judgement_of(comparison: Comparison) -> Judgement:
    """The verdict of a comparison and its reason."""
    hardware = _hardware(comparison)
    barriers = [*hardware, *_windows(comparison), *_work(comparison)]
    caveats = tuple(_caveats(comparison))
    if barriers:
        per = comparison.per_sample
        figures = (
            f"per sample {per.change_share:+.1%}"
            if per and per.batch
            else f"kernel time {comparison.change_share:+.1%}"
        )
        why = f"{'; '.join(barriers)} ({figures})"
        only_batch = barriers == [_batch(comparison)]
        return Judgement("not_comparable", why, tuple(barriers), caveats, bool(hardware), only_batch)
    change, noise = comparison.change_share, comparison.noise
    total = comparison.total
    figures_text = f"kernel {total.before_ns / 1e6:.3f} -> {total.after_ns / 1e6:.3f} ms ({change:+.2%})"
    gained, lost = _stages(comparison)
    if gained and lost:
        why = f"{figures_text}, but stages differ: {', '.join([*gained, *lost])}; noise {noise.share:.2%}"
        return Judgement("mixed", why, (), caveats)
    if abs(change) <= noise.share:
        return Judgement("unchanged", f"{figures_text} is within the noise of {noise.share:.2%}", (), caveats)
    verdict = "faster" if change < 0 else "slower"
    return Judgement(
        verdict, f"{figures_text}, beyond the noise of {noise.share:.2%}{_moved(comparison)}", (), caveats
    )


def _stages(comparison: Comparison) -> tuple[list[str], list[str]]:
    """Stages that gained and that lost more than noise explains: a gain must not hide a loss elsewhere."""
    gained: list[str] = []
    lost: list[str] = []
    for stage in comparison.stages:
        change = stage.delta_ns / stage.before_ns
        if abs(change) > comparison.noise.share:
            (gained if change < 0 else lost).append(f"{stage.key} {change:+.1%}")
    return gained, lost


def _hardware(comparison: Comparison) -> list[str]:
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


def _windows(comparison: Comparison) -> list[str]:
    before, after = comparison.before.scope.window, comparison.after.scope.window
    if comparison.mixed_windows and not comparison.same_arithmetic:
        differ = f"windows differ: baseline {_window_name(before)}, candidate {_window_name(after)}"
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


def _window_name(window: Window) -> str:
    warm = "warm" if window.warm else "cold"
    if window.kind == "iteration":
        return f"{warm} iteration {window.iteration} of {window.of_iterations}"
    return f"{warm} {window.kind.replace('_', ' ')}"


def _work(comparison: Comparison) -> list[str]:
    if not comparison.total.before_ns or not comparison.total.after_ns:
        return ["no kernel time on one side"]
    if not comparison.alignment.complete:
        return []
    if not {*comparison.names(0)} & {*comparison.names(1)}:
        return ["no op in common: these are different models"]
    batch, work = _batch(comparison), comparison.work
    if batch is not None:
        return [batch]
    if work.ratio != 1.0:
        return [f"tensors are {work.ratio:.3g}x the size throughout: another batch, or longer inputs"]
    return (
        [f"shapes differ on {work.share:.0%} of the ops both have: other inputs, or another model"]
        if work.differs
        else []
    )


def _batch(comparison: Comparison) -> str | None:
    """The batches, where they are certain to differ."""
    batch = comparison.work.batch
    return None if batch is None else f"batch {batch[0]} -> {batch[1]}"


def _caveats(comparison: Comparison) -> list[str]:
    before, after = comparison.before, comparison.after
    windows = before.scope.window, after.scope.window
    caveats: list[str] = []
    if before.run.id == after.run.id:
        same_window = windows[0] == windows[1]
        caveats.append(
            "both sides are the same run" + (" and the same window: nothing was measured" if same_window else "")
        )
    if comparison.mixed_windows:
        differ = f"windows differ: baseline {_window_name(windows[0])}, candidate {_window_name(windows[1])}"
        caveats.append(f"{differ}; kernel times hold where both are one pass, gaps do not")
    elif windows[0].warm != windows[1].warm:
        caveats.append(
            f"baseline {_window_name(windows[0])}, candidate {_window_name(windows[1])}: kernel times hold, gaps do not"
        )
    elif not windows[0].warm and not windows[1].warm:
        caveats.append("both windows are cold: kernel times hold, gaps do not; profile 2 or more iterations")
    clocks = before.run.chip.clock_ghz, after.run.chip.clock_ghz
    if clocks[0] and clocks[1] and abs(clocks[1] / clocks[0] - 1) > SAME_CLOCK:
        caveats.append(f"clock {clocks[0]:.3g} -> {clocks[1]:.3g} GHz moves every kernel time")
    if not comparison.alignment.complete:
        caveats.append("too many ops to align: groups only, nothing is said of shapes")
    elif comparison.little_in_common:
        caveats.append("hardly an op has a partner of the same shapes: the same model? Nothing was aligned")
    for label, side in (("baseline", before), ("candidate", after)):
        caveats += [f"{label}: {caveat}" for caveat in dropped_rows(side.run.performance_report)[:1]]
    return caveats


def _moved(comparison: Comparison) -> str:
    """The op names that are gone and new, those with the most time first."""
    groups = comparison.groups("op_code")
    gone = [f"{group.key} gone ({_us(group.delta_ns)})" for group in groups if not group.after_count][:MOVED_NAMED]
    new = [f"{group.key} new ({_us(group.delta_ns)})" for group in groups if not group.before_count][:MOVED_NAMED]
    return f"; {', '.join([*gone, *new])}" if gone or new else ""


def _us(ns: int) -> str:
    return f"{ns / 1e3:+,.1f} us"
