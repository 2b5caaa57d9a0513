"""Whole rows: which part of a tensor a view can name."""

from tests.for_all import for_all
from ttnn_mcp.analyses.op_kinds.whole_rows import Part, lies_in_one_piece, part_of

WHOLE = (1, 1, 4096, 6144)  # 192 tiles across: a row of tiles ends on the last of 12 banks


def test_the_part_is_the_one_dim_that_is_cut():
    assert part_of(WHOLE, (0, 0, 32, 0), (1, 1, 96, 6144)) == Part(2, 32, 64)
    assert part_of(WHOLE, (0, 0, 0, 64), (1, 1, 4096, 128)) == Part(3, 64, 64)
    assert part_of(WHOLE, (0, 0, 0, 0), WHOLE) is None
    assert part_of(WHOLE, (0, 0, 32, 0), (1, 1, 96, 64)) is None


@for_all("lost", [0, 1, 2])
def test_a_shape_of_other_dims_tells_no_part(lost):
    shapes = [WHOLE, (0, 0, 32, 0), (1, 1, 96, 6144)]
    shapes[lost] = shapes[lost][1:]
    assert part_of(*shapes) is None


@for_all(
    ("part", "whole", "layout", "lies"),
    [
        (Part(2, 32, 64), WHOLE, "TILE", True),
        (Part(2, 33, 64), WHOLE, "TILE", False),
        (Part(2, 32, 65), WHOLE, "TILE", False),
        (Part(2, 24, 65), WHOLE, "ROW_MAJOR", True),  # a page is a row
        (Part(2, 25, 65), WHOLE, "ROW_MAJOR", False),
        (Part(2, 32, 64), (1, 2, 4096, 6144), "TILE", False),
        (Part(1, 1, 1), (1, 2, 4096, 6144), "TILE", True),
        (Part(1, 1, 1), (1, 2, 4128, 32), "TILE", False),  # 129 pages before it
        (Part(3, 0, 32), (1, 1, 1, 64), "TILE", False),
        (Part(3, 0, 32), (1, 1, 1, 64), "ROW_MAJOR", False),
    ],
)
def test_a_view_begins_on_the_first_of_twelve_banks(part, whole, layout, lies):
    assert lies_in_one_piece(part, whole, layout, 12) == lies
