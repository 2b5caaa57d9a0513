"""A real process at the other end of a pipe: what no in-memory client can see."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from ttnn_mcp.tools import TOOLS

SERVER = [sys.executable, "-m", "ttnn_mcp"]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "0"},
}


def request(number, method, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.fixture
def spawn(tmp_path):
    """A server process with an empty home; killed if a test forgets it."""
    started = []

    def start(*words):
        env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
        process = subprocess.Popen(
            [*SERVER, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def converse(process, *messages):
    """Send requests one by one, each after the answer to the one before; the answers by id."""
    answers = {}
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        while "id" in message and message["id"] not in answers:
            answer = json.loads(process.stdout.readline())
            answers[answer.get("id")] = answer
    return answers


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_a_session_over_stdio_speaks_nothing_but_the_protocol_and_ends_cleanly(spawn, era):
    process = spawn()
    if era == "handshake":
        opening = [request(1, "initialize", **HELLO), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
        meta = {}
    else:
        opening = [request(1, "server/discover", _meta=MODERN)]
        meta = {"_meta": MODERN}
    answers = converse(
        process,
        *opening,
        request(2, "tools/list", **meta),
        request(3, "tools/call", name="list_runs", arguments={}, **meta),
        request(4, "tools/call", name="no_such_tool", arguments={}, **meta),
    )
    rest, errors = process.communicate(timeout=20)
    assert "result" in answers[1]
    assert [tool["name"] for tool in answers[2]["result"]["tools"]] == [tool.name for tool in TOOLS]
    assert not answers[3]["result"].get("isError")
    assert answers[4]["result"]["isError"] is True
    assert rest == ""
    assert errors == ""
    assert process.returncode == 0


def test_garbage_on_stdin_does_not_end_the_session(spawn):
    process = spawn()
    process.stdin.write("this is no JSON\n{}\n[1]\n\x00\n")
    answers = converse(process, request(1, "initialize", **HELLO))
    assert "result" in answers[1]
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_an_interrupt_ends_the_server_though_its_client_holds_the_pipe_open(spawn):
    process = spawn()
    converse(process, request(1, "initialize", **HELLO))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert process.stderr.read() == ""


async def test_the_official_client_opens_the_demo_over_stdio(tmp_path):
    env = {"HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    async with Client(StdioServerParameters(command=SERVER[0], args=SERVER[1:], env=env)) as client:
        result = await client.call_tool("open_run", {"performance": "demo"})
        assert result.structured_content is None or "id" in result.structured_content


@pytest.fixture
def http(spawn, tmp_path):
    """The address of a server over HTTP whose only root is an empty folder."""
    process = spawn("serve", "--http", "127.0.0.1:0", "--root", str(tmp_path))
    return process.stderr.readline().split()[-1]


def test_an_interrupt_ends_the_server_though_a_client_listens(spawn):
    process = spawn("serve", "--http", "127.0.0.1:0")
    url = process.stderr.readline().split()[-1]
    about = {"_meta": MODERN, "notifications": {"toolsListChanged": True}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "subscriptions/listen",
    }
    body = json.dumps(request(1, "subscriptions/listen", **about)).encode()
    with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as stream:  # noqa: S310 - our own
        assert b"event" in stream.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 130
    assert process.stderr.read() == ""


def test_a_taken_port_is_refused_with_what_to_do(spawn):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = spawn("serve", "--http", f"127.0.0.1:{taken.getsockname()[1]}")
        _, errors = process.communicate(timeout=20)
    assert process.returncode == 1
    assert "Choose another port" in errors
    assert "Traceback" not in errors


async def test_over_http_only_reports_under_the_roots_may_be_opened(http, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "ops_perf_results.csv"
    outside.write_text("OP CODE\n")
    async with Client(http) as client:
        listed = await client.list_tools()
        refused = await client.call_tool("open_run", {"performance": str(outside)})
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert refused.is_error
    assert "root" in refused.content[0].text


async def test_over_http_a_foreign_host_or_origin_is_refused(http):
    for header, status in ({"Host": "evil.example"}, 421), ({"Origin": "http://evil.example"}, 403):
        body = json.dumps(request(1, "initialize", **HELLO)).encode()
        accept = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        attempt = urllib.request.Request(http, body, {**accept, **header})  # noqa: S310 - our own server
        with pytest.raises(urllib.error.HTTPError) as refusal:
            await asyncio.to_thread(urllib.request.urlopen, attempt)
        refusal.value.close()
        assert refusal.value.code == status
