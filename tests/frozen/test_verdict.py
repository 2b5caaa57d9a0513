from tests.for_all import for_all
from tests.frozen.layer import Lever
from tests.frozen.verdict import Promise, Verdict, verdicts

WINDOW_US = 1_000.0


def lever(kind="gain", saving=100.0, ops=(3, 4), names="LoFi"):
    return Lever("some/lever", kind, "a change", saving, ops, names, "a source", "a note")


def promise(
    least=50.0, most=200.0, *, fix="math_fidelity=ttnn.MathFidelity.LoFi", ops=(4,), expected=None, shares=None
):
    return Promise(fix, frozenset(ops), least, most, expected, shares)


def said(one, *promises):
    return verdicts([one], promises, WINDOW_US)[0].said


def near(one, *promises):
    return verdicts([one], promises, WINDOW_US)[0].near


def test_promise_whose_bounds_hold_the_saving_is_right():
    assert said(lever(), promise()) == "right"


def test_promise_of_nothing_is_no_name():
    assert said(lever()) == "not named"


def test_promise_of_another_change_is_no_name():
    assert said(lever(), promise(fix="dtype=ttnn.bfloat8_b")) == "not named"


def test_promise_on_other_ops_is_no_name():
    assert said(lever(), promise(ops=(5,))) == "not named"


def test_name_counts_in_any_case():
    assert said(lever(), promise(fix="try lofi")) == "right"


def test_name_is_enough_where_no_figure_was_measured():
    assert said(lever(saving=None), promise(0, 1)) == "named"


@for_all(("least", "most", "expected"), [
    (102, 200, "right"), (102.1, 200, "bound wrong"), (0, 98.1, "right"), (0, 98, "bound wrong"),
])  # fmt: skip
def test_bounds_may_miss_by_the_noise(least, most, expected):
    assert said(lever(), promise(least, most)) == expected


def test_one_right_promise_of_several_is_enough():
    assert said(lever(), promise(150, 200), promise(0, 120)) == "right"


def test_bounds_of_several_promises_are_not_mixed():
    assert said(lever(), promise(150, 200), promise(0, 50)) == "bound wrong"


def test_promises_on_different_ops_hold_a_saving_together():
    """A change may be several edits: each of two matmuls has a finding of its own."""
    first, second = (promise(0, 60, ops=(op,), expected=20) for op in (3, 4))
    assert (said(lever(), first, second), near(lever(), first, second)) == ("right", False)
    assert near(lever(saving=80.0), first, second) is True
    assert near(lever(), first, promise(0, 60, ops=(4,))) is None
    assert said(lever(), first, first) == "bound wrong"
    assert said(lever(saving=130.0), first, second) == "bound wrong"
    assert said(lever(), promise(55, 60, ops=(3,)), promise(55, 60, ops=(4,))) == "bound wrong"


@for_all(("expected", "is_near"), [(None, None), (50, True), (49, False), (200, True), (201, False)])
def test_expectation_within_a_factor_of_two_is_near(expected, is_near):
    assert near(lever(), promise(0, 500, expected=expected)) is is_near


def test_expectation_of_a_wrong_promise_does_not_count():
    assert near(lever(), promise(0, 50, expected=100), promise(0, 200)) is None


def test_one_near_expectation_of_several_is_enough():
    assert near(lever(), promise(0, 900, expected=900), promise(0, 900, expected=90)) is True


def test_dead_end_of_which_nobody_speaks_is_quiet():
    assert said(lever("dead")) == "quiet"


@for_all(("most", "expected", "loud"), [
    (50, 10, "quiet"), (51, 10, "promised"), (50, 11, "promised"), (0, 0, "quiet"), (900, None, "quiet"),
])  # fmt: skip
def test_dead_end_is_promised_above_its_shares_of_the_window_but_not_by_a_trial(most, expected, loud):
    assert said(lever("dead"), promise(0, most, expected=expected)) == loud


def test_promises_of_a_dead_end_are_added():
    assert said(lever("dead"), promise(0, 30, expected=1), promise(0, 30, expected=1)) == "promised"
    assert said(lever("dead"), promise(0, 0, expected=6), promise(0, 0, expected=6)) == "promised"


def test_promises_on_other_ops_of_a_dead_end_are_not_added():
    assert said(lever("dead"), promise(0, 30, expected=1), promise(0, 30, expected=1, ops=(7,))) == "quiet"


def test_promise_is_judged_by_its_share_on_the_ops():
    """A quarter of 400 us is promised of op 4, and the rest elsewhere."""
    of_two = promise(0, 400, expected=320, ops=(4, 7), shares={4: 1.0, 7: 3.0})
    assert (said(lever(saving=100), of_two), near(lever(saving=100), of_two)) == ("right", True)
    assert said(lever(saving=103), of_two) == "bound wrong"
    assert said(lever(saving=103, ops=(4, 7)), of_two) == "right"


def test_each_lever_has_one_verdict_in_order():
    found = verdicts([lever(), lever("dead")], [promise(expected=100)], WINDOW_US)
    assert found == [Verdict("some/lever", "gain", "right", near=True), Verdict("some/lever", "dead", "promised")]


@for_all(("names", "fix", "expected"), [
    ("fused_activation", "ttnn.SomeConfig(per_core_N=2, fused_activation=None)", "not named"),
    ("fused_activation", "fused_activation=UnaryOpType.SILU", "right"),
    ("fp32_dest_acc_en", "math_fidelity=ttnn.MathFidelity.HiFi2, fp32_dest_acc_en=True", "not named"),
    ("fp32_dest_acc_en", "fp32_dest_acc_en=False", "right"),
    ("in.?place", "LayerNormShardedMultiCoreProgramConfig(block_w=2, inplace=False)", "not named"),
    ("compute_kernel_config", "a config; keep compute_kernel_config", "not named"),
    ("compute_kernel_config", "ttnn.linear(x, w, compute_kernel_config=<as now>)", "not named"),
])  # fmt: skip
def test_what_a_printed_call_leaves_as_it_is_names_no_change(names, fix, expected):
    assert said(lever(names=names), promise(fix=fix)) == expected
