"""Connections that send half a request are closed, those that wait for an answer are not; idle sessions end."""

import asyncio
import contextlib
import json
import socket

import pytest
import uvicorn

from tests.asking import session
from ttnn_mcp.server.http import serving, turns
from ttnn_mcp.server.http.door import Door
from ttnn_mcp.server.http.turns import Impatient

HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 10\r\n"


@pytest.fixture
async def served(monkeypatch):
    """A port at which every whole request is answered after a while; waits are short."""
    monkeypatch.setattr(turns, "ARRIVAL_S", 0.2)

    async def app(scope, receive, send):
        while scope["type"] == "http" and (await receive()).get("more_body"):
            pass
        await asyncio.sleep(0.4)  # longer than a request may take to arrive
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, http=Impatient, lifespan="off", log_level="warning"))
    with contextlib.suppress(asyncio.CancelledError):
        task = asyncio.create_task(server._serve([listening]))
        yield listening.getsockname()[1]
        server.should_exit = True
        await asyncio.wait_for(task, 20)


async def conversation(port, *parts, pause=0.0):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for place, part in enumerate(parts):
            await asyncio.sleep(pause if place else 0)
            writer.write(part)
            await writer.drain()
        return await asyncio.wait_for(reader.read(), 15)
    finally:
        writer.close()


HALF = {
    "nothing at all": (),
    "half a line": (b"POST /m",),
    "half the headers": (HEAD,),
    "headers without their body": (HEAD + b"\r\n",),
    "half a body": (HEAD + b"\r\n12345",),
}


@pytest.mark.parametrize("parts", HALF.values(), ids=HALF)
async def test_half_a_request_is_not_waited_for(served, parts):
    assert await conversation(served, *parts) == b""  # closed by the server, without an answer


async def test_bytes_that_trickle_do_not_lengthen_the_wait(served):
    with contextlib.suppress(ConnectionError):
        assert await conversation(served, *(bytes([byte]) for byte in HEAD[:30]), pause=0.05) == b""


async def test_a_whole_request_may_wait_for_its_answer(served):
    answer = await conversation(served, HEAD + b"Connection: close\r\n\r\n12345", b"67890", pause=0.05)
    assert answer.endswith(b"ok")


async def test_the_second_request_of_a_connection_is_not_waited_for_either(served):
    answer = await conversation(served, HEAD + b"\r\n1234567890" + HEAD)
    assert answer.count(b"200 OK") == 1


async def test_a_connection_may_rest_between_requests(served):
    answer = await conversation(
        served, HEAD + b"\r\n1234567890", HEAD + b"Connection: close\r\n\r\n1234567890", pause=0.9
    )
    assert answer.count(b"200 OK") == 2


@pytest.fixture
async def port(monkeypatch, capsys, tmp_path):
    """The port of our own server, which keeps two sessions, each for a moment."""
    monkeypatch.setattr(serving, "SESSIONS", 2)
    monkeypatch.setattr(serving, "IDLE_S", 0.5)
    servers, begun = [], uvicorn.Server.serve

    async def kept(server, sockets=None):
        servers.append(server)
        await begun(server, sockets)

    monkeypatch.setattr(uvicorn.Server, "serve", kept)
    task = asyncio.create_task(serving.over_http(session(tmp_path), Door("127.0.0.1", 0)))
    told = ""
    while "/mcp" not in told:
        await asyncio.sleep(0.05)
        told += capsys.readouterr().err
    yield int(told.split(":")[-1].split("/")[0])
    servers[0].should_exit = True
    await asyncio.wait_for(task, 20)


async def began(port):
    """The status line of the answer to one who begins a session."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nConnection: close\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return (await conversation(port, head.encode() + body)).split(b"\r\n")[0]


async def test_sessions_that_nobody_uses_end_and_no_more_than_a_limit_are_open(port):
    assert [await began(port) for _ in range(2)] == [b"HTTP/1.1 200 OK"] * 2
    assert b"503" in await began(port)
    await asyncio.sleep(0.9)
    assert await began(port) == b"HTTP/1.1 200 OK"
