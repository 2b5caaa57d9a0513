"""Cells: what cannot be true counts as not measured, and texts are bounded in length and number."""

import numpy as np

from tests.cells_of_frames import cells as cells_of
from tests.for_all import for_all
from ttnn_mcp.readers.performance.cells import bounded, impossible, is_number
from ttnn_mcp.readers.performance.column import Column
from ttnn_mcp.readers.performance.frame import TextColumn

VALUES = np.array([-np.inf, -9, -8, -1, -0.5, 0, 0.5, 7, 8, 9, np.inf, np.nan])


def column_of(texts):
    return TextColumn(np.arange(len(texts), dtype=np.int16), tuple(texts))


@for_all(("counts", "possible"), [(False, [-8, -1, -0.5, 0, 0.5, 7, 8, np.nan]), (True, [0, 7, 8, np.nan])])
def test_beyond_the_limit_nothing_is_true_and_counts_are_whole_and_not_negative(counts, possible):
    column = Column("x", ("X",), "number", "", "", counts=counts, at_most=8)
    np.testing.assert_array_equal(VALUES[~impossible(column, VALUES)], possible)


# Tracy's messages end at 64 KiB, so do ATTRIBUTES and LOC, which come from them; the longest real op name has 60
@for_all(
    ("name", "most"),
    [("op_type", 100), ("INPUT_0_LAYOUT", 100), ("op_code", 1_000), ("attributes", 2**16), ("loc", 2**16)],
)
def test_texts_are_cut_where_no_real_one_is_as_long(name, most):
    whole = column_of(["short", "x" * most])
    assert bounded(name, whole) == (whole, "")
    texts, change = bounded(name, column_of(["short", "x" * (most + 1), "x" * (most + 2), "x" * most]))
    assert cells_of(texts) == ["short", "x" * most, "x" * most, "x" * most]
    assert texts.distinct == ("short", "x" * most)
    assert change == f"holds 2 texts longer than {most} characters, cut there"


def test_blank_cells_stay_blank_where_texts_are_cut():
    texts, _ = bounded("op_type", TextColumn(np.array([0, -1], dtype=np.int8), ("x" * 200,)))
    assert cells_of(texts) == ["x" * 100, None]


def test_a_column_of_too_many_different_texts_counts_as_blank():
    many = column_of([str(number) for number in range(20_001)])
    few = TextColumn(many.codes[1:] - 1, many.distinct[1:])
    assert bounded("attributes", few) == (few, "")
    texts, change = bounded("attributes", many)
    assert texts.distinct == ()
    assert set(texts.codes.tolist()) == {-1}
    assert len(texts.codes) == 20_001
    assert change == "holds 20001 different texts, more than 20000, and counts as not said"


@for_all("name", ["op_code", "program_hash", "loc"])
def test_names_and_places_may_differ_from_row_to_row(name):
    many = column_of([str(number) for number in range(20_001)])
    assert bounded(name, many) == (many, "")


def test_operands_hold_texts():
    assert is_number("kernel_ns")
    assert not is_number("op_code")
    assert not is_number("INPUT_0_W_PAD[LOGICAL]")
