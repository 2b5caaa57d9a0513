"""Places of an archive: a folder and an object store do the same."""

import time
from datetime import datetime, timezone
from types import SimpleNamespace

import pytest

from tests.archive.bucket import WRITTEN, Bucket
from tests.for_all import for_all
from ttnn_mcp.archive import places
from ttnn_mcp.archive.engine import connected
from ttnn_mcp.archive.places import FolderPlace, ObjectPlace, place_of, written_at
from ttnn_mcp.errors import ArchiveUnusable


@pytest.fixture(params=["folder", "bucket"])
def place(request, tmp_path, monkeypatch):
    if request.param == "folder":
        return place_of(tmp_path / "archive")
    monkeypatch.setattr(places, "filesystem_of", Bucket().at)
    return place_of("s3://lab/archive/")


def fill(place, name, contents):
    with place.filled(name) as path:
        path.write_bytes(contents)


def fill_half(place):
    with place.filled("a.json") as path:
        path.write_bytes(b"half")
        raise KeyError


def test_a_place_where_nothing_was_written_is_empty(place):
    assert place.entries() == []


def test_what_was_filled_is_listed_read_and_removed(place):
    fill(place, "a.json", b"one")
    fill(place, "b.json", b"three")
    assert {(file.name, file.size) for file in place.entries()} == {("a.json", 3), ("b.json", 5)}
    assert place.read("a.json") == b"one"
    assert place.address("a.json").endswith("archive/a.json")
    place.remove(["a.json", "absent.json"])
    assert [file.name for file in place.entries()] == ["b.json"]


def test_what_was_not_filled_to_its_end_is_not_there(place, tmp_path):
    with pytest.raises(TypeError):
        fill(place, "a.json", "a text, which is no bytes")
    assert place.entries() == []
    with pytest.raises(KeyError):
        fill_half(place)
    assert (place.entries(), [*tmp_path.glob("archive/*")]) == ([], [])


def test_a_folder_inside_a_bucket_is_no_file_of_the_archive(monkeypatch):
    monkeypatch.setattr(places, "filesystem_of", Bucket("lab/archive/older").at)
    place = ObjectPlace("s3://lab/archive/")
    assert place.shown == "s3://lab/archive"
    fill(place, "a.json", b"one")
    assert [(file.name, file.modified) for file in place.entries()] == [("a.json", WRITTEN)]


def test_a_folder_needs_no_file_system_of_a_package_and_a_bucket_gives_its_own_to_the_engine(tmp_path, monkeypatch):
    known = []
    monkeypatch.setattr("duckdb.connect", lambda *_, **__: SimpleNamespace(register_filesystem=known.append))
    bucket = Bucket()
    for filesystem in (FolderPlace(tmp_path).filesystem, bucket):
        connected(SimpleNamespace(filesystem=filesystem))
    assert known == [bucket]


def test_when_a_file_was_written_is_told_in_seconds_however_a_store_tells_it():
    at = datetime(2026, 1, 1, tzinfo=timezone.utc)
    for told in ({"LastModified": at}, {"created": at}, {"mtime": at.timestamp()}):
        assert written_at(told) == 1_767_225_600


def test_a_store_that_does_not_tell_when_a_file_was_written_says_now():
    """So that a sweep never takes it for abandoned."""
    assert abs(written_at({"LastModified": None}) - time.time()) < 60


@for_all(
    ("failed", "said"),
    [
        (ImportError("s3fs"), r"s3://lab needs the packages for s3://.*ttnn-mcp\[s3\]"),
        (ValueError("?"), "no kind of place"),
    ],
)
def test_a_url_that_cannot_be_used_says_what_to_do(monkeypatch, failed, said):
    def absent(_name):
        raise failed

    monkeypatch.setattr(places.importlib, "import_module", absent)
    with pytest.raises(ArchiveUnusable, match=said):
        place_of("s3://lab")
