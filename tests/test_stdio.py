"""A real process at the other end of a pipe: what no in-memory client can see."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from mcp.client import Client

from generate import first_answers
from ttnn_mcp.shell import cli
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


def written_to(process, *messages):
    """The lines that answer these messages, each sent after the answer to the one before."""
    lines = []
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        if "id" in message:
            lines.append(process.stdout.readline())
    return lines


@pytest.mark.parametrize("era", ["handshake", "modern"])
async def test_a_session_over_stdio_speaks_nothing_but_the_protocol_and_ends_cleanly(spawn, era):
    """What it says is, byte for byte, what the SDK says without the front desk."""
    process = spawn()
    if era == "handshake":
        opening = [request(1, "initialize", **HELLO), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
        meta = {}
    else:
        opening = [request(1, "server/discover", _meta=MODERN)]
        meta = {"_meta": MODERN}
    messages = [
        *opening,
        request(2, "tools/list", **meta),
        request(3, "tools/call", name="open_run", arguments={"run": "demo"}, **meta),
        request(4, "tools/call", name="no_such_tool", arguments={}, **meta),
    ]
    lines = await asyncio.to_thread(written_to, process, *messages)
    rest, errors = process.communicate(timeout=20)
    answers = {answer["id"]: answer for answer in map(json.loads, lines)}
    assert "result" in answers[1]
    assert [tool["name"] for tool in answers[2]["result"]["tools"]] == [tool.name for tool in TOOLS]
    assert not answers[3]["result"].get("isError")
    assert answers[4]["result"]["isError"] is True
    assert lines == [f"{reply}\n" for reply in await first_answers.said(map(json.dumps, messages))]
    assert rest == ""
    assert errors == ""
    assert process.returncode == 0


def test_garbage_on_stdin_is_answered_and_does_not_end_the_session(spawn):
    """Neither where the front desk meets it first, nor the SDK. A response or a notification has no answer."""
    process = spawn()
    unanswered = (
        '\n{"jsonrpc": "2.0", "id": 9, "result": 5}\n{"id": 9, "error": 5}\n{"method": "m", "params": [1]}\n'
    )
    process.stdin.write(f"this is no JSON\n{{}}\n[1]\n\x00\n{unanswered}")
    process.stdin.write(json.dumps(request(1, "initialize", **HELLO)) + "\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(5)]
    assert "result" in answers.pop()
    assert [(answer["id"], answer["error"]["code"]) for answer in answers] == [
        (None, -32700),
        (None, -32600),
        (None, -32600),
        (None, -32700),
    ]
    written_to(process, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    wrong = {"jsonrpc": "2.0", "method": 5}
    for number, message in (
        ("x", {**wrong, "id": "x"}),
        (None, {**wrong, "id": [1]}),
        (None, {**wrong, "id": True}),
        (3, {"id": 3, "method": "ping"}),
    ):
        refused = json.loads(written_to(process, message)[0])
        assert (refused["id"], refused["error"]["code"]) == (number, -32600)
    assert json.loads(written_to(process, request(3, "ping"))[0]) == {"jsonrpc": "2.0", "id": 3, "result": {}}
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_an_interrupt_ends_the_server_though_its_client_holds_the_pipe_open(spawn):
    process = spawn()
    written_to(process, request(1, "initialize", **HELLO))
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert process.stderr.read() == ""


async def test_over_http_only_reports_under_the_roots_may_be_opened_and_an_interrupt_ends_it(spawn, tmp_path):
    """The interrupt comes while a client listens."""
    root, outside = tmp_path / "root", tmp_path / "outside" / "ops_perf_results.csv"
    for folder in (root, outside.parent):
        folder.mkdir()
    outside.write_text("OP CODE\n")
    process = spawn("serve", "--http", "127.0.0.1:0", "--root", str(root))
    url = process.stderr.readline().split()[-1]
    async with Client(url) as client:
        listed = await client.list_tools()
        refused = await client.call_tool("open_run", {"performance": str(outside)})
    assert [tool.name for tool in listed.tools] == [tool.name for tool in TOOLS]
    assert refused.is_error
    assert "root" in refused.content[0].text
    await asyncio.to_thread(interrupted_while_a_client_listens, process, url)


def interrupted_while_a_client_listens(process, url):
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


def test_a_taken_port_is_refused_with_what_to_do(capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status = cli.main(["serve", "--http", f"127.0.0.1:{taken.getsockname()[1]}"])
    out, err = capsys.readouterr()
    assert (status, out) == (1, "")
    assert "Choose another port" in err
    assert "Traceback" not in err
