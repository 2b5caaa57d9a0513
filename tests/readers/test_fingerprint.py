"""A report's identity: every change is seen, a move is none."""

import os
import shutil

import pytest

from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.readers import fingerprint as module
from ttnn_mcp.readers.fingerprint import SMALL_BYTES, fingerprint
from ttnn_mcp.readers.kept_files import KeptFiles


def written(path, size=3 * SMALL_BYTES):
    path.write_bytes(bytes(range(256)) * (size // 256))
    return path


@pytest.mark.parametrize("size", [4096, SMALL_BYTES, 3 * SMALL_BYTES])
def test_a_moved_or_copied_file_keeps_its_fingerprint(tmp_path, size):
    path = written(tmp_path / "a", size)
    before = fingerprint(path)
    copy = tmp_path / "b"
    shutil.copyfile(path, copy)
    os.utime(copy, (1, 1))
    assert fingerprint(copy) == before
    assert fingerprint(path.rename(tmp_path / "c")) == before


@pytest.mark.parametrize("share", [0.0, 0.013, 0.02, 0.37, 0.5, 0.871, 1.0])
def test_one_changed_byte_is_another_report_wherever_it_lies(tmp_path, share):
    path = written(tmp_path / "a")
    before = fingerprint(path)
    with path.open("r+b") as file:
        file.seek(int(share * (path.stat().st_size - 1)))
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 1]))
    assert fingerprint(path) != before


def test_a_change_is_seen_though_the_first_fingerprint_was_kept(tmp_path):
    path = written(tmp_path / "a")
    os.utime(path, (1, 1))
    before = fingerprint(path)
    stat = path.stat()
    with path.open("r+b") as file:
        file.seek(SMALL_BYTES + 12345)
        file.write(b"changed")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert fingerprint(path) != before


def test_a_file_that_did_not_change_is_not_read_again(tmp_path, monkeypatch):
    path = written(tmp_path / "a")
    monkeypatch.setattr(module, "SETTLED_NS", -1)
    before = fingerprint(path)
    monkeypatch.setattr(module, "_digest", lambda *given: pytest.fail("read again"))
    assert fingerprint(path) == before


def test_a_file_that_changed_a_moment_ago_is_read_again(tmp_path, monkeypatch):
    path = written(tmp_path / "a")
    fingerprint(path)
    monkeypatch.setattr(module, "_digest", lambda *given: "read again")
    assert fingerprint(path) == "read again"


def test_of_a_file_beyond_all_reports_only_blocks_are_read(tmp_path):
    path = written(tmp_path / "a")
    os.truncate(path, module.WHOLE_BYTES + 10_000_000_000)
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
    path = written(tmp_path / "a")
    before = after_a_restart(path)
    assert before == fingerprint(path)
    monkeypatch.setattr(module, "checksum", lambda *_: pytest.fail("read again"))
    assert after_a_restart(path) == before


def test_after_a_restart_a_change_is_seen_though_size_and_time_are_the_same(tmp_path, after_a_restart):
    path = written(tmp_path / "a")
    before, status = after_a_restart(path), path.stat()
    with path.open("r+b") as file:
        file.seek(SMALL_BYTES + 12345)  # between two samples
        file.write(b"changed")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert after_a_restart(path) != before


def test_the_checksum_of_a_file_that_may_still_change_is_not_stored(tmp_path):
    kept = KeptFiles(tmp_path / "state", 1 << 20)
    fingerprint(written(tmp_path / "a"), kept)
    assert kept.held_bytes() == 0


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 68])
def test_a_damaged_checksum_is_computed_again(tmp_path, after_a_restart, damage):
    path = written(tmp_path / "a")
    before = after_a_restart(path)
    for stored in (tmp_path / "state").iterdir():
        stored.write_bytes(damage)
    assert after_a_restart(path) == before
