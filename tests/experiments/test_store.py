"""The log survives what happens to logs: kills, full disks, read-only folders, old and new versions, two at once."""

import asyncio
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.experiments.writer import experiment
from ttnn_mcp.experiments import stored_rows
from ttnn_mcp.experiments.experiment import RunSeen, Target
from ttnn_mcp.experiments.store import FILE, Store, StoreUnusable

ROOT = Path(__file__).parents[2]
KILLS = 4  # a writer starts in a third of a second; what one run leaves out, the next hundred runs find


def started(folder, name, count=100_000):
    command = [sys.executable, "-m", "tests.experiments.writer", str(folder), name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def intact(folder):
    with closing(sqlite3.connect(folder / FILE)) as database:
        return database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


async def test_what_was_recorded_is_read_back_whole(tmp_path):
    store = Store(tmp_path)
    told = experiment("bfp8", flags=("two things",), hypothesis="bytes", note="§ ü", wall_before_ms=5.0, pcc=None)
    saved = await store.add(told)
    assert saved.id == 1
    assert saved.recorded == pytest.approx(time.time(), abs=60)
    assert await store.all() == ([saved], [])


async def test_an_empty_folder_has_an_empty_log_and_stays_empty(tmp_path):
    assert await Store(tmp_path / "state").all() == ([], [])
    assert not (tmp_path / "state").exists()


async def test_a_run_that_moved_keeps_its_identity_and_gets_its_new_path(tmp_path):
    store = Store(tmp_path)
    first = await store.add(experiment("one"))
    await store.add(experiment("two", baseline="bbbbbbbb", candidate="cccccccc"))
    await store.add(replace(experiment("three"), candidate=replace(first.candidate, performance="/moved/here.csv")))
    told, _ = await store.all()
    assert {one.candidate.performance for one in told if one.candidate.id == "bbbbbbbb"} == {"/moved/here.csv"}


@pytest.mark.slow
def test_kills_at_any_moment_lose_no_acknowledged_experiment_and_corrupt_nothing(tmp_path):
    moments = random.Random(5)  # noqa: S311
    acknowledged: dict[int, str] = {}
    for kill in range(KILLS):
        writers = [started(tmp_path, f"writer{kill}{side}") for side in "ab"]
        for writer in writers:  # both are at work
            number, change = writer.stdout.readline().split()
            acknowledged[int(number)] = change
        time.sleep(moments.random() * 0.05)
        for writer in writers:
            writer.kill()
        for writer in writers:
            for line in writer.stdout.read().splitlines(keepends=True):
                if line.endswith("\n"):
                    acknowledged[int(line.split()[0])] = line.split()[1]
            writer.stdout.close()
            writer.wait()
        told, _ = asyncio.run(Store(tmp_path).all())
        assert intact(tmp_path)
        assert {one.id: one.change for one in told}.items() >= acknowledged.items()
    assert len(acknowledged) >= 2 * KILLS
    assert asyncio.run(Store(tmp_path).add(experiment("after"))).id > max(acknowledged)


def test_two_servers_at_once_both_record_everything(tmp_path):
    writers = [started(tmp_path, name, 25) for name in ("left", "right")]
    told = [writer.communicate(timeout=60)[0].split("\n")[:-1] for writer in writers]
    assert [len(lines) for lines in told] == [25, 25]
    known, _ = asyncio.run(Store(tmp_path).all())
    assert {f"{one.id} {one.change}" for one in known} == {line for lines in told for line in lines}
    assert [one.id for one in known] == list(range(1, 51))


def test_a_full_disk_is_a_clear_error_and_loses_nothing(tmp_path):
    store = Store(tmp_path)
    asyncio.run(store.add(experiment("before")))
    script = f"""
        import asyncio, resource
        from pathlib import Path
        from tests.experiments.writer import experiment
        from ttnn_mcp.experiments.store import Store, StoreUnusable
        size = Path({str(store.path)!r}).stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        async def fill():
            for n in range(1000):
                try:
                    await Store(Path({str(tmp_path)!r})).add(experiment("x" * 400, note="y" * 500))
                except StoreUnusable as full:
                    return n, str(full)
        print(*asyncio.run(fill()), sep="\\n")
    """
    done = subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(script)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    recorded, said = done.stdout.splitlines()
    assert "the disk is full or fails" in said, done.stderr
    assert "Nothing recorded is lost" in said
    known, _ = asyncio.run(store.all())
    assert len(known) == 1 + int(recorded)
    assert intact(tmp_path)
    assert asyncio.run(store.add(experiment("after"))).change == "after"


@pytest.mark.skipif(not hasattr(os, "setuid"), reason="needs users")
def test_a_read_only_state_folder_is_a_clear_error_and_can_still_be_read():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run([sys.executable, "-m", "tests.experiments.writer", name, "kept", "1"], cwd=ROOT, check=True)
        folder.chmod(0o555)
        (folder / FILE).chmod(0o444)
        script = f"""
            import asyncio, os
            from pathlib import Path
            from tests.experiments.writer import experiment
            from ttnn_mcp.experiments.store import Store, StoreUnusable
            asyncio.run(Store(Path({name!r})).all())  # imports what it needs while it may read it
            if os.getuid() == 0:  # nobody may read, but not write here
                os.setuid(65534)
            store = Store(Path({name!r}))
            async def use():
                print(len((await store.all())[0]))
                try:
                    await store.add(experiment("refused"))
                except StoreUnusable as refused:
                    print(refused)
                try:
                    await Store(Path({name!r}) / "below").add(experiment("refused"))
                except StoreUnusable as refused:
                    print(refused)
            asyncio.run(use())
        """
        done = subprocess.run(
            [sys.executable, "-B", "-c", textwrap.dedent(script)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        folder.chmod(0o755)
    count, refused, below = done.stdout.splitlines() or [done.stderr, "", ""]
    assert count == "1"
    assert "read-only" in refused
    assert "cannot be made" in below


async def test_a_store_of_a_newer_version_is_left_alone(tmp_path):
    store = Store(tmp_path)
    await store.add(experiment("kept"))
    with closing(sqlite3.connect(store.path)) as database:
        database.execute(f"PRAGMA user_version = {stored_rows.VERSION + 1}")
    before = store.path.read_bytes()
    for use in (store.all(), store.add(experiment("refused"))):
        with pytest.raises(StoreUnusable, match="a newer ttnn-mcp wrote it"):
            await use
    assert store.path.read_bytes() == before


async def test_a_damaged_store_is_a_clear_error(tmp_path):
    (tmp_path / FILE).write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreUnusable, match="damaged"):
        await Store(tmp_path).all()


async def test_a_store_whose_making_was_cut_short_is_empty_and_usable(tmp_path):
    (tmp_path / FILE).touch()
    assert await Store(tmp_path).all() == ([], [])
    assert (await Store(tmp_path).add(experiment("first"))).id == 1


def test_a_row_of_a_ledger_has_no_report(tmp_path):
    paths = ((None, None, True), (tmp_path, None, False), (None, tmp_path, False))
    for performance, memory, of_ledger in paths:
        assert RunSeen("aaaaaaaa", "a", performance, memory, 1, True).of_ledger == of_ledger


async def test_an_experiment_is_imported_once_and_a_newer_target_stays(tmp_path):
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    saved = await there.add(experiment("elsewhere"))
    run = RunSeen("aaaaaaaa", "a", None, None, 1, True)
    await here.set_target(Target(run, "latency_ms", 5.0, recorded=20.0))
    imported = [saved], [Target(run, "latency_ms", 9.0, recorded=10.0)]
    assert await here.merge(*imported) == 1
    assert await here.merge(*imported) == 0
    known, targets = await here.all()
    assert [one.uid for one in known] == [saved.uid]
    assert [one.value for one in targets] == [5.0]


async def test_a_store_that_another_program_holds_is_told_with_how_long_it_was_waited_for(tmp_path, monkeypatch):
    store = Store(tmp_path)
    await store.add(experiment("kept"))
    monkeypatch.setattr("ttnn_mcp.experiments.store.PATIENCE_S", 0.05)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnusable, match="another program has held it for 20 s"):
            await store.add(experiment("refused"))


async def test_a_log_that_cannot_be_looked_for_is_a_sentence(tmp_path):
    """Below a folder without permission; here a name that no disk takes, since root has every permission."""
    with pytest.raises(StoreUnusable, match="cannot be read"):
        await Store(tmp_path / ("long" * 100)).all()
