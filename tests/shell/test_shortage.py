"""Memory that ran out is told in one sentence, the same at every door, and before everything else."""

import asyncio
import sqlite3
from contextlib import closing
from html import unescape

import pytest

from tests.asking import ask, session
from tests.for_all import for_all
from tests.profiles import write_memory_report
from tests.profiles.demo_model import demo_program
from tests.shared_reports import SHARED, shared
from tests.tools.test_memory_summary import BEYOND, CLASH, NO_ROOM, crashing
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.report.answers import answers_of
from ttnn_mcp.report.page import page
from ttnn_mcp.report.sections import failure_words, summary
from ttnn_mcp.session.places import demo_reports
from ttnn_mcp.shell import cli
from ttnn_mcp.shell.check_report import check_report
from ttnn_mcp.shell.check_screen import LINES, check_screen
from ttnn_mcp.shell.markdown import comment, shortage
from ttnn_mcp.shell.outline import outline_of
from ttnn_mcp.tools.parts.memory_errors import ending_of

NO_L1 = NO_ROOM.format(64 * 1_300_000, 1_300_000)
ADD_ERROR = (
    "INSERT INTO errors (operation_id, operation_name, error_type, error_message, rank) VALUES (?, ?, ?, ?, 0)"
)


async def both(tmp_path, message, *errors):
    """A run whose performance report is the demo's, and whose memory report ends with this message."""
    memory = write_memory_report(tmp_path / "memory", crashing(message))
    with closing(sqlite3.connect(memory)) as database, database:
        database.executemany(ADD_ERROR, errors)
    at = session(tmp_path)
    card = await ask(at, "open_run", performance=str(demo_reports()[0]), memory=str(memory))
    return at, card


async def test_every_door_tells_the_sentence_once_and_first(tmp_path):
    at, card = await both(tmp_path, NO_L1)
    told = (await ask(at, "memory_summary", run=card["id"]))["ran_out"]
    check = await ask(at, "optimization_check", run=card["id"])
    answers = await answers_of(at, card["id"], None)
    assert (card["ran_out"], check["ran_out"], answers.card["ran_out"]) == (told, told, told)
    assert [next(iter(one)) for one in (card, check)] == ["ran_out", "ran_out"]
    assert [words for words in (*card["caveats"], *check["trust"]) if "died" in words] == []
    screen = check_screen(check, run="r", width=200).splitlines()
    assert screen[1] == f"Memory: {told}"
    assert len(screen) <= LINES
    assert check_report(check, run="r", width=200).splitlines()[2] == f"Memory: {told}"
    markdown = comment(answers)
    assert markdown.splitlines()[2] == f"Memory: **{told}**"
    assert shortage(check) == [f"Memory: **{told}**", ""]
    assert [shown.count(told) for shown in (markdown, unescape(summary(answers)))] == [1, 1]
    assert f'Memory: <strong class="verdict slower">{told}' in unescape(page(answers))


async def test_a_comparison_that_succeeds_tells_which_side_ran_out_first_at_every_door(tmp_path):
    at, card = await both(tmp_path, NO_L1)
    for before, after, sides in (
        ("demo", card["id"], ["candidate"]),
        (card["id"], "demo", ["baseline"]),
        (card["id"], card["id"], ["candidate", "baseline"]),
        ("demo", "demo", []),
    ):
        answer = await ask(at, "compare_runs", baseline=before, candidate=after)
        told = "; ".join(f"the {side} {card['ran_out']}" for side in sides)
        assert answer.get("ran_out", "") == told
        if told:
            assert next(iter(answer)) == "ran_out"
            assert outline_of(answer).facts[0] == ("ran out", told)
            answers = await answers_of(at, after, before)
            assert comment(answers).splitlines()[2] == f"Memory: **{told}**"
            shown = unescape(summary(answers))
            assert shown.startswith(f'<p class="verdicts">Memory: <strong class="verdict slower">{told}<')
            assert shown.count("ran out") == len(sides)


def told_at_all_doors(folder, capsys, memory):
    """The sentence of a memory report, after every door has told it, before all else; None where nothing ran out."""

    async def asked():
        at = session(folder)
        card = await ask(at, "open_run", memory=str(memory))
        told = card.get("ran_out")
        if told is None:
            return None
        run = card["id"]
        summed = await ask(at, "memory_summary", run=run)
        answers = await answers_of(at, run, None)
        check = await ask(at, "optimization_check", run=run)
        assert [next(iter(one.items())) for one in (card, summed, check, answers.card)] == [("ran_out", told)] * 4
        assert f'<p class="verdicts">Memory: <strong class="verdict slower">{told}<' in unescape(page(answers))
        assert comment(answers).splitlines()[2].replace("\\", "") == f"Memory: **{told}**"
        with pytest.raises(QuestionRefused) as refusal:
            await ask(at, "compare_runs", baseline=run, candidate="demo")
        assert str(refusal.value).startswith(f"Run {run} {told}. ")
        return told

    told = asyncio.run(asked())
    for words in (["open"], ["memory"], ["memory", "--markdown"], ["check"], ["compare", "demo"]) if told else ():
        failed = cli.main([*words, str(memory)])
        out, err = capsys.readouterr()
        head, *_ = (err.splitlines() if words[0] == "compare" else out.splitlines()[1:]) or [""]
        first = out.splitlines()[2] if "--markdown" in words else head
        assert told in first.replace("\\", ""), words
        assert failed == (words[0] == "compare")
    return told


@pytest.mark.slow
def test_of_every_real_report_that_ran_out_every_door_tells_it_first(tmp_path, monkeypatch, capsys):
    shared("memory")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "400")
    reports = {path.parent for path in SHARED.parent.rglob("db.sqlite")}
    told = {path.name: told_at_all_doors(tmp_path / path.name, capsys, path) for path in sorted(reports)}
    assert {name for name, words in told.items() if words} == {"out_of_l1", "cb_clash"}


@for_all(
    ("message", "what"),
    [
        (CLASH.format(1_376_256, 1_403_712), "L1 between circular buffers and tensors"),
        (BEYOND.format(1_600_000), "L1 for circular buffers alone"),
        (NO_L1.replace(" L1 ", " DRAM "), "DRAM for a tensor"),
    ],
    sampled=3,
)
def test_whatever_ran_out_every_door_tells_it_first(tmp_path, monkeypatch, capsys, message, what):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "400")
    memory = write_memory_report(tmp_path / "memory", crashing(message))
    told = told_at_all_doors(tmp_path, capsys, memory)
    assert told.startswith(f"ran out of {what} in operation 4 ttnn.conv2d (model.py:8): asked ")


async def test_a_shortage_that_was_survived_does_not_hide_a_death(tmp_path):
    _at, card = await both(tmp_path, "segmentation fault", (2, "ttnn.gelu", "RuntimeError", NO_L1))
    assert card["ran_out"].startswith("ran out of L1 for a tensor in operation 2 ttnn.gelu (")
    assert any(words.startswith("the run died in operation 4") for words in card["caveats"])


async def test_a_shortage_that_a_whole_run_survived_is_told_without_a_death(tmp_path):
    memory = write_memory_report(tmp_path / "memory", demo_program())
    with closing(sqlite3.connect(memory)) as database, database:
        database.execute(ADD_ERROR, (24, "ttnn.conv2d", "RuntimeError", NO_L1))
    ending = await ending_of(await session(tmp_path).run(str(memory)))
    assert ending.ran_out.startswith("ran out of L1 for a tensor in operation 24 ttnn.conv2d ")
    assert ending.died is None


async def test_what_is_no_shortage_and_what_cannot_be_read_is_not_told_as_one(tmp_path):
    at, card = await both(tmp_path, "segmentation fault")
    assert "ran_out" not in card
    answers = await answers_of(at, card["id"], None)
    assert 'Memory: <strong class="verdict slower">unfinished in operation 4 ttnn.conv2d (' in summary(answers)
    assert shortage(card) == []
    assert await ending_of(await at.run("demo")) == (None, None)


async def test_a_report_whose_buffers_cannot_be_read_still_has_a_card(tmp_path):
    memory = write_memory_report(tmp_path / "memory", crashing(NO_L1))
    with closing(sqlite3.connect(memory)) as database, database:
        database.execute("DROP TABLE captured_graph")
        database.execute("CREATE TABLE captured_graph (other INTEGER)")
    card = await ask(session(tmp_path), "open_run", memory=str(memory))
    assert "ran_out" not in card
    assert any(words.startswith("the run died in operation 4") for words in card["caveats"])


@for_all(
    ("failed", "words"),
    [
        ({"operation": 3, "line": "m.py:2", "kind": "E"}, "aborted in operation 3 ttnn.add (m.py:2): E"),
        ({"operation": None}, "aborted in ttnn.add"),
    ],
)
def test_another_failure_is_told_by_its_place_and_kind(failed, words):
    assert failure_words({"name": "ttnn.add", "outcome": "aborted", **failed}) == words
