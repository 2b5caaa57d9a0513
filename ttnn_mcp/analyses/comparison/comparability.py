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
from ttnn_mcp.analyses.comparison.reasons import OF_CREDIT
from ttnn_mcp.analyses.comparison.suspicion import reasons_of
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.comparison.comparison import Comparison
    from ttnn_mcp.analyses.comparison.reasons import Reason

MOVED_NAMED = 2  # op names that are gone, and as many new ones, in the sentence
Verdict: TypeAlias = Literal["faster", "slower", "unchanged", "mixed", "unproven", "not_comparable"]
Credit: TypeAlias = Literal["one_change", "unproven"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a comparison.

    Attributes:
        verdict: faster, slower, unchanged or not comparable; mixed where one stage of a language model gained and
            another one lost; unproven where it looks faster and a reason to doubt that stands, or where a report
            contradicts itself.
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
            f"per sample {per.change_share:+.1%}"
            if per and per.batch
            else f"kernel time {comparison.change_share:+.1%}"
        )
        why = f"{'; '.join(barriers)} ({figures})"
        return Judgement("not_comparable", why, why, tuple(barriers), caveats, reasons, bool(hardware), only_batch)
    verdict, figures = _verdict(comparison)
    doubtful = any(reason.code == "doubtful_report" for reason in reasons)
    if not reasons or (verdict != "faster" and not doubtful):
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
    figures = f"kernel {total.before_ns / 1e6:.3f} -> {total.after_ns / 1e6:.3f} ms ({change:+.2%})"
    gained, lost = comparison.stages_moved
    if gained and lost:
        return "mixed", f"{figures}, but stages differ: {', '.join([*gained, *lost])}; noise {noise.share:.2%}"
    if abs(change) <= noise.share:
        return "unchanged", f"{figures} is within the noise of {noise.share:.2%}{_moved(comparison)}"
    beyond = f"{figures}, beyond the noise of {noise.share:.2%}{_moved(comparison)}"
    return ("faster" if change < 0 else "slower"), beyond


def _moved(comparison: Comparison) -> str:
    """The op names that are gone and new, those with the most time first."""
    groups = comparison.groups("op_code")
    gone = [f"{group.key} gone ({_us(group.delta_ns)})" for group in groups if not group.after_count][:MOVED_NAMED]
    new = [f"{group.key} new ({_us(group.delta_ns)})" for group in groups if not group.before_count][:MOVED_NAMED]
    return f"; {', '.join([*gone, *new])}" if gone or new else ""


def _us(ns: int) -> str:
    return f"{ns / 1e3:+,.1f} us"
