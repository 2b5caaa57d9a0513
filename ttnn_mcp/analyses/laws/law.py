"""A law of time: a few factors that the hardware explains, each with a coefficient that was fitted to measured times.

The coefficients stand in `coefficients.json`, written by `make laws` from `measurements/`; the code has none. A law is
silent (None) about a chip, a format, a placement or a size that was not measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.quoting import figure
from ttnn_mcp.records import dataclass

COEFFICIENTS = Path(__file__).with_name("coefficients.json")
UNFITTED, FORMLESS = 100, 101  # further from speaking than any count of differences
MARGIN = 1.25  # so far outside the sizes that were measured a law still holds (ours)
D = TypeVar("D", bound=Described)


@dataclass(frozen=True, slots=True)
class Expected:
    """Device kernel time of an op by a law, in microseconds; 8 of 10 measurements lie between low and high.

    Attributes:
        law: the law's name.
        source: what it rests on, in words.
    """

    us: float
    low_us: float
    high_us: float
    law: str
    source: str


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """How a law tells what a change of settings brings (`anchored`).

    Attributes:
        anchors: whether it errs less when it is anchored to the measured time of the op as it ran.
        ratios: measured over predicted time: the ends that hold 80 % of the changes left out of the fit.
        rests_on: fields on which its answer depends; it is blind to all others.
        varied: fields that measurements varied, per chip, with their values where these are words.
    """

    anchors: bool
    ratios: tuple[float, float]
    rests_on: frozenset[str]
    varied: dict[str, dict[str, frozenset[str]]]

    def tell(self, now: Described, then: Described) -> bool:
        """Whether the change from one op to the other is one that was measured, and that the law sees."""
        varied = self.varied.get(then.chip, {})
        changed = [each.name for each in fields(now) if getattr(now, each.name) != getattr(then, each.name)]
        words = [(name, str(getattr(op, name))) for op in (now, then) for name in changed if varied.get(name)]
        return (
            bool(self.rests_on.intersection(changed))
            and all(name in varied for name in changed)
            and all(word in varied[name] for name, word in words)
        )


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was fitted for a law on one chip, or on several that share its coefficients.

    Attributes:
        good: whether the law may be used.
        coefficients: one per term of the law.
        ratios: measured over expected time: the ends that hold 80 % of what was left out of the fit.
        ranges: the least and the most of each size that was measured, and of the time ("us"), per chip.
        alike: the formats, fidelities and placements that were measured, per chip and field.
        source: what it rests on, in words.
        changes: how it tells changes; None where it errs too much.
    """

    good: bool
    coefficients: tuple[float, ...]
    ratios: tuple[float, float]
    ranges: dict[str, dict[str, tuple[float, float]]]
    alike: dict[str, dict[str, frozenset[str]]]
    source: str
    changes: ChangeRule | None


@dataclass(frozen=True, slots=True)
class Law(Generic[D]):
    """One law; `name` and `formula` are for people.

    Attributes:
        of: the descriptions that it is about.
        terms: what each coefficient stands for: microseconds per something, or how often a time at peak.
        factors: of an op, one per term; None where the law does not hold.
        sizes: fields that must lie in the range that was measured, where known.
        alike: fields whose values must have been measured.
        pooled: whether chips share the coefficients, because the factors hold the chip's clock and bandwidths.
    """

    name: str
    formula: str
    of: type[D]
    terms: tuple[str, ...]
    factors: Callable[[D], tuple[float, ...] | None]
    sizes: tuple[str, ...]
    alike: tuple[str, ...] = ()
    pooled: bool = False

    def fitted(self, chip: str) -> Fitted | None:
        """What was fitted on a chip."""
        return fitted_laws().get(self.name, {}).get("" if self.pooled else chip)

    def expected(self, op: D) -> Expected | None:
        """The time of the op by this law; None where it is silent."""
        fitted = self.fitted(op.chip)
        if fitted is None or not fitted.good or self.unlike(op, fitted):
            return None
        factors = self.factors(op)
        if factors is None:
            return None
        least, (low, high) = op.floor_us, fitted.ratios
        us = max(sum(factor * each for factor, each in zip(factors, fitted.coefficients, strict=True)), least)
        if not _within(us / op.in_turn, fitted.ranges[op.chip]["us"]):
            return None
        return Expected(us, max(us * low, least), us * high, self.name, fitted.source)

    def unlike(self, op: D, fitted: Fitted) -> list[str]:
        """In what the op is unlike all that were measured: formats and placements, sizes far outside of theirs."""
        ranges, alike = fitted.ranges.get(op.chip), fitted.alike.get(op.chip, {})
        if ranges is None:
            return [f"nothing measured on {op.chip}"]
        others = [
            f"{name} {word or 'unknown'}, measured {' '.join(sorted(values))}"
            for name, values in alike.items()
            if (word := str(getattr(op, name))) not in values
        ]
        return others + [
            f"{name} {figure(size, ',.0f')}, measured {' to '.join(figure(end, ',.0f') for end in ranges[name])}"
            for name, size in self.known(op)
            if not _within(size, ranges[name])
        ]

    def silence(self, op: D) -> tuple[int, str]:
        """How far it is from speaking of an op of which it does not speak, and what keeps it."""
        fitted = self.fitted(op.chip)
        if self.factors(op) is None:
            return FORMLESS, "no formula is about this form of it, or too little is told"
        if fitted is None:
            return UNFITTED, f"{self.name}: none for {op.chip} that errs little enough"
        unlike = self.unlike(op, fitted)
        return len(unlike), f"{self.name}: {unlike[0] if unlike else 'its time would be outside of those measured'}"

    def known(self, op: D) -> list[tuple[str, float]]:
        """The sizes of the op that bound this law, as far as they are known."""
        return [(name, size) for name in self.sizes if (size := getattr(op, name)) is not None]


@cache
def fitted_laws() -> dict[str, dict[str, Fitted]]:
    """What was fitted, by law and chip ("" where chips share coefficients)."""
    return read(COEFFICIENTS.read_text(encoding="utf-8"))


def read(written: str) -> dict[str, dict[str, Fitted]]:
    """The same, as written in `coefficients.json`."""
    laws: dict[str, dict[str, dict[str, Any]]] = json.loads(written)
    return {name: {chip: _fitted(one) for chip, one in chips.items()} for name, chips in laws.items()}


def _within(size: float, ends: tuple[float, float]) -> bool:
    return ends[0] / MARGIN <= size <= ends[1] * MARGIN


def _fitted(written: dict[str, Any]) -> Fitted:
    return Fitted(
        good=written["good"],
        coefficients=tuple(written["coefficients"].values()),
        ratios=(written["ratios"][0], written["ratios"][1]),
        ranges={
            chip: {name: (ends[0], ends[1]) for name, ends in of.items()} for chip, of in written["ranges"].items()
        },
        alike=_words(written["alike"]),
        source=written["source"],
        changes=_changes(written["changes"]) if written["changes"] else None,
    )


def _changes(written: dict[str, Any]) -> ChangeRule:
    low, high = written["ratios"]
    return ChangeRule(written["anchors"], (low, high), frozenset(written["rests_on"]), _words(written["varied"]))


def _words(written: dict[str, dict[str, list[str]]]) -> dict[str, dict[str, frozenset[str]]]:
    return {chip: {name: frozenset(words) for name, words in named.items()} for chip, named in written.items()}
