"""Whether two windows may be compared at all, said before any figure; and the verdict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.run.trust import caveats_of

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison, Verdict
    from ttnn_mcp.analyses.comparison.noise import Measured
    from ttnn_mcp.wire import Window

SAME_CLOCK = 0.01  # measured clocks of one architecture agree far better
PART = 1.8  # times the ops, and all of the shorter window among them: no change removes that much and nothing else
WHOLE = 0.9
MOVED_NAMED = 2  # names that came or went, in the sentence


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the comparison came to.

    Attributes:
        barriers: why the two cannot be compared; empty where they can.
        caveats: what else differs, to be read with the figures.
        other_hardware: whether the chip, its grid or the number of devices is among the barriers.
    """

    verdict: Verdict
    why: str
    barriers: tuple[str, ...]
    caveats: tuple[str, ...]
    other_hardware: bool = False

    @property
    def only_batch(self) -> bool:
        """Whether nothing but a certain difference in batch stands in the way."""
        return len(self.barriers) == 1 and self.barriers[0].startswith("batch ")


def judged(found: Comparison) -> Judgement:
    """The verdict of a comparison and its reason."""
    hardware = _hardware(found)
    barriers = [*hardware, *_windows(found), *_work(found)]
    caveats = tuple(_caveats(found))
    if barriers:
        per = found.per_sample
        figures = (
            f"per sample {per.change_share:+.1%}" if per and per.batch else f"kernel time {found.change_share:+.1%}"
        )
        why = f"{'; '.join(barriers)} ({figures})"
        return Judgement("not_comparable", why, tuple(barriers), caveats, bool(hardware))
    change, noise = found.change_share, found.noise
    total = found.total
    said = f"kernel {total.before_ns / 1e6:.3f} -> {total.after_ns / 1e6:.3f} ms ({change:+.2%})"
    if abs(change) <= noise.share:
        return Judgement("unchanged", f"{said} is within the noise of {noise.share:.2%}", (), caveats)
    verdict = "faster" if change < 0 else "slower"
    return Judgement(verdict, f"{said}, beyond the noise of {noise.share:.2%}{_moved(found)}", (), caveats)


def _hardware(found: Comparison) -> list[str]:
    before, after = found.before.run, found.after.run
    said: list[str] = []
    if before.chip.arch and after.chip.arch and before.chip.arch != after.chip.arch:
        said.append(f"architecture {before.chip.arch} -> {after.chip.arch}")
    devices = [len(np.unique(one.scope.ops.numbers("device"))) for one in (found.before, found.after)]
    if devices[0] != devices[1]:
        said.append(f"devices {devices[0]} -> {devices[1]}: compare samples per second instead")
    grids = before.chip.worker_cores, after.chip.worker_cores
    if grids[0] and grids[1] and grids[0] != grids[1]:
        said.append(f"compute grid {grids[0]} -> {grids[1]} cores")
    return said


def _windows(found: Comparison) -> list[str]:
    before, after = found.before.scope.window, found.after.scope.window
    if found.mixed_windows and not found.same_arithmetic:
        differ = f"windows differ: baseline {_named(before)}, candidate {_named(after)}"
        return [f"{differ}; choose the same (iteration, signposts), or profile both with 2 or more iterations"]
    if found.mixed_windows:
        return []
    passes = before.of_iterations or 1, after.of_iterations or 1
    if before.kind != "iteration" and passes[0] != passes[1]:
        return [f"the windows hold {passes[0]} and {passes[1]} iterations; take iteration='last'"]
    if passes[0] != passes[1] and _is_part(found):
        counts = found.total.before_count, found.total.after_count
        differ = f"windows of {counts[0]} and {counts[1]} ops, one is part of the other"
        return [
            f"{differ}: a layer was taken for an iteration; mark iterations with signposts, or profile both alike"
        ]
    return []


def _is_part(found: Comparison) -> bool:
    """Whether nearly all ops of one window are among the other's, which has far more."""
    shorter, longer = sorted((found.total.before_count, found.total.after_count))
    return longer >= PART * shorter and found.alignment.same_shape.sum() >= WHOLE * shorter


def _named(window: Window) -> str:
    warm = "warm" if window.warm else "cold"
    if window.kind == "iteration":
        return f"{warm} iteration {window.iteration} of {window.of_iterations}"
    return f"{warm} {window.kind.replace('_', ' ')}"


def _work(found: Comparison) -> list[str]:
    if not found.total.before_ns or not found.total.after_ns:
        return ["no kernel time on one side"]
    if not found.alignment.complete:
        return []
    if not {*found.names(0)} & {*found.names(1)}:
        return ["no op in common: these are different models"]
    work = found.work
    if work.batch is not None:
        return [f"batch {work.batch[0]} -> {work.batch[1]}"]
    if work.ratio != 1.0:
        return [f"tensors are {work.ratio:.3g}x the size throughout: another batch, or longer inputs"]
    return (
        [f"shapes differ on {work.share:.0%} of the ops both have: other inputs, or another model"]
        if work.differs
        else []
    )


def _caveats(found: Comparison) -> list[str]:
    before, after = found.before, found.after
    windows = before.scope.window, after.scope.window
    said: list[str] = []
    if before.run.id == after.run.id:
        same = windows[0] == windows[1]
        said.append("both sides are the same run" + (" and the same window: nothing was measured" if same else ""))
    if found.mixed_windows:
        differ = f"windows differ: baseline {_named(windows[0])}, candidate {_named(windows[1])}"
        said.append(f"{differ}; kernel times hold where both are one pass, gaps do not")
    elif windows[0].warm != windows[1].warm:
        said.append(
            f"baseline {_named(windows[0])}, candidate {_named(windows[1])}: kernel times hold, gaps do not"
        )
    elif not windows[0].warm and not windows[1].warm:
        said.append("both windows are cold: kernel times hold, gaps do not; profile 2 or more iterations")
    clocks = before.run.chip.clock_ghz, after.run.chip.clock_ghz
    if clocks[0] and clocks[1] and abs(clocks[1] / clocks[0] - 1) > SAME_CLOCK:
        said.append(f"clock {clocks[0]:.3g} -> {clocks[1]:.3g} GHz moves every kernel time")
    if not found.alignment.complete:
        said.append("too many ops to align: groups only, nothing is said of shapes")
    elif found.little_in_common:
        said.append("hardly an op has a partner of the same shapes: the same model? Nothing was aligned")
    for label, side in (("baseline", before), ("candidate", after)):
        said += [f"{label}: {caveat}" for caveat in _dropped(side)]
    return said


def _dropped(side: Measured) -> list[str]:
    return [caveat for caveat in caveats_of(side.run.timed) if "dropped" in caveat][:1]


def _moved(found: Comparison) -> str:
    """Names that went or came with the most time."""
    groups = found.groups("op_code")
    gone = [f"{one.key} gone ({_us(one.delta_ns)})" for one in groups if not one.after_count][:MOVED_NAMED]
    new = [f"{one.key} new ({_us(one.delta_ns)})" for one in groups if not one.before_count][:MOVED_NAMED]
    return f"; {', '.join([*gone, *new])}" if gone or new else ""


def _us(ns: int) -> str:
    return f"{ns / 1e3:+,.1f} us"
