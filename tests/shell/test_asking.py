"""The commands for people: the same numbers as the tools, in whatever form is asked for."""

import json
import re
import shutil

import pytest

from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.questions import QUESTIONS

DEMO = [["check", "demo"], ["ops", "demo"], ["compare", "demo", "demo"], ["memory", "demo"], ["host", "demo"], ["runs"],
        ["experiments"]]  # fmt: skip


@pytest.fixture
def ttnn_mcp(tmp_path, monkeypatch, capsys):
    """Run a command in an empty state folder; its exit status, stdout and stderr."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    def run(*words):
        status = cli.main(list(words))
        return status, *capsys.readouterr()

    return run


def numbers(value):
    """All numbers of an answer, as JSON writes them."""
    if isinstance(value, dict):
        return [number for name, part in value.items() if name != "next" for number in numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    return [json.dumps(value)] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", DEMO, ids=lambda words: words[0])
def test_json_is_what_the_tool_answers(ttnn_mcp, words):
    question = QUESTIONS[words[0]]
    pairs = [f"{name}={run}" for name, run in zip(question.runs, words[1:], strict=True)]
    _, tool, _ = ttnn_mcp("call", question.tool, *pairs)
    status, out, err = ttnn_mcp(*words, "--json")
    assert (status, err) == (0, "")
    answer, asked = json.loads(tool), json.loads(out)
    if words[0] == "check":
        answer.pop("next_cursor")
        assert asked["findings"][: len(answer["findings"])] == answer["findings"]
        assert len(asked["findings"]) > len(answer["findings"])
        answer["findings"] = asked["findings"]
    assert asked == answer


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", DEMO, ids=lambda words: words[0])
def test_every_number_of_the_json_is_shown_and_nothing_leaves_the_screen(ttnn_mcp, monkeypatch, words):
    wanted = numbers(json.loads(ttnn_mcp(*words, "--json")[1]))

    def shown_by(*form):
        status, out, err = ttnn_mcp(*words, *form)
        assert (status, err) == (0, "")
        shown = out.replace("\n", " ").replace(",", "")
        for number in wanted:
            assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d])", shown), number
        return out

    shown_by("--markdown")
    for width in (
        (40, 100, 200) if words[0] != "check" else ()
    ):  # a report's shares are rounded: test_check_report.py
        monkeypatch.setenv("COLUMNS", str(width))
        for line in shown_by().partition("\nNext\n")[0].splitlines():
            assert len(line) <= width
            assert line == line.rstrip()


def test_markdown_is_as_wide_as_it_is(ttnn_mcp, monkeypatch):
    narrow, wide = (
        monkeypatch.setenv("COLUMNS", width) or ttnn_mcp("ops", "demo", "--markdown") for width in ("40", "200")
    )
    assert narrow == wide


def test_a_report_of_findings_fits_every_screen(ttnn_mcp, monkeypatch):
    for width in (40, 80, 200):
        monkeypatch.setenv("COLUMNS", str(width))
        status, out, _ = ttnn_mcp("check", "demo")
        assert status == 0
        assert out.startswith("What could make run 'demo' faster\n")
        assert max(map(len, out.partition("\nNext\n")[0].splitlines())) <= width


def test_colours_are_for_terminals_and_for_those_who_ask(ttnn_mcp, monkeypatch):
    for words in (["ops", "demo"], ["check", "demo"]):
        plain = ttnn_mcp(*words)[1]
        assert "\x1b" not in plain
        monkeypatch.setenv("FORCE_COLOR", "1")
        coloured = ttnn_mcp(*words)[1]
        assert "\x1b[1m" in coloured
        monkeypatch.setenv("NO_COLOR", "1")
        assert ttnn_mcp(*words)[1] == plain
        monkeypatch.delenv("NO_COLOR")
        monkeypatch.delenv("FORCE_COLOR")
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


@pytest.mark.parametrize(
    "words", [["ops", "demo"], ["runs"], ["gate", "--baseline", "demo", "--candidate", "demo"]]
)
def test_a_question_waits_for_no_other_tool(ttnn_mcp, monkeypatch, words):
    monkeypatch.setattr("ttnn_mcp.tools.catalogue.TOOLS", None)
    assert ttnn_mcp(*words)[2] == ""


def test_without_a_run_the_newest_is_taken_and_named(ttnn_mcp, tmp_path):
    shutil.copytree(demo_reports()[0], tmp_path / "generated" / "profiler" / "reports" / "mine")
    status, out, err = ttnn_mcp("ops")
    assert status == 0
    assert err.startswith("Run mine/2026_01_01_00_00_00/")
    assert ": the newest report found (" in err
    assert err.count("\n") == 1
    assert out.startswith("list ops: mine/2026_01_01_00_00_00/")
    assert ttnn_mcp("compare", "demo")[2] == err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ops", "dema"], "Did you mean demo?"),
        (["ops", "demo", "demo"], "takes one run"),
        (["runs", "demo"], "takes no run"),
        (["compare"], "Name two runs"),
        (["ops"], "no report found"),
        (["ops", "demo", "limit=x"], "limit"),
        (["skill", "step-04-metal-tracing"], "Did you mean step-04-metal-trace"),
    ],
)
def test_a_mistake_is_told_in_a_sentence(ttnn_mcp, words, says):
    status, out, err = ttnn_mcp(*words)
    assert (status, out) == (1, "")
    assert says in err
    assert err.count("\n") == 1


def test_a_page_of_the_skill_is_markdown(ttnn_mcp):
    assert ttnn_mcp("skill")[1].startswith("---\nname: optimizing-ttnn-models")
    assert "\n## " in ttnn_mcp("skill", "step-04-metal-trace")[1]


def test_an_argument_that_the_tool_lacks_is_no_run(ttnn_mcp, tmp_path):
    status, out, err = ttnn_mcp("ops", "grup_by=op_code")
    assert (status, out) == (1, "")
    assert "list_ops has no argument 'grup_by'. Did you mean group_by" in err
    (tmp_path / "a=b").mkdir()
    assert "no argument" not in ttnn_mcp("ops", "a=b")[2]
