"""A report's identity: every change is seen, a move is none."""

import os
import shutil
from hashlib import blake2b
from types import SimpleNamespace

import pytest

from tests.for_all import for_all
from tests.readers.plain_checksum import plain_checksum
from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.readers import fingerprint as module
from ttnn_mcp.readers.fingerprint import fingerprint
from ttnn_mcp.readers.kept_files import ENDING, KeptFiles

SMALL_BYTES, WHOLE_BYTES = 4 * 2**20, 2 * 2**30


def written(path, size):
    path.write_bytes(bytes(range(256)) * (size // 256))
    return path


def hollow(path, size=3 * SMALL_BYTES):
    """A file with nothing between its ends: it takes little of a disk."""
    with path.open("wb") as file:
        file.write(b"begin")
        file.seek(size - 3)
        file.write(b"end")
    return path


@for_all("size", [4096, SMALL_BYTES, 3 * SMALL_BYTES])
def test_a_moved_or_copied_file_keeps_its_fingerprint(tmp_path, size):
    path = written(tmp_path / "a", size)
    before = fingerprint(path)
    copy = tmp_path / "b"
    shutil.copyfile(path, copy)
    os.utime(copy, (1, 1))
    assert fingerprint(copy) == before
    assert fingerprint(path.rename(tmp_path / "c")) == before


@for_all("share", [0.0, 0.013, 0.02, 0.37, 0.5, 0.871, 1.0])
def test_one_changed_byte_is_another_report_wherever_it_lies(tmp_path, share):
    path = hollow(tmp_path / "a")
    before = fingerprint(path)
    with path.open("r+b") as file:
        file.seek(int(share * (path.stat().st_size - 1)))
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    assert fingerprint(path) != before


def test_a_change_is_seen_though_the_first_fingerprint_was_kept(tmp_path):
    path = hollow(tmp_path / "a")
    os.utime(path, (1, 1))
    before = fingerprint(path)
    stat = path.stat()
    with path.open("r+b") as file:
        file.seek(SMALL_BYTES + 12345)
        file.write(b"changed")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert fingerprint(path) != before


def test_a_file_that_did_not_change_is_not_read_again(tmp_path, monkeypatch):
    path = hollow(tmp_path / "a")
    monkeypatch.setattr(module, "SETTLED_NS", -1)
    before = fingerprint(path)
    monkeypatch.setattr(module, "_digest", lambda *given: pytest.fail("read again"))
    assert fingerprint(path) == before


def test_a_file_that_changed_a_moment_ago_is_read_again(tmp_path, monkeypatch):
    path = hollow(tmp_path / "a")
    fingerprint(path)
    monkeypatch.setattr(module, "_digest", lambda *given: "read again")
    assert fingerprint(path) == "read again"


def test_of_a_file_beyond_all_reports_only_blocks_are_read(tmp_path):
    path = hollow(tmp_path / "a")
    os.truncate(path, WHOLE_BYTES + 10_000_000_000)
    assert len(fingerprint(path)) == 32


def test_no_file_is_our_error(tmp_path):
    with pytest.raises(ReportMissing):
        fingerprint(tmp_path / "nothing")


@pytest.fixture
def after_a_restart(tmp_path, monkeypatch):
    """The fingerprint as a new process sees it, with what former ones stored."""
    monkeypatch.setattr(module, "SETTLED_NS", -1)
    kept = KeptFiles(tmp_path / "state", 1 << 20)

    def asked(path):
        monkeypatch.setattr(module, "_known", {})
        return fingerprint(path, kept)

    return asked


def test_after_a_restart_an_unchanged_file_is_not_read_as_a_whole(tmp_path, monkeypatch, after_a_restart):
    path = hollow(tmp_path / "a")
    before = after_a_restart(path)
    assert before == fingerprint(path)
    monkeypatch.setattr(module, "checksum", lambda *_: pytest.fail("read again"))
    assert after_a_restart(path) == before


def test_after_a_restart_a_change_is_seen_though_size_and_time_are_the_same(tmp_path, after_a_restart):
    path = hollow(tmp_path / "a")
    before, status = after_a_restart(path), path.stat()
    with path.open("r+b") as file:
        file.seek(SMALL_BYTES + 12345)  # between two samples
        file.write(b"changed")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert after_a_restart(path) != before


def test_the_checksum_of_a_file_that_may_still_change_is_not_stored(tmp_path):
    kept = KeptFiles(tmp_path / "state", 1 << 20)
    fingerprint(hollow(tmp_path / "a"), kept)
    assert kept.held_bytes() == 0


@for_all("damage", [b"", b"x", b"\0" * 68])
def test_a_damaged_checksum_is_computed_again(tmp_path, after_a_restart, damage):
    path = hollow(tmp_path / "a")
    before = after_a_restart(path)
    for stored in (tmp_path / "state").iterdir():
        stored.write_bytes(damage)
    assert after_a_restart(path) == before


def test_what_is_stored_for_a_checksum_has_eight_bytes_or_is_none(tmp_path, after_a_restart):
    path = hollow(tmp_path / "a")
    before = after_a_restart(path)
    kept = KeptFiles(tmp_path / "state", 1 << 20)
    [stored] = (tmp_path / "state").iterdir()
    assert kept.write(stored.name.removesuffix(ENDING), [b"123456789"])
    assert after_a_restart(path) == before


@for_all("size", [0, 4096, SMALL_BYTES])
def test_a_small_file_is_hashed_as_a_whole(tmp_path, size):
    content = written(tmp_path / "a", size).read_bytes()
    assert fingerprint(tmp_path / "a") == blake2b(str(size).encode() + content, digest_size=16).hexdigest()


def sampled(content):
    """32 blocks of 64 KiB, evenly spread, the first and the last included."""
    last = len(content) - 2**16
    return b"".join(content[last * at // 31 :][: 2**16] for at in range(32))


@for_all("size", [SMALL_BYTES + 1, 3 * SMALL_BYTES + 17])
def test_of_a_larger_file_blocks_are_hashed_and_all_bytes_checked(tmp_path, size):
    content = os.urandom(size)
    (tmp_path / "a").write_bytes(content)
    parts = (str(size).encode(), sampled(content), plain_checksum(content).to_bytes(8, "little"))
    assert fingerprint(tmp_path / "a") == blake2b(b"".join(parts), digest_size=16).hexdigest()


def test_all_bytes_of_two_gigabytes_are_checked_and_no_more(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(module, "checksum", lambda _, size: asked.append(size) or 7)
    for size in (WHOLE_BYTES, WHOLE_BYTES + 1):
        (tmp_path / "a").touch()
        os.truncate(tmp_path / "a", size)  # a hole takes no room
        fingerprint(tmp_path / "a")
    assert asked == [WHOLE_BYTES]


def test_the_fingerprints_of_4096_files_are_known(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SETTLED_NS", -1)
    monkeypatch.setattr(module, "_known", {(at,): "" for at in range(5000)})
    fingerprint(written(tmp_path / "a", 256))
    assert len(module._known) == 4096
    assert (4999,) in module._known


def test_a_file_is_settled_forty_seconds_after_its_last_change(monkeypatch):
    monkeypatch.setattr(module, "time", SimpleNamespace(time_ns=lambda: 50_000_000_000))
    ages = [(10_000_000_000, 0), (9_999_999_999, 0), (0, 10_000_000_000), (0, 9_999_999_999)]
    told = [module._is_settled(SimpleNamespace(st_mtime_ns=one, st_ctime_ns=other)) for one, other in ages]
    assert told == [False, True, False, True]


def test_the_checksum_of_a_file_that_changes_meanwhile_is_not_stored(tmp_path, monkeypatch):
    path, kept = hollow(tmp_path / "a"), KeptFiles(tmp_path / "state", 1 << 20)
    monkeypatch.setattr(module, "SETTLED_NS", -1)
    monkeypatch.setattr(module, "checksum", lambda *_: os.truncate(path, 5_000_000) or 7)
    fingerprint(path, kept)
    assert kept.held_bytes() == 0
