"""A client that opens sessions without end loses its own, the longest idle first, and takes nobody else's."""

import pytest

from tests.for_all import for_all
from ttnn_mcp.server.http import shares
from ttnn_mcp.server.http.shares import ID, SessionShares


class Sessions:
    """An application that opens a session for whoever comes without one and sends no bad token."""

    def __init__(self):
        self.open, self.numbered, self.deleted, self.deletion = set(), 0, [], 200

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        named, status, told = headers.get(ID), 200, []
        if headers.get(b"authorization") == b"Bearer bad":
            status = 401
        elif named is None:
            self.numbered += 1
            told = [(ID, b"%d" % self.numbered)]
            self.open.add(told[0][1])
            status = 300 if headers.get(b"authorization") == b"Bearer elsewhere" else status
        elif named not in self.open:
            status = 404
        elif scope["method"] == "DELETE":
            assert (await receive())["body"] == b""
            self.named, status = {*headers}, self.deletion
            self.open.discard(named)
            self.deleted.append((named, headers.get(b"authorization")))
        await send({"type": "http.response.start", "status": status, "headers": told})
        await send({"type": "http.response.body", "body": b""})


class Clients:
    def __init__(self):
        self.now, self.sessions = 0.0, Sessions()
        self.app = SessionShares(self.sessions)

    async def ask(self, token=None, session=None, method="POST", address="10.0.0.1"):
        """(status, id of a new session)."""
        self.now += 1
        headers = [(b"host", b"x"), (b"content-length", b"9")]
        headers += [(b"authorization", b"Bearer " + token)] if token else []
        headers += [(ID, session)] if session else []
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b""}

        scope = {"type": "http", "method": method, "headers": headers, "client": (address, 1)}
        await self.app(scope, receive, send)
        return sent[0]["status"], dict(sent[0]["headers"]).get(ID)


@pytest.fixture
def clients(monkeypatch):
    made = Clients()
    monkeypatch.setattr(shares, "SESSIONS_OF_CLIENT", 2)
    monkeypatch.setattr(shares.time, "monotonic", lambda: made.now)
    return made


async def test_the_longest_idle_session_of_the_client_makes_room(clients):
    _, theirs = await clients.ask(b"bob")
    first, second = [(await clients.ask(b"ada"))[1] for _ in range(2)]
    assert (await clients.ask(b"ada", first))[0] == 200  # used since
    _, third = await clients.ask(b"ada")
    assert clients.sessions.deleted == [(second, b"Bearer ada")]
    assert clients.sessions.named == {ID, b"authorization", b"host"}  # its request has no body
    assert clients.sessions.open == {theirs, first, third}


async def test_a_session_that_is_being_answered_is_not_idle(clients):
    first, second = [(await clients.ask(b"ada"))[1] for _ in range(2)]
    inner = clients.sessions.__call__

    async def while_it_opens(scope, receive, send):
        if dict(scope["headers"]).get(ID) == first and scope["method"] == "GET":
            await clients.ask(b"ada")
        await inner(scope, receive, send)

    clients.app._app = while_it_opens
    await clients.ask(b"ada", first, "GET")
    assert [session for session, _ in clients.sessions.deleted] == [second]


async def test_where_all_are_being_answered_the_oldest_ends_all_the_same(clients):
    """Streams are open for as long as a client likes."""
    first, second = [(await clients.ask(b"ada"))[1] for _ in range(2)]
    for use in clients.app._clients.values():
        for each in use.values():
            each.open = 1
    await clients.ask(b"ada")
    assert [session for session, _ in clients.sessions.deleted] == [first]
    assert second in clients.sessions.open


async def test_a_session_that_does_not_end_keeps_its_place(clients):
    first, second = [(await clients.ask(b"ada"))[1] for _ in range(2)]
    clients.sessions.deletion = 405
    await clients.ask(b"ada", second, "DELETE")
    clients.sessions.deleted.clear()
    await clients.ask(b"ada")
    assert [session for session, _ in clients.sessions.deleted] == [first]


async def test_a_stream_that_stays_open_is_no_silence(clients):
    _, streaming = await clients.ask(b"ada")
    clients.app._clients[next(iter(clients.app._clients))][streaming].open = 1
    clients.now += 2 * shares.IDLE_S
    await clients.ask(b"bob")
    assert [*next(iter(clients.app._clients.values()))] == [streaming]


async def test_without_tokens_a_client_is_an_address(clients):
    for address in ("10.0.0.1", "10.0.0.2"):
        for _ in range(2):
            await clients.ask(address=address)
    assert clients.sessions.deleted == []
    await clients.ask(address="10.0.0.2")
    assert clients.sessions.deleted == [(b"3", None)]


async def test_another_spelling_of_the_header_is_no_other_client(clients):
    for scheme in (b"Bearer ada", b"bearer ada", b"BEARER ada"):
        headers = [(b"authorization", scheme)]

        async def send(message):
            pass

        await clients.app({"type": "http", "method": "POST", "headers": headers, "client": None}, None, send)
    assert len(clients.sessions.deleted) == 1


@for_all(("token", "status"), [(b"bad", 401), (b"elsewhere", 300)])
async def test_whoever_is_refused_takes_no_place(clients, token, status):
    for _ in range(3):
        assert (await clients.ask(token))[0] == status
    assert clients.app._clients == {}


@for_all("gone", ["ended by its client", "unknown to the server"])
async def test_a_session_that_is_gone_takes_no_place(clients, gone):
    first, second = [(await clients.ask(b"ada"))[1] for _ in range(2)]
    if gone == "ended by its client":
        await clients.ask(b"ada", second, "DELETE")
    else:
        clients.sessions.open.discard(second)
        assert (await clients.ask(b"ada", second))[0] == 404
    clients.sessions.deleted.clear()
    await clients.ask(b"ada")
    assert clients.sessions.deleted == []
    assert first in clients.sessions.open


@for_all(("silent_s", "kept"), [(shares.IDLE_S - 1, True), (shares.IDLE_S, False)])
async def test_what_the_server_ended_by_itself_is_forgotten(clients, silent_s, kept):
    await clients.ask(b"ada")
    clients.now += silent_s
    await clients.ask(b"bob")
    assert (len(clients.app._clients) == 2) == kept


async def test_what_is_no_request_passes(clients):
    await clients.app({"type": "lifespan"}, None, None)
