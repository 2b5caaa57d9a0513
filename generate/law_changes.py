"""How well a law tells what a change of settings brings: pairs of rows of one shape and source, both left out.

The row that is told ("present") has a measured time. The other ("changed") is predicted in two ways: by the law alone,
and anchored: the measured time of the present row, times the ratio of what the law expects of both.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np

from generate.law_fit import INSIDE, LEAST_WIDTH, MEDIAN_AT_MOST, ONE_STUDY, ROWS_AT_LEAST, SHAPES_AT_LEAST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from generate.law_fit import Fit
    from generate.law_rows import Measured
    from ttnn_mcp.analyses.laws.descriptions import Described

CORES = {"cores", "grid"}
CARD = ("chip", "card_gb_s")  # no setting changes them


@dataclass(frozen=True)
class Pairs:
    """Measured over predicted time of changed rows, by the law alone and anchored; each changed row weighs one."""

    plain: NDArray[np.float64]
    anchored: NDArray[np.float64]
    weights: NDArray[np.float64]

    def of(self, *, anchors: bool) -> NDArray[np.float64]:
        return self.anchored if anchors else self.plain

    def error(self, share: float = 0.5, *, anchors: bool) -> float:
        return self.quantile(np.abs(1 / self.of(anchors=anchors) - 1), share)

    def ends(self, *, anchors: bool) -> tuple[float, float]:
        ratios, outside = self.of(anchors=anchors), (1 - INSIDE) / 2
        return self.quantile(ratios, outside), self.quantile(ratios, 1 - outside)

    def inside(self, ends: tuple[float, float], *, anchors: bool) -> float:
        ratios = self.of(anchors=anchors)
        held = (ratios >= ends[0]) & (ratios <= ends[1])
        return float(self.weights[held].sum() / self.weights.sum())

    def quantile(self, numbers: NDArray[np.float64], share: float) -> float:
        order = np.argsort(numbers)
        up_to = np.cumsum(self.weights[order]) / self.weights.sum()
        return float(numbers[order][min(int(np.searchsorted(up_to, share)), len(order) - 1)])


@dataclass(frozen=True)
class Changes:
    """What the rows of a law tell about changes."""

    fit: Fit

    @cached_property
    def groups(self) -> list[list[int]]:
        """Rows of one shape and source, on one card."""
        alike: dict[tuple[str | float | None, ...], list[int]] = defaultdict(list)
        for place, row in enumerate(self.fit.rows):
            alike[row.source, row.shape, row.op.chip, row.op.card_gb_s].append(place)
        return [group for group in alike.values() if len(group) > 1]

    @cached_property
    def by_shape(self) -> Pairs | None:
        return self._pairs(self.fit.without_shapes)

    @cached_property
    def by_source(self) -> Pairs | None:
        return self._pairs(self.fit.without_sources) if len({*self.fit.sources}) > 1 else None

    @cached_property
    def judged(self) -> list[Pairs]:
        return [each for each in (self.by_source, self.by_shape) if each is not None]

    @cached_property
    def were_measured(self) -> bool:
        """Whether there are enough shapes with several settings to judge by."""
        return bool(self.judged) and len(self.groups) >= SHAPES_AT_LEAST and self.count >= ROWS_AT_LEAST

    @property
    def count(self) -> int:
        return len(self.judged[0].weights) if self.judged else 0

    @cached_property
    def anchors(self) -> bool:
        """Whether anchored predictions err less: on sources left out where there are some, as users' reports are."""
        alone, anchored = (self.judged[0].error(anchors=way) if self.judged else 0.0 for way in (False, True))
        return self.were_measured and anchored < alone

    @cached_property
    def why_not(self) -> str:
        """Why the law must not tell changes; empty where it may."""
        if self.were_measured and max(each.error(anchors=self.anchors) for each in self.judged) > MEDIAN_AT_MOST:
            return f"median error {max(each.error(anchors=self.anchors) for each in self.judged):.0%}"
        return ""

    @cached_property
    def ratios(self) -> tuple[float, float]:
        """Ends that hold 80 % of the changed rows; those of the law where no changes were measured or it is wider."""
        if not self.were_measured:
            return self.fit.ratios
        ends = [each.ends(anchors=self.anchors) for each in self.judged]
        power = ONE_STUDY if len(self.fit.studies) == 1 else 1.0
        low, high = min(low for low, _ in ends) ** power, max(high for _, high in ends) ** power
        return min(low, 1 - LEAST_WIDTH), max(high, 1 + LEAST_WIDTH)

    @property
    def rests_on(self) -> list[str]:
        """Fields on which the factors depend, by putting other rows' values into each row."""
        return sorted({*with_both_of_cores(name for name in self.names if self._sees(name))} - self.missed)

    @cached_property
    def missed(self) -> set[str]:
        """Fields of which "no difference" errs less than the law, by pairs of rows that differ in one of them alone.

        The law errs as it is used, anchored or alone; of pairs that it tells apart, of two models at least.
        """
        errors: dict[str, list[tuple[float, float]]] = defaultdict(list)
        models: dict[str, set[str]] = defaultdict(set)
        ratios = self.fit.without_shapes if self.by_source is None else self.fit.without_sources
        for group in self.groups:
            for now, then in permutations(group, 2):
                changed = with_both_of_cores(self._differ(now, then))
                told_apart = (self.fit.factors[now] != self.fit.factors[then]).any()
                if told_apart and (len(changed) == 1 or {*changed} == CORES):
                    law = ratios[then] / ratios[now] if self.anchors else ratios[then]
                    nothing = self.fit.us[now] / self.fit.us[then]
                    errors[changed[0]].append((abs(1 / law - 1), abs(nothing - 1)))
                    models[changed[0]].add(self.fit.rows[now].model)
        known = {
            name: np.median(each, axis=0)
            for name, each in errors.items()
            if len(each) >= 2 * ROWS_AT_LEAST and len(models[name]) > 1  # each pair counts both ways
        }
        return {*with_both_of_cores(name for name, (by_law, nothing) in known.items() if by_law >= nothing)}

    def _differ(self, now: int, then: int) -> list[str]:
        ops = [self.fit.rows[place].op for place in (now, then)]
        return [name for name in self.names if getattr(ops[0], name) != getattr(ops[1], name)]

    def _sees(self, name: str) -> bool:
        factors, rows = self.fit.law.factors, self.fit.rows
        return any(
            factors(other) not in (None, factors(row.op))
            for row in rows
            for other in with_others(row.op, name, rows)
        )

    @property
    def names(self) -> list[str]:
        return [each.name for each in fields(self.fit.rows[0].op) if each.name not in CARD]

    def varied(self, rows: Sequence[Measured]) -> dict[str, list[str]]:
        """Fields that are not the same in all rows, with their values where these are words."""
        values = {name: {getattr(row.op, name) for row in rows} - {None, ""} for name in self.names}
        names = with_both_of_cores(name for name, mine in values.items() if len(mine) > 1)
        return {name: sorted(each for each in values[name] if isinstance(each, str)) for name in names}

    def _pairs(self, ratios: NDArray[np.float64]) -> Pairs | None:
        told = np.array([each for group in self.groups for each in self._pairs_of(group, ratios)], dtype=np.float64)
        return Pairs(told[:, 0], told[:, 1], told[:, 2]) if len(told) else None

    def _pairs_of(self, group: Sequence[int], ratios: NDArray[np.float64]) -> Iterator[tuple[float, float, float]]:
        """Pairs that differ for the law, and whose present time it knows: others the package does not ask about."""
        factors, (low, high) = self.fit.factors, self.fit.ratios
        for now, then in permutations(group, 2):
            differ = (factors[now] != factors[then]).any()
            if differ and low <= ratios[now] <= high and np.isfinite(ratios[then]):
                yield ratios[then], ratios[then] / ratios[now], 1 / (len(group) - 1)


def with_others(op: Described, name: str, rows: Sequence[Measured]) -> Iterator[Any]:
    """The op with each value that the field has in other rows."""
    for value in {getattr(row.op, name) for row in rows} - {None, getattr(op, name)}:
        yield replace(op, **{name: value})


def with_both_of_cores(names: Iterable[str]) -> list[str]:
    """The names, sorted; cores and the grid that they lie in are told by either."""
    several = {*names}
    return sorted(several | CORES if several & CORES else several)
