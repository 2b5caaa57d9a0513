"""Fit the laws: least squares on relative errors, no coefficient below zero; errors on what was left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from generate.law_rows import Measured
    from ttnn_mcp.analyses.laws.law import Law

ROWS_AT_LEAST, SHAPES_AT_LEAST = 6, 3  # fewer are no base for a law (ours)
MEDIAN_AT_MOST = 0.25  # of the error on what was left out: a law that errs more is silent
MANY_STUDIES = 3  # from so many on that holds for left-out sources too: with two, one is predicted from the other
INSIDE = 0.8  # of the left-out measurements lie in an interval
ONE_STUDY = 1.5  # power that widens the interval of a law that rests on one study (ours)
LEAST_WIDTH = 0.05  # of an interval to either side: builds and boards differ by as much (ours)
ROUNDS = 8  # of weighing anew
LEAST_ERROR = 0.02  # smaller relative errors weigh alike
NOTHING = 1e-9  # pull below which a coefficient stays zero


@dataclass(frozen=True)
class LeftOut:
    """Measured over expected time of rows that were left out of the fit, a group at a time."""

    ratios: NDArray[np.float64]

    @property
    def median(self) -> float:
        return float(np.median(np.abs(1 / self.ratios - 1)))

    @property
    def p90(self) -> float:
        return float(np.quantile(np.abs(1 / self.ratios - 1), 0.9))

    @property
    def ends(self) -> tuple[float, float]:
        outside = (1 - INSIDE) / 2
        low = np.quantile(self.ratios, outside, method="lower")
        high = np.quantile(self.ratios, 1 - outside, method="higher")
        return float(low), float(high)

    def inside(self, ends: tuple[float, float]) -> float:
        return float(np.mean((self.ratios >= ends[0]) & (self.ratios <= ends[1])))


@dataclass(frozen=True)
class Fit:
    """A law on a chip ("" for several): its rows and what was fitted to them; `why_not` where it cannot be."""

    law: Law[Any]
    chip: str
    rows: Sequence[Measured]

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        return np.array([self.law.factors(row.op) for row in self.rows], dtype=np.float64)

    @cached_property
    def us(self) -> NDArray[np.float64]:
        return np.array([row.us for row in self.rows])

    @cached_property
    def coefficients(self) -> NDArray[np.float64]:
        return weighted(self.factors, self.us)

    @cached_property
    def by_shape(self) -> LeftOut:
        return left_out(self.without_shapes)

    @cached_property
    def by_source(self) -> LeftOut | None:
        return left_out(self.without_sources) if len({*self.sources}) > 1 else None

    @cached_property
    def without_shapes(self) -> NDArray[np.float64]:
        return self.ratios_without([row.shape for row in self.rows])

    @cached_property
    def without_sources(self) -> NDArray[np.float64]:
        return self.ratios_without(self.sources)

    @property
    def sources(self) -> list[str]:
        """Of each row what is left out with it."""
        return [row.model for row in self.rows]

    @property
    def studies(self) -> dict[str, int]:
        """Keys of the sources, and how many rows each has."""
        return Counter(row.source.partition("/")[0] for row in self.rows)

    @cached_property
    def why_not(self) -> str:
        """Why the law must not be used; empty where it may."""
        shapes = len({row.shape for row in self.rows})
        if len(self.rows) < ROWS_AT_LEAST or shapes < SHAPES_AT_LEAST:
            return f"{len(self.rows)} rows of {shapes} shapes are too few"
        if self.by_shape.median > MEDIAN_AT_MOST:
            return f"median error {self.by_shape.median:.0%} on shapes left out"
        if self.by_source and len({*self.sources}) >= MANY_STUDIES and self.by_source.median > MEDIAN_AT_MOST:
            return f"median error {self.by_source.median:.0%} on sources left out"
        return ""

    @cached_property
    def ratios(self) -> tuple[float, float]:
        """Ends that hold 80 % of what was left out, by shapes and by sources; wider where one study is all."""
        ends = [each.ends for each in (self.by_shape, self.by_source) if each is not None]
        power = ONE_STUDY if len(self.studies) == 1 else 1.0
        low, high = min(low for low, _ in ends) ** power, max(high for _, high in ends) ** power
        return min(low, 1 - LEAST_WIDTH), max(high, 1 + LEAST_WIDTH)

    def ratios_without(self, groups: Sequence[str]) -> NDArray[np.float64]:
        """Of each row measured over expected time by a fit without its group; NaN where too few rows are left."""
        ratios, labels = np.full(len(self.us), np.nan), np.array(groups)
        for group in sorted({*groups}):
            out = labels == group
            if (~out).sum() >= self.factors.shape[1]:
                expected = self.factors[out] @ weighted(self.factors[~out], self.us[~out])
                ratios[out] = self.us[out] / np.maximum(expected, NOTHING)
        return ratios


def left_out(ratios: NDArray[np.float64]) -> LeftOut:
    return LeftOut(ratios[np.isfinite(ratios)])


def fits(laws: Sequence[Law[Any]], rows: Sequence[Measured]) -> list[Fit]:
    """One per law and chip that has rows at all, or per law where chips share coefficients."""
    made: list[Fit] = []
    for law in laws:
        mine = [row for row in rows if isinstance(row.op, law.of) and law.factors(row.op) is not None]
        chips = {"" if law.pooled else row.op.chip for row in mine}
        made += (Fit(law, chip, [row for row in mine if chip in ("", row.op.chip)]) for chip in sorted(chips))
    return made


def weighted(factors: NDArray[np.float64], us: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coefficients for the smallest relative errors; large ones count less, so that no outlier rules."""
    weights = 1 / us
    solved = non_negative(factors * weights[:, None], us * weights)
    for _ in range(ROUNDS):
        wrong = np.abs(factors @ solved / us - 1)
        weights = np.sqrt(1 / np.maximum(wrong, LEAST_ERROR)) / us
        solved = non_negative(factors * weights[:, None], us * weights)
    return solved


def non_negative(factors: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least squares without negative coefficients: the active-set method of Lawson and Hanson."""
    scale = np.sqrt((factors**2).sum(axis=0))
    scale[scale == 0] = 1.0
    scaled = factors / scale
    all_free, _, rank, _ = np.linalg.lstsq(scaled, wanted, rcond=None)
    if rank == len(scale) and (all_free > 0).all():  # what the steps below would end with
        return all_free / scale
    free, solved = np.zeros(len(scale), dtype=np.bool_), np.zeros(len(scale))
    for _ in range(10 * len(free)):
        pull = np.where(free, -1.0, scaled.T @ (wanted - scaled @ solved))
        if pull.max() < NOTHING:
            break
        free[int(np.argmax(pull))] = True
        while True:
            trial = np.zeros(len(free))
            trial[free] = np.linalg.lstsq(scaled[:, free], wanted, rcond=None)[0]
            below = free & (trial <= 0)
            if not below.any():
                solved = trial
                break
            step = np.min(solved[below] / np.maximum(solved[below] - trial[below], NOTHING))
            solved = solved + step * (trial - solved)
            free &= solved > NOTHING
            solved[~free] = 0.0
    return solved / scale
