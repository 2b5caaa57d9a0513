"""The story of a loop: what of a long log is told, and what is said of runs that are gone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.asking import session
from tests.experiments.writer import experiment
from tests.for_all import for_all
from tests.pairs import Model, write
from ttnn_mcp.analyses.comparison import noise
from ttnn_mcp.experiments.decision import Decision
from ttnn_mcp.experiments.experiment import RunSeen, Target
from ttnn_mcp.experiments.outlook import Outlook
from ttnn_mcp.experiments.store import Store
from ttnn_mcp.experiments.story import Story, alone
from ttnn_mcp.tools.parts import loop_story
from ttnn_mcp.tools.parts.loop_story import (
    BestNow,
    _try_next,
    noise_of,
    progress_now,
    seen_alone,
    target_progress,
    tell,
)
from ttnn_mcp.wire import Finding, Saving

GONE = RunSeen("aaaaaaaa", "run a", "/reports/a.csv", None, 1_000_000, warm=True)
NOWHERE = BestNow(None, "it is gone")


@pytest.fixture
def at(tmp_path):
    return session(tmp_path)


@pytest.fixture
def told(at):
    """The story of a log of these experiments."""

    async def of(*experiments, target=None):
        store = Store(at.settings.state_folder)
        for one in experiments:
            await store.add(one)
        if target is not None:
            await store.set_target(target)
        return await tell(at, None)

    return of


async def test_the_last_ten_experiments_are_listed_and_the_others_counted(told):
    verdicts = ["keep", "revert", "revert", *["inconclusive"] * 10]
    answer = await told(*(experiment(f"change {number}", verdict=one) for number, one in enumerate(verdicts)))
    assert [row[2] for row in answer.log.rows] == [f"change {number}" for number in range(3, 13)]
    assert answer.earlier == "3 earlier: 1 kept, 2 reverted; export has all"


async def test_a_short_log_has_nothing_earlier_and_changes_of_sixty_characters(told):
    answer = await told(experiment("c" * 60), experiment("c" * 61))
    assert answer.earlier is None
    assert [row[2] for row in answer.log.rows] == ["c" * 60, "c" * 57 + "..."]


async def test_an_empty_log_says_where_to_begin(told):
    answer = await told()
    assert (answer.log.rows, answer.notes, answer.baseline) == ((), ("nothing recorded yet",), None)
    assert [call.tool for call in answer.next] == ["open_run"]


async def test_the_last_three_doubtful_experiments_are_named_by_their_codes(told):
    flags = [("odd: 1",), (), ("odd: 2", "cold: 3"), ("odd: 4",), ("odd: 5",), ()]
    answer = await told(*(experiment(f"change {number}", flags=one) for number, one in enumerate(flags)))
    assert "suspicious: #3 odd, cold; #4 odd; #5 odd" in answer.notes


async def test_nothing_is_noted_of_a_loop_alone_that_nobody_doubts(told, monkeypatch):
    monkeypatch.setattr(loop_story, "outlook_of", None)
    answer = await told(experiment("one", verdict="revert"))
    (note,) = answer.notes  # the baseline is the best run, and told as such
    assert note.startswith("the best run cannot be opened: ")


async def test_other_loops_of_the_log_are_counted(told):
    other = experiment("other", baseline="cccccccc", candidate="dddddddd")
    answer = await told(other, experiment("one", verdict="revert", recorded=1.0))
    assert "1 other loops in the log; baseline=... chooses one" in answer.notes


async def test_a_baseline_that_is_gone_or_overwritten_is_told_beside_the_best_run(at, tmp_path):
    paths = {name: write(tmp_path / name, Model(up_ns=ns)) for name, ns in (("base", 90_000), ("best", 70_000))}
    base, best = [await seen_alone(await at.run(str(path))) for path in paths.values()]
    store = Store(at.settings.state_folder)
    await store.add(replace(experiment("faster"), baseline=base, candidate=best))
    assert (await tell(at, None)).notes == ()
    write(tmp_path / "base", Model(up_ns=95_000))
    (note,) = (await tell(at, None)).notes
    assert note.startswith(f"baseline {base.id}: its report was overwritten and is now run ")


async def test_a_baseline_whose_report_was_removed_is_told(told):
    answer = await told(experiment("faster"))
    assert "baseline aaaaaaaa: its report is not where it was" in answer.notes


def story(target=None, **more) -> Story:
    return replace(alone(GONE), target=target, **more)


LATENCY, SHARE = Target(GONE, "latency_ms", 0.5), Target(GONE, "roofline_share", 0.6)
FOUND = Outlook(1_000_000.0, 800_000.0, 0.0, 0.0, 0.0, (), ())


def test_only_a_share_of_the_roofline_needs_the_best_run_s_report():
    assert target_progress(story(), NOWHERE) is None
    assert progress_now(story(), FOUND) is None
    unknown = target_progress(story(SHARE), NOWHERE)
    assert (unknown.status, unknown.stop) == ("unknown", False)
    assert unknown.why.startswith("the share of the roofline needs the best run's report")
    assert target_progress(story(SHARE), BestNow(FOUND, None)).status == "met"  # 0.8 of 1 ms
    assert "50% to go" in target_progress(story(LATENCY), NOWHERE).why
    assert target_progress(story(replace(LATENCY, value=2.0)), None).status == "met"


@for_all(
    ("target", "actions"),
    [(None, ["next", "target"]), (LATENCY, ["next"]), (replace(LATENCY, value=2.0), [])],
    ids=["none", "not met", "met"],
)
async def test_a_target_is_asked_for_until_there_is_one_and_nothing_once_it_is_met(told, target, actions):
    answer = await told(experiment("one", verdict="revert"), target=target)
    assert [call.arguments["action"] for call in answer.next] == actions


def test_noise_is_the_last_measurement_s_and_before_any_what_comparisons_assume():
    assert noise_of(story()) == noise.DEFAULT_SHARE
    measured = story(experiments=(experiment("one"), experiment("two", noise_share=0.03)))
    assert noise_of(measured) == 0.03


def finding(check) -> Finding:
    words = dict.fromkeys(("claim", "assumption", "fix", "verify", "read_next"), "words")
    return Finding(
        check=check, edit="made", step=3, share=0.1, saving_us=Saving(at_least=1, at_most=9), evidence=(), **words
    )


def test_three_findings_are_named_to_try_next():
    first, *others = (finding(f"check-{number}") for number in range(5))
    table = _try_next(Decision(first, "promising", "words", tuple(others)))
    assert [row[0] for row in table.rows] == ["check-0", "check-1", "check-2"]
    assert _try_next(Decision(None, "blocked", "words")) is None
