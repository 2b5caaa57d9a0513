"""Where a series of times turned: from which run on it was slower or faster than before, and nothing that is noise.

Circular binary segmentation (Olshen and others, Biostatistics 2004) with a t test. A stretch of runs is compared
with the rest of its segment, at every place: a lasting change is a stretch that reaches an end, a slow week that was
put right is one inside. A turn needs three things: a t test that pays for all the places tried, a change larger than
what two single runs of an unchanged segment differ by, and `SIDE` runs on either side. So a single odd run is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt

import numpy as np

from ttnn_mcp.arrays import Floats
from ttnn_mcp.records import dataclass

ALPHA = 0.01  # of a hundred series without a change, one may be said to turn
SIDE = 3  # runs on either side: two odd runs in a row happen where one in ten is odd
LONGEST = 200  # runs looked at, the newest: 40,000 stretches
FLOOR_SHARE = 0.005  # the least noise between runs, as compare_runs has it inside one
CERTAIN = 1.96 * sqrt(2)  # in 19 of 20 cases, two single measurements differ by no more sigmas
TELLING = 0.5  # of noise at most: beyond it half of the time may come or go, and "steady" says nothing (ours)
_ANGLES = 2_000  # steps of the integral below  # unmoved: its error is far below a hundredth of the result


@dataclass(frozen=True, slots=True)
class Turn:
    """A place at which a series changed for good, or for a stretch.

    Attributes:
        at: the first run after it, counted from 0.
        before: the median of the stretch before.
        after: the median of the stretch that begins here.
    """

    at: int
    before: float
    after: float

    @property
    def change(self) -> float:
        """The change as a share of the time before: 0.05 is 5 % slower."""
        return self.after / self.before - 1


@dataclass(frozen=True, slots=True)
class Course:
    """What a series of times came to.

    Attributes:
        turns: where it changed, in order.
        noise_share: what two single runs of one stretch differ by in 19 of 20 cases; None with too few runs to tell.
        newest_change: how far the newest runs lie from those before them, as a share; None within noise.
        newest_runs: how many these are: fewer than a turn takes.
    """

    turns: tuple[Turn, ...]
    noise_share: float | None
    newest_change: float | None
    newest_runs: int = 0


def course_of(times: Sequence[float] | Floats) -> Course:
    """The turns of a series of positive times, oldest first; of a long one only the newest `LONGEST` are looked at."""
    series = np.log(np.asarray(times, dtype=np.float64)[-LONGEST:])
    skipped = len(times) - len(series)
    starts = _pruned(series, sorted(_starts(series, 0, len(series))))
    parts = np.split(series, starts)
    newest_runs, newest_change = _newest(parts)
    # the newest ones are no noise where they lie beyond it
    sigma = _sigma([*parts[:-1], parts[-1][: len(parts[-1]) - newest_runs]])
    noise_share = None if sigma is None else float(np.expm1(max(CERTAIN * sigma, FLOOR_SHARE)))
    middles = [float(np.exp(np.median(part))) if len(part) else 0.0 for part in parts]
    turns = tuple(
        Turn(start + skipped, before, after)
        for start, (before, after) in zip(starts, pairwise(middles), strict=True)
    )
    return Course(turns, noise_share, newest_change, newest_runs)


def _starts(series: Floats, first: int, end: int) -> set[int]:
    """Places within series[first:end] at which it turns."""
    part = series[first:end]
    stretch = _stretch(part)
    if stretch is None:
        return set()
    edges = [first + edge for edge in stretch if 0 < edge < len(part)]
    found_in = zip([first, *edges], [*edges, end], strict=True)
    return set(edges).union(*(_starts(series, start, stop) for start, stop in found_in))


def _stretch(part: Floats) -> tuple[int, int] | None:
    """Begin and end of the stretch that differs most from the rest; None where that may be chance.

    How large the difference is says nothing yet: other turns, not found so far, count as noise. `_pruned` judges that.
    """
    count = len(part)
    begins, ends = np.triu_indices(count, 1)
    # a stretch from the start is the rest of one to the end; both outer parts of a stretch inside must be whole
    wanted = (ends - begins >= SIDE) & (count - ends >= SIDE) & ((begins == 0) | (begins >= SIDE))
    begins, ends = begins[wanted], ends[wanted]
    if not len(begins):
        return None
    sums, squares = (np.concatenate([[0.0], np.cumsum(values)]) for values in (part, (part - part.mean()) ** 2))
    inside = ends - begins
    outside = count - inside
    gap = (sums[ends] - sums[begins]) / inside - (sums[-1] - sums[ends] + sums[begins]) / outside
    within = np.maximum(squares[-1] - gap**2 * inside * outside / count, 0.0)
    sigmas = np.maximum(np.sqrt(within / (count - 2)), FLOOR_SHARE / CERTAIN)
    scores = np.abs(gap) / (sigmas * np.sqrt(1 / inside + 1 / outside))
    best = int(np.argmax(scores))
    chance = len(begins) * _tail(float(scores[best]), count - 2)
    return (int(begins[best]), int(ends[best])) if chance < ALPHA else None


def _pruned(series: Floats, starts: list[int]) -> list[int]:
    """The places whose two sides still differ by more than noise, now that all places are known."""
    while starts:
        parts = np.split(series, starts)
        sigma = _sigma(parts) or 0.0
        gaps = [abs(float(after.mean() - before.mean())) for before, after in pairwise(parts)]
        least = int(np.argmin(gaps))
        if gaps[least] > max(CERTAIN * sigma, FLOOR_SHARE):
            return starts
        starts = [*starts[:least], *starts[least + 1 :]]
    return starts


def _sigma(parts: Sequence[Floats]) -> float | None:
    """The deviation of single runs from their stretch's mean, over all stretches."""
    freedom = sum(len(part) - 1 for part in parts)
    if freedom < 2:
        return None
    return float(np.sqrt(sum(float(((part - part.mean()) ** 2).sum()) for part in parts) / freedom))


def _newest(parts: Sequence[Floats]) -> tuple[int, float | None]:
    """How many of the newest runs all lie beyond noise of those before them in their stretch, and how far on average.

    They are too few for a turn. Two of them would be taken for noise themselves if only the last one was looked at.
    """
    for count in reversed(range(1, SIDE)):
        earlier, newest = np.split(parts[-1], [max(len(parts[-1]) - count, 0)])
        calm = [*parts[:-1], earlier]
        sigma = _sigma(calm) if len(earlier) >= SIDE else None
        if sigma is None:
            continue
        sigma = max(sigma, FLOOR_SHARE / CERTAIN)
        gaps = newest - earlier.mean()
        least = max(float(gaps.min()), float(-gaps.max()))  # below 0 where they lie on both sides
        freedom = sum(len(part) - 1 for part in calm)
        chance = _tail(least / (sigma * float(np.sqrt(1 + 1 / len(earlier)))), freedom)
        if chance < ALPHA and least > CERTAIN * sigma:
            return count, float(np.expm1(gaps.mean()))
    return 0, None


def _tail(score: float, freedom: int) -> float:
    """How often a t of so many degrees of freedom lies further from zero, by its integral over the angle."""
    return _area(float(np.arctan2(score, np.sqrt(freedom))), freedom) / _area(0.0, freedom)


def _area(begin: float, freedom: int) -> float:
    width = (np.pi / 2 - begin) / _ANGLES
    angles = begin + (np.arange(_ANGLES) + 0.5) * width
    return float((np.cos(angles) ** (freedom - 1)).sum() * width)
