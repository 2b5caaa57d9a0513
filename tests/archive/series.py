"""Made series of times with known turns, and how often they are found: python -m tests.archive.series --seeds 5000."""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ttnn_mcp.archive.turns import course_of

Series = NDArray[np.float64]
Made = Callable[[np.random.Generator], Series]
SPREAD = 0.01  # of one run, as a share: a common one between files of an unchanged model


def level(count: int, spread: float = SPREAD) -> Made:
    return lambda random: 100 * np.exp(random.normal(0, spread, count))


def heavy_tailed(count: int) -> Made:
    return lambda random: 100 * np.exp(SPREAD * random.standard_t(3, count))


def with_odd_runs(count: int) -> Made:
    def made(random: np.random.Generator) -> Series:
        return level(count, SPREAD / 2)(random) * np.where(random.random(count) < 0.1, 1.1, 1)

    return made


def drawn_out(count: int, memory: float) -> Made:
    """Each run keeps a part of the deviation of the one before, as on a machine that warms up and cools down."""

    def made(random: np.random.Generator) -> Series:
        deviations = random.normal(0, SPREAD, count)
        for at in range(1, count):
            deviations[at] += memory * deviations[at - 1]
        return 100 * np.exp(deviations)

    return made


def stepped(count: int, *steps: tuple[int, float]) -> Made:
    """A level that changes at each of the steps (at, by the share), for good."""

    def made(random: np.random.Generator) -> Series:
        series = level(count)(random)
        for at, change in steps:
            series[at:] *= 1 + change
        return series

    return made


def turns_at(made: Made, seed: int) -> list[int]:
    return [turn.at for turn in course_of(made(np.random.default_rng(seed))).turns]


def false_alarms(made: Made, seeds: int) -> float:
    return sum(bool(turns_at(made, seed)) for seed in range(seeds)) / seeds


def power(made: Made, wanted: Sequence[int], seeds: int) -> float:
    """How often all turns were found, each within one run of its place, and no other."""
    hits = 0
    for seed in range(seeds):
        places = turns_at(made, seed)
        hits += len(places) == len(wanted) and all(
            abs(at - want) <= 1 for at, want in zip(places, wanted, strict=True)
        )
    return hits / seeds


LEVEL: dict[str, Made] = {
    **{f"{count} runs": level(count) for count in (6, 8, 12, 20, 40, 80)},
    "20 runs, t of 3 degrees": heavy_tailed(20),
    "20 runs, one in ten 10 % slower": with_odd_runs(20),
    "20 runs, each keeps 0.3 of the last": drawn_out(20, 0.3),
}
TURNED: dict[str, tuple[Made, tuple[int, ...]]] = {
    **{
        f"{count} runs, {change:.0%} slower from run {at}": (stepped(count, (at, change)), (at,))
        for count, at in ((6, 3), (8, 4), (12, 9), (20, 10), (20, 17), (40, 20))
        for change in (0.03, 0.05, 0.08)
    },
    "25 runs, a slow week": (stepped(25, (10, 0.08), (15, 1 / 1.08 - 1)), (10, 15)),
    "30 runs, slower, then much faster": (stepped(30, (10, 0.08), (20, -0.15)), (10, 20)),
    "50 runs, 6 % slower and put right, twice": (
        stepped(50, (10, 0.06), (20, 1 / 1.06 - 1), (30, 0.06), (40, 1 / 1.06 - 1)),
        (10, 20, 30, 40),
    ),
}

if __name__ == "__main__":
    parser = ArgumentParser(description="How often turns are seen where none are, and missed where some are.")
    parser.add_argument("--seeds", type=int, default=5_000)
    seeds = parser.parse_args().seeds
    for name, made in LEVEL.items():
        print(f"{name}: {false_alarms(made, seeds):.2%} turn")  # noqa: T201
    for name, (made, wanted) in TURNED.items():
        print(f"{name}: {power(made, wanted, seeds):.1%} found")  # noqa: T201
