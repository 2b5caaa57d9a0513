"""Which reports have a copy, and which copies are not used."""

import os

import pytest

from tests.for_all import for_all
from tests.run.test_kept_report import MB, written
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.run import kept_report
from ttnn_mcp.run.kept_report import is_large, performance_of


@pytest.fixture
def kept(tmp_path):
    return KeptFiles(tmp_path / "state" / "cache", 500 * MB)


@for_all(("size", "large"), [(16 * 1024 * 1024 - 1, False), (16 * 1024 * 1024, True)])
def test_a_report_of_sixteen_megabytes_is_large(tmp_path, size, large):
    path = tmp_path / "x.csv"
    path.touch()
    os.truncate(path, size)  # a hole, not bytes
    assert is_large(path) == large


def test_what_is_no_file_is_not_large(tmp_path):
    assert not is_large(tmp_path, 0)
    assert not is_large(tmp_path / "missing", 0)


def test_without_a_digest_of_the_code_there_are_no_copies(tmp_path, kept, monkeypatch):
    path = written(tmp_path / "report")
    performance_of(path, kept, 0)
    kept.finish()
    before = sorted(kept.folder.iterdir())
    monkeypatch.setattr(kept_report, "reading_digest", lambda: None)
    performance_of(path, kept, 0)
    kept.finish()
    assert sorted(kept.folder.iterdir()) == before


def test_a_copy_with_numbers_of_other_rows_is_not_used(tmp_path, kept, monkeypatch):
    path = written(tmp_path / "report")
    with monkeypatch.context() as fewer:
        signatures = kept_report.signatures
        fewer.setattr(kept_report, "signatures", lambda ops: signatures(ops)[:-1])
        performance_of(path, kept, 0)
        kept.finish()
    read = []
    reading = kept_report.read_performance_csv
    monkeypatch.setattr(kept_report, "read_performance_csv", lambda path: read.append(path) or reading(path))
    performance_of(path, kept, 0)
    assert read == [path]
