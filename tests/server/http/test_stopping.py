"""How a server over HTTP stops, and what it says when it starts, without a connection."""

import asyncio
import signal

import pytest
import uvicorn
from sse_starlette.sse import AppStatus

from tests.asking import session
from ttnn_mcp.server.http import serving
from ttnn_mcp.server.http.door import door
from ttnn_mcp.server.http.turns import Turns

OPEN = "No token is asked for"
CUT = "were cut"


@pytest.fixture
def ends(monkeypatch):
    """The signals that ended the process at once."""
    ends = []
    monkeypatch.setattr(serving, "leave", lambda sig, _frame: ends.append(sig))
    monkeypatch.setattr(serving, "FLUSH_S", 0.0)
    monkeypatch.setattr(AppStatus, "should_exit", False)
    return ends


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Start a server up to where it would take connections."""
    servers = []

    async def serve(server, sockets):
        servers.append(server)
        server.servers = []
        for each in sockets:
            each.close()

    monkeypatch.setattr(uvicorn.Server, "serve", serve)

    async def start(*words):
        await serving.over_http(session(tmp_path), door(*words))
        return servers[-1]

    return start


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"ada {'a' * 43}")
    path.chmod(0o600)
    return path


async def test_the_first_sigterm_drains_and_the_second_ends_at_once(started, ends):
    server = await started("127.0.0.1:0")
    server.handle_exit(signal.SIGTERM, None)
    assert ends == []
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()}, timeout=5)
    assert server.should_exit
    server.handle_exit(signal.SIGTERM, None)
    assert ends == [signal.SIGTERM]


async def test_ctrl_c_ends_at_once(started, ends):
    server = await started("127.0.0.1:0")
    server.handle_exit(signal.SIGINT, None)
    assert ends == [signal.SIGINT]


@pytest.mark.parametrize("held", [False, True])
async def test_answers_that_were_cut_are_told_and_others_are_not(ends, monkeypatch, caplog, held):
    monkeypatch.setattr(serving, "DRAIN_S", 0.01)
    server, turns = uvicorn.Server(uvicorn.Config("none")), Turns()
    server.servers = []
    if held:
        turns._idle.clear()
    await serving._drain(server, turns)
    assert server.should_exit
    assert (CUT in caplog.text) == held


async def test_who_opens_the_port_to_everybody_is_warned(started, token_file, caplog):
    await started("127.0.0.1:0")
    await started("0.0.0.0:0", token_file)
    assert OPEN not in caplog.text
    await started("0.0.0.0:0", None, ["lab.example.org"])
    assert OPEN in caplog.text
