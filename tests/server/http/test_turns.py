"""Turns: a client that asks much waits for itself, not the others for it."""

import asyncio
from types import SimpleNamespace

import pytest
from mcp.shared.exceptions import MCPError

from tests.for_all import for_all
from ttnn_mcp.server.http import turns as module
from ttnn_mcp.server.http.turns import AT_ONCE, Turns, client_of


def asked(client, method="tools/call", number=1):
    request = SimpleNamespace(scope={}, headers={}, client=(client, 1))
    return SimpleNamespace(request_id=number, method=method, request=request)


@pytest.fixture
def handler():
    """A handler that answers when it is told to, and counts whom it holds."""
    opened = asyncio.Event()
    holding = []

    async def handle(ctx):
        holding.append(ctx.request.client[0])
        await opened.wait()
        return {}

    return SimpleNamespace(handle=handle, opened=opened, holding=holding)


async def test_a_client_gets_its_share_and_the_next_one_gets_as_much(handler):
    turns = Turns()
    tasks = [asyncio.create_task(turns(asked(client), handler.handle)) for client in "aaaaaaaaab"]
    await asyncio.sleep(0.01)
    assert (handler.holding.count("a"), handler.holding.count("b")) == (AT_ONCE, 1)
    handler.opened.set()
    await asyncio.gather(*tasks)
    assert handler.holding.count("a") == 9


async def test_who_has_too_many_questions_open_is_told_so_and_others_are_not(handler, monkeypatch):
    monkeypatch.setattr(module, "WAITING", 2)
    turns = Turns()
    tasks = [asyncio.create_task(turns(asked("a"), handler.handle)) for _ in range(AT_ONCE + 2)]
    await asyncio.sleep(0.01)
    with pytest.raises(MCPError, match="6 of your questions are open"):
        await turns(asked("a"), handler.handle)
    tasks.append(asyncio.create_task(turns(asked("b"), handler.handle)))
    await asyncio.sleep(0.01)
    assert handler.holding[-1] == "b"
    handler.opened.set()
    await asyncio.gather(*tasks)
    await turns(asked("a"), handler.handle)


async def test_streams_and_notifications_take_no_place(handler):
    turns = Turns()
    streams = [
        asyncio.create_task(turns(asked("a", "subscriptions/listen"), handler.handle)) for _ in range(AT_ONCE)
    ]
    notes = [asyncio.create_task(turns(asked("a", number=None), handler.handle)) for _ in range(AT_ONCE)]
    call = asyncio.create_task(turns(asked("a"), handler.handle))
    await asyncio.sleep(0.01)
    assert len(handler.holding) == 2 * AT_ONCE + 1
    handler.opened.set()
    await asyncio.gather(call, *streams, *notes)


async def test_closing_waits_for_answers_and_takes_no_more(handler):
    turns = Turns()
    call = asyncio.create_task(turns(asked("a"), handler.handle))
    await asyncio.sleep(0.01)
    assert not await turns.closed(0.01)
    with pytest.raises(MCPError, match="being stopped"):
        await turns(asked("b"), handler.handle)
    handler.opened.set()
    assert await turns.closed(5)
    await call


@for_all("other", ["a", "b"])
async def test_closing_waits_for_the_last_answer_whoever_asked(handler, other):
    turns = Turns()

    async def at_once(_ctx):
        return {}

    held = asyncio.create_task(turns(asked("a"), handler.handle))
    await asyncio.sleep(0)
    await turns(asked(other), at_once)
    assert not await turns.closed(0.01)
    handler.opened.set()
    assert await turns.closed(5)
    await held


async def test_a_call_that_is_given_up_or_fails_frees_its_place(handler):
    turns = Turns()

    async def failing(_ctx):
        raise ZeroDivisionError

    for _ in range(AT_ONCE + 1):
        with pytest.raises(ZeroDivisionError):
            await turns(asked("a"), failing)
    given_up = [asyncio.create_task(turns(asked("a"), handler.handle)) for _ in range(AT_ONCE + 3)]
    await asyncio.sleep(0.01)
    for task in given_up:
        task.cancel()
    await asyncio.gather(*given_up, return_exceptions=True)
    assert await turns.closed(1)


def test_a_client_is_a_token_else_a_session_else_a_connection():
    ada = SimpleNamespace(is_authenticated=True, display_name="ada")
    nobody = SimpleNamespace(is_authenticated=False, display_name="")

    def client(user, headers):
        request = SimpleNamespace(scope={"user": user} if user else {}, headers=headers, client=("10.0.0.7", 1))
        return client_of(SimpleNamespace(request=request))

    assert client(ada, {"mcp-session-id": "s"}) == "ada"
    assert client(nobody, {"mcp-session-id": "s"}) == client(None, {"mcp-session-id": "s"}) == "s"
    assert client(None, {}) == ("10.0.0.7", 1)
    assert client_of(SimpleNamespace(request=None)) is None
