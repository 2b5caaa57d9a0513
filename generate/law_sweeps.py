"""How well the laws choose: measured sweeps of one op over several settings, told by fits without their shape."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from generate.law_changes import Changes
from generate.law_fit import SHAPES_AT_LEAST
from ttnn_mcp.analyses.laws.anchored import on_its_side, outlook
from ttnn_mcp.analyses.laws.law import Expected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from generate.law_fit import Fit
    from generate.law_rows import Measured
    from ttnn_mcp.analyses.laws.anchored import Outlook

ALL, MIXED = "all of these", "matmuls by several programs"
EQUAL = 1e-6  # of an expected time: closer than this, two are one (processors round differently)
NEAR = 0.05  # of the measured best: a choice as good as it
MISSED = 0.10  # faster than the op as it ran: a gain that "no difference" would have missed (ours)
SETTINGS = ("cores", "grid", "block_w", "per_core_m", "per_core_n", "q_chunk", "k_chunk", "block_h")
TRUE: dict[Outlook, Callable[[float], bool]] = {  # of the measured time after the change over that before
    "faster": lambda ratio: ratio < 1,
    "likely faster": lambda ratio: ratio < 1,
    "no difference": lambda ratio: ratio >= 1 - MISSED,
    "likely slower": lambda ratio: ratio > 1,
    "slower": lambda ratio: ratio > 1,
}
OTHERS = ("program", "in1_place", "in0_place", "out_place")  # of a matmul: another program wants other placements


@dataclass(frozen=True)
class Told:
    """A measured row and what is expected of it by a fit without its shape, or without its source."""

    row: Measured
    fit: Fit
    rule: Changes
    ratio: float

    @property
    def us(self) -> float:
        """Expected."""
        return self.row.us / self.ratio

    @property
    def is_known(self) -> bool:
        """Whether its time lies in the interval of its law."""
        low, high = self.fit.ratios
        return low <= self.ratio <= high

    def after(self, then: Told) -> Outlook | None:
        """What is expected of a change to `then`, as `after_change` tells it; None where it is silent."""
        if not self.is_known:
            return None
        if self.fit is not then.fit:
            low, high = then.fit.ratios
            return outlook(Expected(then.us, then.us * low, then.us * high, then.fit.law.name, ""), self.row.us)
        if self.rule.why_not or self.fit.law.factors(self.row.op) == self.fit.law.factors(then.row.op):
            return None
        us = self.row.us * then.us / self.us if self.rule.anchors else then.us
        times = on_its_side(us, self.row.us, self.rule.ratios, gained_us=self.us - then.us)
        return outlook(Expected(*times, self.fit.law.name, ""), self.row.us)


@dataclass(frozen=True)
class Sweeps:
    """Sweeps of one kind, each of rows that differ in settings only."""

    sweeps: Sequence[Sequence[Told]]

    @property
    def near_best(self) -> float:
        """Share of sweeps whose first choice lies within NEAR of the measured best."""
        return float(np.mean([_near_best(_first(sweep), sweep) for sweep in self.sweeps]))

    @property
    def at_random(self) -> float:
        """The same of a choice at random."""
        return float(np.mean([_near_best(sweep, sweep) for sweep in self.sweeps]))

    @property
    def lost(self) -> float:
        """Time by which the first choice is slower than the measured best, as a share: the mean."""
        return float(np.mean([_mean_us(_first(sweep)) / _best(sweep) - 1 for sweep in self.sweeps]))

    def held(self, says: Outlook) -> str:
        """How often what was said of a change was true, of how many."""
        verdicts = [
            TRUE[says](then.row.us / now.row.us)
            for sweep in self.sweeps
            for now, then in permutations(sweep, 2)
            if now.after(then) == says
        ]
        return f"{np.mean(verdicts):.0%} of {len(verdicts)}" if verdicts else "-"


def _first(sweep: Sequence[Told]) -> list[Told]:
    """The choices that are expected to take least; several where they are expected to take the same."""
    least = min(told.us for told in sweep)
    return [told for told in sweep if told.us <= least * (1 + EQUAL)]


def _best(sweep: Iterable[Told]) -> float:
    return min(told.row.us for told in sweep)


def _mean_us(choices: Sequence[Told]) -> float:
    return float(np.mean([told.row.us for told in choices]))


def _near_best(choices: Sequence[Told], sweep: Sequence[Told]) -> float:
    return float(np.mean([told.row.us <= _best(sweep) * (1 + NEAR) for told in choices]))


def sweeps_of(made: Sequence[Fit], *, by_source: bool) -> dict[str, Sweeps]:
    """By name: of each law the sweeps that it tells, all of these, and those of matmuls by several programs."""
    told = [each for fit in made for each in _told(fit, by_source=by_source)]
    of_laws = {
        f"{fit.law.name}, {fit.chip or 'both'}": _within(each for each in told if each.fit is fit) for fit in made
    }
    matmuls = [each for each in told if hasattr(each.row.op, "program")]
    mixed = [sweep for sweep in _grouped(matmuls, SETTINGS + OTHERS) if len({id(each.fit) for each in sweep}) > 1]
    whole = [sweep for sweeps in of_laws.values() for sweep in sweeps]
    named = {**of_laws, ALL: whole, MIXED: mixed}
    return {name: Sweeps(sweeps) for name, sweeps in named.items() if len(sweeps) >= SHAPES_AT_LEAST}


def _within(told: Iterable[Told]) -> list[list[Told]]:
    """Sweeps in which the law tells choices apart."""
    return [sweep for sweep in _grouped(told, SETTINGS) if len(_first(sweep)) < len(sweep)]


def _told(fit: Fit, *, by_source: bool) -> list[Told]:
    if by_source and len({*fit.sources}) < 2:
        return []
    rule = Changes(fit)
    ratios = fit.without_sources if by_source else fit.without_shapes
    pairs = zip(fit.rows, ratios.tolist(), strict=True)
    return [Told(row, fit, rule, ratio) for row, ratio in pairs if np.isfinite(ratio)]


def _grouped(told: Iterable[Told], settings: Sequence[str]) -> Iterator[list[Told]]:
    """Rows of one source and shape that differ in settings only."""
    groups: dict[Any, list[Told]] = defaultdict(list)
    for each in told:
        op = each.row.op
        same = replace(op, **{name: None for name in settings if hasattr(op, name)})
        groups[each.row.source, each.row.shape, same].append(each)
    return (group for group in groups.values() if len(group) > 1)
