"""A request that is given up half way, or asked twice at once, costs one quiet line."""

import asyncio
import json
import logging
from types import SimpleNamespace

from tests.for_all import for_all
from ttnn_mcp.server.http import arrivals
from ttnn_mcp.server.http.arrivals import Arrivals
from ttnn_mcp.server.http.shares import ID


class Answering:
    """An application that answers when it is told to, and keeps what it read."""

    def __init__(self):
        self.read, self.go = [], asyncio.Event()

    async def __call__(self, scope, receive, send):
        body = b""
        while True:
            message = await receive()
            body += message["body"]
            if not message["more_body"]:
                break
        self.read.append(body)
        await self.go.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


async def asked(app, *parts, session=b"s", method="POST", token=None):
    """The status and body of the answer to a body in these parts; None ends the connection."""
    messages = [
        {"type": "http.disconnect"}
        if part is None
        else {"type": "http.request", "body": part, "more_body": part is not parts[-1]}
        for part in parts
    ]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    headers = [(ID, session)] if session else []
    headers += [(b"authorization", b"Bearer " + token)] if token else []
    await app({"type": "http", "method": method, "headers": headers}, receive, send)
    return [message.get("status", message.get("body")) for message in sent]


def question(number, method="tools/list"):
    return json.dumps({"id": number, **({"method": method} if method else {})}).encode()


async def test_a_request_that_is_given_up_reaches_nobody(caplog):
    caplog.set_level(logging.INFO)
    inner = Answering()
    assert await asked(Arrivals(inner), b"abc", None) == []
    assert inner.read == []
    assert [record.getMessage() for record in caplog.records] == [
        "A client hung up before its request had arrived."
    ]
    assert caplog.records[0].levelno == logging.INFO


async def test_a_request_in_parts_arrives_as_it_was_sent():
    inner = Answering()
    inner.go.set()
    assert await asked(Arrivals(inner), b"ab", b"cd", b"") == [200]
    assert inner.read == [b"abcd"]


@for_all(
    ("first", "second", "status"),
    [
        (question(7), question(7), 400),
        (question("7"), question("7"), 400),
        (question(7), question("7"), 200),
        (question(7), question(8), 200),
        (question(7, None), question(7, None), 200),  # answers to the server
        (b"[]", b"[]", 200),
        (b"{", b"{", 200),
        (b"[" * 100_000, b"[" * 100_000, 200),
    ],
)
async def test_one_id_is_answered_once_at_a_time(first, second, status):
    inner = Answering()
    app = Arrivals(inner)
    waiting = asyncio.create_task(asked(app, first))
    await asyncio.sleep(0)
    again = asyncio.create_task(asked(app, second))
    await asyncio.sleep(0)
    inner.go.set()
    answer = await again
    assert answer[0] == status
    assert (await waiting) == [200]
    if status == 400:
        told = json.loads(answer[1])
        assert told["id"] == json.loads(second)["id"]
        assert told["error"]["message"].endswith("is being answered. Give each an id of its own.")
    assert (await asked(app, first)) == [200]  # it may be asked again afterwards


@for_all(("sessions", "status"), [((b"s", b"t"), 200), ((None, None), 200)])
async def test_ids_are_those_of_a_session(sessions, status):
    inner = Answering()
    app = Arrivals(inner)
    waiting = asyncio.create_task(asked(app, question(7), session=sessions[0]))
    await asyncio.sleep(0)
    inner.go.set()
    assert (await asked(app, question(7), session=sessions[1])) == [status]
    await waiting


async def test_a_body_above_the_limit_is_passed_on_for_the_sdk_to_refuse(monkeypatch):
    monkeypatch.setattr(arrivals, "MOST_BYTES", 3)
    inner = Answering()
    inner.go.set()
    assert await asked(Arrivals(inner), b"ab", b"cd", b"ef") == [200]
    assert inner.read == [b"abcdef"]


@for_all("method", ["GET", "DELETE"])
async def test_what_has_no_body_passes_at_once(method):
    """Nothing is read of it: a stream that a client opens says nothing for hours."""
    received = []

    async def inner(scope, receive, send):
        received.append(receive)

    async def receive():
        raise AssertionError("nobody asked for a body")

    await Arrivals(inner)({"type": "http", "method": method, "headers": []}, receive, None)
    assert received == [receive]


@for_all(("token", "kept"), [(b"ada", True), (b"eve", False), (None, False)])
async def test_no_body_is_kept_of_whoever_may_not_ask(token, kept):
    """The application sees the request at once, and refuses it."""
    messages = []

    async def refusing(scope, receive, send):
        messages.append(await receive())

    app = Arrivals(refusing, SimpleNamespace(owner={"ada": "Ada"}.get))
    await asked(app, b"ab", None, token=token)
    assert messages == ([] if kept else [{"type": "http.request", "body": b"ab", "more_body": True}])
