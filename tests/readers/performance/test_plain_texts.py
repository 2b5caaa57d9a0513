"""Texts of plain cells: known by number, and no more of them than fit into memory."""

from itertools import accumulate

import numpy as np

from ttnn_mcp.readers.performance.plain_blocks import Block
from ttnn_mcp.readers.performance.plain_rows import TextGroup


def numbers(group, *texts):
    """The numbers of the texts, each the whole of a row of a block."""
    ends = np.array([*accumulate(len(text) + 1 for text in texts)]) - 1
    begins = ends - [len(text) for text in texts] - 1
    fields = group.last + 1
    block = Block(
        b"\n".join(texts), len(texts), *(np.repeat(edges[:, None], fields, axis=1) for edges in (begins, ends))
    )
    codes = group.of(block)
    return codes if codes is None else codes.tolist()


def test_a_text_keeps_its_number():
    group = TextGroup(0, 0)
    assert numbers(group, b"a", b"b", b"a") == [0, 1, 0]
    assert numbers(group, b"c", b"b") == [2, 1]


def test_64_mib_of_different_texts_are_known_and_no_more():
    group = TextGroup(0, 0)
    half = bytes(2**25)
    assert numbers(group, half[1:] + b"1", half[1:] + b"2", half[1:] + b"1") == [0, 1, 0]
    assert numbers(group, b"x") is None


def test_fields_side_by_side_are_told_apart_again():
    group = TextGroup(2, 3)
    numbers(group, b"a,x", b"b,", b"a,y")
    (first, parts), (second, others) = group.columns(["", "-"])
    assert (first, parts.tolist()) == (["a", "b"], [0, 1, 0])
    assert (second, others.tolist()) == (["x", "y"], [0, -1, 1])


def test_fields_without_a_row_have_no_texts():
    columns = TextGroup(2, 3).columns([""])
    assert [(distinct, np.size(parts)) for distinct, parts in columns] == [([], 0), ([], 0)]
