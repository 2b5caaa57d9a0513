"""Layers of a model, found from its op names: the block that repeats over most of a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

COVERED_AT_LEAST = 0.5  # of the window: less is a repeated detail, not the model's layers
OPS_AT_LEAST = 3  # a pair of ops that alternate is no layer
PERIODS_TRIED = 64
AS_GOOD = 0.95  # of the best coverage: then the shorter period is the layer, two of them are a multiple


@dataclass(frozen=True, slots=True)
class Layers:
    """Where layers lie in a window.

    Attributes:
        first: row of the first op of the first layer.
        ops: ops of one layer.
        count: how many there are.
    """

    first: int
    ops: int
    count: int

    def of(self, rows: Numbers) -> Numbers:
        """Per row its layer, 1..count; 0 before the first, count + 1 behind the last."""
        return np.minimum(np.maximum((rows - self.first) // self.ops + 1, 0), self.count + 1)


def layers_of(names: NDArray[np.int64]) -> Layers | None:
    """The layers of a sequence of op names; None where no block repeats over most of it."""
    found = [one for period in _periods(names) if (one := _longest(names, period)) is not None]
    best = max((one.ops * one.count for one in found), default=0)
    if best < COVERED_AT_LEAST * len(names):
        return None
    return min((one for one in found if one.ops * one.count >= AS_GOOD * best), key=lambda one: one.ops)


def _periods(names: NDArray[np.int64]) -> list[int]:
    """The distances at which a name most often comes again; a name that a layer has once gives the layer away."""
    order = np.argsort(names, kind="stable")
    again = names[order][1:] == names[order][:-1]
    distances, counts = np.unique(np.diff(order)[again], return_counts=True)
    kept = (distances >= OPS_AT_LEAST) & (distances <= len(names) // 2)
    likely = np.argsort(-(counts[kept] * distances[kept]), kind="stable")[:PERIODS_TRIED]
    return [int(distance) for distance in distances[kept][likely]]


def _longest(names: NDArray[np.int64], period: int) -> Layers | None:
    """The longest stretch that repeats with this period."""
    same = np.concatenate(([False], names[:-period] == names[period:], [False]))
    edges = np.flatnonzero(same[1:] != same[:-1])
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return None
    longest = int(np.argmax(ends - starts))
    count = int(ends[longest] - starts[longest] + period) // period
    return Layers(int(starts[longest]), period, count) if count > 1 else None
