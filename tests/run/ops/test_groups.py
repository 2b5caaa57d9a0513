"""Ops in groups, the one with the most time first."""

import numpy as np

from ttnn_mcp.run.ops.groups import grouped, heaviest_kinds, keyed
from ttnn_mcp.run.ops.texts import Texts


def test_the_heaviest_group_comes_first():
    groups = grouped(np.array([2, 0, 2, -1]), np.array([1.0, 5.0, 2.0, 4.0]))
    assert [(one.key, one.rows.tolist(), one.kernel_ns) for one in groups] == [
        (0, [1], 5.0),
        (-1, [3], 4.0),
        (2, [0, 2], 3.0),
    ]


def test_kinds_are_counted_by_their_one_name_and_an_empty_cell_is_none():
    codes = Texts(np.array([0, 1, -1, 2, 0]), ("EltwiseUnary", "UnaryDeviceOperation", "Matmul"))
    time = np.array([1.0, 2.0, 9.0, 2.5, 0.0])
    kinds = [(name, spent, rows.tolist()) for name, spent, rows in heaviest_kinds(codes, time, 5)]
    assert kinds == [("Unary", 3.0, [0, 1]), ("Matmul", 2.5, [3])]
    assert [name for name, *_ in heaviest_kinds(codes, time, 1)] == ["Unary"]


def test_labels_have_keys_in_their_order():
    keys, labels = keyed(["b", "a", "b"])
    assert (keys.tolist(), labels) == ([1, 0, 1], ["a", "b"])
