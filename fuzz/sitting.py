"""One sitting of the fuzz: its seed, its time, its tally and its failures."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.cases import Room, across
from fuzz.failures import Failures, emptied, keep_case
from fuzz.shrinking import Shrinker
from fuzz.worker import Worker

TOLD_EVERY = 30.0  # seconds
LEAST_TO_SHRINK = 5.0  # seconds


@dataclass
class Sitting:
    """What a part needs: random numbers of its own per case, a clock, and somewhere to put what it finds."""

    part: str
    seed: int
    seconds: float
    folder: Path
    failures: Failures
    most: int | None = None  # cases, where they are counted and not timed
    first: int = 0  # number of the first case
    tally: Counter = field(default_factory=Counter)
    shared: bool = True
    rss_mb: float = 0.0

    def __post_init__(self):
        self.began = time.monotonic()
        self._to_shrink = []
        self._told = self.began
        self.worker = Worker()
        self.room = Room(self.folder, self.worker)

    def numbers(self):
        """Case numbers until the time is up."""
        number = self.first
        while time.monotonic() - self.began < self.seconds and (
            self.most is None or number - self.first < self.most
        ):
            yield number
            number += 1
            if time.monotonic() - self._told > TOLD_EVERY:
                self._told = time.monotonic()
                print(f"  {self.line()}", flush=True)

    def random(self, number):
        """The random numbers of one case: the same whenever the seed is the same."""
        return random.Random(f"{self.seed}:{self.part}:{number}")

    def judge(self, case, number):
        """Ask a case; count its outcomes, keep and shrink what fails."""
        outcomes = self.room.asked(case)
        self.tally["cases"] += 1
        for outcome in outcomes:
            self.tally[outcome.status] += 1
            self.tally["slowest ms"] = max(self.tally["slowest ms"], round(outcome.seconds * 1000))
            for flaw in outcome.flaws:
                self.found(case, outcome.tool, flaw, number)
        for flaw in across(outcomes):
            self.found(case, "optimization_check", flaw, number)
        return outcomes

    def found(self, case, tool, flaw, number):
        """Keep a failing case as it is; it is shrunk when the time for new ones is up."""
        kept = []

        def keep(place):
            kept.append(place)
            return keep_case(case, place)

        failure = self.failures.add(self.part, tool, flaw, keep=keep)
        if kept:
            self._to_shrink.append((failure, case, kept[0], number))

    def shrink(self, seconds):
        """Make what failed small; each failure has its part of the time."""
        until = time.monotonic() + seconds
        while self._to_shrink:
            failure, case, place, number = self._to_shrink.pop(0)
            mine = (until - time.monotonic()) / (len(self._to_shrink) + 1)
            shrinker = Shrinker(self.room, (failure.kind, failure.where), seconds=max(mine, LEAST_TO_SHRINK))
            shrunk = shrinker.shrunk(case)
            if shrunk is None:
                failure.line += (
                    f"  # not in a fresh session: --part {self.part} --seed {self.seed} --first {number} --most 1"
                )
            else:
                failure.line = keep_case(shrunk, emptied(place))

    def count(self, status, flaws, tool, *, keep=None):
        """Count an outcome that did not come from the worker."""
        self.tally["failure" if flaws else status] += 1
        for flaw in flaws:
            self.failures.add(self.part, tool, flaw, keep=keep)

    def line(self):
        took = time.monotonic() - self.began
        asked = self.tally["answer"] + self.tally["refusal"] + self.tally["failure"]
        told = ", ".join(f"{count} {name}" for name, count in self.tally.items())
        return f"{self.part}: {told}; {asked} outcomes in {took:.0f} s ({asked / max(took, 1e-9):.0f}/s)"

    def close(self):
        self.worker.close()
