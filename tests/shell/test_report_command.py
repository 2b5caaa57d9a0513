"""The command `report`: where it writes, what it refuses to overwrite, and its errors."""

import errno
import os

import pytest

from tests.for_all import for_all
from ttnn_mcp.shell import cli

pytestmark = pytest.mark.usefixtures("opened_once")


@pytest.fixture
def report(tmp_path, capsys):
    def asked(*words):
        status = cli.main(["report", "--state", str(tmp_path / "state"), *map(str, words)])
        return status, *capsys.readouterr()

    return asked


def test_a_page_is_written_where_it_is_wanted_and_again(report, tmp_path):
    path = tmp_path / "report.html"
    for _ in range(2):
        status, out, _ = report("demo", "--output", path)
        assert status == 0
        assert str(path) in out
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_what_is_no_report_of_ours_is_not_overwritten(report, tmp_path):
    path = tmp_path / "ops_perf_results.csv"
    path.write_text("OP CODE\n", encoding="utf-8")
    status, _, err = report("demo", "--output", path)
    assert status == 1
    assert "choose another file" in err
    assert path.read_text(encoding="utf-8") == "OP CODE\n"


@for_all(("place", "words"), [("", "not a regular file"), ("missing/report.html", "cannot be written")])
def test_a_place_that_cannot_be_written_is_a_sentence(report, tmp_path, place, words):
    status, _, err = report("demo", "--output", tmp_path / place)
    assert status == 1
    assert words in err
    assert "Traceback" not in err


def test_a_pipe_is_no_place_for_a_file(report, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    status, _, err = report("demo", "--output", tmp_path / "pipe")
    assert status == 1
    assert "a pipe, not a regular file" in err


def test_an_empty_file_may_become_a_report(report, tmp_path):
    path = tmp_path / "made-by-mktemp"
    path.touch()
    assert report("demo", "--markdown", "--output", path)[0] == 0
    assert path.stat().st_size


def test_a_full_disk_leaves_no_half_report(report, tmp_path, monkeypatch):
    path = tmp_path / "report.html"

    def full(self, content):
        with self.open("wb") as file:
            file.write(content[:100])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    status, _, err = report("demo", "--output", path)
    assert status == 1
    assert "No space left on device" in err
    assert not path.exists()


def test_an_unknown_run_is_a_sentence(report):
    status, _, err = report("demoo")
    assert status == 1
    assert "No run 'demoo'" in err


def test_a_terminal_gets_markdown_and_no_page(report, monkeypatch, tmp_path):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    status, out, err = report("demo")
    assert (status, out) == (1, "")
    assert "--output" in err
    status, out, _err = report("demo", "--markdown")
    assert (status, out.startswith("## TTNN report")) == (0, True)
    assert report("demo", "--perfetto", "--output", tmp_path / "trace")[0] == 0
