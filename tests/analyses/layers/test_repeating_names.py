"""Which repeating block of names is a layer."""

import numpy as np
import pytest

from ttnn_mcp.analyses.layers.repeating_names import layers_of


def found(*parts):
    """(first op, ops of a layer, layers) of these stretches of names, each a number."""
    layers = layers_of(np.concatenate([np.array(part) for part in parts]))
    return layers and (layers.first, layers.ops, layers.count)


def others(count):
    """Names that occur once."""
    return range(10_000, 10_000 + count)


@pytest.mark.parametrize(("rest", "expected"), [(12, (0, 3, 4)), (13, None)])
def test_layers_cover_half_of_the_window(rest, expected):
    assert found([1, 2, 3] * 4, others(rest)) == expected


@pytest.mark.parametrize(("ops", "expected"), [(2, None), (3, (0, 3, 6))])
def test_a_layer_has_three_ops(ops, expected):
    assert found([*range(ops)] * 6) == expected


@pytest.mark.parametrize(("times", "expected"), [(18, (0, 10, 6)), (19, (60, 3, 19))])
def test_a_shorter_block_that_covers_nearly_as_much_is_the_layer(times, expected):
    assert found([*range(10)] * 6, [20, 21, 22] * times) == expected


@pytest.mark.parametrize(("hiding", "expected"), [(63, (0, 600, 2)), (64, None)])
def test_the_likeliest_periods_are_tried(hiding, expected):
    """A layer has one name that occurs once in it; other names occur twice, and show more of their distances."""
    start = [number for place in range(hiding) for number in (2 * place, 2 * place + 1)]
    end = [number for place in reversed(range(hiding)) for number in (2 * place, 2 * place + 1)]
    layer = [*start, 1_000, *[1_001] * (599 - 4 * hiding), *end]
    assert found(layer, layer) == expected
