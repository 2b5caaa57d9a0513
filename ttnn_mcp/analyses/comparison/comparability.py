"""Whether two windows may be compared at all, and the verdict of their comparison.

Other hardware, other windows and other work stand against it. What else differs is a caveat: to be read with the
figures, no reason to doubt them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ttnn_mcp.analyses.comparison.comparison import device_changes
from ttnn_mcp.analyses.comparison.doubts_of_capture import shared_signs
from ttnn_mcp.analyses.comparison.reasons import OF_CREDIT, STANDS_BESIDE
from ttnn_mcp.analyses.comparison.suspicion import reasons_of
from ttnn_mcp.analyses.devices.host_gaps import slowest_timeline
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.grouping import Delta
    from ttnn_mcp.analyses.comparison.reasons import Reason
    from ttnn_mcp.wire import Window

PART = 1.8  # times the ops of the shorter window: a change does not remove so many ops and leave all others as they are
WHOLE = 0.9  # share of the shorter window's ops that are in the longer one: then it is a part of it
SIGNPOSTS_NAMED = 2
GAPS_MOVED = 2.0  # times: below that, Python and the profiler move the gaps of an unchanged model too (ours)
NAMED = 2  # kinds of op in the sentence
MOST_OF = 0.9  # of all that changed, in either direction: what makes less is noise beside it (ours)
IN_US_BELOW_NS = 1_000_000  # a sentence has one unit
Verdict: TypeAlias = Literal["faster", "slower", "unchanged", "mixed", "unproven", "not_comparable"]
Credit: TypeAlias = Literal["one_change", "unproven"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a comparison.

    Attributes:
        verdict: faster, slower, unchanged or not comparable; mixed where one stage of a language model gained and
            another one lost; unproven where a reason to doubt that stands: many leave a loss as it is.
        credit: of a faster run, whether one change can be credited with the gain; None of others.
        figures: what the times alone say.
        why: the reason for the verdict, with the figures.
        barriers: why the two cannot be compared; empty where they can.
        caveats: what else differs, to be read with the figures.
        reasons: reasons to doubt the figures.
        other_hardware: whether the chip, its grid or the number of devices is among the barriers.
        only_batch: whether the only barrier is a difference in batch that is certain.
    """

    verdict: Verdict
    figures: str
    why: str
    barriers: tuple[str, ...]
    caveats: tuple[str, ...]
    reasons: tuple[Reason, ...]
    other_hardware: bool = False
    only_batch: bool = False
    credit: Credit | None = None


def judgement_of(comparison: Comparison) -> Judgement:
    """The verdict of a comparison and its reason."""
    hardware = hardware_barriers(comparison)
    barriers = [*hardware, *window_barriers(comparison), *work_barriers(comparison)]
    only_batch = barriers == [batch_barrier(comparison)]
    reasons = reasons_of(comparison, one_model=not barriers or only_batch)
    caveats = tuple(caveats_of(comparison))
    if barriers:
        per = comparison.per_sample
        figures = (
            f"per sample {figure(per.change_share, '+.1%')}"
            if per and per.batch
            else f"kernel time {figure(comparison.change_share, '+.1%')}"
        )
        why = f"{'; '.join(barriers)} ({figures})"
        return Judgement("not_comparable", why, why, tuple(barriers), caveats, reasons, bool(hardware), only_batch)
    verdict, figures = _verdict(comparison)
    stands_beside = STANDS_BESIDE.get(verdict, frozenset())
    if all(reason.code in stands_beside for reason in reasons):
        credit: Credit | None = "one_change" if verdict == "faster" else None
        return Judgement(verdict, figures, figures, (), caveats, reasons, credit=credit)
    codes = ", ".join(reason.code for reason in reasons)
    if all(reason.code in OF_CREDIT for reason in reasons):
        why = f"{figures}; which change did it is unproven: {codes}"
        return Judgement("faster", figures, why, (), caveats, reasons, credit="unproven")
    credit = "unproven" if verdict == "faster" else None
    return Judgement("unproven", figures, f"{figures}; but {codes}", (), caveats, reasons, credit=credit)


def _verdict(comparison: Comparison) -> tuple[Verdict, str]:
    """What the figures alone say."""
    change, noise, total = comparison.change_share, comparison.noise, comparison.total
    scale = _scale(comparison)
    figures = (
        f"kernel {_time(total.before_ns, scale)} -> {_time(total.after_ns, scale)} {scale[1]} "
        f"({figure(change, '+.2%')})"
    )
    gained, lost = comparison.stages_moved
    if gained and lost:
        return (
            "mixed",
            f"{figures}, but stages differ: {', '.join([*gained, *lost])}; noise {figure(noise.share, '.2%')}",
        )
    noise_told = f"the noise of {figure(noise.share, '.2%')}{_made_by(comparison)}"
    if change < -noise.share:
        return "faster", f"{figures}, beyond {noise_told}"
    if change > noise.share:
        return "slower", f"{figures}, beyond {noise_told}"
    return "unchanged", f"{figures} is within {noise_told}"


def _made_by(comparison: Comparison) -> str:
    """'; most by Matmul -0.040 ms and Unary gone -0.020 ms': the kinds of op that made most of the change.

    Not where the slowest device is another one: its ops may have differed all along.
    """
    if comparison.before.scope.critical_device != comparison.after.scope.critical_device:
        return ""
    per, unit, digits = scale = _scale(comparison)
    groups = sorted(comparison.groups("op_code"), key=lambda group: -abs(group.delta_ns))
    wanted = MOST_OF * sum(abs(group.delta_ns) for group in groups)
    chosen: list[Delta] = []
    for group in groups[:NAMED]:
        if sum(abs(one.delta_ns) for one in chosen) >= wanted or not round(group.delta_ns / per, digits):
            break
        chosen.append(group)
    named = " and ".join(f"{_moved(one)} {_time(one.delta_ns, scale, '+')} {unit}" for one in chosen)
    return f"; most by {named}" if named else ""


def _moved(group: Delta) -> str:
    """The kind of op, and whether it is gone or new."""
    moved = "" if group.before_count and group.after_count else " gone" if group.before_count else " new"
    return f"{group.key}{moved}"


def _scale(comparison: Comparison) -> tuple[float, str, int]:
    """How many ns the unit has, the unit, and its digits behind the point."""
    total = comparison.total
    return (1e3, "us", 1) if max(total.before_ns, total.after_ns) < IN_US_BELOW_NS else (1e6, "ms", 3)


def _time(ns: int, scale: tuple[float, str, int], sign: str = "") -> str:
    return figure(ns / scale[0], f"{sign},.{scale[2]}f")


def caveats_of(comparison: Comparison) -> list[str]:
    """The caveats, those about the windows first."""
    before, after = comparison.before, comparison.after
    windows = before.scope.window, after.scope.window
    caveats: list[str] = []
    if before.run.id == after.run.id and windows[0] != windows[1]:
        caveats.append("both sides are the same run")
    if comparison.mixed_windows:
        differ = f"windows differ: baseline {window_name(windows[0])}, candidate {window_name(windows[1])}"
        caveats.append(f"{differ}; kernel times hold where both are one pass, gaps do not")
    elif windows[0].warm != windows[1].warm:
        names = f"baseline {window_name(windows[0])}, candidate {window_name(windows[1])}"
        caveats.append(f"{names}: kernel times hold, gaps do not")
    elif not windows[0].warm:
        caveats.append("both windows are cold: kernel times hold, gaps do not; profile 2 or more iterations")
    else:
        caveats += _moved_gaps(comparison)
    if comparison.clock_ratio != 1.0:
        clocks = (run.performance_report.clock_ghz for run in (before.run, after.run))
        moved = " -> ".join(f"{figure(clock, '.3g')}" for clock in clocks)
        scaled = "the candidate's kernel times are its cycles at the baseline's clock, its wall time is as measured"
        caveats.append(f"clock {moved} GHz: {scaled}")
    if not comparison.alignment.complete:
        caveats.append("too many ops to align: groups only, nothing is said of shapes")
    elif comparison.little_in_common:
        caveats.append("hardly an op has a partner of the same shapes: the same model? Nothing was aligned")
    caveats += [
        f"both sides: {sign}" for sign in shared_signs(after.run, before.run)[:1] if after.run.id != before.run.id
    ]
    return [*caveats, *_other_device(comparison), *_common_signposts(comparison)]


def _other_device(comparison: Comparison) -> list[str]:
    """That ops of two devices are compared, and what became of each of the two."""
    slowest = [side.scope.critical_device for side in (comparison.before, comparison.after)]
    if slowest[0] == slowest[1]:
        return []
    changes = device_changes(comparison)
    alone = [f"device {device} alone {figure(changes[device], '+.1%')}" for device in slowest if device in changes]
    own = f" ({', '.join(alone)})" if alone else ""
    return [f"slowest device {slowest[0]} -> {slowest[1]}{own}: their ops may differ without any change"]


def _moved_gaps(comparison: Comparison) -> list[str]:
    """Time between ops that grew or shrank: a verdict about kernel time does not see it."""
    sides = comparison.before, comparison.after
    if sides[0].run.performance_report.traced != sides[1].run.performance_report.traced:
        return []  # a reason to doubt says so: such gaps do not compare
    lines = [slowest_timeline(side.scope.ops, side.run.chip) for side in sides]
    before_ns, after_ns = (line.gap_ns for line in lines)
    little = abs(after_ns - before_ns) <= comparison.noise.share * lines[0].wall_ns
    if little or max(before_ns, after_ns) < GAPS_MOVED * min(before_ns, after_ns):
        return []
    moved = f"time between ops {figure(before_ns / 1e6, '.3f')} -> {figure(after_ns / 1e6, '.3f')} ms"
    return [f"{moved}, which the verdict on kernel time leaves out: wall_ms has both, host_overhead says where"]


def _common_signposts(comparison: Comparison) -> list[str]:
    """Signposts that both whole files hold: between them is often the part that the change is about."""
    windows = comparison.before.scope.window, comparison.after.scope.window
    if any(window.kind != "whole_report" for window in windows):
        return []
    names = [
        side.run.performance_report.signposts.texts("op_code") for side in (comparison.before, comparison.after)
    ]
    of_candidate = {*names[1].occurring()}
    codes, first_rows = np.unique(names[0].codes, return_index=True)
    in_order: list[int] = codes[np.argsort(first_rows)].tolist()
    common = [name for code in in_order if code >= 0 and (name := names[0].distinct[code]) in of_candidate]
    if not common:
        return []
    listed = ", ".join(f"'{shown(name)}'" for name in common[:SIGNPOSTS_NAMED])
    count = f" and {len(common) - SIGNPOSTS_NAMED} more" if len(common) > SIGNPOSTS_NAMED else ""
    return [
        f"whole files are compared; both hold signposts {listed}{count}: start_signpost, end_signpost choose a part"
    ]


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
