"""Who listens hears of new reports and new experiments; who does not costs nothing."""

import asyncio

import pytest
from mcp import Client

from tests.asking import ask, session
from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.experiments.store import FILE
from ttnn_mcp.server import server, subscriptions


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.setattr(subscriptions, "EVERY_SECONDS", 0.05)
    (tmp_path / "generated").mkdir()
    return session(tmp_path, tmp_path / "generated")


async def first_news(at) -> str:
    async for uri in subscriptions.news(at, every_seconds=0.02):
        return uri
    return ""


async def test_a_new_report_under_the_roots_is_news(at, tmp_path):
    waiting = asyncio.create_task(first_news(at))
    await asyncio.sleep(0.1)
    write_performance_report(tmp_path / "generated", block())
    assert await asyncio.wait_for(waiting, 5) == "ttnn://runs"


async def test_a_run_from_elsewhere_is_news_when_it_is_opened_renamed_or_overwritten(at, tmp_path):
    path = write_performance_report(tmp_path / "elsewhere", block())
    table = next(path.rglob("ops_perf_results*.csv")) if path.is_dir() else path
    for act in (
        lambda: ask(at, "open_run", performance=str(path)),
        lambda: ask(at, "open_run", performance=str(path), name="mine"),
        lambda: asyncio.to_thread(table.write_text, table.read_text() + "\n"),
    ):
        waiting = asyncio.create_task(first_news(at))
        await asyncio.sleep(0.05)
        await act()
        assert await asyncio.wait_for(waiting, 5) == "ttnn://runs"


async def test_a_recorded_experiment_is_news_whoever_recorded_it(at, tmp_path):
    path = str(write_performance_report(tmp_path / "perf", block()))
    waiting = asyncio.create_task(first_news(at))
    await asyncio.sleep(0.1)
    other = session(tmp_path)
    await ask(other, "experiments", action="record", change="x", step=1, baseline=path, candidate=path, pcc=0.999)
    assert await asyncio.wait_for(waiting, 5) == "ttnn://experiments"


async def test_a_log_that_is_deleted_while_we_look_is_no_failure(at, tmp_path):
    folder = at.settings.state_folder
    folder.mkdir(parents=True)
    (folder / f"{FILE}-wal").symlink_to(tmp_path / "gone")  # it is listed, and there is nothing behind it
    waiting = asyncio.create_task(first_news(at))
    await asyncio.sleep(0.05)
    write_performance_report(tmp_path / "generated", block())
    assert await asyncio.wait_for(waiting, 5) == "ttnn://runs"


async def test_a_client_that_listens_is_told_and_can_read_what_is_new(at, tmp_path):
    async with Client(server.build(at)) as client:
        listed = {str(one.uri) for one in (await client.list_resources()).resources}
        assert {"ttnn://runs", "ttnn://experiments"} <= listed
        async with client.listen(resource_subscriptions=["ttnn://runs"]) as events:
            await asyncio.sleep(0.1)
            write_performance_report(tmp_path / "generated", block())
            event = await asyncio.wait_for(anext(aiter(events)), 10)
        assert "ttnn://runs" in str(event)
        read = await client.read_resource("ttnn://runs")
        assert "ops_perf_results" in read.contents[0].text
        assert '"checklist"' in (await client.read_resource("ttnn://experiments")).contents[0].text


async def test_who_still_listens_hears_news_when_another_has_gone(at, tmp_path):
    async with Client(server.build(at)) as client:
        async with client.listen(resource_subscriptions=["ttnn://runs"]) as events:
            async with client.listen(resource_subscriptions=["ttnn://runs"]):
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.1)
            write_performance_report(tmp_path / "generated", block())
            event = await asyncio.wait_for(anext(aiter(events)), 5)
        assert "ttnn://runs" in str(event)
