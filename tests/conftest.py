"""Groups of tests, and one line about those that were not asked."""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
from collections import Counter
from contextlib import suppress
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.groups import BESIDE, reads_shared
from tests.shared_reports import ABSENT, asked

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator


if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # of `make test &`: what a test interrupts would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")
os.environ["TTNN_MCP_ARCHIVE_MB"] = "0"  # thousands of sessions: those that test the archive switch it on


finished, folders = count(1), count()
MEMORY, ROOM_BYTES = Path("/dev/shm"), 4 << 30  # noqa: S108 - pytest makes a folder of our own in it
HOUSE = ("tests/house/", "tests/test_contracts.py", "tests/test_skill_documents.py")
gc.disable()  # until everything is collected, and stays


def pytest_configure() -> None:
    """Folders of tests lie in memory where there is plenty: a disk takes 3 ms to forget a small file, and tests sync."""
    if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM_BYTES:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a sixth of their time tests wait, for processes, limits of time and the disk."""
    return 1 + (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def pytest_collection(session: pytest.Session) -> None:
    """Each process imports its part of the test modules first, and all others compiled by then: once, not by each."""
    part = getattr(session.config, "workerinput", None)
    if part is None:
        return
    files = [path for folder in session.config.args for path in sorted(Path(folder).rglob("test_*.py"))]
    for path in files[int(part["workerid"].removeprefix("gw")) :: part["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):  # collection tells what is wrong with a module
            import_module(".".join(path.resolve().relative_to(session.config.rootpath).with_suffix("").parts))


def pytest_collection_finish() -> None:
    """Thousands of tests stay in memory: the collector need not look at them again and again, and not once now."""
    asked.clear()
    gc.freeze()  # with what imports left behind, a few MB: looking for it takes each process half a second
    gc.set_threshold(50_000, 20, 20)
    gc.enable()


def pytest_runtest_logfinish() -> None:
    """Nor at what pytest keeps of those that ran."""
    if next(finished) % 500 == 0:
        gc.collect()  # what a test forgot to close is told
        gc.freeze()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """As pytest's, which looks at all folders of the run to find the next number, and moves a link to it."""
    name = re.sub(r"\W", "_", request.node.name)[:30]  # Windows has short paths
    path = tmp_path_factory.getbasetemp() / f"{name}{next(folders)}"
    path.mkdir(mode=0o700)
    yield path
    if path.is_relative_to(MEMORY) and not getattr(request.node, "broke", False):
        shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def opened_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every session that the test starts, in the shell too, is a `reader` (tests/asking.py)."""
    from tests.asking import OPEN_FOR_ALL

    monkeypatch.setattr("ttnn_mcp.session.session.OpenRuns", lambda: OPEN_FOR_ALL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases: Counter[str] = Counter()
    for item in items:
        if not isinstance(item, pytest.Function):
            continue
        if item.nodeid.startswith(HOUSE):
            item.add_marker("house")
        if reads_shared(item):
            item.add_marker("shared")
        sampled = item.get_closest_marker("sampled")
        if sampled is not None:
            test = item.nodeid.partition("[")[0]
            if cases[test] % sampled.args[0]:
                item.add_marker("sweep" if cases[test] % sampled.kwargs.get("checked", 1) else "slow")
            cases[test] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.broke = getattr(item, "broke", False) or report.failed  # its folder stays
    asks = bool(asked)
    asked.clear()
    if asks and "shared" not in item.keywords:
        report.outcome = "failed"
        report.longrepr = (
            f"{item.nodeid} reads the real reports and is not in the group `shared`: see tests/groups.py"
        )
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why tests were skipped, in one line."""
    reasons = Counter(map(reason, terminalreporter.stats.get("skipped", [])))
    if reasons:
        told = "; ".join(f"{count} because {why}" for why, count in reasons.most_common())
        terminalreporter.write_line(f"skipped: {told}")


def reason(report: pytest.TestReport) -> str:
    if "shared" in getattr(report, "keywords", ()) and not BESIDE.is_dir():
        return ABSENT
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return why.removeprefix("Skipped: ")
