"""Whether equal blocks of ops are layers: what the next one reads, how long it waits, what it is made of."""

import numpy as np

from tests.for_all import for_all
from tests.run.ops.test_op_table import table
from ttnn_mcp.readers.performance.frame import TextColumn
from ttnn_mcp.run.repeated_blocks import are_layers

PLACES = ("W", "Z", "Y", "X", "LAYOUT", "DATATYPE", "MEMORY")
TENSOR = ("1", "1", "32", "64", "TILE", "BFLOAT16", "DEV_1_L1_INTERLEAVED")
OTHER = {"X": "96", "LAYOUT": "ROW_MAJOR", "DATATYPE": "BFLOAT8_B", "MEMORY": "DEV_1_DRAM_INTERLEAVED"}


def operand(name, tensors):
    """The columns of an operand; None where an op has none."""
    columns = {}
    for place, part in enumerate(PLACES):
        cells = [tensor[place] if tensor else "" for tensor in tensors]
        distinct = tuple(dict.fromkeys(filter(None, cells)))
        codes = np.array([distinct.index(cell) if cell else -1 for cell in cells])
        columns[f"{name}_{part}"] = TextColumn(codes, distinct)
    return columns


def layers(gaps, reads, writes):
    """Whether two blocks of ops of different kinds are layers."""
    sequence = np.tile(np.arange(len(gaps) // 2), 2)
    ops = table(gap_ns=np.array(gaps), **operand("INPUT_0", reads), **operand("OUTPUT_0", writes))
    return are_layers(sequence, ops, 0, len(gaps) // 2, 2)


def other(**parts):
    return tuple(parts.get(part, cell) for part, cell in zip(PLACES, TENSOR, strict=True))


@for_all("writer", range(6))
def test_one_of_the_last_four_ops_hands_the_tensor_on(writer):
    writes = [TENSOR if row == writer else other(X="96") for row in range(12)]
    assert layers([0.0] * 12, [TENSOR] * 12, writes) == (writer >= 2)


@for_all("part", OTHER)
def test_what_is_handed_on_is_read_as_it_was_written(part):
    assert layers([0.0] * 4, [TENSOR] * 4, [TENSOR] * 4)
    assert not layers([0.0] * 4, [TENSOR] * 4, [other(**{part: OTHER[part]})] * 4)


def test_an_op_without_input_is_handed_nothing():
    reads = [TENSOR, TENSOR, None, TENSOR]
    assert not layers([0.0] * 4, reads, [TENSOR, None, TENSOR, TENSOR])
    assert not are_layers(np.array([0, 1, 0, 1]), table(gap_ns=np.zeros(4)), 0, 2, 2)


@for_all(
    ("pause_ns", "within_ns", "paused"),
    [(9_999, 0, False), (10_000, 0, True), (19_999, 2_000, False), (20_000, 2_000, True), (np.nan, 0, False)],
)
def test_a_pause_is_ten_microseconds_and_ten_times_a_gap_within(pause_ns, within_ns, paused):
    block = [pause_ns, *[within_ns] * 5]
    gaps = [2_000_000.0, *block[1:], *block]  # what comes before the first block does not count
    assert layers(gaps, [TENSOR] * 12, [TENSOR] * 12) != paused


def is_layer(block):
    """Whether a block of these ops, run twice, is a layer, as it is if it holds no layers itself."""
    codes = np.zeros(2 * len(block), dtype=np.int64)
    parts = dict(zip(PLACES, TENSOR, strict=True))
    columns = {
        f"{name}_{part}": TextColumn(codes, (cell,))
        for name in ("INPUT_0", "OUTPUT_0")
        for part, cell in parts.items()
    }
    ops = table(gap_ns=np.zeros(len(codes)), **columns)
    return are_layers(np.tile(np.array(block), 2), ops, 0, len(block), 2)


@for_all(
    ("block", "layer"),
    [
        ("ababab123456", False),  # half of it repeats three times
        ("ababab1234567", True),
        ("123456ababab", False),
        ("1234567ababab", True),
        ("123ababab456", False),
        ("123ababab4567", True),
        ("abcabc1234", True),  # more than half of it, but twice only
        ("aaa123456789", True),
        ("aaaa", False),
        ("a", True),
    ],
)
def test_a_block_of_which_half_repeats_three_times_holds_layers_itself(block, layer):
    assert is_layer([ord(kind) for kind in block]) == layer


@for_all(("period", "layer"), [(1_900, False), (2_300, True)])
def test_of_a_very_long_block_the_shortest_two_thousand_periods_are_tried(period, layer):
    """One op fills most of it, so that every distance may be a period."""
    inner = [0] * (period - 100) + list(range(1, 101))
    assert is_layer((inner * 4)[: 3 * period + 400]) == layer
