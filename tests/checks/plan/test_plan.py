"""The plan: edits in order, what each saves alone and after those above it, and sums that can be true."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.checks.made_checks import four_ops, saves
from tests.checks.rows import ONE_PASS, case_of
from tests.for_all import for_all
from tests.profiles import L1, Program
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks import diagnosis, expectation
from ttnn_mcp.checks.diagnosis import ask
from ttnn_mcp.checks.expectation import Expectation
from ttnn_mcp.checks.levers import BLOCKS, CONSTANTS, FUSION, MATMUL_CONFIG, TRACE, WEIGHTS
from ttnn_mcp.checks.plan.expected import tried_saving
from ttnn_mcp.checks.plan.plan import plan_of

OP_US = 10.0


@pytest.fixture(autouse=True)
def _without_measured_cases(monkeypatch):
    """What was measured of real edits says nothing of made checks."""
    monkeypatch.setattr(diagnosis, "by_cases", lambda *_: None)


@pytest.fixture
def case(tmp_path):
    """Four ops of 10 us and the gaps between them."""
    return case_of(tmp_path, four_ops())


@pytest.fixture
def cold(tmp_path):
    return case_of(tmp_path, four_ops(), ONE_PASS)


def planned(case, *checks):
    return plan_of(case, [(check, claim) for check in checks for claim in ask(check, case).claims])


def us(plan):
    """(edit, alone, then) of each edit, in microseconds."""
    return [(each.edit.name, *(round(ns / 1e3, 2) for ns in (each.alone_ns, each.then_ns))) for each in plan.ranked]


def check(name, part, lever=FUSION, **how):
    options = {key: how.pop(key) for key in ("slot", "costs_accuracy", "risk") if key in how}
    return replace(saves(name, part, **how), lever=lever, **{"slot": "", **options})


def test_the_whole_is_kernels_and_gaps_of_a_warm_window_and_kernels_of_a_cold_one(case, cold):
    warm = planned(case)
    assert (warm.of, warm.before_ns) == ("kernels and gaps", pytest.approx(4e4 + case.gap_ns))
    assert (planned(cold).of, planned(cold).before_ns) == ("kernels", 4e4)


def test_changes_of_one_op_multiply(cold):
    first, second = check("first", 0.5, MATMUL_CONFIG, rows=[0]), check("second", 0.4, WEIGHTS, rows=[0])
    plan = planned(cold, first, second)
    assert us(plan) == [("matmul-config", 5.0, 5.0), ("weights-format", 4.0, 2.0)]
    assert plan.ranked[1].after == (0,)
    assert plan.after_ns == pytest.approx(33_000)


def test_two_programs_for_one_op_are_alternatives_and_the_second_saves_nothing_more(cold):
    better, worse = (
        check("better", 0.5, MATMUL_CONFIG, rows=[0, 1]),
        check("worse", 0.4, MATMUL_CONFIG, rows=[0, 1]),
    )
    plan = planned(cold, worse, better)
    assert us(plan) == [("matmul-config", 10.0, 10.0), ("matmul-config-2", 8.0, 0.0)]
    assert [each.instead_of for each in plan.ranked] == [None, 0]


def test_an_alternative_on_other_ops_too_saves_there(cold):
    better, wider = check("better", 0.8, MATMUL_CONFIG, rows=[0, 1]), check("wider", 0.3, MATMUL_CONFIG)
    plan = planned(cold, better, wider)
    assert us(plan) == [("matmul-config", 16.0, 16.0), ("matmul-config-2", 12.0, 6.0)]
    assert plan.ranked[1].instead_of == 0


def test_of_two_that_set_the_same_the_one_that_brings_more_there_stands_first(cold):
    """CLM-8B's line 26: padded weights for all cores, 66 us, or deeper blocks, 141; the others get the grid alone."""
    wide, narrow = check("wide", 0.3, MATMUL_CONFIG), check("narrow", 0.4, MATMUL_CONFIG, rows=[0])
    plan = planned(cold, wide, narrow)
    assert us(plan) == [("matmul-config", 4.0, 4.0), ("matmul-config-2", 12.0, 9.0)]
    assert (plan.ranked[1].after, plan.ranked[1].instead_of) == ((0,), None)
    assert [mask.tolist() for mask in plan.ranked[1].overruled] == [[True, False, False, False]]


@for_all(
    ("how", "first"),
    [
        ({"part": 0.303}, "wide"),  # a hundredth more
        ({"part": 0.304}, "narrow"),
        ({"part": 0.5, "costs_accuracy": True}, "wide"),  # half of 5 us
        ({"part": 0.7, "costs_accuracy": True}, "narrow"),
        ({"part": 0.9, "lever": WEIGHTS}, "wide"),  # sets something else
        ({"part": 0.9, "lever": FUSION}, "wide"),  # sets nothing
        ({"part": 0.9, "general": True}, "wide"),  # stands last, whatever it saves
    ],
)
def test_what_brings_more_is_what_counts_more_on_the_ops_of_both(tmp_path, how, first):
    how = {"lever": MATMUL_CONFIG, **how}
    narrow = check("narrow", how.pop("part"), how.pop("lever"), rows=[0], **how)
    plan = planned(case_of(tmp_path, four_ops(), ONE_PASS), check("wide", 0.3, MATMUL_CONFIG), narrow)
    assert plan.ranked[0].edit.parts[0].check.id == first


def test_what_an_edit_counts_on_other_ops_does_not_bring_it_forward(cold):
    """5 us of 6 on the op of both, and 5 more elsewhere."""
    above, below = (
        check("above", 0.6, MATMUL_CONFIG, rows=[0, 2, 3]),
        check("below", 0.5, MATMUL_CONFIG, rows=[0, 1]),
    )
    assert us(planned(cold, below, above)) == [("matmul-config", 18.0, 18.0), ("matmul-config-2", 10.0, 5.0)]


def test_what_an_edit_expects_on_the_ops_of_both_is_what_it_counts_there(cold):
    """3 us of 4 are expected; the other one says nothing, so its bound of 5.8 counts half."""
    wide = check("wide", 0.58, MATMUL_CONFIG)
    known, unknown = (check(name, 0.4, MATMUL_CONFIG, rows=[0]) for name in ("known", "unknown"))
    assert planned(cold, wide, expecting(known, 0.75)).ranked[0].alone_ns == 4_000
    assert planned(cold, wide, unknown).ranked[0].alone_ns == 23_200


def test_an_alternative_on_ops_that_hardly_matter_to_the_other_changes_no_order(tmp_path):
    """0.5 us of 49.5 that count, and of 50.5."""
    for wide_us, first in ((98, "narrow"), (100, "wide")):
        program = Program()
        for us_each in (1, wide_us):
            x = program.tensor([1, 1, 32, 32 * us_each], "UINT16", placement=L1)
            program.op("MadeUpOfNoFamily", [x], kernel_ns=2_000 * us_each)
        narrow = check("narrow", 0.9, MATMUL_CONFIG, rows=[0])
        plan = planned(case_of(tmp_path, program, ONE_PASS), check("wide", 0.5, MATMUL_CONFIG), narrow)
        assert plan.ranked[0].edit.parts[0].check.id == first


def test_an_op_that_goes_away_takes_its_gap_along_and_the_trace_shrinks(case):
    gone, trace = check("gone", 1.0, rows=[2]), check("trace", 1.0, TRACE, gap=True)
    alone = {each.edit.name: each.alone_ns for each in planned(case, trace).ranked + planned(case, gone).ranked}
    gap = float(case.timeline.idle_ns[2])
    assert alone["fusion"] == pytest.approx(10_000 + gap)
    together = planned(case, gone, trace)
    (first, second) = together.ranked
    assert (first.edit.name, second.edit.name) == ("fusion", "trace")
    assert second.then_ns == pytest.approx(alone["trace"] - (gap - 1_000))


def test_in_a_cold_window_gaps_are_no_part_of_it(cold):
    assert us(planned(cold, check("gone", 1.0, rows=[2]))) == [("fusion", 10.0, 10.0)]


def level(check):
    """The check, if a law expects no difference of its change."""
    return replace(
        check, look=lambda facts: (replace(one, law_of_no_gain="law: made") for one in check.look(facts))
    )


def test_what_may_cost_accuracy_counts_half_in_the_order_and_what_a_law_denies_nothing(cold):
    wide, small = (check(name, part, MATMUL_CONFIG, rows=[0]) for name, part in (("wide", 0.9), ("small", 0.1)))
    assert [each.alone_ns for each in planned(cold, level(wide), small).ranked] == [1_000, 9_000]
    exact, rough = check("exact", 0.3, rows=[0]), check("rough", 0.5, WEIGHTS, rows=[1], costs_accuracy=True)
    assert [name for name, _, _ in us(planned(cold, rough, exact))] == ["fusion", "weights-format"]


def test_a_symptom_stands_last_and_saves_the_rest(cold):
    cause, symptom = check("cause", 0.1, rows=[0]), check("symptom", 0.9, MATMUL_CONFIG, general=True, rows=[0])
    assert us(planned(cold, symptom, cause)) == [("fusion", 1.0, 1.0), ("matmul-config", 9.0, 8.1)]


@for_all(
    ("how", "of", "last"),
    [
        ({}, [0, 1], True),  # half of its ops
        ({}, [0, 1, 2], False),  # a third of them
        ({"costs_accuracy": True}, [0], False),  # what makes formats or passes less is no cause
        ({"lever": TRACE, "gap": True}, [0], False),  # nor what shortens gaps
        ({"general": True}, [0], False),  # nor another symptom
    ],
)
def test_a_symptom_stands_last_where_others_change_half_of_its_ops(tmp_path, how, of, last):
    case = case_of(tmp_path, four_ops())
    other = check("other", 0.1, rows=None if "gap" in how else [0], **how)
    plan = planned(case, other, check("symptom", 0.9, MATMUL_CONFIG, general=True, rows=of))
    (symptom,) = [each for each in plan.ranked if each.edit.name == "matmul-config"]
    assert symptom.symptom == last
    assert (plan.ranked[0] is symptom) != last
    assert [
        each.symptom for each in plan.only({"fusion", "matmul-config"}).ranked if each.edit == symptom.edit
    ] == [last]


def test_what_only_warns_is_no_cause_of_a_symptom(cold):
    plan = planned(
        cold,
        check("warns", 0.0, CONSTANTS, rows=[0]),
        check("symptom", 0.9, MATMUL_CONFIG, general=True, rows=[0]),
    )
    assert not plan.ranked[0].symptom


def test_an_edit_expects_no_larger_part_of_its_bound_than_the_best_of_its_parts(cold):
    """Both save 8 of 10 us at most, 9.6 together; 4.8 and 3.2 of them multiply to 6.5, and three fifths are 5.8."""
    checks = [expecting(check(f"check{share}", 0.8, rows=[0]), share) for share in (0.6, 0.4)]
    plan = planned(cold, *checks)
    assert us(plan) == [("fusion", 9.6, 9.6)]
    assert plan.ranked[0].expected.saved_ns == pytest.approx(0.6 * 9_600)
    assert plan.ranked[0].expected.low_ns == pytest.approx(0.3 * 9_600)
    assert plan.expected_ns == pytest.approx(40_000 - 0.6 * 9_600)


def test_what_two_edits_expect_of_one_op_multiplies(cold):
    """Of 10 us one saves 5, the other 4 of 10 alone, and 2 of the 5 that are left."""
    ways = ((0.5, MATMUL_CONFIG), (0.4, WEIGHTS))
    plan = planned(cold, *(expecting(check(f"check{part}", part, lever, rows=[0]), 1.0) for part, lever in ways))
    assert [each.expected.saved_ns for each in plan.ranked] == [pytest.approx(5_000), pytest.approx(4_000)]
    assert plan.expected_ns == pytest.approx(33_000)


@for_all("share", [0.25, 1.0])
def test_of_gaps_as_large_a_part_is_expected_as_of_their_bound(case, share):
    plan = planned(case, expecting(check("t", 0.9, TRACE, gap=True), share))
    (trace,) = plan.ranked
    ends = (trace.expected.saved_ns, trace.expected.low_ns, trace.expected.high_ns)
    assert ends == pytest.approx([part * trace.alone_ns for part in (share, share / 2, 1.0)])
    assert plan.expected_ns == pytest.approx(plan.before_ns - share * trace.alone_ns)


def test_tries_tell_of_the_check_of_the_first_part_what_all_parts_save(case, monkeypatch):
    half = {"tried": 8, "gained": 5, "part": 0.5}
    known = {**dict.fromkeys(("first", "gaps", "warns"), half), "rare": {"tried": 9, "gained": 1, "part": None}}
    monkeypatch.setattr(expectation, "measured_cases", lambda: {"tries": known})
    levers = {"first": FUSION, "rare": BLOCKS, "other": WEIGHTS}
    plan = planned(case, *(check(name, 0.4, lever) for name, lever in levers.items()))
    first, rare, other = (
        next(part for edit in plan.edits for part in edit.parts if part.check.id == name) for name in levers
    )
    one = tried_saving(plan.ground, [first])
    assert (one.basis, one.saved_ns) == ("5/8 gained elsewhere", pytest.approx(8_000))
    assert (one.saved_us, one.counts_ns) == (pytest.approx(8), pytest.approx(5_000))
    two = tried_saving(plan.ground, [rare, first])
    assert (two.basis, two.saved_us, two.counts_ns) == ("1/9, 5/8 gained elsewhere", None, 0)
    two = tried_saving(plan.ground, [other, first])
    assert (two.basis, two.saved_ns) == ("5/8 gained elsewhere", None)
    assert tried_saving(plan.ground, [other]) is None
    expects = planned(case, expecting(check("expects", 0.8, MATMUL_CONFIG), 0.5)).ranked[0].edit.parts[0]
    both = tried_saving(plan.ground, [expects, first])
    assert (both.basis, both.saved_ns) == ("5/8 gained elsewhere", pytest.approx(40_000 * (1 - 0.6 * 0.8)))
    assert tried_saving(plan.ground, [expects]) is None
    level = first._replace(claim=replace(first.claim, law_of_no_gain="law: norms"))
    told = tried_saving(plan.ground, [level])
    assert (told.basis, told.saved_ns, told.counts_ns) == ("no difference by law: norms", None, 0)
    assert tried_saving(plan.ground, [level, rare]).basis == "1/9 gained elsewhere"
    (of_gaps,) = planned(case, check("gaps", 0.5, TRACE, gap=True)).ranked
    (warning,) = planned(case, check("warns", 0.0, CONSTANTS, risk=True)).risks
    assert tried_saving(plan.ground, of_gaps.edit.parts) is tried_saving(plan.ground, warning.parts) is None


def test_edits_that_expect_nothing_leave_the_whole_that_is_expected(cold):
    """Of one edit the smaller part is known: no line expects its saving, so the total does not."""
    plan = planned(cold, expecting(check("known", 0.2, rows=[0]), 1.0), check("bounded", 0.9, rows=[0]))
    assert plan.ranked[0].expected is None
    assert plan.expected_ns == plan.before_ns


def test_what_saves_no_known_time_is_a_trial_and_what_only_warns_a_risk(cold):
    plan = planned(cold, check("try", 0.0), check("warns", 0.0, CONSTANTS, risk=True))
    assert plan.ranked == ()
    assert [edit.name for edit in plan.trials] == [edit.name for edit in plan.trials_from(1e9)] == ["fusion"]
    assert [edit.name for edit in plan.risks] == ["constants"]


def test_what_was_not_tried_is_in_no_sum_unless_something_is_expected_of_it(cold):
    """Nor is it one edit with what is known."""
    untried, others = check("untried", 0.5, BLOCKS, rows=[0]), check("others", 0.4, BLOCKS, rows=[1])
    plan = planned(cold, untried)
    assert (plan.ranked, [edit.name for edit in plan.trials], plan.expected_ns) == ((), ["blocks"], 40_000)
    assert [len(plan.trials_from(least_ns)) for least_ns in (4_900, 5_100)] == [1, 0]
    plan = planned(cold, expecting(check("known", 0.5, BLOCKS, rows=[0]), 1.0), others)
    assert us(plan) == [("blocks", 5.0, 5.0)]
    assert ([edit.name for edit in plan.trials], plan.expected_ns) == (["blocks-2"], 35_000)


def test_what_saves_time_is_no_edit_with_what_saves_no_known_time(cold):
    plan = planned(cold, check("try", 0.0, CONSTANTS, rows=[0]), check("saves", 0.5, CONSTANTS, rows=[1]))
    assert us(plan) == [("constants", 5.0, 5.0)]
    assert [edit.name for edit in plan.trials] == ["constants-2"]


def test_what_no_op_can_save_is_no_edit(tmp_path):
    """An op that takes no longer than its launch."""
    facts, passes = case_of(tmp_path, ops_of(2, round(LAUNCH_FLOOR_NS)), ONE_PASS), check("passes", 0.5)

    def look(facts):
        yield from (replace(problem, passes=np.full(2, 0.5)) for problem in passes.look(facts))

    assert planned(facts, replace(passes, look=look)).edits == ()


def test_a_lever_that_merges_is_one_edit_of_all_its_checks(cold):
    plan = planned(cold, check("one", 0.5, CONSTANTS, rows=[0]), check("two", 0.4, CONSTANTS, rows=[3]))
    assert us(plan) == [("constants", 9.0, 9.0)]
    assert plan.ranked[0].edit.what == "constants made once"


def test_other_levers_are_one_edit_only_where_they_share_ops(cold):
    apart = planned(cold, check("one", 0.5, rows=[0]), check("two", 0.4, rows=[3]))
    assert [name for name, _, _ in us(apart)] == ["fusion", "fusion-2"]
    shared = planned(cold, check("three", 0.5, rows=[0, 1]), check("four", 0.4, rows=[1, 2]))
    assert us(shared) == [("fusion", 16.0, 16.0)]  # 5 + (10 - 5 * 0.6) + 4


def test_every_prefix_leaves_at_least_the_floors(cold):
    checks = [check(f"check{place}", 0.9, slot=f"slot{place}") for place in range(6)]
    plan = planned(cold, *checks)
    left = [each.left_ns for each in plan.ranked]
    assert left == sorted(left, reverse=True)
    assert plan.after_ns >= plan.floors_ns.sum() > 0
    assert (plan.left_ns >= plan.floors_ns).all()


def test_sums_add_up(case):
    plan = planned(case, check("a", 0.5, rows=[0, 1]), check("b", 0.7, WEIGHTS), check("t", 0.9, TRACE, gap=True))
    assert plan.before_ns - sum(each.then_ns for each in plan.ranked) == pytest.approx(plan.after_ns)
    assert all(each.then_ns <= each.alone_ns <= plan.before_ns for each in plan.ranked)
    assert np.isfinite(plan.left_ns).all()
    assert [each.instead_of for each in plan.ranked] == [None, None, None]


def test_of_some_edits_each_saves_what_the_others_among_them_leave(cold):
    checks = [check("a", 0.5, rows=[0]), check("b", 0.4, WEIGHTS), check("c", 0.3, MATMUL_CONFIG, rows=[0, 1])]
    plan = planned(cold, *(expecting(each, 0.5) for each in checks), check("try", 0.0, CONSTANTS))
    assert [name for name, _, _ in us(plan)] == ["weights-format", "matmul-config", "fusion"]
    part = plan.only({"fusion", "weights-format", "constants"})
    assert us(part) == [("weights-format", 16.0, 16.0), ("fusion", 5.0, 3.0)]
    assert [edit.name for edit in part.edits] == ["weights-format", "fusion", "constants"]
    assert (part.after_ns, part.expected_ns) == (pytest.approx(21_000), pytest.approx(30_000))
    assert us(plan.only({"fusion"})) == [("fusion", 5.0, 5.0)]
    assert [edit.name for edit in plan.only({"fusion"}).edits] == ["fusion"]
    assert plan.only(()).after_ns == plan.before_ns


def test_nothing_stands_after_an_alternative_that_saves_nothing_more(cold):
    programs = check("one", 0.5, MATMUL_CONFIG), check("two", 0.4, MATMUL_CONFIG)
    plan = planned(cold, *programs, check("below", 0.3, WEIGHTS))
    assert [each.edit.name for each in plan.ranked] == ["matmul-config", "matmul-config-2", "weights-format"]
    assert [(each.after, each.instead_of) for each in plan.ranked] == [((), None), ((), 0), ((0,), None)]


def test_a_trace_saves_at_least_what_is_certain_of_the_gaps(case):
    (trace,) = planned(case, check("t", 0.9, TRACE, gap=True, sure=0.3)).ranked
    assert sum(part.at_least_ns for part in trace.edit.parts) == pytest.approx(0.3 * case.gap_ns)


def expecting(check, share):
    """The check, if it expects to save so much of its bound."""

    def look(facts):
        for problem in check.look(facts):
            most = problem.at_most_ns
            if problem.gap_ns:
                most = np.full(len(most), problem.gap_ns[1] / len(most))
            ends = (most * each for each in (share, share / 2, 1.0))
            yield replace(problem, expected=Expectation(*ends, "law: made"))

    return replace(check, look=look)


@for_all(("part", "first"), [(0.44, "constants"), (0.46, "fusion")])
def test_half_of_a_saving_that_may_cost_accuracy_counts(cold, part, first):
    exact, rough = check("exact", part, rows=[0]), check("rough", 0.9, CONSTANTS, rows=[1], costs_accuracy=True)
    assert us(planned(cold, rough, exact))[0][0] == first


@for_all(("part", "first"), [(0.44, "constants"), (0.46, "fusion")])
def test_half_of_a_bound_counts_where_nothing_is_expected(cold, part, first):
    known, bounded = expecting(check("known", part, rows=[0]), 1.0), check("bounded", 0.9, CONSTANTS, rows=[1])
    assert us(planned(cold, bounded, known))[0][0] == first


def test_what_is_expected_is_what_is_left_of_the_whole(cold):
    plan = planned(cold, expecting(check("known", 0.8, rows=[0]), 0.5), check("bounded", 0.9, CONSTANTS, rows=[1]))
    known = next(each for each in plan.ranked if each.expected)
    assert (known.expected.saved_ns, known.expected.low_ns, known.expected.high_ns) == (4_000, 2_000, 8_000)
    assert (known.expected.kind, plan.expected_ns) == ("law", 36_000)
    assert [each.expected for each in plan.ranked if each is not known] == [None]


@for_all(("part", "known"), [(0.46, False), (0.56, True)])
def test_an_edit_expects_something_where_half_of_it_does(cold, part, known):
    """5 us are bounded, `part` of 10 us expected."""
    plan = planned(
        cold, expecting(check("one", part, CONSTANTS, rows=[0]), 1.0), check("two", 0.5, CONSTANTS, rows=[1])
    )
    assert (plan.ranked[0].expected is not None) == known


@for_all(("part", "after"), [(0.016, ()), (0.024, (0,))])
def test_one_percent_less_is_worth_telling_of_an_edit_above(cold, part, after):
    """Half of two ops together are 10 us; half of what the edit above takes is missing."""
    above, below = check("above", part, rows=[0]), check("below", 0.5, MATMUL_CONFIG, general=True, rows=[0, 1])
    assert planned(cold, above, below).ranked[1].after == after


def test_an_edit_stands_after_those_only_that_share_its_ops(cold):
    plan = planned(
        cold,
        check("apart", 0.9, CONSTANTS, rows=[0, 3]),
        check("above", 0.8, WEIGHTS, rows=[1, 2]),
        check("below", 0.7, rows=[2]),
    )
    assert [each.edit.name for each in plan.ranked] == ["constants", "weights-format", "fusion"]
    assert [each.after for each in plan.ranked] == [(), (), (1,)]
    assert (plan.place_of("fusion"), plan.place_of("nothing")) == (2, None)


@for_all(("rows", "rival"), [([0, 1, 2, 3], 0), ([0, 1, 2, 3, 4], None)])
def test_an_alternative_loses_half_of_what_it_saves(tmp_path, rows, rival):
    program = ops_of(5)
    plan = planned(
        case_of(tmp_path, program, ONE_PASS),
        check("better", 0.9, MATMUL_CONFIG, rows=[0, 1]),
        check("wider", 0.3, MATMUL_CONFIG, rows=rows),
    )
    assert (plan.ranked[1].instead_of, plan.ranked[1].after) == (rival, () if rival == 0 else (0,))


@for_all(("gone", "rival"), [([1, 2], 0), ([2], None)])
def test_what_is_about_ops_that_go_away_is_instead_of_the_edit_that_takes_them(tmp_path, gone, rival):
    """The lower one saves 2 of 10 us on each of three ops, of which two go away, or one."""
    plan = planned(
        case_of(tmp_path, ops_of(3), ONE_PASS),
        check("fused", 1.0, rows=gone),
        check("config", 0.2, MATMUL_CONFIG, rows=[0, 1, 2]),
    )
    assert (plan.ranked[1].instead_of, plan.ranked[1].after) == (rival, () if rival == 0 else (0,))


def test_an_alternative_is_one_to_what_sets_the_same_not_to_all_that_changes_its_ops(case):
    """All three edits above change the ops of the last: gaps, another setting, and the same one."""
    plan = planned(
        case,
        check("trace", 0.9, TRACE, gap=True),
        check("weights", 0.6, WEIGHTS, rows=[1, 2]),
        check("better", 0.5, MATMUL_CONFIG, rows=[1, 2]),
        check("worse", 0.2, MATMUL_CONFIG, rows=[1, 2]),
    )
    rivals = {each.edit.name: each.instead_of for each in plan.ranked}
    assert rivals["matmul-config-2"] == [each.edit.name for each in plan.ranked].index("matmul-config")
    assert [rivals[name] for name in ("trace", "weights-format", "matmul-config")] == [None, None, None]


def test_what_is_about_ops_that_go_away_is_not_instead_of_a_trace(tmp_path):
    plan = planned(
        case_of(tmp_path, ops_of(3, gap_ns=20_000)),
        check("trace", 1.0, TRACE, gap=True),
        check("gone", 1.0, rows=[1]),
        check("config", 0.2, MATMUL_CONFIG, rows=[1]),
    )
    told = [(each.edit.name, each.instead_of) for each in plan.ranked]
    assert told == [("trace", None), ("fusion", None), ("matmul-config", 1)]


def test_a_trace_is_no_alternative_to_ops_that_go_away(case):
    plan = planned(case, check("gone", 1.0, rows=[1, 2, 3]), check("trace", 0.2, TRACE, gap=True))
    assert [each.instead_of for each in plan.ranked if each.edit.name == "trace"] == [None]


def test_as_many_edits_above_are_named_as_a_number_has_bits(tmp_path):
    facts = case_of(tmp_path, ops_of(66), ONE_PASS)
    alone = [check(f"of{row}", 0.9, slot=f"slot{row}", rows=[row]) for row in range(66)]
    last = planned(facts, *alone, check("all", 0.5, WEIGHTS, general=True)).ranked[-1]
    assert last.after == tuple(range(62))


def ops_of(count, kernel_ns=10_000, gap_ns=1_500):
    """Ops of 10 us."""
    program = Program()
    for width in range(1, count + 1):
        x = program.tensor([1, 1, 32, 32 * width], "UINT16", placement=L1)
        program.op("MadeUpOfNoFamily", [x], kernel_ns=kernel_ns, gap_ns=gap_ns)
    return program
