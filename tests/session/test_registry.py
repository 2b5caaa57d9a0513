"""The record of opened runs: what another program or an older version wrote into it spoils nothing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.session.registry import KnownRun, Registry

COLUMNS = "id, name, performance, memory, rank, opened, given"
SOUND = ("0a0a0a0a", "model", "/r/a.csv", None, None, 1.0, 0)
LONGEST = 4096  # bytes of a path on Linux


@pytest.fixture
def registry(tmp_path):
    return Registry(tmp_path, lambda *_: True)


def written(folder, *rows, columns=COLUMNS):
    """A registry of another program's making: SQLite keeps values of any kind in columns without one."""
    with closing(sqlite3.connect(folder / "runs.sqlite")) as database:
        database.execute(f"CREATE TABLE runs ({columns})")
        database.executemany(f"INSERT INTO runs VALUES ({', '.join('?' * len(rows[0]))})", rows)
        database.commit()


@for_all(
    ("place", "value"),
    [
        (0, b"0b0b0b0b"),
        (0, 12345678),
        (0, "no id"),
        (1, b"model"),
        (1, None),
        (2, 5),
        (2, ""),
        (2, None),
        (2, "/a\0b"),
        (2, "/" + "x" * LONGEST),
        (3, 1.5),
        (4, -1),
        (4, "first"),
    ],
)
async def test_a_row_that_is_no_run_is_left_out_and_the_others_are_read(tmp_path, registry, place, value):
    spoiled = [*SOUND]
    spoiled[0], spoiled[place] = "0b0b0b0b" if place else spoiled[0], value
    written(tmp_path, SOUND, spoiled)
    assert [known.id for known in await registry.all()] == ["0a0a0a0a"]


@for_all(("place", "value"), [(2, "/" + "x" * (LONGEST - 1)), (2, b"/\xff"), (3, "/r/db.sqlite"), (4, 0), (4, 3)])
async def test_a_row_that_is_one_is_read(tmp_path, registry, place, value):
    row = [*SOUND]
    row[place] = value
    written(tmp_path, row)
    (known,) = await registry.all()
    paths = [Path("/\udcff") if path == b"/\xff" else path and Path(path) for path in row[2:4]]
    assert [known.performance, known.memory, known.rank] == [*paths, row[4]]


async def test_of_many_runs_the_five_thousand_opened_last_are_listed(tmp_path, registry):
    rows = [(f"{number:08x}", "model", "/r/a.csv", None, None, float(number), 0) for number in range(5001)]
    written(tmp_path, *rows)
    listed = [known.id for known in await registry.all()]
    assert (len(listed), listed[0], listed[-1]) == (5000, rows[-1][0], rows[1][0])


def known(run_id, name="model", *, by_hand=False):
    return KnownRun(run_id, name, Path("/r") / run_id, None, None, None, named_by_hand=by_hand)


async def test_only_a_person_takes_a_name_that_a_person_gave(registry):
    assert await registry.remember(known("0a0a0a0a", by_hand=True)) is None
    await registry.remember(known("0b0b0b0b"))
    assert {each.id: each.named_by_hand for each in await registry.called("model")} == {
        "0a0a0a0a": True,
        "0b0b0b0b": False,
    }
    await registry.remember(known("0c0c0c0c", by_hand=True))
    assert {each.id for each in await registry.called("model")} == {"0b0b0b0b", "0c0c0c0c"}
    assert [each.name for each in await registry.with_id("0a0a0a0a")] == ["0a0a0a0a"]


async def test_a_name_from_folders_takes_no_given_name_from_its_run(registry):
    await registry.remember(known("0a0a0a0a", "mine", by_hand=True))
    await registry.remember(known("0a0a0a0a", "folder"))
    assert [(each.name, each.named_by_hand) for each in await registry.all()] == [("mine", True)]


async def test_runs_that_are_not_permitted_are_not_told(tmp_path):
    written(tmp_path, SOUND, ("0b0b0b0b", "model", "/r/b.csv", "/s/db.sqlite", None, 2.0, 0))
    registry = Registry(tmp_path, lambda *paths: all(path.parent == Path("/r") for path in paths))
    assert [known.id for known in await registry.called("model")] == ["0a0a0a0a"]
    assert await registry.with_id("0b0b0b0b") == []


async def test_where_nothing_was_recorded_nothing_is_opened(registry, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.session.registry.connected", lambda *_: pytest.fail("opened"))
    assert await registry.all() == []
