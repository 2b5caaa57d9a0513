"""`python -m mutation`: see the package's docstring."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: trials run side by side, and forks have no threads

import pytest

from mutation import scope, trial
from mutation.module import module_of
from mutation.rooms import tried_by_rooms
from mutation.session import Trials

if TYPE_CHECKING:
    from mutation.module import Module
    from mutation.mutant import Mutant


SECONDS = 600  # for all tests of a module, on a busy machine


@dataclass
class Report:
    """Prints what is wrong, and counts."""

    out: int  # where to: standard output is quiet while tests run
    counts: Counter[str] = field(default_factory=Counter)
    of_modules: dict[Path, Counter[str]] = field(default_factory=dict)
    needed: set[tuple[Path, int]] = field(default_factory=set)  # excuses: module, line

    def wrong(self, text: str) -> None:
        """Something that fails the command and is no survivor."""
        self.counts["wrong"] += 1
        self.note(text)

    def note(self, text: str) -> None:
        """One line."""
        os.write(self.out, f"{text}\n".encode())

    def outcome(self, module: Module, number: int, *, noticed: bool) -> None:
        """What came of a mutant."""
        mutant = module.mutants[number]
        kind = "noticed" if noticed else "excused" if mutant.excuse else "survived"
        self.counts[kind] += 1
        self.of_modules.setdefault(module.path, Counter())[kind] += 1
        if not noticed:
            self.needed.add((module.path, mutant.line))
            self.note(f"{module.at(mutant.line)} {kind}: {mutant.what}{_because(mutant)}")

    def each(self, modules: list[Module]) -> None:
        """The figures of each module."""
        for module in modules:
            counts = self.of_modules.get(module.path, Counter[str]())
            told = ", ".join(f"{counts[kind]} {kind}" for kind in ("noticed", "excused", "survived"))
            self.note(f"{module.path.relative_to(scope.ROOT).as_posix()}: {told}")

    def tried(self) -> int:
        """How many mutants came to an end."""
        return sum(self.counts[kind] for kind in ("noticed", "excused", "survived"))


def main() -> int:
    asked = _arguments()
    if asked.rooms:
        paths = [path for path in scope.with_lines() if _is_asked(path, asked)]
        return tried_by_rooms(asked.rooms, paths, ["--jobs", str(asked.jobs), *["--faults"] * asked.faults])
    started = time.monotonic()
    report = Report(os.dup(1))
    modules = _modules(asked, report)
    for module in (module for module in modules if module.mutants and not module.tests):
        report.wrong(f"{module.at(1)} has no test: write {scope.mirrored(module.path)}")
    testable = [module for module in modules if module.mutants and module.tests]
    if testable:
        _try_all(testable, asked, report)
    for module in testable:
        for line in sorted(line for line in module.excuses if (module.path, line) not in report.needed):
            if _all_noticed(module, line):
                report.wrong(f"{module.at(line)} needs no excuse, tests notice all: remove `# unmoved`")
    if asked.each:
        report.each(modules)
    report.note(
        f"{len(modules)} modules: {report.counts['noticed']} mutants noticed, {report.counts['excused']} excused, "
        f"{report.counts['survived']} survived, in {(time.monotonic() - started) / 60:.1f} minutes"
    )
    return 1 if report.counts["survived"] or report.counts["wrong"] else 0


def _try_all(modules: list[Module], asked: argparse.Namespace, report: Report) -> None:
    if not asked.verbose:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
    tests = sorted({str(test) for module in modules for test in module.tests})
    pytest.main([*trial.OPTIONS, "-s", *tests], plugins=[Trials(modules, asked.jobs, report, quick=asked.quick)])
    if report.tried() < sum(len(module.mutants) for module in modules) and not report.counts["wrong"]:
        report.wrong("the trials broke off: --verbose shows what pytest says")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make lines", description="Do tests hold every line of every check?")
    parser.add_argument("--changed", action="store_true", help="only what changed since the branch left main")
    parser.add_argument("--since", help="the commit that --changed compares with")
    parser.add_argument("--most", type=int, default=0, help="with --changed: no more modules after so many mutants")
    parser.add_argument("--only", default="", help="only modules whose path contains one of these: a,b")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("--each", action="store_true", help="tell the figures of each module at the end")
    parser.add_argument("--faults", action="store_true", help="plant arithmetic, comparison and other faults too")
    parser.add_argument("--rooms", type=Path, help="room by room, told in this folder: what is told there is done")
    parser.add_argument("--quick", action="store_true", help="do not try again what may have survived")
    parser.add_argument("--verbose", action="store_true", help="show what pytest says")
    return parser.parse_args()


def _is_asked(path: Path, asked: argparse.Namespace) -> bool:
    return any(word in path.as_posix() for word in asked.only.split(","))


def _modules(asked: argparse.Namespace, report: Report) -> list[Module]:
    changed = scope.changed(asked.since) if asked.changed else None
    if changed is None:
        if asked.changed:
            report.note("git does not tell what changed, so all are tried")
        return [module_of(path, of_faults=asked.faults) for path in scope.with_lines() if _is_asked(path, asked)]
    paths = [path for path in changed.in_turn() if _is_asked(path, asked)]
    modules: list[Module] = []
    for path in paths:
        if asked.most and sum(len(module.mutants) for module in modules) >= asked.most:
            report.note(
                f"{len(paths)} modules or their tests changed, or use what changed: {len(modules)} of them are "
                "tried, others with other commits (all with MOST=0)"
            )
            break
        modules.append(module_of(path, of_faults=asked.faults))
    return modules


def _all_noticed(module: Module, line: int) -> bool:
    """Once more: what failed once on a busy machine, and for no reason, has noticed nothing."""
    numbers = [number for number, mutant in enumerate(module.mutants) if mutant.line == line]
    return all(trial.is_noticed(module, number, SECONDS) for number in numbers)


def _because(mutant: Mutant) -> str:
    return f" ({mutant.excuse})" if mutant.excuse else ""


if __name__ == "__main__":
    sys.exit(main())
