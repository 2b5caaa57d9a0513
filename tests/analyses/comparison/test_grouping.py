"""Ops in layers on both sides, also those without a partner."""

import numpy as np

from ttnn_mcp.analyses.comparison.alignment import Alignment, Rewrite
from ttnn_mcp.analyses.comparison.grouping import layer_labels
from ttnn_mcp.analyses.layers.layer_blocks import LayerBlocks
from ttnn_mcp.analyses.layers.repeating_names import Layers

TWO = LayerBlocks((Layers(first=1, ops=2, count=2),))


def labels(pairs, edits, counts, layers=TWO):
    rows = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    alignment = Alignment(rows[:, 0], rows[:, 1], np.ones(len(rows), dtype=np.bool_), tuple(edits))
    before, after = layer_labels(layers, alignment, tuple(np.zeros(count) for count in counts))
    return [name.replace("the layers", "all") for name in before], [
        name.replace("the layers", "all") for name in after
    ]


def test_an_op_is_in_the_layer_of_its_partner_or_of_what_it_replaces_or_of_the_op_before_it():
    pairs = [(0, 1), (1, 2), (4, 5), (5, 6)]
    edits = [Rewrite((), (0,)), Rewrite((2, 3), (3,)), Rewrite((), (4,))]
    before, after = labels(pairs, edits, (6, 7))
    assert before == ["before all", "layer 1", "layer 1", "layer 2", "layer 2", "behind all"]
    assert after == ["before all", "before all", "layer 1", "layer 1", "layer 1", "layer 2", "behind all"]


def test_without_layers_the_window_is_one_group():
    assert labels([], [], (2, 1), None) == (["the window"] * 2, ["the window"])


def test_what_lies_between_two_blocks_of_layers_is_outside():
    two = LayerBlocks((Layers(first=1, ops=2, count=1), Layers(first=4, ops=2, count=1)))
    pairs = [(row, row) for row in range(7)]
    before, after = labels(pairs, [], (7, 7), two)
    assert (
        before
        == after
        == [*("outside all", "layer 1", "layer 1", "outside all", "layer 2", "layer 2", "outside all")]
    )
