"""`python -m mutation`: see the package's docstring."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: trials run side by side, and forks have no threads

from mutation import scope, trial
from mutation.module import Module, module_of

if TYPE_CHECKING:
    from pathlib import Path

    from mutation.mutant import Mutant

SLOWER = 10  # times as long as the tests take without a mutant: then it loops
LEAST_SECONDS = 60  # on a busy machine
WARM_UP = scope.TESTS / "step4_metal_trace" / "test_stalled_on_host.py"


@dataclass
class Trials:
    """What is tried: one for the whole process, because forked workers inherit it."""

    modules: list[Module] = field(default_factory=list)
    seconds: dict[int, int] = field(default_factory=dict)
    heard: bool = False


TRIALS = Trials()


def main() -> int:
    asked = _arguments()
    started = time.monotonic()
    paths = [path for path in _paths(asked) if asked.only in path.as_posix()]
    TRIALS.heard = asked.verbose
    TRIALS.modules = [module_of(path) for path in paths]
    trial.warm_up(WARM_UP)
    counts = _try_all(asked.jobs)
    print(
        f"{len(paths)} modules: {counts['noticed']} mutants noticed, {counts['excused']} excused, "
        f"{counts['survived']} survived, in {(time.monotonic() - started) / 60:.1f} minutes"
    )
    return 1 if counts["survived"] or counts["wrong"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make lines", description="Do tests hold every line of every check?")
    parser.add_argument("--changed", action="store_true", help="only what changed since the branch left main")
    parser.add_argument("--since", help="the commit that --changed compares with")
    parser.add_argument("--only", default="", help="only modules whose path contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--verbose", action="store_true", help="show what pytest says")
    return parser.parse_args()


def _paths(asked: argparse.Namespace) -> list[Path]:
    paths = scope.changed(asked.since) if asked.changed else scope.with_lines()
    if paths is None:
        print("git does not tell what changed, so all are tried")
        return scope.with_lines()
    return paths


def _try_all(jobs: int) -> Counter[str]:
    """Try every mutant, print what is wrong, and count."""
    counts: Counter[str] = Counter()
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        TRIALS.seconds = dict(pool.imap_unordered(_limit, range(len(TRIALS.modules))))
    testable = [place for place in range(len(TRIALS.modules)) if _is_testable(place, counts)]
    asked = [(place, number) for place in testable for number in range(len(TRIALS.modules[place].mutants))]
    needed: set[tuple[int, int]] = set()  # excuses: module, line
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for place, number, noticed in pool.imap(_attempt, asked):
            module, mutant = TRIALS.modules[place], TRIALS.modules[place].mutants[number]
            kind = "noticed" if noticed else "excused" if mutant.excuse else "survived"
            counts[kind] += 1
            if not noticed:
                needed.add((place, mutant.line))
                print(f"{module.at(mutant.line)} {kind}: {mutant.what}{_because(mutant)}", flush=True)
    for place in testable:
        for line in sorted(line for line in TRIALS.modules[place].excuses if (place, line) not in needed):
            counts["wrong"] += 1
            print(f"{TRIALS.modules[place].at(line)} needs no excuse, tests notice all: remove `# unmoved`")
    return counts


def _limit(place: int) -> tuple[int, int]:
    """Seconds that the tests of a module may take; 0 where they fail without a mutant."""
    module = TRIALS.modules[place]
    started = time.monotonic()
    if module.tests and trial.is_noticed(module, None, 3600, heard=TRIALS.heard):
        return place, 0
    return place, max(LEAST_SECONDS, round(SLOWER * (time.monotonic() - started)))


def _is_testable(place: int, counts: Counter[str]) -> bool:
    module = TRIALS.modules[place]
    if module.tests and TRIALS.seconds[place]:
        return True
    if module.mutants:
        counts["wrong"] += 1
        mirrored = f"tests/{module.path.relative_to(scope.ROOT / 'ttnn_mcp').parent}/test_{module.path.name}"
        names = " ".join(path.relative_to(scope.ROOT).as_posix() for path in module.tests)
        print(
            f"{module.at(1)} " + (f"fails as it is: pytest {names}" if names else f"has no test: write {mirrored}")
        )
    return False


def _attempt(asked: tuple[int, int]) -> tuple[int, int, bool]:
    place, number = asked
    module = TRIALS.modules[place]
    noticed = trial.is_noticed(module, module.mutants[number], TRIALS.seconds[place], heard=TRIALS.heard)
    return place, number, noticed


def _because(mutant: Mutant) -> str:
    return f" ({mutant.excuse})" if mutant.excuse else ""


if __name__ == "__main__":
    sys.exit(main())
