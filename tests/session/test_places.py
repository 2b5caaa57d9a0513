"""Paths as callers write them, and what a confined session tells of places that it may not look into."""

import os
from pathlib import Path

import pytest

from tests.for_all import for_all
from tests.profiles import write_performance_report
from tests.programs import block
from ttnn_mcp.errors import ReportMissing
from ttnn_mcp.session import places
from ttnn_mcp.session.places import Roots, place_of
from ttnn_mcp.session.settings import Settings

LONGEST = 4096  # of Linux


@for_all("written", ["", " ", "a\0b", "/" + "x" * LONGEST])
def test_a_text_that_is_no_path_is_said_to_be_none(written):
    with pytest.raises(ReportMissing, match="is no path: it is empty, too long or holds a null character"):
        place_of(written)


def test_a_text_that_no_system_could_write_is_no_path_here():
    with pytest.raises(ReportMissing, match="cannot be a path on this machine"):
        place_of("\ud800")


def test_a_path_is_absolute_and_may_be_as_long_as_the_system_allows(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.chdir(tmp_path)
    assert place_of("~/a") == Path("/home/me/a")
    assert place_of("a") == tmp_path / "a"
    assert str(place_of("/" + "x" * (LONGEST - 1))) == "/" + "x" * (LONGEST - 1)
    if "linux" in os.uname().sysname.lower():
        assert os.pathconf("/", "PC_PATH_MAX") == LONGEST


@pytest.fixture
def outside(tmp_path):
    return write_performance_report(tmp_path / "secret", block())


def roots(folder, *, confined=True):
    return Roots(Settings(roots=[folder], confined=confined))


def test_only_a_confined_session_follows_links_before_it_names_a_report(tmp_path, outside):
    (tmp_path / "link").symlink_to(outside.parent)
    for confined, folder in ((False, tmp_path / "link"), (True, outside.parent)):
        (report,) = roots(tmp_path, confined=confined).classified(str(tmp_path / "link"))
        assert report.path.parent == folder


def test_a_folder_with_a_link_out_is_refused_before_anything_is_read(tmp_path, outside):
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "ops_perf_results.csv").symlink_to(outside)
    with pytest.raises(ReportMissing, match="lies outside the served roots"):
        roots(tmp_path / "served").classified(str(tmp_path / "served"))


def test_where_a_root_is_gone_nothing_beside_it_is_named(tmp_path, outside):
    gone = tmp_path / "secrets"
    with pytest.raises(ReportMissing) as refusal:
        roots(gone).classified(str(gone))
    assert "outside the served roots" in str(refusal.value)
    assert "Did you mean" not in str(refusal.value)


def test_a_place_that_cannot_be_known_lies_outside(tmp_path, outside, monkeypatch):
    monkeypatch.setattr(places, "resolved", lambda _: None)
    with pytest.raises(ReportMissing, match="outside the served roots"):
        roots(tmp_path).classified(str(outside))
