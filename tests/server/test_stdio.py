"""The transport of one client, without a process: what the desk left is read first, or nothing was left."""

from contextlib import asynccontextmanager

import anyio
import pytest
from mcp_types import INVALID_REQUEST, PARSE_ERROR, jsonrpc_message_adapter
from pydantic import ValidationError

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


def failure_of(line):
    with pytest.raises(ValidationError) as failed:
        jsonrpc_message_adapter.validate_json(line, by_name=False)
    return failed.value


@for_all(
    ("line", "number", "code"),
    [
        ("{bad json", None, PARSE_ERROR),
        ('{"jsonrpc":"2.0","id":"x","method":5}', "x", INVALID_REQUEST),
        ('{"jsonrpc":"2.0","id":3}', 3, INVALID_REQUEST),
        ('{"jsonrpc":"2.0","id":true}', None, INVALID_REQUEST),
        ('{"jsonrpc":"2.0","id":1.5,"method":5}', None, INVALID_REQUEST),
        ('{"jsonrpc":"2.0","id":4,"method":5,"result":1}', 4, INVALID_REQUEST),
        ("[]", None, INVALID_REQUEST),
        ('"words"', None, INVALID_REQUEST),
    ],
)
def test_what_is_no_message_is_refused_under_its_id(line, number, code):
    refusal = stdio.refusal_of(failure_of(line))
    assert (refusal.id, refusal.error.code) == (number, code)


@for_all(
    "line",
    [
        "",
        "  ",
        '{"jsonrpc":"2.0","method":5}',
        '{"jsonrpc":"2.0","id":1,"error":5}',
        '{"jsonrpc":"1","result":1,"id":1}',
    ],
)
def test_blank_lines_notifications_and_responses_are_not_answered(line):
    assert stdio.refusal_of(failure_of(line)) is None


async def test_a_stream_answers_what_is_no_message_and_passes_on_the_rest():
    to_server, incoming = anyio.create_memory_object_stream(3)
    outgoing, to_client = anyio.create_memory_object_stream(3)
    quiet = failure_of('{"jsonrpc":"2.0","method":5}')
    async with to_server, incoming, outgoing, to_client:
        for item in (failure_of("{bad json"), quiet, "a message"):
            await to_server.send(item)
        lines = stdio.Legible(incoming, outgoing)
        assert [await anext(lines), await anext(lines)] == [quiet, "a message"]
        assert to_client.receive_nowait().message.error.code == PARSE_ERROR
        with pytest.raises(anyio.WouldBlock):
            to_client.receive_nowait()
