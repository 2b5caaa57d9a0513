"""Blocks of ops that repeat at the end: how much of a report they must cover, and what may follow them."""

import numpy as np

from tests.for_all import for_all
from tests.run.ops.test_op_table import table
from ttnn_mcp.run.repeated_blocks import repeated_blocks, repeating_tail

SET_UP = [*range(1_000, 1_100)]  # a hundred different ops


def blocks(*parts):
    """(first row, ops per block, number of blocks) of ops that hand nothing on."""
    sequence = np.array([ord(kind) if isinstance(kind, str) else kind for part in parts for kind in part])
    return repeated_blocks(sequence, table(gap_ns=np.zeros(len(sequence))))


@for_all(
    ("ops", "found"),
    [
        ("wxyzabab", (4, 2, 2)),  # half of the ops
        ("vwxyzabab", (0, 0, 0)),
        ("abcabcabcabcwxyz", (0, 3, 4)),  # four ops may follow
        ("abcabcabcabcvwxyz", (0, 0, 0)),
        ("bcabcabc", (0, 3, 2)),  # the last one was cut off
        ("xcabcabc", (2, 3, 2)),
        ("abab", (0, 2, 2)),
        ("abc", (0, 0, 0)),
        ("a", (0, 0, 0)),
        ("", (0, 0, 0)),
    ],
)
def test_blocks_cover_half_of_the_ops_but_for_a_few_at_the_end(ops, found):
    assert blocks(ops) == found


@for_all(
    ("block", "behind", "is_model"),
    [
        ("a" * 11 + "bcdef", "", True),  # 16 ops of 6 kinds
        ("a" * 10 + "bcdef", "", False),
        ("a" * 12 + "bcde", "", False),
        ("a" * 11 + "bcdef", "z", False),
    ],
)
def test_behind_a_long_set_up_a_block_must_be_long_and_varied(block, behind, is_model):
    assert blocks(SET_UP, block, block, behind) == ((100, len(block), 2) if is_model else (0, 0, 0))


@for_all(("ops", "found"), [("abaaba", (3, 2)), ("aabaab", (3, 2)), ("abababab", (2, 4))])
def test_a_block_is_no_smaller_than_what_it_consists_of(ops, found):
    assert repeating_tail(np.array([ord(kind) for kind in ops])) == found
