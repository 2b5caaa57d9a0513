"""The transport of one client, without a process: what the desk left is read first, or nothing was left."""

from contextlib import asynccontextmanager

import anyio
import pytest

from tests.asking import session
from tests.for_all import for_all
from ttnn_mcp.server import stdio
from ttnn_mcp.server.front_desk import Heard


@pytest.fixture
def continued(monkeypatch):
    """What standard input was continued with, for a client that hangs up at once."""
    continued = []

    @asynccontextmanager
    async def hung_up():
        to_server, incoming = anyio.create_memory_object_stream(1)
        outgoing, to_client = anyio.create_memory_object_stream(1)
        async with to_server, to_client:
            await to_server.aclose()
            yield incoming, outgoing

    monkeypatch.setattr(stdio, "stdio_server", hung_up)
    monkeypatch.setattr(stdio, "continue_stdin", continued.append)
    monkeypatch.setattr(stdio.signal, "signal", lambda *_: None)
    return continued


@for_all("heard", [[], [Heard(b"{}", [1])]], ids=["no desk", "a desk"])
async def test_standard_input_is_continued_where_a_desk_read_of_it(tmp_path, continued, heard):
    await stdio.over_stdio(session(tmp_path), *heard)
    assert continued == heard
