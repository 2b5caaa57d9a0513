"""Finds the layers of a model in its op names: the block that repeats over most of a window.

A block that looks up tokens is no layer but a pass, as decoding repeats them. Its layers are what repeats in it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.records import dataclass

COVERED_AT_LEAST = 0.5  # share of the window: a block that covers less is a detail, not a layer
OPS_AT_LEAST = 3  # two alternating ops are no layer
PERIODS_TRIED = 64
AS_GOOD = (
    0.95  # of the best coverage: the shortest period that covers so much is the layer, longer ones are multiples
)


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers of a window.

    Attributes:
        first: row of the first op of the first layer.
        ops: the number of ops of one layer.
        count: the number of layers.
        slack: by names alone, the first layer may also begin up to so many ops later.
        passes: how often all layers run.
        distance: from the first layer of a pass to that of the next one; 0 if there is one pass.
    """

    first: int
    ops: int
    count: int
    slack: int = 0
    passes: int = 1
    distance: int = 0

    @property
    def end(self) -> int:
        """The row behind the last layer of the last pass."""
        return self.first + self.distance * (self.passes - 1) + self.ops * self.count

    def numbers(self, rows: Integers) -> Integers:
        """Per row, its layer from 1 to count; 0 before the first layer, count + 1 after the last one of a pass."""
        return np.minimum(np.maximum(self._within(rows) // self.ops + 1, 0), self.count + 1)

    def places(self, rows: Integers) -> Integers:
        """Per row of a layer, its place in the layer, from 0."""
        return self._within(rows) % self.ops

    def _within(self, rows: Integers) -> Integers:
        """Rows counted from the first layer of their pass."""
        relative = rows - self.first
        ran_before = np.minimum(np.maximum(relative // (self.distance or 1), 0), self.passes - 1)
        return relative - ran_before * self.distance


def layers_of(names: Integers, embeds: Booleans, at_least: float = COVERED_AT_LEAST) -> Layers | None:
    """The layers of a sequence of op names; None if no block repeats over most of it.

    Args:
        names: the names, as numbers.
        embeds: which of them look up tokens.
        at_least: the share of the names that the block must cover.
    """
    layers = _repeating(names, at_least)
    if layers is None:
        return None
    end = layers.first + layers.ops * layers.count + layers.slack
    starts = np.flatnonzero(embeds[layers.first : end])
    if not len(starts):
        return layers
    start = layers.first + int(starts[0])
    of_pass = _repeating(names[start : start + layers.ops])
    if of_pass is None:
        return layers
    passes = (end - start) // layers.ops
    return replace(of_pass, first=start + of_pass.first, passes=passes, distance=layers.ops)


def _repeating(names: Integers, at_least: float = COVERED_AT_LEAST) -> Layers | None:
    """The block that repeats over so much of these names."""
    candidates = [layers for period in _periods(names) if (layers := _longest(names, period)) is not None]
    best = max((layers.ops * layers.count for layers in candidates), default=0)
    if best < at_least * len(names):
        return None
    return min(
        (layers for layers in candidates if layers.ops * layers.count >= AS_GOOD * best),
        key=lambda layers: layers.ops,
        default=None,
    )


def _periods(names: Integers) -> list[int]:
    """The distances between equal names, likely periods first: a name that occurs once per layer shows its length."""
    order = np.argsort(names, kind="stable")
    repeats = names[order][1:] == names[order][:-1]
    distances, counts = np.unique(np.diff(order)[repeats], return_counts=True)
    usable = distances >= OPS_AT_LEAST
    likely = np.argsort(-(counts[usable] * distances[usable]), kind="stable")[:PERIODS_TRIED]
    return [int(distance) for distance in distances[usable][likely]]


def _longest(names: Integers, period: int) -> Layers | None:
    """The longest stretch that repeats with this period, a distance of equal names; None if it is no two layers."""
    matches = np.concatenate(([False], names[:-period] == names[period:], [False]))
    edges = np.flatnonzero(matches[1:] != matches[:-1])
    starts, ends = edges[::2], edges[1::2]
    longest = int(np.argmax(ends - starts))
    repeats = int(ends[longest] - starts[longest] + period)
    count, slack = divmod(repeats, period)
    return Layers(int(starts[longest]), period, count, slack) if count > 1 else None
