"""Where in a model an op is, and how far a change of it reached."""

from types import SimpleNamespace

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.comparison.places import LayersReached, reached, roles_of
from ttnn_mcp.analyses.layers.layer_blocks import LayerBlocks
from ttnn_mcp.analyses.layers.repeating_names import Layers

THREE = LayerBlocks((Layers(first=1, ops=2, count=3),))  # one op, three layers of two ops, two ops


def placed(shapes, layers=THREE):
    return SimpleNamespace(tokens=(SimpleNamespace(shape=np.array(shapes)), None), layers=layers)


def test_ops_of_one_shape_share_a_role_where_they_share_their_place_in_a_layer():
    roles = roles_of(placed([1] * 9)).tolist()
    assert roles[1] == roles[3] == roles[5]
    assert roles[2] == roles[4] == roles[6]
    assert roles[0] == roles[7] == roles[8]
    assert len({*roles}) == 3


def test_ops_of_another_shape_share_no_role():
    roles = roles_of(placed([1, 1, 1, 2, 1, 1, 1, 1, 1])).tolist()
    assert roles[3] != roles[1] == roles[5]


def test_without_layers_the_shape_is_the_role():
    assert roles_of(placed([4, 5, 4], None)).tolist() == [4, 5, 4]


@for_all(
    ("took", "missed", "layers"),
    [
        ([1, 3, 5], [], LayersReached(3, 3, ())),
        ([1, 5], [3], LayersReached(2, 3, (2,))),
        ([1, 3], [4], LayersReached(1, 2, (2,))),  # the layer has another op of it that missed
        ([0, 1, 8], [0, 7], LayersReached(1, 1, ())),  # ops outside belong to no layer
        ([0, 8], [1], None),
    ],
)
def test_layers_are_reached_where_no_op_alike_was_missed(took, missed, layers):
    assert reached(placed([1] * 9), np.array(took), np.array(missed, dtype=np.int64)) == layers


def test_without_layers_none_is_reached():
    assert reached(placed([1], None), np.array([0]), np.array([], dtype=np.int64)) is None
