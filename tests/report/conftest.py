"""What the tests of pages and traces share: the answers about the demo, which no test may change."""

import asyncio

import pytest

from tests.asking import session
from ttnn_mcp.report.answers import answers_of


@pytest.fixture(scope="session")
def demo_answers(tmp_path_factory):
    return asyncio.run(answers_of(session(tmp_path_factory.mktemp("state")), "demo", None))
