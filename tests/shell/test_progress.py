"""The sign of life, and what an interrupt does meanwhile."""

import io
import os
import signal
import sys
import threading
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell import terminal


@pytest.fixture
def stderr(monkeypatch):
    """A stderr that is a terminal, or none."""

    def put(*, is_terminal):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
        monkeypatch.setattr(stream, "fileno", lambda: 2)
        monkeypatch.setattr(sys, "stderr", stream)  # not in the fixture: pytest puts its own there for the test
        return stream

    return put


async def handler():
    return signal.getsignal(signal.SIGINT)


@pytest.fixture
def interrupt():
    """The handler of Ctrl-C as Python starts with it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_ends_the_process_while_something_is_awaited(interrupt):
    assert terminal.awaited(handler(), "x") is terminal._leave
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_that_is_ignored_stays_ignored(interrupt):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert terminal.awaited(handler(), "x") is signal.SIG_IGN


def test_another_thread_leaves_interrupts_alone(interrupt):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(terminal.awaited(handler(), "x")))
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


@for_all("is_terminal", [True, False])
def test_an_interrupt_wipes_the_sign_of_life_where_there_may_be_one(monkeypatch, stderr, is_terminal):
    done = []
    stderr(is_terminal=is_terminal)
    monkeypatch.setattr(os, "write", lambda _file, text: done.append(text))
    monkeypatch.setattr(os, "_exit", done.append)
    terminal._leave(signal.SIGINT, None)
    assert done == [*([terminal.CLEAR_LINE.encode()] if is_terminal else []), 130]


@for_all("is_terminal", [True, False])
def test_a_sign_of_life_is_for_somebody_who_watches(monkeypatch, stderr, is_terminal):
    told = []
    stderr(is_terminal=is_terminal)
    monkeypatch.setattr(terminal, "_tell", lambda what, _ended: told.append(what))
    with terminal.waiting("ttnn-mcp ops"):
        pass
    assert told == (["ttnn-mcp ops"] if is_terminal else [])


def waits(*ends):
    """An event that was awaited so long, each time, when it is set at the last of these."""
    left, lengths = list(ends), []
    return SimpleNamespace(wait=lambda seconds: lengths.append(seconds) or left.pop(0)), lengths


def test_it_comes_after_a_second_and_twice_a_second_and_leaves_no_trace(stderr):
    screen = stderr(is_terminal=True)
    ended, lengths = waits(False, False, True)
    terminal._tell("ttnn-mcp ops", ended)
    assert lengths == [1, 0.5, 0.5]
    assert screen.getvalue() == 2 * "\r\x1b[2Kttnn-mcp ops: 0 s " + "\r\x1b[2K"


def test_what_ends_within_a_second_shows_none(stderr):
    screen = stderr(is_terminal=True)
    ended, lengths = waits(True)
    terminal._tell("ttnn-mcp ops", ended)
    assert (lengths, screen.getvalue()) == ([1], "")
