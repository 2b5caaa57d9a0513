"""A large report is read once for its id and for its columns, and never taken for another one."""

import os

import pytest

from tests.asking import ask, session
from tests.cells_of_frames import check_same_cells
from tests.profiles import Iteration, header_of, performance_rows, write_performance_report, write_rows
from tests.programs import block
from tests.readers.plain_checksum import plain_checksum
from ttnn_mcp.errors import ReportForeign
from ttnn_mcp.readers import fingerprint as identity_of_files
from ttnn_mcp.readers.fingerprint import fingerprint, samples_of
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.readers.performance import csv_file
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run import kept_report
from ttnn_mcp.session.read_ahead import ReadAhead, _state
from ttnn_mcp.session.session import Session, Settings

PASSES = [Iteration(cold=True), Iteration()]


@pytest.fixture(autouse=True)
def _all_files_are_large_and_settled(monkeypatch):
    monkeypatch.setattr(identity_of_files, "SMALL_BYTES", 0)
    monkeypatch.setattr(identity_of_files, "SETTLED_NS", -1)
    monkeypatch.setattr(identity_of_files, "_known", {})
    monkeypatch.setattr(kept_report, "is_large", lambda *_: True)


@pytest.fixture
def path(tmp_path):
    return write_performance_report(tmp_path / "report", block(), PASSES)


@pytest.fixture
def kept(tmp_path):
    return KeptFiles(tmp_path / "cache", 1 << 24)


@pytest.fixture
def readings(monkeypatch):
    """The files that were read as a whole, each time for its columns or for its checksum alone."""
    seen = []
    alone, columns = identity_of_files.checksum, csv_file.plain_frame
    monkeypatch.setattr(identity_of_files, "checksum", lambda *given: seen.append("checksum") or alone(*given))
    monkeypatch.setattr(csv_file, "plain_frame", lambda *given: seen.append("columns") or columns(*given))
    return seen


def test_the_checksum_is_that_of_the_file_and_the_columns_are_those_of_the_file(path, kept):
    ahead = ReadAhead()
    assert ahead.checksum(path, kept, "", _state(path)) == plain_checksum(path.read_bytes())
    check_same_cells(ahead.take(path).frame, read_performance_csv(path).frame)


def test_a_last_line_without_an_end_counts_as_it_is(path, kept):
    path.write_bytes(path.read_bytes().rstrip())
    assert ReadAhead().checksum(path, kept, "", _state(path)) == plain_checksum(path.read_bytes())


def test_the_fingerprint_is_the_same_however_it_was_computed(path, kept):
    told = fingerprint(path, kept, lambda *given: ReadAhead().checksum(path, kept, *given))
    identity_of_files._known.clear()
    assert fingerprint(path) == told


def test_a_report_is_taken_once(path, kept):
    ahead = ReadAhead()
    ahead.checksum(path, kept, "", _state(path))
    assert ahead.take(path) is not None
    assert ahead.take(path) is None


def test_a_report_that_changed_or_went_away_is_not_taken(path, kept):
    ahead = ReadAhead()
    for change in (lambda: os.utime(path, (1, 1)), path.unlink):
        ahead.checksum(path, kept, "", _state(path))
        change()
        assert ahead.take(path) is None


def test_a_report_that_took_the_place_of_another_is_not_taken(path, kept):
    """The fingerprint looked at one file, and the path leads to the next: their checksums must not be mixed."""
    ahead, looked_at = ReadAhead(), _state(path)
    path.with_name("next").write_bytes(path.read_bytes())
    path.with_name("next").rename(path)
    assert ahead.checksum(path, kept, "", looked_at) is None
    assert ahead.take(path) is None


def test_a_report_is_taken_under_its_own_name_only(path, kept):
    ahead, other = ReadAhead(), path.with_name("other.csv")
    os.link(path, other)
    ahead.checksum(path, kept, "", _state(path))
    assert ahead.take(other) is None


def test_another_report_is_not_taken_and_none_stays(path, kept, tmp_path):
    ahead = ReadAhead()
    ahead.checksum(path, kept, "", _state(path))
    assert ahead.take(write_performance_report(tmp_path / "other", block(), PASSES)) is None
    assert ahead.take(path) is None


def test_a_report_that_changes_while_it_is_read_is_not_taken(path, kept, monkeypatch):
    def read(*given):
        csv = read_performance_csv(*given)
        os.utime(path, (1, 1))
        return csv

    ahead = ReadAhead()
    monkeypatch.setattr(csv_file, "read_performance_csv", read)
    assert ahead.checksum(path, kept, "", _state(path)) is None
    assert ahead.take(path) is None


def test_a_report_with_quotes_is_taken_but_has_no_checksum_yet(tmp_path, kept):
    rows = [{**row, "OP CODE": f'"{row["OP CODE"]}"'} for row in performance_rows(block(), PASSES)]
    path = write_rows(tmp_path / "ops_perf_results.csv", rows, header_of(rows, "C7"))
    ahead = ReadAhead()
    assert ahead.checksum(path, kept, "", _state(path)) is None
    assert len(ahead.take(path).frame) == len(rows)


def test_of_what_is_no_report_nothing_is_said_yet(tmp_path, kept):
    path = tmp_path / "ops_perf_results.csv"
    path.write_text("a,b\n1,2\n")
    ahead = ReadAhead()
    assert ahead.checksum(path, kept, "", _state(path)) is None
    with pytest.raises(ReportForeign):
        read_performance_csv(path)
    assert ahead.checksum(tmp_path / "nothing", kept, "", ()) is None


def test_one_report_at_a_time_is_read_ahead(path, kept, monkeypatch):
    ahead, inner = ReadAhead(), []
    monkeypatch.setattr(
        csv_file,
        "read_performance_csv",
        lambda *given: inner.append(ahead.checksum(path, kept, "", _state(path))) or read_performance_csv(*given),
    )
    assert ahead.checksum(path, kept, "", _state(path)) is not None
    assert inner == [None]
    monkeypatch.undo()
    assert kept_report.is_large(path) is False  # a small one is not read ahead either
    assert ahead.checksum(path, kept, "", _state(path)) is None


def test_where_a_copy_may_exist_nothing_is_read_ahead(path, kept, monkeypatch):
    kept_report.performance_of(path, kept)
    assert ReadAhead().checksum(path, kept, samples_of(path), _state(path)) is None
    monkeypatch.setattr(kept_report, "reading_digest", lambda: "another version")
    assert ReadAhead().checksum(path, kept, samples_of(path), _state(path)) is not None


async def test_opening_a_run_reads_its_report_once(tmp_path, path, readings):
    first = await ask(session(tmp_path), "open_run", run=str(path))
    assert readings == ["columns"]
    moved = path.rename(tmp_path / path.name)
    identity_of_files._known.clear()
    again = await ask(session(tmp_path), "open_run", run=str(moved))
    assert readings == ["columns", "checksum"]  # and the columns from the copy
    assert again["id"] == first["id"]


async def test_without_copies_it_is_read_once_too(tmp_path, path, readings):
    await ask(Session(Settings(state=tmp_path / "state", cache_mb=0)), "open_run", run=str(path))
    assert readings == ["columns"]


async def test_a_list_of_runs_reads_no_columns(tmp_path, path, readings):
    await ask(session(tmp_path, path.parent), "list_runs")
    assert readings == ["checksum"]
