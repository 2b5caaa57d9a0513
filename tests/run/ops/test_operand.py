"""Operands of rows: whether they can be, where they are, how they are written."""

import numpy as np

from tests.for_all import for_all
from tests.run.ops.test_op_table import column
from ttnn_mcp.readers.performance.frame import Frame
from ttnn_mcp.run.ops.operand import operands_of

PARTS = ("W", "Z", "Y", "X")


def operand(*shapes, memory=None):
    """INPUT_0 of rows with these dims."""
    columns = {f"INPUT_0_{part}": column(*(shape[place] for shape in shapes)) for place, part in enumerate(PARTS)}
    if memory:
        columns["INPUT_0_MEMORY"] = column(*memory)
    (only,) = operands_of(Frame(len(shapes), columns), "INPUT", has_logical=True)
    return only


@for_all(("rows", "broken"), [("1048576", False), ("1048577", True), ("1[1048577]", True)])
def test_a_million_times_a_million_elements_are_the_most(rows, broken):
    """Each dim alone is less than the bound: their product decides, the padded one and the logical one."""
    here = operand(("1", "1", "32", "64"), ("1", "1", rows, "1048576"), ("0", "0", "2000000", "2000000"))
    assert here.broken.tolist() == [False, broken, True]


def test_columns_that_look_too_large_together_need_not_be_in_one_row():
    here = operand(("1", "1", "1", "2000000"), ("1", "1", "2000000", "1"))
    assert not here.broken.any()


@for_all(
    ("shape", "broken", "empty"),
    [
        (("1", "1", "32", "64"), False, False),
        (("1", "1", "0", "64"), False, True),
        (("1", "1", "0[0]", "64"), False, True),
        (("1", "1", "32[0]", "64"), True, False),
        (("1", "1", "0[19]", "64"), True, True),
        (("1", "", "32", "64"), True, True),
        (("1", "1", "a", "64"), True, True),
        (("1", "1", "32", "-4"), True, True),
        (("", "", "", ""), False, False),
    ],
)
def test_a_shape_has_four_sides_or_none_and_one_may_be_0(shape, broken, empty):
    here = operand(("1", "1", "32", "64"), shape)
    assert (here.broken.tolist(), here.empty.tolist()) == ([False, broken], [False, empty])


@for_all(("others", "broken"), [(("1", "1", "32", "64"), True), (("", "", "", ""), False)])
def test_a_layout_tells_an_operand_where_the_report_tells_shapes(others, broken):
    columns = {f"INPUT_0_{part}": column(cell, "") for part, cell in zip(PARTS, others, strict=True)}
    frame = Frame(2, {**columns, "INPUT_0_LAYOUT": column("TILE", "TILE")})
    (here,) = operands_of(frame, "INPUT", has_logical=True)
    assert here.broken.tolist() == here.empty.tolist() == [False, broken]


def test_a_row_without_an_operand_has_none_of_its_sizes():
    here = operand(("1", "2", "32[19]", "64"), ("", "", "", ""))
    assert (here.height.tolist(), here.elements.tolist()) == ([64, 0], [2 * 19 * 64, 0])
    assert (here.padded.tolist(), here.logical.tolist()) == ([[1, 2, 32, 64], [0] * 4], [[1, 2, 19, 64], [0] * 4])


def test_a_placement_that_cannot_be_read_is_nowhere():
    memory = ("DEV_1_DRAM_INTERLEAVED", "DEV_1_L1_HEIGHT_SHARDED", "somewhere", "")
    here = operand(*[("1", "1", "32", "32")] * 4, memory=memory)
    assert here.in_dram.tolist() == [True, False, False, False]
    assert here.in_l1.tolist() == here.sharded.tolist() == [False, True, False, False]
    assert [here.cell(row, "MEMORY") for row in range(4)] == [*memory]


@for_all(
    ("dims", "text"),
    [
        (("1", "1", "1", "32"), "1x32"),
        (("1", "1", "32[19]", "64"), "19[32]x64"),
        (("1", "3", "1", "32"), "3x1x32"),
        (("2", "1", "1", "32"), "2x1x1x32"),
    ],
)
def test_a_shape_is_told_without_the_ones_in_front_of_its_last_two_dims(dims, text):
    assert operand(dims).shape_text(0) == text


def test_parts_are_those_of_the_role_alone():
    frame = Frame(1, {"INPUT_1_X": column("32"), "OUTPUT_0_X": column("64"), "kernel_ns": np.zeros(1)})
    assert [each.name for each in operands_of(frame, "INPUT", has_logical=True)] == ["INPUT_1"]
    assert [each.name for each in operands_of(frame, "OUTPUT", has_logical=True)] == ["OUTPUT_0"]
