"""Groups of tests, and one line about those that were not asked."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.groups import BESIDE, reads_shared


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if isinstance(item, pytest.Function) and reads_shared(item):
            item.add_marker("shared")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why tests were skipped, in one line."""
    reasons = Counter(map(reason, terminalreporter.stats.get("skipped", [])))
    if reasons:
        told = "; ".join(f"{count} because {why}" for why, count in reasons.most_common())
        terminalreporter.write_line(f"skipped: {told}")


def reason(report: pytest.TestReport) -> str:
    if "shared" in report.keywords and not BESIDE.is_dir():
        return "the real reports are not beside this checkout (../shared)"
    why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return why.removeprefix("Skipped: ")
