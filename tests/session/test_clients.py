"""Clients with a token have names, loops and targets of their own; what all share is said to be shared."""

import asyncio
from dataclasses import replace

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid, RunUnknown
from ttnn_mcp.session.clients import CLIENT, Clients, folder_of
from ttnn_mcp.session.session import SHARED, Session
from ttnn_mcp.session.settings import Settings


@pytest.fixture
def clients(tmp_path):
    return Clients(session(tmp_path))


@pytest.fixture
def of(clients):
    """The session of the client of this name; None has no token."""

    def session_of(name):
        named = CLIENT.set(name)
        try:
            return clients.session
        finally:
            CLIENT.reset(named)

    return session_of


async def test_a_name_is_its_clients_alone(of, report):
    one, other = report("one"), report("other", drop=1)
    ada = await of("ada").open(str(one), None, "main")
    bob = await of("bob").open(str(other), None, "main")
    assert (await of("ada").run("main")).id == ada.id != bob.id == (await of("bob").run("main")).id
    assert of("ada") is of("ada") is not of("bob")
    with pytest.raises(RunUnknown):
        await of("carl").run("main")


async def test_only_a_name_that_all_share_is_said_to_be_shared(tmp_path, report):
    path = str(report("one"))
    clients = Clients(Session(Settings(roots=[tmp_path], state=tmp_path / "state", confined=True)))
    assert SHARED in (await clients.session.open(path, None, "main")).notes
    named = CLIENT.set("ada")
    assert SHARED not in (await clients.session.open(path, None, "mine")).notes
    CLIENT.reset(named)


async def test_a_client_that_comes_back_finds_its_names(tmp_path, of, report):
    run = await of("ada").open(str(report("one")), None, "main")
    later = Clients(session(tmp_path))
    named = CLIENT.set("ada")
    assert (await later.session.run("main")).id == run.id
    CLIENT.reset(named)


async def test_reports_are_read_once_and_called_by_each_as_it_likes(of, report):
    path = str(report("one"))
    ada, bob = [await of(name).open(path, None, f"of-{name}") for name in ("ada", "bob")]
    assert ada.performance is bob.performance
    assert (ada.name, bob.name) == ("of-ada", "of-bob")


async def test_a_name_of_the_server_is_known_to_all_and_moved_by_none(of, report):
    one, other = str(report("one")), str(report("other", drop=1))
    run = await of(None).open(one, None, "main")
    shared = await of("ada").run("main")
    assert shared.id == run.id == (await of("ada").run(run.id)).id
    assert shared.notes == ("the name 'main' is shared by all clients of this server",)
    assert (await of("bob").open(one, None, "mine")).notes == ()
    for move_name in (False, True):
        with pytest.raises(ArgumentsInvalid, match=f"is run {run.id}'s for all clients of this server"):
            await of("ada").open(other, None, "main", move_name=move_name)
    assert (await of("ada").open(one, None, "main")).id == run.id  # the same run may be called so
    assert (await of(None).run("main")).id == run.id


async def test_a_name_that_the_server_takes_later_answers_nothing_else_to_its_client(of, report):
    await of("ada").open(str(report("one")), None, "main")
    servers = await of(None).open(str(report("other", drop=1)), None, "main")
    with pytest.raises(ArgumentsInvalid, match=f"is run {servers.id}'s for all clients of this server"):
        await of("ada").run("main")
    assert (await of("bob").run("main")).id == servers.id


async def test_loops_and_targets_are_their_clients_alone(of):
    await ask(of("ada"), "experiments", action="target", baseline="demo", target="10 ms")
    told = [await ask(of(name), "experiments", action="list", baseline="demo") for name in ("ada", "bob")]
    assert [each.get("target") is not None for each in told] == [True, False]


@for_all(("confined", "name", "told"), [(True, "main", 1), (True, None, 0), (False, "main", 0)])
async def test_names_that_all_clients_share_are_said_to_be_shared(tmp_path, report, confined, name, told):
    at = session(tmp_path, report("one").parent)
    at.settings = replace(at.settings, confined=confined)
    run = await at.open(str(report("one")), None, name)
    assert sum("shared by all clients" in note for note in run.notes) == told


async def test_the_client_is_that_of_the_task_that_asks(clients):
    async def asked(name):
        CLIENT.set(name)
        await asyncio.sleep(0)
        return clients.session

    ada, bob = await asyncio.gather(*(asyncio.create_task(asked(name)) for name in ("ada", "bob")))
    assert ada is not bob
    assert CLIENT.get() is None


def test_any_name_is_a_folder(tmp_path):
    folders = {folder_of(tmp_path, name) for name in ("..", "a/b", "A", "a", "é" * 300)}
    assert len(folders) == 5
    assert all(folder.parent == tmp_path / "clients" and len(folder.name) == 32 for folder in folders)
