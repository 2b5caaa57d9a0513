"""What a loop does next: one finding, or a reason to stop; never a third try, never what was decided against."""

from dataclasses import replace

from tests.experiments.writer import experiment
from tests.for_all import for_all
from ttnn_mcp.experiments.decision import TRIES, Position, check_named, decide, ruled_out
from ttnn_mcp.experiments.experiment import RunSeen, Target
from ttnn_mcp.experiments.outlook import Outlook, Progress
from ttnn_mcp.experiments.story import alone, story_of
from ttnn_mcp.wire import Finding, Saving

NOISE = 0.01
KERNEL_NS = 10e6  # so 100 us are noise
RUN = RunSeen("a", "a", None, None, int(KERNEL_NS), True)


def finding(check, at_most_us):
    return Finding(
        check=check, edit="made", step=1, claim="", share=0.1, saving_us=Saving(at_least=0, at_most=at_most_us), assumption="",
        evidence=(), fix="", verify="", read_next="",
    )  # fmt: skip


def outlook(*findings, lowest_ns=0.0):
    return Outlook(KERNEL_NS, KERNEL_NS / 2, lowest_ns, 0.0, 0.0, findings, ())


def tried(check, verdict, number, at_most_us=300.0, **more):
    recorded = experiment("x", verdict=verdict, baseline="a", candidate=f"c{number}", **more)
    return replace(recorded, id=number, recorded=float(number), finding=check, at_most_us=at_most_us)


def decided(experiments=(), look=None, progress=None, target=None, now=100.0):
    story = story_of(list(experiments), [target] if target else []) or alone(RUN)
    return decide(Position(story, look, progress, NOISE, None, now))


LOOK = outlook(finding("first", 300.0), finding("second", 200.0), finding("small", 99.0))


def test_the_most_promising_finding_comes_first_and_noise_is_left_out():
    decision = decided(look=LOOK)
    assert (decision.finding.check, [each.check for each in decision.untried]) == ("first", ["second"])


@for_all(
    ("tries", "now_us", "out"),
    [
        ([("revert", {})], 300, True),
        ([("revert", {})], 399, True),  # the growth is within the noise
        ([("revert", {})], 401, False),  # it promises more than when it was tried
        ([("revert", {"pcc": 0.9})], 401, True),  # more to gain does not mend accuracy
        ([("revert", {"pcc": None})], 401, False),
        ([("revert", {"at_most_us": None})], 401, True),  # nobody knows what it promised then
        ([("inconclusive", {})], 300, False),
        ([("inconclusive", {})] * TRIES, 300, True),
        ([("inconclusive", {})] * TRIES, 5000, True),  # never a third repeat
        ([("inconclusive", {}), ("keep", {}), ("inconclusive", {})], 300, False),
        ([("revert", {}), ("keep", {})], 300, False),  # what it claims after a gain are other ops
    ],
)
def test_a_finding_is_ruled_out_by_its_tries(tries, now_us, out):
    recorded = [tried("first", verdict, number, **more) for number, (verdict, more) in enumerate(tries, start=1)]
    recorded.append(tried("another", "revert", 9))
    assert (ruled_out("first", now_us, recorded, 100.0) is not None) is out


def test_the_next_finding_follows_one_that_was_reverted():
    decision = decided([tried("first", "revert", 1)], LOOK)
    assert decision.finding.check == "second"
    assert [(each.check, each.experiment) for each in decision.ruled_out] == [("first", 1)]


def test_a_loop_stops_when_everything_above_the_noise_was_tried():
    decision = decided([tried("first", "revert", 1), tried("second", "revert", 2)], LOOK)
    assert (decision.finding, decision.reason) == (None, "all_tried")
    assert "first in #1" in decision.why


def test_a_loop_stops_when_nothing_is_above_the_noise():
    assert decided(look=outlook(finding("small", 99.0))).reason == "within_noise"


def test_a_loop_stops_at_its_target_even_where_the_best_run_cannot_be_read():
    progress = Progress("met", "9 ms, target 10 ms: met", stop=True)
    target = Target(RUN, "latency_ms", 10.0)
    assert decided(look=LOOK, progress=progress, target=target).reason == "target_met"
    assert decided(progress=progress, target=target).reason == "target_met"


def test_a_loop_is_blocked_where_the_best_run_cannot_be_read():
    assert decided().reason == "blocked"


@for_all(
    ("kind", "value", "batch", "reason"),
    [
        ("latency_ms", 3.9, 1, "out_of_reach"),
        ("latency_ms", 4.1, 1, "promising"),
        ("samples_per_s", 2.1e3, 8, "out_of_reach"),  # 8 samples in 4 ms are 2,000 per second
        ("samples_per_s", 1.9e3, 8, "promising"),
        ("roofline_share", 0.9, 1, "promising"),
    ],
)
def test_a_target_below_the_floor_is_out_of_reach(kind, value, batch, reason):
    target = Target(RUN, kind, value, batch)
    decision = decided(look=replace(LOOK, lowest_ns=4e6), target=target)
    assert decision.reason == reason
    assert ("4 ms" in decision.why) is (reason == "out_of_reach")


@for_all(
    ("limits", "reason"),
    [
        ({"rounds": 2}, "budget_spent"),
        ({"rounds": 3}, "promising"),
        ({"hours": 2.0}, "budget_spent"),
        ({"hours": 2.1}, "promising"),
    ],
)
def test_a_loop_ends_with_its_budget(limits, reason):
    start = 1e6
    target = Target(RUN, "latency_ms", 1.0, recorded=start, **limits)
    done = [replace(tried("x", "revert", n), recorded=start + n) for n in (1, 2)]
    before_the_target = replace(tried("x", "revert", 3), recorded=start - 1)
    assert decided([before_the_target, *done], LOOK, target=target, now=start + 7200).reason == reason


def test_a_share_of_the_roofline_is_no_time_that_a_floor_could_forbid():
    target = Target(RUN, "roofline_share", 0.9)
    assert decided(look=replace(LOOK, lowest_ns=2e9), target=target).reason == "promising"


def test_a_target_does_not_end_a_loop_whose_best_run_cannot_be_read():
    assert decided(target=Target(RUN, "latency_ms", 1.0)).reason == "blocked"


@for_all(("status", "told"), [("out_of_reach", True), ("within_reach", False), (None, False)])
def test_a_target_that_all_findings_do_not_reach_is_told_with_the_next_one(status, told):
    progress = Progress(status, "", stop=False) if status else None
    assert ("do not reach the target" in decided(look=LOOK, progress=progress).why) is told


def test_only_tries_of_the_finding_are_told_with_it():
    assert "tried in" not in decided([tried("another", "revert", 1)], LOOK).why


def test_a_try_that_others_followed_or_that_promised_less_asks_for_no_more_iterations():
    followed = decided([tried("first", "inconclusive", 1), tried("another", "revert", 2)], LOOK).why
    assert "tried in #1" in followed
    assert "more iterations" not in followed
    grown = decided([tried("first", "revert", 1, at_most_us=100.0)], LOOK).why
    assert "tried in #1" in grown
    assert "more iterations" not in grown


def test_two_rounds_without_a_gain_ask_for_a_look_at_the_budget():
    flat = [tried("x", "revert", 1), tried("y", "inconclusive", 2)]
    assert "time_budget" in decided(flat, LOOK).why
    assert "time_budget" not in decided([*flat, tried("z", "keep", 3)], LOOK).why
    assert "time_budget" not in decided(flat[:1], LOOK).why


def test_a_finding_tried_without_a_decision_asks_for_more_iterations():
    again = decided([tried("first", "inconclusive", 1)], LOOK)
    assert again.finding.check == "first"
    assert "more iterations" in again.why


@for_all(
    ("text", "check"),
    [
        ("low-core-count: 64 cores", "low-core-count"),
        ("Low-Core-Count tried", "low-core-count"),
        ("not-a-check", None),
        ("low-core-count and wide-weights", None),
        ("low core count", None),
    ],
)
def test_a_text_names_a_finding_only_by_its_whole_id(text, check):
    assert check_named(text, {"low-core-count", "wide-weights"}) == check
