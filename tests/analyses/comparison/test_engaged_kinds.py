"""How many kinds of change are looked at, and which ops count as alike."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.alignment import Alignment, Rewrite
from ttnn_mcp.analyses.comparison.aspects import SAME, Aspect
from ttnn_mcp.analyses.comparison.engagement import edits_engaged, engaged_of
from ttnn_mcp.run.ops.texts import Texts

FORTY = 40
NOT = float("nan")


def made(before, after, pairs, *, edits=(), aspects=(), shapes=None, little=False, traced=None):
    """Ops by name; each takes 10 ns before and 9 after."""
    names = [*before], [*after]
    texts = [
        Texts(np.unique(side, return_inverse=True)[1].astype(np.int64), tuple(sorted({*side}))) for side in names
    ]
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    shape = np.array(shapes if shapes is not None else texts[0].codes)
    return SimpleNamespace(
        names=names.__getitem__,
        kinds=texts,
        alignment=Alignment(rows[:, 0], rows[:, 1], np.ones(len(rows), dtype=np.bool_), tuple(edits)),
        times=(np.full(len(before), 10), np.full(len(after), 9)),
        tokens=(SimpleNamespace(shape=shape), None),
        layers=None,
        aspects=aspects,
        little_in_common=little,
        total=SimpleNamespace(before_ns=10 * len(before)),
        ops=[
            SimpleNamespace(
                lines=np.arange(len(side)) + 2,
                numbers=lambda _, sessions=sessions: np.array(sessions),
            )
            for side, sessions in zip(names, traced or [[NOT] * len(side) for side in names], strict=True)
        ],
    )


def changed(codes, *, before=None, after=None, kind="fidelity"):
    """An aspect with these codes of differences."""
    values = [np.array(side if side is not None else [0] * len(codes)) for side in (before, after)]
    return Aspect(kind, np.array(codes), {code: f"value {code}" for code in codes if code != SAME}, *values)


def counts(found):
    return [(each.kind, each.op, each.what, each.took, each.of, each.missing) for each in engaged_of(found)]


@for_all("kinds", [FORTY, FORTY + 1])
def test_the_forty_most_frequent_differences_of_an_aspect_are_looked_at(kinds):
    codes = [*range(kinds), 0]
    names = "A" * len(codes)
    found = made(
        names, names, list(zip(*[range(len(codes))] * 2, strict=True)), aspects=[changed(codes, after=codes)]
    )
    assert len(engaged_of(found)) == FORTY
    assert counts(found)[0][2] == "value 0"


@for_all("kinds", [FORTY, FORTY + 1])
def test_the_forty_most_frequent_kinds_of_edit_are_looked_at(kinds):
    before = [f"op{number:02d}" for number in (*range(kinds), kinds - 1)]
    found = made(before, [], [], edits=[Rewrite((row,), ()) for row in range(len(before))])
    engaged = list(edits_engaged(found))
    assert len(engaged) == FORTY
    assert (engaged[0].op, engaged[0].took) == (before[-1], 2)


def test_ops_alike_have_the_shapes_and_the_value_that_was_changed():
    same = [(row, row) for row in range(5)]
    aspect = changed([0, SAME, SAME, SAME, SAME], before=[1, 1, 1, 2, 1], after=[3, 1, 1, 2, 3])
    found = made("AAAAA", "AAAAA", same, aspects=[aspect], shapes=[0, 0, 1, 0, 0])
    assert counts(found) == [("fidelity", "A", "value 0", 1, 2, (3,))]


def test_the_same_difference_of_another_op_is_another_change():
    found = made("AB", "AB", [(0, 0), (1, 1)], aspects=[changed([0, 0], after=[1, 1])])
    assert counts(found) == [("fidelity", op, "value 0", 1, 1, ()) for op in "AB"]


def test_settings_that_changed_on_the_same_ops_are_one_change_and_shapes_are_none():
    aspects = [
        changed([0, SAME], after=[1, 0]),
        changed([5, SAME], after=[1, 0], kind="config"),
        changed([7, SAME], after=[1, 0], kind="shape"),
    ]
    found = made("AA", "AA", [(0, 0), (1, 1)], aspects=aspects)
    assert counts(found) == [("fidelity", "A", "value 0, value 5", 1, 2, (3,))]


def test_very_different_windows_have_no_change_that_could_take_hold():
    assert counts(made("A", "B", [], edits=[Rewrite((0,), (0,))], little=True)) == []


@for_all(
    ("traced", "told"),
    [
        (([NOT, NOT], [1.0, NOT]), [("trace", "all", "replayed", 1, 2, (3,))]),
        (([1.0, NOT], [1.0, NOT]), []),
        (([NOT, NOT], [NOT, NOT]), []),
    ],
)
def test_a_trace_is_a_change_where_the_baseline_had_none(traced, told):
    assert counts(made("AA", "AA", [(0, 0), (1, 1)], traced=traced)) == told


def test_what_became_of_ops_is_told_in_words_with_its_time():
    before, after = "XABXABXAB", "XCXABXYAB"
    pairs = [(0, 0), (3, 2), (4, 3), (5, 4), (6, 5), (7, 7), (8, 8)]
    found = made(before, after, pairs, edits=[Rewrite((1, 2), (1,)), Rewrite((), (6,))])
    [fused, new] = engaged_of(found)
    assert (fused.kind, fused.op, fused.what, fused.took, fused.of) == ("fusion", "A", "A + B -> C", 1, 3)
    assert (fused.ns, fused.delta_ns, fused.missing) == (20, -11, (5, 9))
    assert (new.kind, new.op, new.what, new.took, new.of) == ("added", "Y", "Y new", 1, 2)
    assert (new.ns, new.delta_ns, new.missing) == (0, 9, (4,))


def test_ops_that_are_gone_altogether_have_no_place_that_still_has_them():
    found = made("XAXA", "XX", [(0, 0), (2, 1)], edits=[Rewrite((1,), ()), Rewrite((3,), ())])
    assert [(each.what, each.took, each.of) for each in engaged_of(found)] == [("A gone", 2, 2)]


def test_an_op_that_went_in_another_way_is_no_place_that_still_has_it():
    found = made("XAXAB", "XXC", [(0, 0), (2, 1)], edits=[Rewrite((1,), ()), Rewrite((3, 4), (2,))])
    assert [(each.what, each.took, each.of) for each in engaged_of(found)] == [
        ("A + B -> C", 1, 1),
        ("A gone", 1, 1),
    ]


def test_a_place_with_something_between_its_ops_is_not_as_it_was():
    """The second A and B are there, and Z has come between them."""
    before, after = "ABABAB", "CAZBAB"
    pairs = [(2, 1), (3, 3), (4, 4), (5, 5)]
    found = made(before, after, pairs, edits=[Rewrite((0, 1), (0,)), Rewrite((), (2,))])
    fused = next(each for each in engaged_of(found) if each.kind == "fusion")
    assert (fused.took, fused.of, fused.missing) == (1, 2, (6,))


def test_an_insertion_at_the_start_or_behind_an_op_without_partner_has_no_place():
    assert counts(made("A", "YA", [(0, 1)], edits=[Rewrite((), (0,))])) == []
    assert counts(made("A", "AYZ", [(0, 0)], edits=[Rewrite((), (2,))])) == []


def test_an_insertion_behind_the_last_op_has_the_place_of_that_op():
    [new] = engaged_of(made("AB", "ABY", [(0, 0), (1, 1)], edits=[Rewrite((), (2,))]))
    assert (new.what, new.took, new.of) == ("Y new", 1, 1)
