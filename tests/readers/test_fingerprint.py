"""A report's identity: every change is seen, a move is none."""

import os
import shutil

import pytest

from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.readers import fingerprint as module
from ttnn_mcp.readers.fingerprint import SMALL_BYTES, fingerprint


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
    monkeypatch.setattr(module, "_digest", lambda file, size: pytest.fail("read again"))
    assert fingerprint(path) == before


def test_a_file_that_changed_a_moment_ago_is_read_again(tmp_path, monkeypatch):
    path = written(tmp_path / "a")
    fingerprint(path)
    monkeypatch.setattr(module, "_digest", lambda file, size: "read again")
    assert fingerprint(path) == "read again"


def test_of_a_file_beyond_all_reports_only_blocks_are_read(tmp_path):
    path = written(tmp_path / "a")
    os.truncate(path, module.WHOLE_BYTES + 10_000_000_000)
    assert len(fingerprint(path)) == 32


def test_no_file_is_our_error(tmp_path):
    with pytest.raises(ReportMissing):
        fingerprint(tmp_path / "nothing")
