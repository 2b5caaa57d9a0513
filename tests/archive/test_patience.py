"""Asking an archive: what is given up does not go on, and what fails or is late is told once."""

import logging
import threading
from types import SimpleNamespace

import pytest

from ttnn_mcp.archive import memory_of_ops
from ttnn_mcp.archive.memory_of_ops import in_time
from ttnn_mcp.archive.store import Archive


class Cursor:
    """A cursor that need not be closed, and says when it was interrupted."""

    def __init__(self):
        self.interrupted = threading.Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def interrupt(self):
        self.interrupted.set()


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """One that holds another run, and whose engine is made by `archive.connection`."""
    made = Archive(tmp_path / "archive")
    monkeypatch.setattr(made, "known", lambda: {"another": None})
    monkeypatch.setattr(made, "connection", Cursor)
    return made


def asking():
    return [thread for thread in threading.enumerate() if thread.name == "asking the archive"]


def test_a_question_that_was_given_up_before_the_engine_came_is_never_asked(archive, monkeypatch):
    come, asked = threading.Event(), []

    def slow():
        come.wait(30)
        return Cursor()

    monkeypatch.setattr(archive, "connection", slow)
    monkeypatch.setattr(memory_of_ops, "PATIENCE_S", 0.02)
    assert in_time(archive, asked.append, "nothing", asker="") == "nothing"
    (thread,) = asking()
    come.set()
    thread.join(30)
    assert asked == []


def test_a_question_that_takes_too_long_is_interrupted(archive, monkeypatch):
    cursor = Cursor()
    monkeypatch.setattr(archive, "connection", lambda: cursor)
    monkeypatch.setattr(memory_of_ops, "PATIENCE_S", 0.02)
    assert in_time(archive, lambda at: at.interrupted.wait(30), "nothing", asker="") == "nothing"
    assert cursor.interrupted.is_set()


def test_an_answer_waits_a_second_for_the_archive_and_a_program_five_for_it_to_end(archive, monkeypatch):
    """The whole second: the first question loads the engine, which takes a good part of it on a busy machine."""
    monkeypatch.undo()  # of the room: it gives the archive all the time it wants
    waited = []
    monkeypatch.setattr(memory_of_ops._Asking, "start", lambda self: self.answered.set())
    monkeypatch.setattr(threading.Event, "wait", lambda _, timeout=None: waited.append(timeout) or True)
    monkeypatch.setattr(memory_of_ops._Asking, "join", lambda _, timeout=None: waited.append(timeout))
    in_time(archive, len, None, asker="")
    late = memory_of_ops._Asking(archive, len, "")
    late._leave()
    assert (waited, late._given_up) == ([1.0, 5.0], True)


def test_a_program_that_ends_while_a_question_is_asked_ends_it_too(archive, monkeypatch):
    at_exit = []
    # a thread of another test may end now too
    registry = SimpleNamespace(
        register=at_exit.append, unregister=lambda one: one in at_exit and at_exit.remove(one)
    )
    monkeypatch.setattr(memory_of_ops, "atexit", registry)
    assert in_time(archive, lambda _: [*at_exit], [], asker="") != []
    assert at_exit == []


def test_an_archive_that_was_late_is_not_waited_for_again_for_a_minute(archive, monkeypatch, caplog):
    now, asked = [0.0], []
    monkeypatch.setattr(memory_of_ops.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(memory_of_ops, "PATIENCE_S", 0.02)
    monkeypatch.setattr(archive, "connection", lambda: asked.append(now[0]) or Cursor())
    with caplog.at_level(logging.WARNING):
        for now[0] in (0.0, 59.9, 60.0):
            assert in_time(archive, lambda at: at.interrupted.wait(30), "nothing", asker="") == "nothing"
    assert asked == [0.0, 60.0]
    assert caplog.records == []  # a busy machine is nobody's fault


def test_an_archive_that_is_late_keeps_no_other_from_being_asked(archive, tmp_path, monkeypatch):
    other = Archive(tmp_path / "other")
    monkeypatch.setattr(other, "known", lambda: {"another": None})
    monkeypatch.setattr(other, "connection", Cursor)
    monkeypatch.setattr(memory_of_ops, "PATIENCE_S", 0.02)
    assert in_time(archive, lambda at: at.interrupted.wait(30), "nothing", asker="") == "nothing"
    monkeypatch.undo()
    monkeypatch.setattr(other, "known", lambda: {"another": None})
    monkeypatch.setattr(other, "connection", Cursor)
    assert in_time(other, lambda _: "answer", "nothing", asker="") == "answer"


def test_why_an_archive_is_not_asked_is_said_once(archive, caplog):
    def broken(_cursor):
        raise ValueError("the archive is damaged")

    with caplog.at_level(logging.WARNING):
        assert [in_time(archive, broken, at, asker="") for at in range(3)] == [0, 1, 2]
    assert [record.getMessage() for record in caplog.records] == [
        "the archive is not asked: the archive is damaged"
    ]
