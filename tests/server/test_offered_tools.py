"""A call that takes long tells the client how long it has taken."""

from types import SimpleNamespace

import anyio
import pytest

from ttnn_mcp.server import offered_tools


async def test_a_beat_tells_the_seconds_that_have_passed(monkeypatch):
    passed, told = [], []

    async def sleep(seconds):
        passed.append(seconds)

    async def report_progress(done, message):
        told.append((done, message, sum(passed)))
        if len(told) == 3:
            raise anyio.ClosedResourceError  # the client hangs up

    monkeypatch.setattr(offered_tools, "asyncio", SimpleNamespace(sleep=sleep))
    await offered_tools._beat(SimpleNamespace(session=SimpleNamespace(report_progress=report_progress)), "dawdle")
    assert told == [(seconds, f"dawdle: {seconds} s", pytest.approx(seconds)) for seconds in (1, 2, 3)]
