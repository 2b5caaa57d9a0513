"""`ttnn-mcp ops --format tt-perf-report`: the CSV of tt-perf-report on stdout, with our advice."""

import csv

import pytest

from tests.asking import session
from tests.profiles import Iteration, write_performance_report
from tests.profiles.demo_model import demo_program
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.perf_report.command import COLUMNS, perf_report


def rows(text):
    return {int(row["ID"]): row for row in csv.DictReader(text.splitlines())}


def test_the_csv_stands_alone_on_stdout(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert cli.main(["ops", "demo", "--format", "tt-perf-report"]) == 0
    out, err = capsys.readouterr()
    assert (out.partition("\n")[0], err) == (",".join(COLUMNS), "")
    table = rows(out)
    assert len(table) == 80
    assert (table[64]["OP Code"], table[64]["Device Time"]) == (
        "Conv2dDeviceOperation 4096 x 1728 x 256 [ABH=2|1 SR]",
        "122.4",
    )
    assert (table[75]["OP Code"], table[75]["Op Category"]) == ("MatmulDeviceOperation 1024 x 256 x 768", "Compute")
    assert table[75]["Math Fidelity"] == "HiFi2 BF16 x BFP8 => BF16"
    assert "matmul-operands-in-l1-interleaved: ttnn.matmul(a, b, " in table[75]["Advice"]
    assert "`" not in out
    assert table[2]["Advice"] == ""  # of the cold iteration


async def test_a_run_without_times_has_no_such_table(tmp_path):
    _performance, memory = demo_reports()
    at = Session(Settings(state=tmp_path / "state", memory=memory))
    with pytest.raises(QuestionRefused, match="needs a performance report"):
        await perf_report(at, [], lambda _sentence: None)


async def test_a_table_that_signposts_leave_empty_says_how_to_get_all(tmp_path):
    told = []
    path = str(write_performance_report(tmp_path / "r", demo_program(), [Iteration(signposts=("start", "stop"))]))
    assert rows(await perf_report(session(tmp_path), [path], told.append)) == {}
    assert told == ["tt-perf-report takes no op between the signposts of this report; iteration=all takes all."]
    assert rows(await perf_report(session(tmp_path), [path, "iteration=all"], told.append))
    assert len(told) == 1


async def test_a_run_that_nobody_named_is_told(tmp_path):
    told = []
    at = Session(Settings(roots=(demo_reports()[0] and tmp_path.__class__(demo_reports()[0]),), state=tmp_path))
    text = await perf_report(at, [], told.append)
    assert rows(text).keys() == rows(await perf_report(session(tmp_path), ["demo"], told.append)).keys()
    assert len(told) == 1
    assert "the newest report found" in told[0]
