"""The fixture `check`: the check that a test module is named after, ready to be asked."""

import pytest

from tests.checks.asking import Asker, asker


@pytest.fixture
def check(request, tmp_path) -> Asker:
    return asker(request.module.__name__, tmp_path)
