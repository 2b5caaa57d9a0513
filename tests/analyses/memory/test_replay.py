"""One replay of a run's memory report serves everybody who asks, and a replay that failed serves nobody."""

import asyncio

import pytest

from tests.analyses.memory.replays import opened
from tests.profiles import write_memory_report
from tests.programs import block
from ttnn_mcp.analyses.memory import replay
from ttnn_mcp.analyses.memory.memory_comparison import memory_delta
from ttnn_mcp.analyses.memory.replay import replay_of, replayed
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.run.run import Run


@pytest.fixture
def replays(monkeypatch):
    """The runs that were replayed, one entry for each replay."""
    runs, once = [], replay._replay

    async def counted(run, memory):
        runs.append(run)
        return await once(run, memory)

    monkeypatch.setattr(replay, "_replay", counted)
    return runs


async def test_callers_at_the_same_time_share_one_replay(tmp_path, replays):
    run = await opened(write_memory_report(tmp_path, block()))
    other = Run("other", "other", None, run.memory)
    results = await asyncio.gather(*(replay_of(run) for _ in range(8)), memory_delta(run, other))
    assert all(each is replayed(run) for each in results[:8])
    assert [each.id for each in replays].count(run.id) == 1
    assert len(replays) == 2  # the other run's own


async def test_a_caller_who_gives_up_leaves_the_replay_to_the_others(tmp_path, replays):
    run = await opened(write_memory_report(tmp_path, block()))
    first, second = (asyncio.create_task(replay_of(run)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is replayed(run)
    assert first.cancelled()
    assert len(replays) == 1


async def test_a_replay_that_failed_is_tried_again(tmp_path, monkeypatch):
    run = await opened(write_memory_report(tmp_path, block()))

    async def broken(memory):
        raise ReportBroken("cut off")

    with monkeypatch.context() as patched:
        patched.setattr(replay, "read_snapshots", broken)
        with pytest.raises(ReportBroken):
            await replay_of(run)
    assert replayed(run) is None
    assert len((await replay_of(run)).operations)
