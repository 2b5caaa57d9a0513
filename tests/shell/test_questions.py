"""The words behind a question: which are runs, which are arguments, and which run is taken without one."""

import shutil

import pytest

from tests.asking import session
from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.session.session import Session, Settings
from ttnn_mcp.shell.questions import QUESTIONS, arguments


@for_all(
    ("command", "words", "stated", "named"),
    [
        ("ops", ["demo", "limit=3"], {"group_by": "op_code", "run": "demo", "limit": 3}, ["demo"]),
        ("ops", ["run=demo"], {"group_by": "op_code", "run": "demo"}, ["demo"]),
        ("ops", ["group_by=role", "demo"], {"group_by": "role", "run": "demo"}, ["demo"]),
        ("op", ["64", "demo"], {"op": 64, "run": "demo"}, ["demo"]),
        ("op", ["x", "demo"], {"op": "x", "run": "demo"}, ["demo"]),
        ("op", ["demo", "op=3"], {"op": 3, "run": "demo"}, ["demo"]),
        ("ops", ["limit"], {"group_by": "op_code", "run": "limit"}, ["limit"]),  # called like an argument
        ("ops", ["my-run=2"], {"group_by": "op_code", "run": "my-run=2"}, ["my-run=2"]),
        ("compare", ["a", "b"], {"baseline": "a", "candidate": "b"}, ["a", "b"]),
        ("compare", ["candidate=b", "a"], {"baseline": "a", "candidate": "b"}, ["a", "b"]),
        ("experiments", ["action=next"], {"action": "next"}, []),
    ],
)
async def test_words_are_runs_or_arguments(tmp_path, command, words, stated, named):
    assert await arguments(session(tmp_path), QUESTIONS[command], words) == (stated, named, None)


@for_all(
    ("command", "words", "says"),
    [
        ("ops", ["a", "b"], "'b' is too much: this command takes one run"),
        ("ops", ["run=a", "b"], "'b' is too much: this command takes one run"),
        ("compare", [], "Name two runs"),
        ("op", [], "Name its line of the CSV: ttnn-mcp op LINE"),
        ("ops", ["grup_by=op_code"], "list_ops has no argument 'grup_by'. Did you mean group_by?"),
    ],
)
async def test_words_that_fit_nowhere_are_refused(tmp_path, command, words, says):
    with pytest.raises(ArgumentsInvalid, match=says.replace("(", r"\(")):
        await arguments(session(tmp_path), QUESTIONS[command], words)


async def test_a_run_may_lie_where_an_argument_could_stand(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "batch=8").mkdir()
    stated, _named, _choice = await arguments(session(tmp_path), QUESTIONS["ops"], ["batch=8"])
    assert stated == {"group_by": "op_code", "run": "batch=8"}


@for_all("option", [None, "run", "performance", "memory"])
async def test_the_choice_of_a_run_is_told_where_no_option_made_it(tmp_path, option):
    shutil.copytree(demo_reports()[0], tmp_path / "reports" / "mine")
    paths = {"run": "demo", "performance": demo_reports()[0], "memory": demo_reports()[1]}
    chosen = {} if option is None else {option: paths[option]}
    at = Session(Settings(roots=(tmp_path / "reports",), state=tmp_path / "state", **chosen))
    stated, named, choice = await arguments(at, QUESTIONS["ops"], [])
    newest = await at.run(None)
    assert (stated, named) == ({"group_by": "op_code", "run": newest.id}, [newest.name])
    if option is None:
        assert choice.startswith(f"Run {newest.name}: the newest report found (")
        assert choice.endswith(".csv).")
    else:
        assert choice is None
