"""Rounding of parts so that what is printed adds up to what is printed of the whole."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def rounded_parts(parts: Sequence[float], whole: float, decimals: int) -> list[float]:
    """The parts, each rounded up or down so that they add up to the rounded whole; the largest remainders go up."""
    scale = 10**decimals
    exact = [part * scale for part in parts]
    units = [floor(part) for part in exact]
    missing = round(round(whole, decimals) * scale) - sum(units)
    by_remainder = sorted(range(len(parts)), key=lambda place: units[place] - exact[place])
    for place in by_remainder[:missing]:
        units[place] += 1
    return [each / scale for each in units]
