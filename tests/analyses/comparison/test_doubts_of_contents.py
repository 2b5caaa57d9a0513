"""What the candidate does not hold: each line with a pair, on comparisons made by hand."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.alignment import Rewrite
from ttnn_mcp.analyses.comparison.doubts_of_contents import (
    collapsed,
    kinds_missing,
    layers_missing,
    nothing_aligned,
    ops_missing,
    same_reading,
)
from ttnn_mcp.analyses.layers.repeating_names import Layers

TEN = ("A", "B", "C", "D", "E", "F", "G", "H", "I", "J")


def made(
    *,
    names=(TEN, TEN),
    kinds=("iteration", "iteration"),
    passes=(3, 3),
    files=(100, 100),
    edits=(),
    share=None,
    layers=None,
    same_arithmetic=False,
    complete=True,
    little_in_common=False,
    times=None,
):
    sides = [
        SimpleNamespace(
            run=SimpleNamespace(id=name, performance_report=SimpleNamespace(steady=range(rows))),
            scope=SimpleNamespace(window=SimpleNamespace(kind=kind, of_iterations=count)),
        )
        for name, kind, count, rows in zip("ab", kinds, passes, files, strict=True)
    ]
    kernel = times or [range(len(each)) for each in names]
    return SimpleNamespace(
        before=sides[0],
        after=sides[1],
        names=lambda side: [*names[side]],
        alignment=SimpleNamespace(edits=edits, complete=complete),
        little_in_common=little_in_common,
        arithmetic_share=share,
        layers=layers,
        same_arithmetic=same_arithmetic,
        times=[np.array(each) for each in kernel],
        tokens=[SimpleNamespace(shape=np.unique(each, return_inverse=True)[1]) for each in names],
        ops=[
            SimpleNamespace(
                numbers=lambda _, each=each: np.array(each, dtype=float), lines=np.arange(len(each)) + 2
            )
            for each in kernel
        ],
    )


@for_all(("ops", "told"), [(9, False), (10, True)])
def test_equal_times_of_ten_ops_are_no_chance(ops, told):
    names = ("A",) * ops
    assert (same_reading(made(names=(names, names))) is not None) == told


@for_all(
    ("how", "why"),
    [
        ({}, "hardly an op has a partner"),
        ({"share": 0.4}, "hardly an op has a partner"),
        ({"share": 1.0, "same_arithmetic": True}, None),  # which proves the same work in other shapes
        ({"little_in_common": False}, None),
        ({"complete": False}, "too many ops to align"),
        ({"complete": False, "share": 0.4}, None),  # the share of the arithmetic is told instead
    ],
)
def test_ops_without_partners_hide_what_is_missing(how, why):
    told = nothing_aligned(made(**{"little_in_common": True, **how}))
    assert why in told.what if why else told is None


def test_one_run_is_told_where_its_windows_are_one_too():
    found = made(names=(("A",), ("A",)))
    found.after.run.id = found.before.run.id
    assert "same run and window" in same_reading(found).what
    found.after.scope.window.of_iterations = 4
    assert same_reading(found) is None


def test_two_windows_of_one_run_may_have_equal_times():
    found = made(passes=(3, 4))
    found.after.run.id = found.before.run.id
    assert same_reading(found) is None


def test_other_times_are_another_reading():
    assert same_reading(made(times=(range(10), range(1, 11)))) is None


@for_all(
    ("passes", "files", "told"),
    [
        ((3, 2), (300, 200), True),
        ((3, 2), (300, 300), False),  # the file holds as many ops: they are told apart in another way
        ((3, 3), (300, 150), False),
        ((4, 3), (400, 300), False),  # three tell how far they lie apart
        ((2, 1), (0, 0), False),
    ],
)
def test_too_few_iterations_are_told(passes, files, told):
    reason = collapsed(made(passes=passes, files=files))
    assert (reason is not None) == told
    assert not told or "their spread cannot be told" in reason.what


def test_whole_files_hold_as_many_passes():
    whole = ("whole_report", "whole_report")
    assert "5 and 4 iterations" in collapsed(made(kinds=whole, passes=(5, 4))).what
    assert collapsed(made(kinds=whole, passes=(4, 5))) is None


@for_all(
    ("each", "after", "told"),
    [
        (2, TEN, True),
        (2, (*TEN, "A"), True),  # nine of ten kinds
        (2, (*TEN, "A", "B"), False),
        (2, TEN[1:], True),  # one kind is gone altogether
        (3, TEN * 2, False),  # a ratio of 1.5
        (1, TEN, False),
        (1, ("Z",), False),
    ],
)
def test_half_of_nearly_every_kind_of_op_is_half_of_the_passes(each, after, told):
    whole = ("whole_report", "whole_report")
    reason = collapsed(made(kinds=whole, passes=(None, None), names=(TEN * each, after)))
    assert (reason is not None) == told


LAYER = ("Norm", "Matmul", "Softmax")
FOUR_LAYERS = ("Embedding", *LAYER * 4, "Head")


@for_all(("count", "told"), [(4, None), (3, "about 3 of the baseline's 4"), (1, "about 1 of")])
def test_fewer_layers_are_told(count, told):
    found = made(names=(FOUR_LAYERS, ("Embedding", *LAYER * count, "Head")), layers=Layers(1, 3, 4))
    reason = layers_missing(found)
    assert reason is None if told is None else told in reason.what


def test_fewer_ops_with_the_same_arithmetic_are_no_fewer_layers():
    names = FOUR_LAYERS, ("Embedding", *LAYER, "Head")
    assert layers_missing(made(names=names, layers=Layers(1, 3, 4), same_arithmetic=True)) is None
    assert layers_missing(made(names=names)) is None


def test_ops_outside_the_layers_count_for_none():
    """Three matmuls behind the layers are left, those of the layers are not."""
    before, after = (*LAYER * 4, "Matmul", "Matmul", "Matmul"), ("Matmul", "Matmul", "Matmul")
    assert "about 0 of" in layers_missing(made(names=(before, after), layers=Layers(0, 3, 4))).what


COMPUTING = ("Matmul", "Softmax", "Matmul", "Softmax")


def gone(*rows, into=()):
    return made(names=(COMPUTING, COMPUTING), edits=(Rewrite(rows, into),))


def test_what_is_gone_in_every_place_alike_was_taken_out():
    assert kinds_missing(gone(1, 3)).what == "2 Softmax gone, nothing in their place (baseline line 3)"
    assert kinds_missing(gone(1)) is None
    assert ops_missing(gone(1)).what.startswith("1 Softmax gone")


def test_what_became_something_else_is_not_gone():
    assert kinds_missing(gone(1, 3, into=(1,))) is None
    assert ops_missing(gone(1, 3, into=(1,))) is None


def test_only_what_computes_is_missed():
    names = ("Matmul", "Reshape")
    assert kinds_missing(made(names=(names, names), edits=(Rewrite((1,), ()),))) is None


def test_three_kinds_that_are_gone_are_named():
    names = ("Matmul", "Softmax", "LayerNorm", "Conv2d")
    what = ops_missing(made(names=(names, names), edits=(Rewrite((0, 1, 2, 3), ()),))).what
    assert what.startswith("1 Matmul, 1 Softmax, 1 LayerNorm gone")


@for_all(("share", "told"), [(None, False), (0.951, False), (0.94, True), (1.5, False)])
def test_less_arithmetic_than_a_twentieth_is_told_whatever_the_names(share, told):
    assert (ops_missing(made(share=share)) is not None) == told
