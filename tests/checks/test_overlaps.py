"""The time that several claims save: none is saved twice, the more specific finding keeps its own bound."""

import pytest

from tests.checks.made_checks import four_ops, saves
from tests.checks.rows import case_of
from ttnn_mcp.checks.diagnosis import diagnose


@pytest.fixture
def case(tmp_path):
    return case_of(tmp_path, four_ops())


def test_findings_keep_their_own_bounds_while_the_ops_have_time_for_all(case):
    found = diagnose(case, [saves("first", 0.5), saves("second", 0.5)])
    assert [one.saving_us.at_most for one in found.findings] == pytest.approx([20, 20])
    assert {one.assumption for one in found.findings} == {"made"}


OVERLAPS = {
    "a general one yields": (saves("kept", 0.9), saves("cut", 0.96, general=True)),
    "what is sure comes first": (saves("kept", 0.9, sure=0.1), saves("cut", 1.0, rows=[0])),
    "even before a longer pattern": (saves("kept", 1.0, sure=0.9, rows=[0]), saves("cut", 0.96)),
    "ops that go away come first": (saves("kept", 0.95), saves("cut", 0.94, rows=[0])),
    "the longer pattern comes first": (saves("kept", 0.96), saves("cut", 1.0, rows=[0, 1, 2])),
    "the narrower comes first": (saves("kept", 0.9, rows=[0, 1]), saves("cut", 0.2)),
    "of general ones the lower bound": (saves("kept", 0.6, general=True), saves("cut", 0.7, general=True)),
    "ops without a saving make a claim no wider": (saves("kept", 0.7, rows=[0, 1], idle=2), saves("cut", 0.6)),
}


@pytest.mark.parametrize("both", OVERLAPS.values(), ids=OVERLAPS)
@pytest.mark.parametrize("order", [1, -1])
def test_where_bounds_overlap_the_more_specific_keeps_its_own(case, both, order):
    alone = {one.check: one for check in both for one in diagnose(case, [check]).findings}
    together = {one.check: one for one in diagnose(case, both[::order]).findings}
    assert together["kept"] == alone["kept"]
    most = alone["cut"].saving_us.at_most
    assert together["cut"].saving_us.at_most < most
    assert together["cut"].assumption == f"made; alone up to {most:.0f} us, the rest counts under kept"


PEERS = {
    "large bounds get equal parts": ({"a": 0.6, "b": 0.7}, {"a": 0.5, "b": 0.5}),
    "small bounds stay whole": ({"a": 0.4, "b": 0.7}, {"a": 0.4, "b": 0.6}),
    "however many they are": ({"a": 0.9, "b": 0.1, "c": 0.2, "d": 0.8}, {"a": 0.35, "b": 0.1, "c": 0.2, "d": 0.35}),
    "what fits is not cut": ({"a": 0.3, "b": 0.3, "c": 0.4}, {"a": 0.3, "b": 0.3, "c": 0.4}),
}


@pytest.mark.parametrize(("alone", "together"), PEERS.values(), ids=PEERS)
@pytest.mark.parametrize("order", [1, -1])
def test_of_findings_that_improve_the_same_ops_none_takes_all(case, alone, together, order):
    found = diagnose(case, [saves(*one) for one in [*alone.items()][::order]]).findings
    assert {one.check: one.saving_us.at_most for one in found} == pytest.approx(
        {name: 40 * part for name, part in together.items()}
    )
    for one in found:
        others = [name for name in sorted(alone, key=alone.__getitem__) if name != one.check]
        counts = f"made; alone up to {40 * alone[one.check]:.0f} us, the rest counts under {' and '.join(others)}"
        assert one.assumption == ("made" if together[one.check] == alone[one.check] else counts)


def test_peers_share_only_the_ops_that_both_claim(case):
    both = saves("left", 0.9, rows=[0, 1]), saves("right", 0.8, rows=[1, 2]), saves("apart", 0.9, rows=[3])
    found = {one.check: one.saving_us.at_most for one in diagnose(case, both).findings}
    assert found == pytest.approx({"left": 14, "right": 13, "apart": 9})


def test_ops_that_go_away_are_not_cut_in_parts(case):
    found = diagnose(case, [saves("first", 0.95), saves("second", 0.95)]).findings
    assert [one.saving_us.at_most for one in found] == pytest.approx([38, 2])


def test_a_general_finding_promises_what_the_specific_ones_leave(case):
    found = diagnose(case, [saves("general", 0.9, general=True), saves("specific", 0.5)])
    by_name = {one.check: one.saving_us.at_most for one in found.findings}
    assert by_name == pytest.approx({"specific": 20, "general": 20})


def test_nothing_is_saved_twice_however_much_is_claimed(case):
    found = diagnose(case, [saves(str(n), 0.9) for n in range(9)])
    assert sum(one.saving_us.at_most for one in found.findings) <= case.total_ns / 1e3


def test_gaps_are_a_purse_of_their_own(case):
    found = diagnose(case, [saves("ops", 1.0), saves("gaps", 0.8, gap=True), saves("again", 0.8, gap=True)])
    by_name = {one.check: one.saving_us.at_most for one in found.findings}
    assert by_name["ops"] == pytest.approx(case.total_ns / 1e3)
    assert by_name["gaps"] + by_name["again"] == pytest.approx(case.gap_ns / 1e3)


def test_what_is_sure_never_exceeds_what_is_possible(case):
    found = diagnose(case, [saves("first", 0.9), saves("second", 0.5, sure=0.5)])
    assert all(one.saving_us.at_least <= one.saving_us.at_most for one in found.findings)


def test_gaps_that_are_sure_or_few_come_first(case):
    sure, few = saves("sure", 0.9, gap=True, sure=0.5), saves("few", 0.3, gap=True)
    rest = saves("rest", 1.0, gap=True)
    by_name = {one.check: one for one in diagnose(case, [rest, few, sure, saves("ops", 1.0, sure=0.1)]).findings}
    gaps = case.gap_ns / 1e3
    assert by_name["sure"].saving_us.at_least == pytest.approx(0.5 * gaps)
    assert by_name["sure"].saving_us.at_most == pytest.approx(0.9 * gaps)
    assert by_name["few"].saving_us.at_most == pytest.approx(0.1 * gaps)
    assert by_name["rest"].saving_us.at_most == pytest.approx(0, abs=1e-6)
    assert by_name["rest"].assumption.endswith("us, the rest counts under sure and few")
    assert by_name["few"].assumption.endswith("us, the rest counts under sure")


def test_only_those_are_named_that_count_the_same_time(case):
    """Neither gaps nor risks, nor ops on other rows, nor one check twice."""
    apart = saves("apart", 0.5, rows=[3])
    others = (saves("kept", 1.0, rows=[0]), saves("gaps", 0.5, gap=True, sure=0.1), saves("risk", 0.0), apart)
    cut = saves("cut", 0.6, rows=[0, 1, 2])
    by_name = {one.check: one for one in diagnose(case, [cut, others[0], *others]).findings}
    assert by_name["cut"].assumption == "made; alone up to 18 us, the rest counts under kept"
    assert by_name["apart"].assumption == by_name["gaps"].assumption == "made"


@pytest.mark.parametrize(
    ("lost_ns", "assumption"), [(0.9, "made"), (1.1, "made; alone up to 20 us, the rest counts")]
)
def test_a_loss_below_a_nanosecond_is_rounding(case, lost_ns, assumption):
    both = saves("kept", 0.5 + lost_ns / 40_000, sure=0.1), saves("cut", 0.5)
    told = {one.check: one.assumption for one in diagnose(case, both).findings}
    assert told["cut"][: len(assumption)] == assumption
    assert (told["cut"] == "made") == (lost_ns < 1)
