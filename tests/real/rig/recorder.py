"""A pytest plugin that keeps every fix which the tests of checks bring about, on programs made for them.

pytest -p tests.real.rig.recorder tests/checks --fixes FILE
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.real.rig.claims import job_of
from ttnn_mcp.checks import diagnosis

if TYPE_CHECKING:
    import pytest

    from ttnn_mcp.analyses.window_facts import WindowFacts
    from ttnn_mcp.checks.check import Check
    from ttnn_mcp.checks.diagnosis import Asked

KEPT: dict[tuple[str, str, str], dict[str, Any]] = {}
asked_plainly = diagnosis._gated


def watched(check: Check, facts: WindowFacts) -> Asked:
    """Ask, and keep what is told."""
    outcome = asked_plainly(check, facts)
    for claim in outcome.claims:
        job = job_of(check.id, claim, facts)
        if job is not None:
            job["report"] = os.environ["PYTEST_CURRENT_TEST"].partition(" ")[0]
            KEPT.setdefault((check.id, claim.fix, job["kind"]), job)
    return outcome


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fixes", required=True)


def pytest_configure() -> None:
    diagnosis._gated = watched


def pytest_sessionfinish(session: pytest.Session) -> None:
    Path(session.config.getoption("--fixes")).write_text(json.dumps(list(KEPT.values())))
