"""Each tick of the checklist, with what it rests on."""

from tests.experiments.test_story import LOOP, chain
from tests.for_all import for_all
from ttnn_mcp.experiments.experiment import RunSeen, Target
from ttnn_mcp.experiments.outlook import Outlook
from ttnn_mcp.experiments.story import checklist, story_of
from ttnn_mcp.wire import StepStatus


def ticks(experiments, *steps, target=False):
    run = RunSeen("a", "a", None, None, 1_000_000, True)
    story = story_of(experiments, [Target(run, "latency_ms", 5.0)] if target else [])
    statuses = tuple(StepStatus(step=step, status=status, why="") for step, status in steps)
    told = checklist(story, Outlook(1.0, 1.0, 0.0, 0.0, 0.0, (), statuses))
    return {tick.tick.partition(" ")[0]: (tick.rests_on, tick.why) for tick in told}


@for_all(
    ("status", "told"),
    [
        ("clean", ("measured", "clean on the best run")),
        ("not_applicable", ("measured", "not applicable on the best run")),
        ("found", ("not shown", "found")),
    ],
)
def test_a_step_is_told_by_its_own_checks(status, told):
    found = ticks([], (4, "clean"), (2, status), target=True)
    assert found["2"] == told
    assert found["4"] == ("measured", "clean on the best run")
    assert found["5"] == ("not shown", "not tried")


def test_a_step_that_was_tried_is_told_by_what_was_decided():
    assert ticks(LOOP, (3, "found"))["3"] == ("recorded", "#3 keep")
    undecided = chain(("a", "b", "inconclusive", 900_000, {"step": 3}))
    assert ticks(undecided, (3, "found"))["3"] == ("not shown", "#1 inconclusive")


def test_the_last_three_decisions_of_a_step_are_told():
    many = chain(*(("a", f"c{number}", "revert", 2_000_000, {"step": 3}) for number in range(4)))
    assert ticks(many)["3"] == ("recorded", "#2 revert, #3 revert, #4 revert")


@for_all(("pcc", "rests_on"), [(0.99, "recorded"), (0.98, "not shown"), (None, "not shown")])
def test_the_final_pcc_is_that_of_the_best_run(pcc, rests_on):
    assert ticks(chain(("a", "b", "keep", 900_000, {"pcc": pcc})))["Final"][0] == rests_on


def test_a_baseline_without_a_target_is_not_shown():
    assert ticks(LOOP)["Baseline"] == ("not shown", "no target set")
