"""A lab server: tokens at every request, a page for people, equal shares, and an end that cuts no answer."""

import asyncio
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import time

import pytest
import uvicorn

from tests.asking import session
from ttnn_mcp.server.http import serving, shares, streams
from ttnn_mcp.server.http.door import door

ADA, BOB = "ada-" + "a" * 20, "bob-" + "b" * 20
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Answers:
    """One client: raw requests, as any HTTP library sends them."""

    def __init__(self, port):
        self.port = port

    def get(self, path="/", **headers):
        return self._asked("GET", path, None, headers)

    def call(self, tool, arguments, token=None, **headers):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        body["params"] = {"name": tool, "arguments": arguments, "_meta": META}
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": META["io.modelcontextprotocol/protocolVersion"],
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
            **({"Authorization": f"Bearer {token}"} if token else {}),
            **headers,
        }
        return self._asked("POST", "/mcp", json.dumps(body), sent)

    def _asked(self, method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"ada {ADA}\nbob {BOB}\n")
    path.chmod(0o600)
    return path


@pytest.fixture
async def serve(monkeypatch, capsys, tmp_path):
    """Start our server in this process; give a client of it."""
    begun, servers, tasks = uvicorn.Server.serve, [], []

    async def kept(server, sockets=None):
        servers.append(server)
        await begun(server, sockets)

    monkeypatch.setattr(uvicorn.Server, "serve", kept)

    async def start(*words, **options):
        tasks.append(asyncio.create_task(serving.over_http(session(tmp_path), door(*words, **options))))
        told = ""
        while "/mcp" not in told:
            await asyncio.sleep(0.02)
            told += capsys.readouterr().err
        return Answers(int(told.rpartition("/mcp")[0].rpartition(":")[2]))

    yield start
    for server in servers:
        server.should_exit = True
    await asyncio.wait_for(asyncio.gather(*tasks), 20)


async def test_with_tokens_every_request_needs_one_that_is_in_the_file_now(serve, token_file):
    client = await serve("127.0.0.1:0", token_file)

    async def status(token):
        return (await asyncio.to_thread(client.call, "list_runs", {}, token))[0]

    assert [await status(token) for token in (None, "x" * 24, ADA, BOB)] == [401, 401, 200, 200]
    token_file.write_text(f"bob {BOB}\n")
    assert [await status(token) for token in (ADA, BOB)] == [401, 200]


async def test_a_stream_ends_with_its_token(serve, token_file, monkeypatch):
    monkeypatch.setattr(streams, "LOOKED_AT_EVERY_S", 0.1)
    client = await serve("127.0.0.1:0", token_file)
    reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
    body = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen"}
    body["params"] = {"notifications": {"resourceSubscriptions": ["ttnn://runs"]}, "_meta": META}
    text = json.dumps(body)
    writer.write(
        (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nAuthorization: Bearer {ADA}\r\n"
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
            f"Content-Length: {len(text)}\r\nConnection: close\r\n\r\n{text}"
        ).encode()
    )
    assert b"200 OK" in await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    ended = asyncio.create_task(reader.read())
    await asyncio.wait({ended}, timeout=0.5)
    assert not ended.done()  # it stays open while the token is there
    token_file.write_text(f"bob {BOB}\n")
    await asyncio.wait_for(ended, 10)
    writer.close()


async def test_the_page_for_people_says_how_to_connect_and_names_no_run(serve, token_file):
    client = await serve("127.0.0.1:0", token_file, ["lab.example.org"])
    status, page = await asyncio.to_thread(client.get)
    assert status == 200
    assert f"http://127.0.0.1:{client.port}/mcp" in page
    assert "optimization_check" in page
    assert "Bearer TOKEN" in page
    assert ADA not in page
    status, page = await asyncio.to_thread(client.get, Host="lab.example.org")
    assert "http://lab.example.org/mcp" in page
    for foreign in ("evil.example", "<script>"):
        status, page = await asyncio.to_thread(client.get, Host=foreign)
        assert status == 421
        assert "<script>" not in page


async def test_only_allowed_pages_may_ask(serve):
    client = await serve("127.0.0.1:0", None, ["lab.example.org"], ["https://lab.example.org"])
    headers = [
        ({"Host": "lab.example.org", "Origin": "https://lab.example.org"}, 200),
        ({"Host": "lab.example.org"}, 200),
        ({"Host": "lab.example.org", "Origin": "https://evil.example"}, 403),
        ({"Host": "evil.example"}, 421),
    ]
    for sent, status in headers:
        answer = await asyncio.to_thread(client.call, "list_runs", {}, **sent)
        assert answer[0] == status


async def test_who_allows_nobody_is_asked_by_this_machine_alone(serve):
    client = await serve("127.0.0.1:0")
    for sent, status in ({}, 200), ({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403):
        assert (await asyncio.to_thread(client.call, "list_runs", {}, **sent))[0] == status


@pytest.fixture
def process(tmp_path):
    """A server in a process of its own, and its port."""
    env = {**os.environ, "HOME": str(tmp_path)}
    words = ["serve", "--http", "127.0.0.1:0", "--root", str(tmp_path), "--state", str(tmp_path / "state")]
    started = subprocess.Popen([sys.executable, "-c", SLOW, *words], stderr=subprocess.PIPE, text=True, env=env)
    started.port = int(started.stderr.readline().rpartition("/mcp")[0].rpartition(":")[2])
    yield started
    started.kill()
    started.wait(20)
    started.stderr.close()


SLOW = """
import sys, time
from ttnn_mcp.shell import cli
from ttnn_mcp.tools import answering
answer = answering.answer
async def slow(session, tool, arguments):
    import asyncio
    print("asked", file=sys.stderr, flush=True)
    await asyncio.sleep(1.0)
    return await answer(session, tool, arguments)
answering.answer = slow
sys.exit(cli.main())
"""


async def test_sigterm_lets_an_answer_finish_and_then_ends_everything(process):
    client = Answers(process.port)
    asked = asyncio.create_task(asyncio.to_thread(client.call, "list_runs", {}))
    assert await asyncio.to_thread(process.stderr.readline) == "asked\n"
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.3)
    with pytest.raises(OSError, match="refused"):  # nobody new is let in
        await asyncio.to_thread(client.get)
    status, answer = await asked
    assert status == 200
    assert '"runs"' in answer
    begun = time.monotonic()
    assert await asyncio.to_thread(process.wait, 10) == 0
    assert time.monotonic() - begun < 5
    assert "Traceback" not in process.stderr.read()


async def test_a_second_sigterm_and_ctrl_c_end_at_once(process):
    client = Answers(process.port)
    asked = asyncio.create_task(asyncio.to_thread(client.call, "list_runs", {}))
    assert await asyncio.to_thread(process.stderr.readline) == "asked\n"
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(process.wait, 1) == 128 + signal.SIGTERM
    with contextlib.suppress(OSError, http.client.HTTPException):
        await asked


async def test_each_token_has_names_and_loops_of_its_own(serve, token_file, tmp_path):
    client = await serve("127.0.0.1:0", token_file)

    async def asked(token, tool, **arguments):
        return json.loads((await asyncio.to_thread(client.call, tool, arguments, token))[1].split("data: ")[-1])

    await asked(ADA, "experiments", action="target", baseline="demo", target="10 ms")
    told = [
        (await asked(token, "experiments", action="list", baseline="demo"))["result"]["structuredContent"]
        for token in (ADA, BOB)
    ]
    assert [each.get("target") is not None for each in told] == [True, False]


async def test_one_client_cannot_take_the_sessions_of_the_others(serve, token_file, monkeypatch):
    monkeypatch.setattr(shares, "SESSIONS_OF_CLIENT", 2)
    client = await serve("127.0.0.1:0", token_file)
    version = "2025-06-18"
    hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}

    def sent(token, method, params, session=None):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        headers |= {"Authorization": f"Bearer {token}", **({"Mcp-Session-Id": session} if session else {})}
        connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=30)
        with contextlib.closing(connection):
            connection.request("POST", "/mcp", body, headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers.get("mcp-session-id")

    opened = [(await asyncio.to_thread(sent, token, "initialize", hello))[1] for token in (BOB, ADA, ADA, ADA)]
    asked = [
        (await asyncio.to_thread(sent, token, "ping", {}, session))[0]
        for token, session in zip((BOB, ADA, ADA, ADA), opened, strict=True)
    ]
    assert asked == [200, 404, 200, 200]
