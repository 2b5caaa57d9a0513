"""All trials: one pytest session that has collected the tests, and a fork of it for each mutant.

First every test runs once, and tells which functions it reaches and how long it takes. A mutant is then put into the
imported module of a fork, which runs the tests that reach it until one fails: first the quick ones that noticed many
mutants before. What survives there is tried again by a process of its own with all tests of its module
(`mutation.trial`), so a survivor is a survivor.
"""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import RawArray, get_context
from types import FunctionType
from typing import TYPE_CHECKING

import ttnn_mcp
from mutation import trial
from mutation.live import HIT, Live

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, MutableSequence
    from pathlib import Path

    import pytest

    from mutation.__main__ import Report
    from mutation.live import Place
    from mutation.module import Module

SLOWER = 10  # times as long as the tests take without a mutant: then it loops
LEAST_SECONDS = 60  # on a busy machine
PASSED, FAILED, UNFIT = 0, 1, 3  # how a fork exits
Hit = tuple[str, str, int]  # module, function, line


@dataclass(frozen=True)
class Test:
    """What one test did without a mutant."""

    place: int  # in the session's items
    path: Path
    seconds: float
    failed: str | None
    hits: frozenset[Hit]


@dataclass
class Trials:
    """A plugin of pytest that runs trials where tests would run. Forked workers inherit it."""

    modules: list[Module]
    jobs: int
    report: Report
    quick: bool  # what survives in a fork is not tried again
    items: list[pytest.Item] = field(default_factory=list)
    live: list[Live] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    # by place of a test, told by all forks: how often it ran with a mutant, and how often it failed
    ran: MutableSequence[int] = field(default_factory=list)
    noticed: MutableSequence[int] = field(default_factory=list)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take the place of pytest's own loop."""
        if session.testsfailed:
            return False  # some module of tests cannot be imported
        CURRENT.append(self)
        self.items = session.items
        _import_all()
        gc.unfreeze()
        self.live = list(_live(self.modules))
        gc.collect()
        gc.freeze()  # forks need not look through it
        self._run_all_once()
        failed = {test.path for test in self.tests if test.failed}
        for test in (test for test in self.tests if test.failed):
            self.report.wrong(f"fails as it is: pytest {test.failed}")
        asked = [
            (place, number)
            for place, module in enumerate(self.modules)
            if not failed & set(module.tests)
            for number in range(len(module.mutants))
        ]
        self.ran, self.noticed = (RawArray("Q", len(self.items)) for _ in range(2))
        with get_context("fork").Pool(self.jobs) as pool:
            for place, number, noticed in pool.imap(_attempt, asked, chunksize=4):
                self.report.outcome(self.modules[place], number, noticed=noticed)
        return True

    def _run_all_once(self) -> None:
        of_files: dict[Path, list[int]] = defaultdict(list)
        for place, item in enumerate(self.items):
            of_files[item.path].append(place)
        late: set[str] = set()
        files = sorted(of_files.values(), key=len, reverse=True)
        with _scratch(), get_context("fork").Pool(self.jobs) as pool:
            for tests, imported in pool.imap_unordered(_run_once, files):
                self.tests += tests
                late |= imported
        for name in sorted(late - sys.modules.keys()):  # each fork would import it again
            with suppress(Exception):
                importlib.import_module(name)
        gc.freeze()

    def chosen(self, live: Live, touched: set[Place] | None) -> list[Test]:
        """The module's tests that reach these functions, or any of its functions; the most promising first."""
        places = {(live.module.name, *place) for place in touched or live.functions}
        tests = self.of_module(live.module)
        reaching = [test for test in tests if test.hits & places] or tests
        return sorted(reaching, key=self._cost)

    def _cost(self, test: Test) -> float:
        """Seconds for each mutant that a test notices: as if each had run twice before, and noticed one."""
        return test.seconds * (self.ran[test.place] + 2) / (self.noticed[test.place] + 1)

    def notices(self, test: Test, following: Test | None) -> bool:
        """Run a test with a mutant; whether it fails."""
        self.ran[test.place] += 1
        # with the next test known, pytest keeps the fixtures of a module that both share
        failed = _run(self.items[test.place], None if following is None else self.items[following.place])
        self.noticed[test.place] += failed is not None
        return failed is not None

    def of_module(self, module: Module) -> list[Test]:
        """All tests that hold its lines."""
        return [test for test in self.tests if test.path in module.tests]


CURRENT: list[Trials] = []


def _patience(tests: list[Test]) -> int:
    """Seconds that these tests may take with a mutant."""
    return max(LEAST_SECONDS, round(SLOWER * sum(test.seconds for test in tests)))


def _import_all() -> None:
    """What tests would import on the way: each fork would do it again."""
    for module in pkgutil.walk_packages(ttnn_mcp.__path__, "ttnn_mcp."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _live(modules: list[Module]) -> Iterator[Live]:
    functions: dict[int, dict[Place, list[FunctionType]]] = defaultdict(lambda: defaultdict(list))
    for each in gc.get_objects():
        if isinstance(each, FunctionType):
            code = each.__code__
            functions[id(each.__globals__)][code.co_name, code.co_firstlineno].append(each)
    for module in modules:
        imported = importlib.import_module(module.name)
        of_module = functions[id(vars(imported))]
        yield Live(
            module,
            imported,
            {place: each for place, each in of_module.items() if each[0].__code__.co_filename == str(module.path)},
        )


class Ends:
    """Hears how tests end."""

    def __init__(self) -> None:
        self.failed: str | None = None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def _run(item: pytest.Item, following: pytest.Item | None) -> str | None:
    """The test's name if it fails."""
    ends = Ends()
    item.config.pluginmanager.register(ends)
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
    item.config.pluginmanager.unregister(ends)
    return ends.failed


def _run_once(places: list[int]) -> tuple[list[Test], set[str]]:
    """In a worker: run these tests without a mutant; also what is imported then."""
    trials = CURRENT[-1]
    hits: set[Hit] = set()
    for live in trials.live:
        if not hasattr(live.imported, HIT):
            live.tell()
        setattr(live.imported, HIT, lambda *hit: hits.add(hit))
    tests: list[Test] = []
    for place, following in zip(places, [*places[1:], None], strict=True):
        hits.clear()
        started = time.monotonic()
        item = trials.items[place]
        failed = _run(item, None if following is None else trials.items[following])
        tests.append(Test(place, item.path, time.monotonic() - started, failed, frozenset(hits)))
    return tests, {*sys.modules}


@contextmanager
def _scratch() -> Generator[None]:
    """A folder for what tests write in processes that are forked here."""
    with tempfile.TemporaryDirectory(prefix="lines-") as folder:
        os.environ["PYTEST_DEBUG_TEMPROOT"] = folder
        yield


def _attempt(asked: tuple[int, int]) -> tuple[int, int, bool]:
    """In a worker: try a mutant in a fork of it."""
    place, number = asked
    trials = CURRENT[-1]
    live = trials.live[place]
    with _scratch():
        child = os.fork()
        if not child:
            _run_mutant(trials, live, number)
        _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    noticed = code in {FAILED, -signal.SIGALRM}
    is_excused = code == PASSED and live.module.mutants[number].excuse  # nothing else is expected of it
    if not noticed and not is_excused and not trials.quick:
        noticed = trial.is_noticed(live.module, number, _patience(trials.of_module(live.module)))
    return place, number, noticed


def _run_mutant(trials: Trials, live: Live, number: int) -> None:
    """In the fork: never returns."""
    code = UNFIT  # whatever hinders it here, the long way shows
    try:
        signal.alarm(LEAST_SECONDS)
        live.module.mutants[number].change()
        touched = live.replace(live.module.tree)
        tests = trials.chosen(live, touched)
        signal.alarm(_patience(tests))
        noticed = any(trials.notices(*pair) for pair in zip(tests, [*tests[1:], None], strict=True))
        code = FAILED if noticed else PASSED
    finally:
        os._exit(code)
