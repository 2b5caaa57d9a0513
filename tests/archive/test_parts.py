"""Parts: which indexes are believed, what is read of a place, and which part a run is read from."""

import json

import pytest

from tests.for_all import for_all
from ttnn_mcp.archive.parts import ArchivePart, KeptRun, PartList, part_id, read_index, shares
from ttnn_mcp.archive.places import FolderPlace

KEYS = ("0" * 32, "1" * 32)


def index_of(*keys, **how):
    runs = [[key, 1_767_225_600, 9, "0123456789abcdef"] for key in keys]
    return json.dumps({"format": 1, "bytes": 6, "runs": runs, **how}).encode()


def part(*keys):
    return ArchivePart("".join(keys), tuple(KeptRun(key, 0, 1, "") for key in keys), 1)


@pytest.fixture
def place(tmp_path):
    """A folder with one part, whose files are three bytes each."""
    identity = part_id(KEYS)
    (tmp_path / f"{identity}.json").write_bytes(index_of(*KEYS))
    for ending in (".ops.parquet", ".runs.parquet"):
        (tmp_path / f"{identity}{ending}").write_bytes(b"PAR")
    return FolderPlace(tmp_path)


def test_an_archive_that_a_released_version_wrote_is_read_for_ever():
    read = read_index(f"{part_id(KEYS)}.json", index_of(*KEYS))
    assert read is not None
    assert [run.run_key for run in read.runs] == [*KEYS]
    assert (read.ops, read.size) == (18, 6)


@for_all("number", [0, 2])
def test_an_index_of_another_format_is_not_read(number):
    assert read_index(f"{part_id(KEYS)}.json", index_of(*KEYS, format=number)) is None


def test_only_indexes_are_read_and_each_once(place, monkeypatch):
    read = []
    monkeypatch.setattr(
        FolderPlace, "read", lambda self, name, real=FolderPlace.read: read.append(name) or real(self, name)
    )
    parts = PartList(place)
    assert [len(parts.now()), len(parts.now())] == [1, 1]
    assert read == [f"{part_id(KEYS)}.json"]


@for_all("ending", [".json", ".ops.parquet", ".runs.parquet"])
def test_a_part_that_lacks_a_file_is_no_part(place, tmp_path, ending):
    parts = PartList(place)
    assert len(parts.now()) == 1
    (tmp_path / f"{part_id(KEYS)}{ending}").unlink()
    assert parts.now() == []


def test_a_run_is_read_from_the_first_part_that_has_it_and_a_part_of_such_runs_not_at_all():
    chosen = shares([part("a", "b"), part("b", "c"), part("a", "c"), part("a", "b", "c"), part("d")])
    assert [(share.part.id, sorted(share.elsewhere)) for share in chosen] == [("ab", []), ("bc", ["b"]), ("d", [])]
