"""The front desk says what the SDK says, byte for byte, and leaves to it whatever it does not know."""

import asyncio
import json
import os
import subprocess
import sys

from generate import first_answers
from tests.for_all import for_all
from tests.server.conversations import CONVERSATIONS, INITIALIZED, introduction, listing, wire
from ttnn_mcp.server import front_desk
from ttnn_mcp.server.front_desk import ANSWERS, FrontDesk, attend


def talked(lines, folder, *, at_once=False):
    """What a server writes to these lines: each sent after the answer to the one before, or all at once."""
    command = [sys.executable, "-m", "ttnn_mcp"]
    env = {**os.environ, "HOME": str(folder), "XDG_STATE_HOME": str(folder)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, env=env, **pipes) as server:
        if at_once:
            written, _ = server.communicate(b"".join(lines), timeout=60)
            return sorted(written.splitlines())
        answers = []
        for line in lines:
            server.stdin.write(line)
            server.stdin.flush()
            if b'"id"' in line:
                answers.append(server.stdout.readline())
        server.stdin.close()
        answers += server.stdout.read().splitlines(keepends=True)
        assert server.wait(60) == 0
        return answers


def at_the_desk(lines, folder):
    """What the desk writes, and what is left to the SDK."""
    incoming, outgoing = folder / "incoming", folder / "outgoing"
    incoming.write_bytes(b"".join(lines))
    with incoming.open("rb") as asked, outgoing.open("wb") as answered:
        heard = attend(front_desk.opened(), asked.fileno(), answered.fileno())
    return outgoing.read_bytes().splitlines(), heard


@for_all("name", CONVERSATIONS, sampled=4)
async def test_every_conversation_reads_as_without_the_desk(name, tmp_path):
    lines = [wire(message) for message in CONVERSATIONS[name]]
    written, heard = at_the_desk(lines, tmp_path)
    left = [reply.encode() for reply in await first_answers.said(heard.unanswered.splitlines())]
    for answered in heard.answered:
        left.remove(next(reply for reply in left if json.loads(reply).get("id") == answered))
    assert sorted([*written, *left]) == sorted(reply.encode() for reply in await first_answers.said(lines))
    assert written or left


async def test_a_process_leaves_to_the_sdk_what_the_desk_does_not_know(tmp_path):
    """Sessions that begin at the desk: tests/test_stdio.py."""
    lines = [wire(message) for message in CONVERSATIONS["list before the handshake"]]
    written = await asyncio.to_thread(talked, lines, tmp_path)
    assert written == [f"{reply}\n".encode() for reply in await first_answers.said(lines)]


def test_a_client_that_sends_everything_at_once_gets_the_same(tmp_path):
    lines = [wire(message) for message in CONVERSATIONS["handshake 2025-11-25"]]
    with_desk = talked(lines, tmp_path, at_once=True)
    asked = sum(b'"id"' in line for line in lines)
    assert len({json.loads(line)["id"] for line in with_desk}) == len(with_desk) <= asked


@for_all(
    "garbage",
    [
        b"\n",
        b"not json\n",
        b"[]\n",
        b"\xff\xfe\n",
        b'{"jsonrpc":"1.0","id":1,"method":"initialize"}\n',
        b"[" * 5000 + b"\n",
        b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}\n',
        b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}\n',
    ],
)
def test_what_is_no_request_is_left_to_the_sdk(garbage):
    desk = FrontDesk(ANSWERS.read_text("utf-8").split("\n"))
    for message in (introduction(), INITIALIZED):
        assert desk.answer(wire(message)) is not None
    assert desk.answer(garbage) is None


def test_a_message_in_two_pieces_is_answered(tmp_path):
    message = wire(introduction())
    env = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "ttnn_mcp"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        server.stdin.write(message[:40])
        server.stdin.flush()
        server.stdin.write(message[40:])
        server.stdin.flush()
        answer = server.stdout.readline()
        server.stdin.close()
        assert server.stdout.read() == b""
    assert [answer.decode().rstrip("\n")] == asyncio.run(first_answers.said([message]))


def test_a_client_that_hangs_up_early_ends_the_server(tmp_path):
    for lines in ([], [wire(introduction())]):
        assert len(talked(lines, tmp_path)) == len(lines)


def test_neither_the_sdk_nor_a_tool_is_loaded_for_the_list():
    code = (
        "import sys, os\nfrom ttnn_mcp.shell import cli\nfrom ttnn_mcp.server import front_desk\n"
        "wrote = front_desk.attend\n"
        "def attend(*given):\n    heard = wrote(*given)\n"
        "    print([name for name in ('mcp', 'pydantic', 'numpy', 'pandas') if name in sys.modules], file=sys.stderr)\n"
        "    os._exit(0)\n"
        "front_desk.attend = attend\ncli.main([])"
    )
    lines = b"".join(wire(message) for message in (introduction(), INITIALIZED, listing()))
    ran = subprocess.run([sys.executable, "-c", code], input=lines, capture_output=True, timeout=60, check=True)
    assert ran.stderr.decode().strip() == "[]"
    assert len(ran.stdout.splitlines()) == 2


def test_the_stored_answers_are_those_of_this_sdk_and_these_tools():
    assert ANSWERS.read_text("utf-8") == first_answers.first_answers(), "run `make fix`"


def test_answers_of_another_sdk_are_not_used(monkeypatch):
    assert front_desk.opened() is not None
    monkeypatch.setattr(front_desk, "sdk_version", lambda: "9.9")
    assert front_desk.opened() is None


def test_missing_answers_are_no_fault(monkeypatch, tmp_path):
    monkeypatch.setattr(front_desk, "ANSWERS", tmp_path / "none")
    assert front_desk.opened() is None
