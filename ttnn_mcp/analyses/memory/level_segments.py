"""A long series of levels as a few stretches, each near one level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.readers.memory.columns import Integers

_TOLERANCES = (0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)  # of the highest level


@dataclass(frozen=True, slots=True)
class Stretch:
    """Places first to last, both included; `highest` is the place with the highest level."""

    first: int
    last: int
    highest: int


def stretches(levels: Integers, most: int) -> list[Stretch]:
    """At most `most` stretches over all places, with the smallest tolerance that allows it.

    Levels that always jump up and down form no stretches: they are cut evenly.
    """
    if not len(levels):
        return []
    top = max(int(levels.max()), 1)
    values: list[int] = levels.tolist()
    tried = (_cuts(values, share * top) for share in _TOLERANCES)
    cuts = next((segments for segments in tried if len(segments) <= most), None)
    if cuts is None or (cuts == [0] and min(values) < max(values)):
        cuts = sorted({len(values) * n // most for n in range(most)})
    return [
        Stretch(first, last - 1, first + int(np.argmax(levels[first:last])))
        for first, last in zip(cuts, [*cuts[1:], len(values)], strict=True)
    ]


def _cuts(values: list[int], tolerance: float) -> list[int]:
    """The starts of stretches: a stretch ends before it would span more than `tolerance`."""
    cuts = [0]
    low = high = values[0]
    for place, value in enumerate(values):
        low, high = min(low, value), max(high, value)
        if high - low > tolerance:
            cuts.append(place)
            low = high = value
    return cuts
