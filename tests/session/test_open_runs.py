"""Reading: once per run, in nobody's way, and not ended by who stops waiting."""

import asyncio
import os
import time
import weakref

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.analyses.window_facts import facts_of
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers import fingerprint
from ttnn_mcp.session import opening
from ttnn_mcp.session.open_runs import KEPT_OPEN, Opening, OpenRuns
from ttnn_mcp.session.registry import Pair


@pytest.fixture
def path(tmp_path):
    return write_performance_report(tmp_path / "run", block())


@pytest.fixture
def slow(monkeypatch):
    """Reads of paths with `slow` in their name wait for the gate; counts every read."""
    gate, begun, reads, read = asyncio.Event(), asyncio.Event(), [], opening.read_run

    async def waiting(run_id, name, performance, memory, rank=None, **kept):
        reads.append(run_id)
        begun.set()
        if "slow" in str(performance):
            await gate.wait()
        return await read(run_id, name, performance, memory, rank)

    monkeypatch.setattr(opening, "read_run", waiting)
    return gate, begun, reads


async def test_runs_that_are_dropped_leave_memory_with_all_that_was_computed(tmp_path):
    at = session(tmp_path)
    computed = []
    for number in range(KEPT_OPEN + 3):
        path = write_performance_report(tmp_path / f"run{number}", block(layers=number + 1))
        await ask(at, "optimization_check", run=str(path))
        facts = facts_of(run := await at.run(str(path)), run.scope())
        computed.append((weakref.ref(run), weakref.ref(facts)))
        del run, facts
    held = [run() is not None for run, _ in computed]
    assert held == [False] * 3 + [True] * KEPT_OPEN
    assert held == [facts() is not None for _, facts in computed]


async def test_one_slow_report_keeps_nobody_from_other_runs(tmp_path, path, slow):
    gate, begun, _ = slow
    path = path.rename(path.with_name("slow.csv"))
    at = session(tmp_path)
    waiting = asyncio.create_task(at.run(str(path)))
    await asyncio.wait_for(begun.wait(), 20)
    demo = await asyncio.wait_for(at.run("demo"), 20)
    assert await asyncio.wait_for(at.run("demo"), 20) is demo
    assert not waiting.done()
    gate.set()
    assert (await waiting).performance is not None


async def test_who_asks_for_one_run_at_once_shares_one_reading(tmp_path, path, slow):
    gate, _, reads = slow
    gate.set()
    at = session(tmp_path)
    runs = await asyncio.gather(*(at.run(str(path)) for _ in range(16)))
    assert len(reads) == 1
    assert all(run is runs[0] for run in runs)


async def test_who_stops_waiting_does_not_stop_the_reading_for_others(tmp_path, path, slow):
    gate, begun, reads = slow
    path = path.rename(path.with_name("slow.csv"))
    at = session(tmp_path)
    first, second = (asyncio.create_task(at.run(str(path))) for _ in range(2))
    await asyncio.wait_for(begun.wait(), 20)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    gate.set()
    run = await asyncio.wait_for(second, 20)
    assert await at.run(str(path)) is run
    assert len(reads) == 1


async def test_a_reading_that_failed_is_told_to_all_who_wait_and_tried_again_by_the_next(
    tmp_path, path, monkeypatch
):
    attempts = []

    async def failing(*_, **_kept):
        attempts.append(1)
        await asyncio.sleep(0.01)
        raise ReportBroken("cut in half")

    at = session(tmp_path)
    with monkeypatch.context() as broken:
        broken.setattr(opening, "read_run", failing)
        told = await asyncio.gather(*(at.run(str(path)) for _ in range(3)), return_exceptions=True)
    assert [str(each) for each in told] == ["cut in half"] * 3
    assert len(attempts) == 1
    assert (await at.run(str(path))).performance is not None


async def test_a_report_that_changes_while_it_is_read_is_an_error_that_says_so(tmp_path, path, monkeypatch):
    read = opening.read_run

    async def overtaken(*arguments, **kept):
        run = await read(*arguments, **kept)
        with path.open("ab") as file:
            file.write(b"\n")
        return run

    monkeypatch.setattr(opening, "read_run", overtaken)
    at = session(tmp_path)
    with pytest.raises(ReportBroken, match="changed while it was read"):
        await at.run(str(path))
    monkeypatch.undo()
    assert (await at.run(str(path))).performance is not None


async def test_a_path_is_opened_without_a_look_at_the_rest_of_the_roots(tmp_path, path, monkeypatch):
    at = session(tmp_path, tmp_path)
    monkeypatch.setattr("ttnn_mcp.session.places.discover", lambda _: pytest.fail("walked the roots"))
    run = await at.run(str(path))
    assert await at.run(run.id) is run
    assert await session(tmp_path, tmp_path).run(run.id) is not run


async def test_a_file_is_looked_into_again_only_when_it_changed(tmp_path, path, monkeypatch):
    looks, digest = [], fingerprint._digest
    monkeypatch.setattr(
        fingerprint, "_digest", lambda file, size, *rest: looks.append(size) or digest(file, size, *rest)
    )
    monkeypatch.setattr(fingerprint, "SETTLED_NS", -(10**9))
    at = session(tmp_path, path.parent)
    ids = {known.id for _ in range(3) for known in await at.runs_under_roots()}
    assert (len(ids), len(looks)) == (1, 1)
    os.utime(path, (time.time(), time.time() - 50))
    await at.runs_under_roots()
    assert len(looks) == 2


async def test_a_file_that_was_written_just_now_is_never_taken_for_settled(tmp_path, path):
    at = session(tmp_path, path.parent)
    before = (await at.runs_under_roots())[0].id
    stat = path.stat()
    contents = path.read_bytes()
    path.write_bytes(contents[:-2] + bytes([contents[-2] ^ 1]) + contents[-1:])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (await at.runs_under_roots())[0].id != before


async def test_four_runs_are_held_and_the_one_asked_for_last_stays_longest():
    held, reads = OpenRuns(), []

    async def ask_for(name, state=0):
        async def read():
            reads.append(name)
            return object()

        return await held.run(Opening(name, Pair(None, None), (state,)), read)

    for name in "abcdaebcda":
        await ask_for(name)
    assert "".join(reads) == "abcdebcda"  # e took the place of b, b that of c, and so on
    reads.clear()
    await ask_for("a", state=1)
    for name in "bcd":
        await ask_for(name)
    assert reads == ["a"]  # its former state made way, and no other run


@for_all("failure", [ReportBroken("cut in half"), asyncio.CancelledError()])
async def test_what_fails_is_told_to_who_asked_and_to_nobody_else(failure):
    complaints = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))

    async def read():
        raise failure

    with pytest.raises(type(failure)):
        await OpenRuns().run(Opening("a", Pair(None, None), ()), read)
    await asyncio.sleep(0)
    assert complaints == []
