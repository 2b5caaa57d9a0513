"""One loop's story, its checklist and its targets."""

from dataclasses import replace

import pytest

from tests.experiments.writer import experiment
from tests.for_all import for_all
from ttnn_mcp.errors import ArgumentsInvalid
from ttnn_mcp.experiments.experiment import RunSeen, Target
from ttnn_mcp.experiments.outlook import Reach, parse_target, progress_of
from ttnn_mcp.experiments.story import checklist, story_of


def chain(*told):
    """(baseline, candidate, verdict, kernel_ns of the candidate, further fields) per experiment."""
    known = []
    for number, (baseline, candidate, verdict, kernel_ns, more) in enumerate(told, start=1):
        one = experiment(f"change {number}", verdict=verdict, baseline=baseline, candidate=candidate, **more)
        seen = replace(one.candidate, kernel_ns=kernel_ns)
        known.append(replace(one, id=number, recorded=float(number), candidate=seen))
    return known


WALLS = {"judged_by": "wall", "wall_before_ms": 4.0, "wall_after_ms": 3.0}
STARTS = (1_000_000, 4_000_000, 6_000_000, 5_000_000, 5_000_000)
LOOP = chain(
    ("a", "b", "keep", 900_000, {}),
    ("b", "c", "revert", 500_000, {"pcc": 0.9}),
    ("b", "d", "keep", 800_000, {"step": 3}),
    ("d", "e", "inconclusive", 799_000, {"step": 3}),
)


def test_the_best_run_is_the_end_of_the_kept_chain():
    story = story_of(LOOP, [])
    assert (story.baseline.id, story.best.id) == ("a", "d")
    assert [one.id for one in story.kept] == [1, 3]
    assert story.gain_share == pytest.approx(-0.2)
    assert story.final_pcc == 0.999


def test_a_kept_change_on_an_older_run_takes_over_only_where_it_ends_faster():
    slower = [*LOOP, *(replace(one, id=5) for one in chain(("a", "x", "keep", 850_000, {})))]
    faster = [*LOOP, *(replace(one, id=5) for one in chain(("a", "x", "keep", 700_000, {})))]
    assert story_of(slower, []).best.id == "d"
    assert story_of(faster, []).best.id == "x"
    assert [one.id for one in story_of(faster, []).kept] == [5]
    more = chain(("d", "f", "keep", 600_000, {}), ("b", "y", "keep", 500_000, {}))
    longer = [*LOOP, *(replace(one, id=one.id + 4, recorded=one.recorded + 4) for one in more)]
    assert [one.id for one in story_of(longer, []).kept] == [1, 6]


def test_different_models_are_different_loops():
    other = [replace(one, id=one.id + 10, recorded=99.0) for one in chain(("m", "n", "keep", 5, {}))]
    assert story_of([*LOOP, *other], []).baseline.id == "m"
    assert story_of([*LOOP, *other], [], "c").baseline.id == "a"
    assert story_of([*LOOP, *other], []).others == 1
    assert story_of([*LOOP, *other], [], "unheard of") is None


def test_samples_per_second_are_those_of_the_batch_of_the_best_run():
    """Kept: eight times the batch by kernel time, then twice it by wall time, then no other batch."""
    known = chain(
        ("a", "b", "keep", 4_000_000, {"judged_by": "per_sample", "change_share": -0.5}),
        ("b", "c", "keep", 6_000_000, {**WALLS, "change_share": 3.0 / 4.0 / 2 - 1}),
        ("c", "d", "keep", 5_000_000, {**WALLS, "judged_by": "kernel", "change_share": -1 / 6}),
        ("d", "e", "revert", 9_000_000, {"judged_by": "per_sample", "change_share": 0.5}),
        ("d", "f", "keep", 4_900_000, {**WALLS, "wall_after_ms": None, "change_share": -0.5}),
    )
    known = [
        replace(one, baseline=replace(one.baseline, kernel_ns=ns)) for one, ns in zip(known, STARTS, strict=True)
    ]
    at = {run: replace(known[0].baseline, id=run) for run in "abef"}
    story = story_of(known, [Target(at["a"], "samples_per_s", 100.0, batch=3)])
    assert (story.best.id, story.target.batch, story.gain_share) == ("f", 48, pytest.approx(4.9 / 16 - 1))
    assert story_of(known, [Target(at["b"], "samples_per_s", 100.0, batch=3)]).target.batch == 6
    assert story_of(known, [Target(at["f"], "samples_per_s", 100.0, batch=3)]).target.batch == 3
    assert (
        story_of(known, [Target(at["e"], "samples_per_s", 100.0, batch=9)]).target.batch == 8
    )  # reverted, 1.2 times
    nothing_left = [replace(known[0], change_share=-1.0)]
    assert story_of(nothing_left, [Target(at["a"], "samples_per_s", 100.0, batch=3)]).target.batch == 3


def test_a_run_on_an_older_one_takes_over_only_where_it_is_faster_per_sample():
    wide = (
        "a",
        "b",
        "keep",
        2_000_000,
        {"judged_by": "per_sample", "change_share": -0.75},
    )  # eight samples for one
    for kernel_ns, best in ((900_000, "b"), (249_000, "c")):
        known = chain(wide, ("a", "c", "keep", kernel_ns, {}))
        assert story_of(known, []).best.id == best


def test_a_target_alone_begins_a_loop():
    run = RunSeen("a", "a", None, None, 1_000_000, True)
    assert run.of_ledger
    assert not replace(run, memory="a.db").of_ledger
    story = story_of([], [Target(run, "latency_ms", 5.0)])
    assert (story.baseline.id, story.best.id, story.target.value) == ("a", "a", 5.0)


def test_every_tick_says_what_it_rests_on():
    nothing = checklist(None, None)
    assert len(nothing) == 9
    assert {one.rests_on for one in nothing} == {"not shown"}
    run = RunSeen("a", "a", None, None, 1_000_000, True)
    ticks = {one.tick: one for one in checklist(story_of(LOOP, [Target(run, "latency_ms", 5.0)]), None)}
    assert ticks["Baseline"].rests_on == "measured"
    assert (ticks["1 Data formats"].rests_on, ticks["1 Data formats"].why) == ("recorded", "#1 keep, #2 revert")
    assert ticks["4 Metal Trace"].rests_on == "not shown"
    assert ticks["Final PCC"].rests_on == "recorded"


@for_all(
    ("text", "kind", "value"),
    [
        ("10 ms", "latency_ms", 10.0),
        ("2.5s", "latency_ms", 2500.0),
        ("800 us per step", "latency_ms", 0.8),
        ("2 ms per sample", "samples_per_s", 500.0),
        ("50 tok/s per user", "latency_ms", 20.0),
        ("50 t/s/u", "latency_ms", 20.0),
        ("100 samples/s", "samples_per_s", 100.0),
        ("30 fps", "samples_per_s", 30.0),
        ("60 % of roofline", "roofline_share", 0.6),
        ("0.6 of the roofline", "roofline_share", 0.6),
    ],
)
def test_targets_are_read_as_people_write_them(text, kind, value):
    target = parse_target(text, RunSeen("a", "a", None, None, 1, True), 4)
    assert (target.kind, target.value, target.batch) == (kind, pytest.approx(value), 4)


@for_all(("text", "batch"), [("10 ms, batch=32", 32), ("2 ms/image at batch size 8", 8), ("9 samples/s", 1)])
def test_a_target_reads_the_batch_that_it_tells_and_its_own_text(text, batch):
    run = RunSeen("a", "a", None, None, 1, True)
    target = parse_target(text, run, 1)
    assert target.batch == batch
    if target.kind == "samples_per_s":
        assert parse_target(target.text, run, 1) == target


@for_all("text", ["", "fast", "0 ms", "10", "160 % of roofline", "ms 10", "0 ms per sample", "5 ms per 8 samples"])
def test_what_is_no_target_is_refused_with_examples(text):
    with pytest.raises(ArgumentsInvalid, match="'10 ms', '100 samples/s' or '60 % of roofline'"):
        parse_target(text, RunSeen("a", "a", None, None, 1, True), 1)


LATENCY = Target(RunSeen("a", "a", None, None, 1, True), "latency_ms", 10.0)


@for_all(
    ("now", "at_best", "worth", "status", "stop"),
    [
        (10.0, 2.0, True, "met", True),
        (10.1, 9.9, True, "within_reach", False),
        (10.1, 10.05, True, "out_of_reach", False),
        (10.1, 9.9, False, "out_of_reach", True),
        (10.1, None, None, "unknown", False),
    ],
)
def test_the_stop_signal(now, at_best, worth, status, stop):
    said = progress_of(LATENCY, Reach(now, at_best), wall_known=True, worth_trying=worth)
    assert (said.status, said.stop) == (status, stop)
    assert ("1% to go" in said.why) == (status != "met")


def test_a_target_met_by_kernel_time_alone_asks_for_wall_time():
    said = progress_of(LATENCY, Reach(9.0, None), wall_known=False, worth_trying=None)
    assert said.status == "met"
    assert "confirm it by wall time" in said.why


@for_all(
    ("kind", "value", "words"),
    [
        ("latency_ms", 10.0, "10 ms"),
        ("samples_per_s", 100.0, "100 samples/s at batch 4"),
        ("roofline_share", 0.6, "60% of the roofline"),
    ],
)
def test_a_target_is_told_as_people_write_it(kind, value, words):
    assert Target(RunSeen("a", "a", None, None, 1, True), kind, value, 4).text == words


def test_the_target_of_another_model_is_none_of_this_loop():
    other = Target(RunSeen("m", "m", None, None, 1, True), "latency_ms", 5.0, recorded=9.0)
    assert story_of(LOOP, [other], "a").target is None
    assert story_of(LOOP, [other], "m").target == other


def test_a_gain_of_wall_time_or_memory_follows_the_best_run_and_replaces_none():
    by_wall = {"judged_by": "wall", "wall_after_ms": 5.0}
    after = chain(("a", "b", "keep", 900_000, {}), ("b", "c", "keep", 900_000, by_wall))
    assert (story_of(after, []).best.id, story_of(after, []).wall_ms) == ("c", 5.0)
    beside = chain(("a", "b", "keep", 900_000, {}), ("a", "c", "keep", 800_000, by_wall))
    assert (story_of(beside, []).best.id, story_of(beside, []).wall_ms) == ("b", None)


def test_the_wall_of_the_best_run_may_be_told_by_what_was_tried_on_it():
    """The newest counts; that of another run says nothing."""
    tried = [
        ("a", "b", "revert", 900_000, {"wall_before_ms": wall_ms, "wall_after_ms": 3.0})
        for wall_ms in (6.0, 7.0, None)
    ]
    assert story_of(chain(*tried), []).wall_ms == 7.0
    kept = ("a", "b", "keep", 900_000, {"wall_before_ms": 6.0, "wall_after_ms": 5.0})
    assert story_of(chain(kept), []).wall_ms == 5.0
    assert story_of(chain(kept, ("b", "c", "revert", 900_000, {"wall_before_ms": 5.5})), []).wall_ms == 5.5


def test_a_wall_below_its_kernels_or_of_a_part_is_not_that_of_the_run():
    below = ("a", "b", "revert", 900_000, {"wall_before_ms": 0.99})
    assert story_of(chain(below), []).wall_ms is None
    in_us = {"wall_before_ms": 6000.0, "flags": ("wall_above_window: 4,000 times the window",)}
    assert story_of(chain(("a", "b", "revert", 900_000, in_us)), []).wall_ms is None
    whole, part = chain(
        *[("a", name, "revert", 900_000, {"wall_before_ms": wall_ms}) for name, wall_ms in (("b", 6.0), ("c", 2.0))]
    )
    part = replace(part, baseline=replace(part.baseline, reading="other ops", kernel_ns=500_000))
    for known in ([whole, part], [part, replace(whole, id=3)]):
        assert (story_of(known, []).wall_ms, story_of(known, []).baseline.kernel_ns) == (6.0, 1_000_000)
    slower = chain(("a", "b", "keep", 2_000_000, {}), ("b", "c", "revert", 3_000_000, {}))
    slower[1] = replace(slower[1], baseline=slower[0].candidate)
    assert story_of(slower, []).baseline.id == "a"


def test_a_run_without_a_wall_takes_that_of_the_run_before_it_less_the_kernel_time_that_went():
    trace = ("a", "t", "revert", 1_000_000, {"wall_before_ms": 4.0, "wall_after_ms": 4.5})
    kept = [("a", "b", "keep", 900_000, {}), ("b", "c", "keep", 700_000, {})]
    story = story_of(chain(trace, *kept), [])
    assert (story.wall_ms, story.likely_wall_ms) == (None, pytest.approx(3.7))
    assert story_of(chain(*kept), []).likely_wall_ms is None
    assert story_of(chain(trace), []).likely_wall_ms == 4.0


@for_all(
    ("kind", "wall_known", "told"),
    [("latency_ms", False, True), ("latency_ms", True, False), ("roofline_share", False, False)],
)
def test_a_figure_by_kernel_time_alone_is_told_so(kind, wall_known, told):
    target = Target(RunSeen("a", "a", None, None, 1, True), kind, 0.5)
    said = progress_of(
        target, Reach(0.1 if kind == "roofline_share" else 5.0, None), wall_known=wall_known, worth_trying=None
    )
    assert ("by kernel time alone" in said.why) is told
