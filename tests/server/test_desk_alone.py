"""What the front desk answers itself and what it leaves to the SDK, line by line and without a process."""

import json
import os

import pytest

from tests.for_all import for_all
from tests.server.conversations import (
    CLIENT,
    CONVERSATIONS,
    INITIALIZED,
    introduction,
    listing,
    modern,
    nameless,
    wire,
)
from ttnn_mcp.server import front_desk
from ttnn_mcp.server.front_desk import ANSWERS, META, FrontDesk, Heard, attend

ITSELF = {  # how many requests of a conversation the desk answers; of all others the handshake and the list
    "list twice": 3,
    "a cursor": 1,
    "a ping between": 1,
    "prompts first": 1,
    "odd capabilities": 0,
    "no client": 0,
    "list before the handshake": 0,
    "initialize twice": 1,
    "modern without discover": 1,
    "unknown modern version": 0,
    "modern, then a handshake": 1,
    "an unknown method": 1,
}


@pytest.fixture
def desk():
    return FrontDesk(ANSWERS.read_text("utf-8").split("\n"))


@pytest.fixture
def pipe():
    """A client that stays: reading from it when it says nothing fails instead of waiting."""
    incoming, outgoing = os.pipe()
    os.set_blocking(incoming, False)
    yield incoming, outgoing
    os.close(incoming)
    os.close(outgoing)


def attended(desk, pipe, folder, *lines):
    """What the desk wrote to a client that says these lines and no more, and what it leaves."""
    incoming, outgoing = pipe
    os.write(outgoing, b"".join(map(wire, lines)))
    with (folder / "answers").open("wb") as answers:
        heard = attend(desk, incoming, answers.fileno())
    return [json.loads(line)["id"] for line in (folder / "answers").read_bytes().splitlines()], heard


@for_all("name", CONVERSATIONS)
def test_the_desk_answers_what_it_knows_and_then_lets_the_sdk_load(desk, pipe, tmp_path, name, monkeypatch):
    monkeypatch.setattr(front_desk, "SILENCE_S", 0.0)
    ids, heard = attended(desk, pipe, tmp_path, *CONVERSATIONS[name])
    assert len(ids) == ITSELF.get(name, 2)
    assert not heard.ended


def test_who_says_nothing_is_waited_for_and_who_is_answered_is_not(desk, pipe, tmp_path, monkeypatch):
    monkeypatch.setattr(front_desk, "SILENCE_S", 0.0)
    with pytest.raises(BlockingIOError):  # with nothing to hand over, it reads
        attended(desk, pipe, tmp_path)
    ids, heard = attended(desk, pipe, tmp_path, introduction(number=8))
    assert ids == heard.answered == [8]
    assert heard.unanswered == wire(introduction(number=8))


def test_who_speaks_in_time_is_answered_by_the_desk(desk, pipe, tmp_path, monkeypatch):
    later = [INITIALIZED, listing(9)]

    def select(*_waiting):
        os.write(pipe[1], wire(later.pop(0)))
        return [True], [], []

    monkeypatch.setattr(front_desk.select, "select", select)
    ids, heard = attended(desk, pipe, tmp_path, introduction(number=8))
    assert ids == [8, 9]
    assert heard.unanswered == wire(introduction(number=8)) + wire(INITIALIZED)


def test_once_the_tools_are_known_nobody_waits_for_more(desk, pipe, tmp_path):
    assert attended(desk, pipe, tmp_path, modern("tools/list", 5)) == ([5], Heard())


@for_all(("said", "ended"), [(b"", True), (b'{"jsonrpc"', False)])
def test_who_hangs_up_with_nothing_left_to_answer_has_ended(desk, tmp_path, said, ended):
    (tmp_path / "said").write_bytes(said)
    with (tmp_path / "said").open("rb") as incoming, (tmp_path / "answers").open("wb") as answers:
        assert attend(desk, incoming.fileno(), answers.fileno()) == Heard(said, ended=ended)


def test_a_line_without_an_end_goes_to_the_sdk(desk, pipe, tmp_path, monkeypatch):
    monkeypatch.setattr(front_desk, "LONGEST_BYTES", 100)
    ids, heard = attended(desk, pipe, tmp_path, b"x" * 1000)
    assert ids == []
    assert 100 < len(heard.unanswered) <= 200


@for_all("number", [0, -7, 2**53 - 1, "", "a-b"])
def test_an_id_comes_back_as_it_was(desk, number):
    response, _ = desk.answer(wire(introduction(number=number)))
    assert json.loads(response)["id"] == number


def without(message, *names):
    params = message["params"]
    return {**message, "params": {name: params[name] for name in params if name not in names}}


def of_client(**more):
    return introduction(clientInfo={**CLIENT, **more})


def able(**capabilities):
    return introduction(capabilities=capabilities)


def told(**more):
    """A modern request with other facts about itself."""
    request = modern("tools/list", 1)
    meta = {**request["params"]["_meta"], **{f"{META}{name}": value for name, value in more.items()}}
    return {**request, "params": {"_meta": {name: value for name, value in meta.items() if value != "none"}}}


@for_all(
    "message",
    [
        *(introduction(number=number) for number in (2**53, -(2**53), 1.5, True, None, [1])),
        {**introduction(), "more": 1},
        {**introduction(), "jsonrpc": "1.0"},
        {**introduction(), "method": []},
        {**introduction(), "method": "ping"},
        {**introduction(), "params": ["2025-11-25"]},
        introduction(version=20251125),
        introduction(_meta={}),
        without(introduction(), "capabilities"),
        *(introduction(clientInfo=info) for info in (None, "client", {"name": "client"})),
        of_client(version=1),
        of_client(licence="MIT"),
        introduction(capabilities=[]),
        able(telepathy={}),
        able(roots=True),
        able(roots={"listChanged": "yes"}),
        able(roots={"more": True}),
        INITIALIZED,
        listing(),
        listing(params={"_meta": 5}),
        modern("tools/list", 1, cursor="x"),
        modern("tools/list", 1, version="2031-01-01"),
        modern("tools/list", 1, version=["2026-07-28"]),
        modern("prompts/list", 1),
        told(progressToken=3),
        told(clientCapabilities="none"),
        told(clientCapabilities={"telepathy": {}}),
        told(clientInfo={"name": "client"}),
    ],
    ids=str,
)
def test_a_first_message_that_is_not_certain_goes_to_the_sdk(desk, message):
    assert desk.answer(wire(message)) is None


@for_all(
    "message",
    [
        of_client(title="A client", websiteUrl="https://example.org"),
        able(roots={"listChanged": False}, sampling={}),
        modern("server/discover", 1),
        modern("tools/list", 1),
        nameless(modern("tools/list", 1)),
    ],
    ids=str,
)
def test_a_first_message_that_is_certain_is_answered(desk, message):
    response, _ = desk.answer(wire(message))
    assert json.loads(response)["result"]


@for_all(
    "message",
    [
        introduction(number=2),
        listing(),  # it has not said that it is ready
        {"id": 3, **INITIALIZED},
        {**INITIALIZED, "params": {"_meta": {}}},
        {"method": "notifications/roots/list_changed"},
    ],
    ids=str,
)
def test_after_the_introduction_only_being_ready_is_understood(desk, message):
    assert desk.answer(wire(introduction()))
    assert desk.answer(wire(message)) is None


@for_all("message", [modern("tools/list", 3), listing(params={"cursor": "x"}), {"id": 4, "method": "x"}])
def test_in_a_session_only_the_whole_list_is_known(desk, message):
    for said in (introduction(), INITIALIZED):
        assert desk.answer(wire(said))
    assert desk.answer(wire(message)) is None
    assert desk.answer(wire(listing()))


def test_a_modern_client_has_no_handshake(desk):
    assert desk.answer(wire(modern("server/discover", 1)))
    assert desk.answer(wire(introduction(number=2))) is None


@for_all("spec", [None, type("Spec", (), {"origin": None})], ids=["absent", "a folder of that name"])
def test_without_an_sdk_there_is_no_version_of_it(monkeypatch, spec):
    monkeypatch.setattr(front_desk, "find_spec", lambda _name: spec)
    assert front_desk.sdk_version() is None
    assert front_desk.opened() is None
