"""The commands for people: the same numbers as the tools, in whatever form is asked for."""

import json
import re
import shutil
from decimal import Decimal

import pytest

from tests.for_all import for_all
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, shared
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.questions import QUESTIONS

pytestmark = pytest.mark.usefixtures("opened_once")

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


def numbers(value, name=""):
    """All numbers of an answer as JSON writes them, shares in percent."""
    if isinstance(value, dict) and value.keys() == {"columns", "rows"}:
        cells = [pair for row in value["rows"] for pair in zip(row, value["columns"], strict=True)]
        return [number for cell, column in cells for number in numbers(cell, column)]
    if isinstance(value, dict):
        return [number for name, part in value.items() if name != "next" for number in numbers(part, name)]
    if isinstance(value, list):
        return [number for part in value for number in numbers(part)]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return []
    return [f"{Decimal(str(value)).scaleb(2).normalize():f}%" if name.endswith("share") else json.dumps(value)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("words", DEMO, ids=lambda words: words[0])
def test_json_is_what_the_tool_answers(ttnn_mcp, words):
    question = QUESTIONS[words[0]]
    pairs = [f"{name}={run}" for name, run in zip(question.runs, words[1:], strict=True)]
    pairs += [f"{name}={value}" for name, value in question.stated.items()]
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
            zeros = "0*" if "." in number else ""  # a column has the decimals of its finest cell
            assert re.search(rf"(?<![\d.]){re.escape(number)}{zeros}(?!\d)", shown), number
        return out

    if words[0] not in ("check", "compare"):  # in the form of a report: test_report_markdown.py
        shown_by("--markdown")
    for width in (
        (40, 100, 200) if words[0] not in ("check", "ops") else ()
    ):  # these have a view of their own: test_check_screen.py, test_ops_view.py
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
        assert out.startswith("demo: iteration 2 of 2, warm, 40 ops\n")
        assert out.count("\n") <= 24
        assert max(len(line) for line in out.splitlines() if " check demo --" not in line) <= width


def test_a_whole_report_fits_every_screen_but_for_its_code(ttnn_mcp, monkeypatch):
    for width in (40, 80):
        monkeypatch.setenv("COLUMNS", str(width))
        status, out, _ = ttnn_mcp("check", "demo", "--all")
        assert status == 0
        assert out.startswith("What could make run 'demo' faster\n")
        lines = out.partition("\nNext\n")[0].splitlines()
        assert all(len(line) <= width or re.fullmatch(r" *\S+( = \S+)?", line) for line in lines)


def test_details_of_an_edit_are_asked_for_by_its_number_or_its_name(ttnn_mcp):
    status, out, err = ttnn_mcp("check", "demo", "--details", "2")
    assert (status, err) == (0, "")
    assert out == ttnn_mcp("check", "demo", "--details", "conv-config")[1]
    assert out.startswith("1. conv-double-buffer-off  (edit conv-config, ")
    assert "edit trace" not in out
    assert "\nconv_config = ttnn.Conv2dConfig(" in out
    assert "\nconv-config, 12672x192 * " in out
    assert "13. " not in out
    assert ttnn_mcp("check", "demo", "--details", "99")[::2] == (
        1, "The plan has no edit 99: it has 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13.\n"
    )  # fmt: skip
    assert "The plan has no edit 1: it has none." in ttnn_mcp("check", "demo", "steps=[7]", "--details", "1")[2]
    assert "Did you mean 'trace'?" in ttnn_mcp("check", "demo", "--details", "tracing")[2]


def test_ops_are_grouped_unless_each_is_asked_for(ttnn_mcp):
    assert re.search(
        r"^Conv2d +5 +382\.4 +36\.8 +21\.2 +64 +2\.2 +38\.6 +67$", ttnn_mcp("ops", "demo")[1], re.MULTILINE
    )
    each = ttnn_mcp("ops", "demo", "--each")[1]
    assert re.search(r"^ +67 +Conv2d +135\.2 +13\.0 +15\.0 +64 +compute +HiFi4 ", each, re.MULTILINE)
    assert "device" not in each.partition("\n\n")[0]
    assert ttnn_mcp("ops", "demo", "--each", "limit=2")[1].count("Conv2d") == 2


def test_an_op_is_asked_for_by_its_line(ttnn_mcp):
    status, out, err = ttnn_mcp("op", "64", "demo")
    assert (status, err) == (0, "")
    assert out.startswith("op detail: demo\n")
    assert re.search(r"^op +64$", out, re.MULTILINE)
    assert re.search(r"^bound +compute$", out, re.MULTILINE)
    assert ttnn_mcp("op")[::2] == (
        1, "Name its line of the CSV: ttnn-mcp op LINE [RUN] (ttnn-mcp ops --each lists them).\n"
    )  # fmt: skip
    assert "op" in ttnn_mcp("op", "x64", "demo")[2]


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


@for_all("words", [["ops", "demo"], ["runs"], ["gate", "--baseline", "demo", "--candidate", "demo"]])
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


@for_all(
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
    assert "`ttnn-mcp ops` has no argument 'grup_by'. Did you mean group_by" in err
    (tmp_path / "a=b").mkdir()
    assert "no argument" not in ttnn_mcp("ops", "a=b")[2]


ONE_TIME = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)? (ns|us|ms|s)\b")
LONG = re.compile(
    r"(?<![\w.,/=#\[\]\u200b-])\d{5,}(?![\w.\[\]=-])"
)  # no cell, shape, share of a name or number of an issue


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", ["demo", CLIP, DEEPLAB, DEEPSEEK, OFT])
def test_every_sentence_has_one_unit_of_time_and_groups_its_digits(ttnn_mcp, monkeypatch, name):
    """Cells are cited as they stand in the report."""
    monkeypatch.setenv("COLUMNS", "4000")
    run = name if name == "demo" else str(shared(name))
    for form in ("--all", "--markdown"):
        text = ttnn_mcp("check", run, form)[1]
        for said in re.split(r"(?<=[.;:|]) |\n", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
            assert len({*ONE_TIME.findall(said)}) < 2, said
            assert not LONG.search(re.sub(r"= [\d.]+|\w+(?:\\?\[\d+\\?\])?x\w+|tensors:\d+", "", said)), said


def test_a_wall_time_is_told_by_an_option_that_the_suggested_commands_repeat(ttnn_mcp):
    status, out, err = ttnn_mcp("check", "demo", "--wall-ms", "1.3")
    assert (status, err) == (0, "")
    assert "; wall time 1.300 ms; " in out
    assert "kernels fill 80% of wall_ms 1.3: 262 us are left" in out
    assert "check demo --wall-ms 1.3 --details 1" in out
    assert "check demo --wall-ms 1.3 --all" in out
    assert (
        ttnn_mcp("check", "demo", "wall_ms=1.3", "--all")[1]
        == ttnn_mcp("check", "demo", "--wall-ms", "1.3", "--all")[1]
    )
    first = ttnn_mcp("check", "demo", "--wall-ms", "1.3", "--details", "1")[1]
    assert "wall_ms 1.3 is of this window" in " ".join(first.split())
    assert "--wall-ms" not in ttnn_mcp("check", "demo")[1]


def test_a_wall_time_that_is_no_time_is_refused(ttnn_mcp):
    for wall, why in (
        ("soon", "is a number"),
        ("0", "is more than 0"),
        ("inf", "finite"),
        ("0.5", "below the 1.038 ms"),
    ):
        status, out, err = ttnn_mcp("check", "demo", "--wall-ms", wall)
        assert (status, out) == (1, "")
        assert "wall_ms" in err
        assert why in err
