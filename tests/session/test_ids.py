"""Ids have 128 bits; answers show eight digits of them, and more where two runs begin alike."""

import pytest

from tests.asking import session
from ttnn_mcp.errors import ArgumentsInvalid, RunUnknown
from ttnn_mcp.session import session as sessions
from ttnn_mcp.session.registry import Pair, identity

ALIKE = "abababab"


@pytest.fixture
def pair(report, monkeypatch):
    """Two reports whose ids begin alike, as somebody could make them, and a third."""
    paths = report("one"), report("two", drop=1), report("three", drop=2)
    forged = {path: f"{ALIKE}{place}" + "0" * 23 for place, path in enumerate(paths[:2], start=1)}
    forged[paths[2]] = "cd" * 16
    monkeypatch.setattr(sessions, "identity", lambda pair, *_: forged.get(pair.performance, "ef" * 16))
    return [(str(path), forged[path]) for path in paths]


def test_an_id_has_128_bits_and_is_the_same_everywhere(report):
    run_id = identity(Pair(report("a"), None))
    assert len(run_id) == 32
    assert run_id.startswith("b2c80ac0")


async def test_a_run_is_found_by_any_beginning_of_its_id(tmp_path, pair):
    path, whole = pair[2]
    at = session(tmp_path)
    assert (await at.run(path)).id == whole[:8]
    for asked in (at, session(tmp_path)):
        for digits in (8, 9, 31, 32):
            assert (await asked.run(whole[:digits])).id == whole[:8]
    with pytest.raises(RunUnknown, match="No run"):
        await session(tmp_path).run(whole[:7])
    with pytest.raises(RunUnknown, match="No run"):
        await session(tmp_path).run(whole[:31] + "0")


async def test_of_two_that_begin_alike_the_second_is_shown_in_full_and_the_beginning_is_refused(tmp_path, pair):
    (one, first), (two, second) = pair[:2]
    at = session(tmp_path)
    assert (await at.run(one)).id == ALIKE
    assert (await at.run(two)).id == second == (await at.run(two)).id
    for asked in (at, session(tmp_path)):
        with pytest.raises(RunUnknown, match=f"2 runs have ids that begin with {ALIKE}. Give one: ") as refusal:
            await asked.run(ALIKE)
        assert first in str(refusal.value)
        assert second in str(refusal.value)
        assert (await asked.run(first)).performance.csv.path.parent.name == "one"
        assert (await asked.run(second)).id == second


async def test_a_name_does_not_move_to_a_run_whose_id_begins_alike(tmp_path, pair):
    (one, _), (two, _) = pair[:2]
    await session(tmp_path).open(one, None, "main")
    with pytest.raises(ArgumentsInvalid, match=f"is run {ALIKE}'s"):
        await session(tmp_path).open(two, None, "main")


async def test_two_that_begin_alike_under_the_roots_are_told_apart(tmp_path, pair):
    at = session(tmp_path, tmp_path)
    with pytest.raises(RunUnknown, match="2 runs have ids"):
        await at.run(ALIKE)


async def test_a_name_may_not_look_like_the_beginning_of_an_id(tmp_path, report):
    path = str(report("a"))
    for digits in (8, 32):
        with pytest.raises(ArgumentsInvalid, match="a run's id"):
            await session(tmp_path).open(path, None, "ab" * (digits // 2))
    assert (await session(tmp_path).open(path, None, "a" * 33)).name == "a" * 33
