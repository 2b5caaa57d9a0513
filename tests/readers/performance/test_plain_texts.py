"""Texts of plain cells: known by number, and no more of them than fit into memory."""

import numpy as np

from ttnn_mcp.readers.performance.plain_texts import TextGroup


def test_a_text_keeps_its_number():
    group = TextGroup(0, 0)
    assert group.numbers_of([b"a", b"b", b"a"]).tolist() == [0, 1, 0]
    assert group.numbers_of([b"c", b"b"]).tolist() == [2, 1]
    assert group.known == [b"a", b"b", b"c"]


def test_64_mib_of_different_texts_are_known_and_no_more():
    group = TextGroup(0, 0)
    half = bytes(2**25)
    assert group.numbers_of([half[1:] + b"1", half[1:] + b"2", half[1:] + b"1"]).tolist() == [0, 1, 0]
    assert group.numbers_of([b"x"]) is None


def test_fields_side_by_side_are_told_apart_again():
    group = TextGroup(2, 3)
    group.numbers_of([b"a,x", b"b,", b"a,y"])
    (first, parts), (second, others) = group.columns(["", "-"])
    assert (first, parts.tolist()) == (["a", "b"], [0, 1, 0])
    assert (second, others.tolist()) == (["x", "y"], [0, -1, 1])


def test_fields_without_a_row_have_no_texts():
    columns = TextGroup(2, 3).columns([""])
    assert [(distinct, np.size(parts)) for distinct, parts in columns] == [([], 0), ([], 0)]
