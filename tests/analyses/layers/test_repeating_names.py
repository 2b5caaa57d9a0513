"""Which repeating block of names is a layer."""

import numpy as np

from tests.for_all import for_all
from ttnn_mcp.analyses.layers.repeating_names import layers_of

LOOK_UP = 7_777


def found(*parts):
    """(first op, ops of a layer, layers) of these stretches of names, each a number."""
    layers = of_names(*parts)
    return layers and (layers.first, layers.ops, layers.count)


def of_names(*parts):
    """The same; `LOOK_UP` looks up tokens."""
    names = np.concatenate([np.array(part) for part in parts])
    return layers_of(names, names == LOOK_UP)


def others(count):
    """Names that occur once."""
    return range(10_000, 10_000 + count)


@for_all(("rest", "expected"), [(12, (0, 3, 4)), (13, None)])
def test_layers_cover_half_of_the_window(rest, expected):
    assert found([1, 2, 3] * 4, others(rest)) == expected


@for_all(("ops", "expected"), [(2, None), (3, (0, 3, 6))])
def test_a_layer_has_three_ops(ops, expected):
    assert found([*range(ops)] * 6) == expected


@for_all(("times", "expected"), [(18, (0, 10, 6)), (19, (60, 3, 19))])
def test_a_shorter_block_that_covers_nearly_as_much_is_the_layer(times, expected):
    assert found([*range(10)] * 6, [20, 21, 22] * times) == expected


@for_all(("hiding", "expected"), [(63, (0, 600, 2)), (64, None)])
def test_the_likeliest_periods_are_tried(hiding, expected):
    """A layer has one name that occurs once in it; other names occur twice, and show more of their distances."""
    start = [number for place in range(hiding) for number in (2 * place, 2 * place + 1)]
    end = [number for place in reversed(range(hiding)) for number in (2 * place, 2 * place + 1)]
    layer = [*start, 1_000, *[1_001] * (599 - 4 * hiding), *end]
    assert found(layer, layer) == expected


PASS = [LOOK_UP, *[1, 2, 3] * 4, 8, 9]


@for_all(
    ("parts", "expected"),
    [
        ((PASS, PASS, PASS), (1, 3, 4, 3, 15)),
        ((others(20), PASS, PASS), (21, 3, 4, 2, 15)),
        ((PASS[4:], PASS, PASS), (12, 3, 4, 2, 15)),  # begins within a pass
        ((PASS, PASS, PASS[:14]), (1, 3, 4, 2, 15)),  # the last pass is cut off
        ((PASS,), (1, 3, 4, 1, 0)),
        (([LOOK_UP, 1, 2, 8], [LOOK_UP, 1, 2, 8]), (0, 4, 2, 1, 0)),  # nothing repeats in a pass
    ],
)
def test_a_block_that_looks_up_tokens_is_a_pass_of_layers(parts, expected):
    layers = of_names(*parts)
    assert (layers.first, layers.ops, layers.count, layers.passes, layers.distance) == expected


def test_layers_and_places_count_anew_in_each_pass():
    layers = of_names([5], PASS, PASS)
    rows = np.arange(31)
    within = [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5]
    assert layers.numbers(rows).tolist() == [0, 0, *within, 5, *within]
    assert layers.places(rows)[layers.numbers(rows) == 2].tolist() == [0, 1, 2, 0, 1, 2]
