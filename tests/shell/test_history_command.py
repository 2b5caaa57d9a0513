"""`ttnn-mcp history`: what it prints."""

import asyncio
import json

import pytest

from tests.archive.runs import archive_of, even, model, nights, remembering, report_of
from ttnn_mcp.archive.rows import rows_of
from ttnn_mcp.shell import cli


@pytest.fixture
def printed(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ttnn_mcp.session.archiving.Archiving.begin", lambda _: None)
    at = remembering(tmp_path)
    report = report_of(tmp_path / "new", model(), day=200)
    rows = rows_of(asyncio.run(at.run(str(report))))
    archive_of(at).add(nights(rows, [*even(6, 0.8, op_code="Matmul"), *even(4)]))

    def asked(*words, status=0):
        state = [] if "--in" in words else ["--state", str(tmp_path / "state")]
        on = [] if "--archive-mb" in words else ["--archive-mb", "500"]
        assert cli.main(["history", *words, *state, *on]) == status
        return capsys.readouterr()

    asked.report, asked.archive = str(report), str(tmp_path / "state" / "archive")
    return asked


def test_a_history_is_told_for_people(printed):
    text = printed(printed.report).out
    assert text.startswith("ops_perf_results_2026_08_05_00_00_00.csv: turned\n")
    assert "2026-01-07 00:00  kernel 323.0 us -> 397.3 us (+23.0%)  night_6.csv\n  Matmul  " in text
    assert text.count("<- turned") == 1
    assert len([line for line in text.splitlines() if " us  " in line and line.startswith("  2026")]) == 11


def test_a_history_of_an_op_in_another_archive_is_json_for_scripts(printed):
    answer = json.loads(printed("night_9.csv", "--op", "19", "--in", printed.archive, "--json").out)
    assert (answer["op_code"], answer["verdict"]) == ("Unary", "steady")


def test_what_is_refused_is_said_on_stderr(printed):
    assert "nobody" in printed("nobody", status=1).err
    assert "There is no archive of runs" in printed(printed.report, "--archive-mb", "0", status=1).err
