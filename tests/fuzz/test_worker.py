"""The worker: whatever a call does, there is an outcome with a place, and the next case is answered."""

import os
import re
import time
import warnings
from pathlib import Path

import pytest

from fuzz import doors, worker
from fuzz.cases import Case, Room
from fuzz.worker import Worker
from tests.for_all import for_all

EMPTY = "{}"  # every field of this tool's answer may be left out
CALL = ("experiments", {"at": "{folder}"})


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A room whose worker makes up its answers: `room(ask)`."""
    started = []

    def make(ask):
        monkeypatch.setattr(doors, "ask", ask)
        monkeypatch.setattr(doors, "warm", doors.tools)
        started.append(Worker())
        return Room(tmp_path, started[-1])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside a test runner's threads
        yield make
        for each in started:
            each.close()


def flaws(outcomes):
    return [(flaw.kind, flaw.where) for outcome in outcomes for flaw in outcome.flaws]


def test_answers_and_refusals_are_told_apart(room):
    async def ask(at, tool, arguments):
        if tool == "open_run":
            raise doors.refusal()("No run 'x'.")
        return EMPTY

    outcomes = room(ask).asked(Case({}, (CALL, ("open_run", {}))))
    assert [(one.status, one.flaws) for one in outcomes] == [("answer", ()), ("refusal", ())]


@pytest.mark.slow
def test_a_call_that_never_ends_is_ended_and_the_next_case_is_answered(room):
    async def ask(at, tool, arguments):
        while tool == "open_run":
            pass
        return EMPTY

    made = room(ask)
    began = time.monotonic()
    outcomes = made.asked(Case({}, (CALL, ("open_run", {}), CALL), limit=0.5))
    assert flaws(outcomes) == [("slow", "outside the package")]
    assert len(outcomes) == 2
    assert time.monotonic() - began < 60
    assert flaws(made.asked(Case({}, (CALL,)))) == []
    assert made.worker.restarts == 2


def test_a_process_that_ends_is_a_failure(room):
    async def ask(at, tool, arguments):
        os._exit(7)

    assert flaws(room(ask).asked(Case({}, (CALL, CALL)))) == [("died", "process")]


def test_a_call_that_takes_much_memory_is_a_failure(room, monkeypatch):
    monkeypatch.setattr(worker, "GROWTH_KB", 50_000)

    async def ask(at, tool, arguments):
        assert bytearray(100_000_000).count(0)
        return EMPTY

    assert flaws(room(ask).asked(Case({}, (CALL,)))) == [("memory", "experiments")]


def test_what_is_raised_is_told_with_its_place_also_where_it_was_caught_and_logged(room):
    from ttnn_mcp.errors import nearest

    async def ask(at, tool, arguments):
        if tool == "open_run":
            nearest(None, [])
        try:
            nearest(None, ["a"])
        except (AttributeError, TypeError):
            import logging

            logging.getLogger("x").exception("a check failed")
        return EMPTY

    outcomes = room(ask).asked(Case({}, (CALL, ("open_run", {}))))
    assert [kind for kind, _ in flaws(outcomes)] == ["raised inside", "unforeseen"]
    assert all(re.fullmatch(r"\w+\.py:\w+ (Attribute|Type)Error", where) for _, where in flaws(outcomes))


@for_all("change", ["new", "changed", "gone"])
def test_a_touched_file_of_the_user_is_a_failure(room, change):
    async def ask(at, tool, arguments):
        own = Path(arguments["at"]) / "ops.csv"
        if change == "new":
            own.with_suffix(".side").write_bytes(b"")
        elif change == "changed":
            own.write_bytes(b"2")
        else:
            own.unlink()
        return EMPTY

    assert [kind for kind, _ in flaws(room(ask).asked(Case({"ops.csv": b"1"}, (CALL,))))] == ["wrote"]


def test_work_apart_returns_or_tells_what_was_raised():
    from fuzz.apart import apart

    async def works():
        return os.getpid()

    async def fails():
        raise ValueError("x")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        assert apart(works) != os.getpid()
        with pytest.raises(RuntimeError, match="ValueError"):
            apart(fails)
