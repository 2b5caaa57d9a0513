"""The fixture `check`: the check that a test module is named after, ready to be asked."""

import pytest

from tests.checks.asking import Asker, asker
from ttnn_mcp.checks import expectation


@pytest.fixture
def check(request, tmp_path) -> Asker:
    return asker(request.module.__name__, tmp_path)


@pytest.fixture
def measured(monkeypatch):
    """Nine cases of one check are known, and no others."""

    def only(name):
        known = {"checks": {name: {"cases": 9, "median": 0.5, "low": 0.1}}, "levers": {}}
        monkeypatch.setattr(expectation, "measured_cases", lambda: known)

    return only
