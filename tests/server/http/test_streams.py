"""A stream ends with its token; whatever else goes through the same door is passed on as it came."""

import asyncio

import pytest

from tests.for_all import for_all
from ttnn_mcp.server.http import streams
from ttnn_mcp.server.http.streams import EndedStreams

ASKED = {"type": "http.request", "body": b"{}", "more_body": False}
GONE = {"type": "http.disconnect"}
LAST = {"type": "http.response.body", "body": b"", "more_body": False}


class Tokens:
    def __init__(self, *known):
        self.known = known

    def owner(self, token):
        return "ada" if token in self.known else None


class Conversation:
    """An application that listens once, and what passes by it."""

    def __init__(self, *known, after=0.0):
        self.after, self.heard, self.sent, self.receives = after, [], [], []
        self.door = EndedStreams(self.application, Tokens(*known))

    async def application(self, _scope, receive, _send):
        self.receives.append(receive)
        self.heard.append(await receive())

    async def receive(self):
        await asyncio.sleep(self.after)
        return ASKED

    async def send(self, message):
        self.sent.append(message)

    async def with_headers(self, *headers, kind="http"):
        await asyncio.wait_for(self.door({"type": kind, "headers": headers}, self.receive, self.send), 5)
        return self


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch):
    monkeypatch.setattr(streams, "LOOKED_AT_EVERY_S", 0.01)


BEARER = (b"authorization", b"Bearer t0ken")


async def test_a_client_whose_token_is_there_is_heard_however_long_it_is_silent():
    listened = await Conversation("t0ken", after=0.05).with_headers((b"host", b"lab"), BEARER)
    assert (listened.heard, listened.sent) == ([ASKED], [])


async def test_a_client_whose_token_was_taken_away_counts_as_gone_and_its_stream_is_closed():
    listened = await Conversation(after=60).with_headers(BEARER)
    assert (listened.heard, listened.sent) == ([GONE], [LAST])


async def test_what_has_arrived_already_is_heard():
    """The token is looked at while nothing comes; who may ask at all was decided before."""
    listened = await Conversation().with_headers(BEARER)
    assert (listened.heard, listened.sent) == ([ASKED], [])


@for_all("headers", [(), ((b"authorization", b"Basic t0ken"),), ((b"x-note", b"Bearer t0ken"),)], ids=str)
async def test_a_request_without_a_token_is_passed_on(headers):
    passed = await Conversation(after=0.05).with_headers(*headers)
    assert passed.receives == [passed.receive]


async def test_what_is_no_request_is_passed_on():
    passed = await Conversation().with_headers(BEARER, kind="lifespan")
    assert passed.receives == [passed.receive]
