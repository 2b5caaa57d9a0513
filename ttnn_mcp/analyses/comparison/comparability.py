"""Whether two windows may be compared at all, and the verdict of their comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ttnn_mcp.analyses.comparison.barriers import (
    batch_barrier,
    hardware_barriers,
    window_barriers,
    work_barriers,
)
from ttnn_mcp.analyses.comparison.caveats import caveats_of
from ttnn_mcp.analyses.comparison.reasons import OF_CREDIT, STANDS_BESIDE
from ttnn_mcp.analyses.comparison.suspicion import reasons_of
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.deltas import Delta
    from ttnn_mcp.analyses.comparison.reasons import Reason

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
    if abs(change) <= noise.share:
        return "unchanged", f"{figures} is within the noise of {figure(noise.share, '.2%')}{_made_by(comparison)}"
    beyond = f"{figures}, beyond the noise of {figure(noise.share, '.2%')}{_made_by(comparison)}"
    return ("faster" if change < 0 else "slower"), beyond


def _made_by(comparison: Comparison) -> str:
    """'; most by Matmul -0.040 ms and Unary gone -0.020 ms': the kinds of op that made most of the change."""
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
