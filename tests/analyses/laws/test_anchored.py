"""Changes of an op, told from the time it took as it ran."""

from dataclasses import replace

import pytest

from tests.analyses.laws import asked
from tests.for_all import for_all
from ttnn_mcp.analyses.laws import law
from ttnn_mcp.analyses.laws.anchored import after_change, on_its_side, outlook
from ttnn_mcp.analyses.laws.catalogue import LAWS, expected
from ttnn_mcp.analyses.laws.law import ChangeRule, Expected, fitted_laws

BLOCKS = asked.many_rows()
BANKED = asked.banked("blackhole")


def law_of(op):
    return next(one for one in LAWS if one.name == expected(op).law)


def changes_of(op):
    return law_of(op).fitted(op.chip).changes


def test_where_a_law_anchors_the_measured_time_moves_the_prediction_along():
    assert changes_of(BLOCKS).anchors
    faster, now = replace(BLOCKS, grid=(8, 10)), asked.us(BLOCKS)
    told = [after_change(BLOCKS, now * slower, faster).us for slower in (1, 1.1)]
    assert told == pytest.approx([asked.us(faster), asked.us(faster) * 1.1])


def test_where_a_law_does_not_anchor_it_speaks_alone():
    assert not changes_of(BANKED).anchors
    shallower, now = replace(BANKED, block_w=8), asked.us(BANKED)
    assert [after_change(BANKED, now * slower, shallower).us for slower in (1, 1.04)] == [asked.us(shallower)] * 2


@for_all(
    ("gained_us", "times"),
    [
        (1, [(9, 7.2, 13.5), (10, 8.8, 16.5), (10, 10, 30)]),
        (-1, [(10, 7.2, 13.5), (11, 8.8, 16.5), (20, 16, 30)]),
        (0, [(10, 7.2, 13.5), (10, 8.8, 16.5), (10, 10, 30)]),
    ],
)
def test_a_change_is_told_on_the_side_of_the_op_on_which_its_law_sees_it(gained_us, times):
    """An op of 10 us; the law alone expects 9, 11 and 20 us after the change."""
    told = [on_its_side(by_law, 10, (0.8, 1.5), gained_us=gained_us) for by_law in (9, 11, 20)]
    assert [pytest.approx(each) for each in told] == times
    quick = asked.spread(in1_dtype="BFLOAT8_B", fidelity="HiFi2")
    us, lighter = asked.us(quick) * 0.93, replace(quick, fidelity="LoFi")
    assert asked.us(lighter) > us == after_change(quick, us, lighter).us


def test_the_interval_is_that_of_changes():
    shallower = replace(BANKED, block_w=8)
    answer = after_change(BANKED, asked.us(BANKED), shallower)
    low, high = changes_of(BANKED).ratios
    assert (answer.low_us, answer.high_us) == pytest.approx((answer.us * low, answer.us * high))


def test_the_op_as_it_is_takes_what_it_took():
    now = asked.us(BLOCKS) * 1.01
    answer = after_change(BLOCKS, now, BLOCKS)
    assert (answer.low_us, answer.us, answer.high_us) == (now, now, now)


def test_an_op_that_nobody_measured_is_told_by_its_law_alone():
    faster, blind = replace(BLOCKS, grid=(8, 10)), replace(BLOCKS, block_w=8)
    assert after_change(BLOCKS, None, faster) == expected(faster)
    assert after_change(BLOCKS, None, BLOCKS) == expected(BLOCKS)
    assert after_change(BLOCKS, None, blind) is None
    by_config, by_ttnn = (asked.many_rows("wormhole_b0", program=program, cores=64) for program in ("2D", "AUTO"))
    assert after_change(by_config, None, by_ttnn) == expected(by_ttnn)


@for_all(
    ("missed", "known"), [(0.65, False), (0.665, True), (1.28, True), (1.3, True), (1.49, True), (1.51, False)]
)
def test_an_op_far_from_its_law_is_not_predicted(missed, known):
    law = expected(BLOCKS)  # its interval reaches from 0.663, what 64 cores multiply at peak, to 1.29 of it
    assert (after_change(BLOCKS, law.us * missed, replace(BLOCKS, grid=(8, 10))) is not None) == known


def test_what_the_law_does_not_see_is_not_told():
    for slower in (1, 1.4):  # inside of its law's interval, and near it
        assert after_change(BLOCKS, asked.us(BLOCKS) * slower, replace(BLOCKS, block_w=8)) is None
    both = replace(BLOCKS, block_w=8, grid=(8, 10))
    assert after_change(BLOCKS, asked.us(BLOCKS), both) is not None


def test_what_was_never_varied_or_is_told_worse_than_that_nothing_changes_is_not_told():
    """Attention was never measured both causal and not on Wormhole; passes change it less than its formula says."""
    vision = {"queries": 576, "keys": 576, "head_size": 64, "heads": 16, "kv_heads": 16, "causal": False}
    wide = asked.prefill("wormhole_b0", q_chunk=192, k_chunk=576, cores=64, **vision)
    for change in ({"causal": True}, {"fidelity": "HiFi4"}):
        other = replace(wide, **change)
        assert expected(other) is not None
        assert after_change(wide, asked.us(wide), other) is None
    assert after_change(wide, asked.us(wide), replace(wide, q_chunk=256, fidelity="HiFi4")) is not None


def test_words_that_were_not_measured_are_not_told():
    spread = asked.spread("blackhole")
    narrow = replace(spread, in1_dtype="BFLOAT4_B")
    assert after_change(spread, asked.us(spread), narrow) is not None
    assert after_change(replace(spread, out_dtype="FLOAT32"), asked.us(spread), narrow) is None


@for_all(("before", "after"), [("BFLOAT8_B", "BFLOAT4_B"), ("BFLOAT4_B", "BFLOAT8_B")])
def test_a_word_must_be_measured_before_and_after(before, after):
    then_and_now = replace(BANKED, in1_dtype=before), replace(BANKED, in1_dtype=after)

    def told(*words):
        varied = {"blackhole": {"in1_dtype": frozenset(words)}}
        return ChangeRule(True, (1.0, 1.0), frozenset(("in1_dtype",)), varied).tell(*then_and_now)

    assert told(before, after)
    assert not told(before)
    assert not told(after)


def test_a_law_that_errs_on_changes_tells_none(monkeypatch):
    name, shallower = law_of(BANKED).name, replace(BANKED, block_w=8)
    now, fitted = asked.us(BANKED), fitted_laws()[name]["blackhole"]
    monkeypatch.setattr(law, "fitted_laws", lambda: {name: {"blackhole": replace(fitted, changes=None)}})
    assert expected(shallower) is not None
    assert after_change(BANKED, now, shallower) is None


@for_all(
    ("us", "low", "high", "told"),
    [
        (90, 80, 99.9, "faster"),
        (90, 80, 100, "likely faster"),
        (94.9, 80, 120, "likely faster"),
        (95, 80, 120, "no difference"),
        (105, 80, 120, "no difference"),
        (105.1, 80, 120, "likely slower"),
        (110, 100, 120, "likely slower"),
        (110, 100.1, 120, "slower"),
    ],
)
def test_within_five_percent_nothing_differs_and_an_interval_beyond_today_is_sure(us, low, high, told):
    assert outlook(Expected(us, low, high, "", ""), 100) == told


def test_another_program_is_told_by_its_own_law_alone():
    spread, banked = asked.spread(), asked.banked()
    assert after_change(spread, asked.us(spread) * 1.02, banked) == expected(banked)


def test_what_no_law_knows_before_is_told_by_the_law_of_after():
    unknown = replace(BLOCKS, program="")
    assert after_change(unknown, 1.0, BLOCKS) == expected(BLOCKS)
    assert after_change(BLOCKS, asked.us(BLOCKS), unknown) is None


def test_no_prediction_lies_below_the_roofline():
    op = asked.addition()
    assert after_change(op, expected(op).low_us, replace(op, cores=100)).low_us >= op.floor_us
