"""An archive's files: added once, whole or not at all, found by signature, removed by key."""

import json
import os
import time

import pytest

from tests.archive.reports import ROWS, report
from tests.archive.test_rows import rows
from tests.for_all import for_all
from ttnn_mcp.archive import engine as engine_of
from ttnn_mcp.archive import store
from ttnn_mcp.archive.passes import keep_within, pack_small
from ttnn_mcp.archive.precedents import Alike, earlier_of
from ttnn_mcp.archive.schema import RUNS
from ttnn_mcp.archive.store import Archive
from ttnn_mcp.errors import ArchiveUnusable

COUNTS = "SELECT count(*), count(DISTINCT (run_key, line)), count(DISTINCT run_key) FROM ops"


@pytest.fixture
def archive(tmp_path):
    return Archive(tmp_path / "archive")


@pytest.fixture(scope="module")
def days(tmp_path_factory):
    """Five runs of one model, each 10 us faster than the one before."""
    folder = tmp_path_factory.mktemp("days")
    return [rows(report(folder, day=day, us=100 - 10 * day)) for day in range(1, 6)]


def counts(archive):
    with archive.connection() as engine:
        return engine.execute(COUNTS).fetchall()[0]


def key(of):
    return of.run["run_key"]


def seen(archive, of, **how):
    """What the archive knows of the work that a run's last op but one did: one entry, all its runs share the settings."""
    signature = int(of.ops.iloc[-2]["signature"])
    alike = Alike("", "wormhole_b0", of.run["clock_mhz"], of.run["devices"])
    with archive.connection() as engine:
        entries = earlier_of(engine, [signature], alike._replace(**how)).get(signature, [])
    assert len(entries) <= 1
    return entries[0] if entries else None


def test_an_empty_archive_answers(archive, days):
    assert counts(archive) == (0, 0, 0)
    assert archive.known() == {}
    assert seen(archive, days[0]) is None
    assert not archive.place.entries()


def test_a_run_is_added_once(archive, days):
    assert archive.add(days[:2]) == 2
    assert archive.add(days[:3]) == 1
    assert archive.add(days[:3]) == 0
    assert archive.add([days[3], days[3]]) == 1
    assert counts(archive) == (4 * ROWS, 4 * ROWS, 4)
    assert {*archive.known()} == {key(day) for day in days[:4]}


def test_what_did_not_change_is_shown_once(archive, days, monkeypatch):
    shown = []
    monkeypatch.setattr(store, "views", lambda *how, of=store.views: shown.append(how) or of(*how))
    for added, times in (([], 1), ([], 1), (days[:1], 2), (days[:1], 2)):
        archive.add(added)
        assert counts(archive)[2] == len(added)
        assert len(shown) == times


def test_what_was_kept_is_read_back(archive, days):
    archive.add(days[:1])
    with archive.connection() as engine:
        ops = engine.execute("SELECT * FROM ops ORDER BY line").df()
        run = engine.execute("SELECT * FROM runs").df().iloc[0]
    kept = days[0]
    for name in ("line", "signature", "settings_hash", "kernel_us", "in_window", "device", "cores"):
        assert ops[name].tolist() == kept.ops[name].tolist(), name
    assert ops["operands"].tolist() == kept.ops["operands"].astype(str).tolist()
    assert {name: run[name] for name in ("run_key", "arch", "window_us", "ops")} == {
        name: kept.run[name] for name in ("run_key", "arch", "window_us", "ops")
    }


def test_a_part_from_before_a_column_has_none_of_it_and_times_in_doubt_are_no_precedent(archive, days, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(engine_of, "RUNS", RUNS[:-1])
        archive.add(days[:1])
    assert seen(archive, days[0]).runs == 1
    wrong = days[1]._replace(run={**days[1].run, "doubts": "clocks_differ"})
    archive.add([wrong, days[2]])
    for packed in (False, True):
        if packed:
            archive.pack(archive.parts())
        with archive.connection() as engine:
            told = dict(engine.execute("SELECT run_key, doubts FROM runs").fetchall())
        assert told == {key(days[0]): None, key(days[1]): "clocks_differ", key(days[2]): None}
        assert seen(archive, days[0]).runs == 2


def test_a_writer_that_dies_leaves_no_half_a_run(archive, days, monkeypatch):
    archive.add(days[:1])
    with monkeypatch.context() as dying:
        dying.setattr(Archive, "_finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            archive.add(days[1:3])
    assert counts(archive) == (ROWS, ROWS, 1)
    assert archive.add(days[1:3]) == 2
    assert counts(archive) == (3 * ROWS, 3 * ROWS, 3)


def test_a_pack_whose_writer_died_before_it_removed_the_parts_doubles_nothing(archive, days, monkeypatch):
    for day in days[:3]:
        archive.add([day])
    with monkeypatch.context() as dying:
        dying.setattr(type(archive.place), "remove", lambda *_: None)
        archive.pack(archive.parts()[:2])
    assert len(archive.parts()) == 4
    assert counts(archive) == (3 * ROWS, 3 * ROWS, 3)
    archive.pack(archive.parts())
    assert len(archive.parts()) == 1
    assert counts(archive) == (3 * ROWS, 3 * ROWS, 3)


def test_what_another_packs_meanwhile_is_looked_up_again(archive, days, tmp_path, monkeypatch):
    """A pack, a removal and a question that begin with parts which another program then puts together."""
    other = Archive(tmp_path / "archive")
    write, removed = store.write_part, []

    def overtaken(*how, **more):
        monkeypatch.setattr(store, "write_part", write)
        other.pack(other.parts())
        return write(*how, **more)

    def question():
        with archive.connection() as engine, engine_of.failing_as_ours("read", "it"):
            if not removed:
                removed.append(other.pack(other.parts()))
            return engine.execute(COUNTS).fetchall()[0]

    for begun in (lambda: archive.pack(archive.parts()), lambda: archive.forget([key(days[0])])):
        for day in days[:3]:
            archive.add([day])
        monkeypatch.setattr(store, "write_part", overtaken)
        begun()
    assert archive.known().keys() == {key(day) for day in days[1:3]}
    archive.add(days[3:4])
    assert archive.steady(question) == (3 * ROWS, 3 * ROWS, 3)


def test_a_failure_of_an_archive_that_stays_as_it_is_is_told_at_once(archive, days):
    archive.add(days[:1])
    attempts = []

    def failing():
        attempts.append(1)
        raise ArchiveUnusable("full")

    with pytest.raises(ArchiveUnusable, match="full"):
        archive.steady(failing)
    assert len(attempts) == 1


def test_parts_that_share_a_run_count_it_once(tmp_path, days):
    one, other = Archive(tmp_path / "a"), Archive(tmp_path / "a")
    one.add(days[:2])
    known = other.known
    other.known = dict  # another writer that did not see it yet
    other.add(days[1:3])
    other.known = known
    assert counts(Archive(tmp_path / "a")) == (3 * ROWS, 3 * ROWS, 3)


def test_runs_are_forgotten_and_the_others_stay(archive, days):
    archive.add(days[:3])
    assert archive.forget([key(days[1]), "f" * 32]) == 1
    assert {*archive.known()} == {key(days[0]), key(days[2])}
    assert counts(archive) == (2 * ROWS, 2 * ROWS, 2)
    archive.forget(archive.known())
    assert counts(archive) == (0, 0, 0)
    assert not archive.place.entries()


def test_work_is_found_with_its_median_and_a_line_to_look_it_up(archive, days):
    archive.add(days)
    entry = seen(archive, days[0])
    assert (entry.timing.median_us, entry.runs, entry.run) == (70.0, 5, days[2].run["name"])
    cited = days[2].ops.set_index("line").loc[entry.line]
    assert (cited["kernel_us"], cited["signature"]) == (70.0, days[0].ops.iloc[-2]["signature"])
    assert cited["in_window"]
    assert seen(archive, days[0], run_key=key(days[2])).runs == 4  # a run is no precedent of itself


def test_nothing_is_seen_across_an_architecture_a_clock_or_a_number_of_devices(archive, days):
    archive.add(days)
    clock = days[0].run["clock_mhz"]
    assert seen(archive, days[0], arch="blackhole") is None
    assert seen(archive, days[0], clock_mhz=clock * 1.02) is None
    assert seen(archive, days[0], devices=2) is None
    assert seen(archive, days[0], clock_mhz=clock * 1.005) is not None


def test_many_small_parts_become_few(archive, days, monkeypatch):
    for day in days:
        archive.add([day])
    assert pack_small(archive) == 0
    monkeypatch.setattr("ttnn_mcp.archive.passes.SMALL_PARTS", 4)
    assert pack_small(archive) == 5
    assert len(archive.parts()) == 1
    assert counts(archive) == (5 * ROWS, 5 * ROWS, 5)


def test_the_runs_recorded_first_leave_first(archive, days):
    for some in ([days[3], days[0]], [days[4], days[1], days[2]]):
        archive.add(some)
    size = sum(part.size for part in archive.parts())
    assert keep_within(archive, size) == 0
    assert keep_within(archive, size - 1) == 1
    assert key(days[0]) not in archive.known()
    assert {*archive.known()} == {key(day) for day in days[1:]}
    keep_within(archive, 0)
    assert archive.known() == {}


@for_all("damage", [b"", b"{", b"[]", b'{"format": 99, "bytes": 1, "runs": []}', bytes(range(256))])
def test_a_damaged_index_hides_its_part_and_nothing_else(archive, days, damage, tmp_path):
    archive.add(days[:1])
    archive.add(days[1:2])
    next((tmp_path / "archive").glob("*.json")).write_bytes(damage)
    assert counts(Archive(tmp_path / "archive")) == (ROWS, ROWS, 1)


def test_an_index_under_another_name_is_not_believed(archive, days, tmp_path):
    archive.add(days[:1])
    index = next((tmp_path / "archive").glob("*.json"))
    for file in (tmp_path / "archive").glob(index.stem + ".*"):
        file.rename(file.with_name(file.name.replace(index.stem, "0" * 32)))
    assert archive.known() == {}


def test_a_damaged_table_is_our_error(archive, days, tmp_path):
    archive.add(days[:1])
    table = next((tmp_path / "archive").glob("*.ops.parquet"))
    table.write_bytes(b"PAR1 no longer".ljust(table.stat().st_size))
    with pytest.raises(ArchiveUnusable, match="cannot be read"):
        counts(Archive(tmp_path / "archive"))


def test_a_folder_that_is_a_file_is_our_error(tmp_path, days):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ArchiveUnusable, match="cannot be read"):
        Archive(tmp_path / "file").add(days[:1])
    assert (tmp_path / "file").read_text() == "mine"


def test_what_killed_writers_left_is_swept_after_an_hour(archive, days, tmp_path):
    archive.add(days[:1])
    folder, now = tmp_path / "archive", time.time()
    ours = {name for part in archive.parts() for name in part.files}
    old = {"ttnn-mcp-tmp1.unfinished", "f" * 32 + ".ops.parquet", "mine.parquet", "mine.unfinished", *ours}
    for name in old:
        with (folder / name).open("ab") as file:
            file.write(b"" if name in ours else b"x")
        os.utime(folder / name, (now - 65 * 60, now - 65 * 60))
    (folder / "ttnn-mcp-young.unfinished").write_bytes(b"x")
    os.utime(folder / "ttnn-mcp-young.unfinished", (now - 55 * 60, now - 55 * 60))
    archive.sweep()
    left = {path.name for path in folder.iterdir()}
    assert left == {"mine.parquet", "mine.unfinished", "ttnn-mcp-young.unfinished", *ours}


def test_a_folder_with_wildcards_in_its_name_is_taken_as_it_is(tmp_path, days):
    archive = Archive(tmp_path / "nightly [a-z]*? it's")
    archive.add(days[:1])
    assert counts(archive) == (ROWS, ROWS, 1)


def test_an_index_tells_no_path(archive, days, tmp_path):
    archive.add(days[:1], ["0123456789abcdef"])
    index = json.loads(next((tmp_path / "archive").glob("*.json")).read_text())
    assert index["runs"] == [[key(days[0]), days[0].run["recorded_at"], ROWS, "0123456789abcdef"]]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no modes")
def test_others_may_read_an_archive_as_they_may_read_other_files_of_the_user(archive, days, tmp_path):
    before = os.umask(0o022)
    try:
        archive.add(days[:1])
    finally:
        os.umask(before)
    folder = tmp_path / "archive"
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o644}
    assert folder.stat().st_mode & 0o777 == 0o755


def test_an_unknown_kind_of_place_is_named():
    with pytest.raises(ArchiveUnusable, match=r"nowhere://|ttnn-mcp\[s3\]"):
        Archive("nowhere://bucket")


def test_a_part_that_is_packed_alone_stays(archive, days):
    archive.add(days[:2])
    archive.pack(archive.parts())
    assert counts(archive) == (2 * ROWS, 2 * ROWS, 2)


def test_parts_that_were_not_chosen_stay_as_they_are(archive, days):
    for day in days[:3]:
        archive.add([day])
    first, second, third = archive.parts()
    archive.pack([first, second])
    kept = {part.id for part in archive.parts()}
    assert (len(kept), third.id in kept) == (2, True)
    assert counts(archive)[2] == 3
