"""What the command line or the environment decided, and what it is without them."""

from pathlib import Path

import pytest

from tests.for_all import for_all
from ttnn_mcp.session import settings
from ttnn_mcp.session.settings import ARCHIVE_VARIABLE, MB, NOWHERE, Settings


@pytest.fixture(autouse=True)
def _engine(monkeypatch):
    monkeypatch.setattr(settings, "find_spec", lambda _: "engine")


@for_all(
    ("written", "most"),
    [("0", 0), (" 70 ", 70), ("999999999", 999_999_999), ("1000000000", 0), ("\u0663", 0), ("-5", 0), ("", 0)],
)
def test_the_variable_bounds_the_archive_in_megabytes(tmp_path, monkeypatch, written, most):
    monkeypatch.setenv(ARCHIVE_VARIABLE, written)
    assert Settings(state=tmp_path).archive_at_most_mb == most
    assert Settings(state=tmp_path, archive_mb=7).archive_at_most_mb == 7


def test_without_engine_or_home_there_is_no_archive(tmp_path, monkeypatch):
    assert Settings(state=NOWHERE, archive_mb=7).archive_at_most_mb == 0
    monkeypatch.setattr(settings, "find_spec", lambda _: None)
    assert Settings(state=tmp_path, archive_mb=7).archive_at_most_mb == 0


def test_half_a_gigabyte_of_archive_and_one_of_copies_are_usual(tmp_path, monkeypatch):
    monkeypatch.delenv(ARCHIVE_VARIABLE, raising=False)
    usual = Settings(state=tmp_path)
    assert (usual.archive_at_most_mb * MB, usual.cache_mb * MB) == (500_000_000, 1_000_000_000)


def test_reports_are_looked_for_under_the_roots_or_where_ttnn_writes_them(monkeypatch):
    monkeypatch.setenv("TT_METAL_HOME", "/metal")
    assert Settings().searched == (Path("/metal/generated"),)
    assert Settings(roots=[Path("/a"), Path("/b")]).searched == (Path("/a"), Path("/b"))
