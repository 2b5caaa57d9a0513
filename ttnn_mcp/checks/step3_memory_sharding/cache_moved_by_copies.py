"""A cache of fixed size is moved on by a slice and a concat: all of it is copied to put one row at its end.

The last two dims lie in tiles of 32 rows, so a slice that begins at row 1 takes every tile apart. On a Blackhole
slice and concat of a [1,16,256,64] cache took 207 us, half of the bytes took as long, and `ttnn.update_cache`, which
writes the row in place, 3.7; with the rows in an outer dim, [1,rows,heads,d], both took 20 (tt-metal, CosyVoice's
notes). The same slice at a multiple of 32 was 11 to 16 times faster.

The line: a Concat in TILE along the last dim but one of what a Slice left of a tensor of the concat's own shape, where
what is cut off is no whole row of tiles; 0.5 % of the window. The bound leaves the 3.7 us.

Silent on ROW_MAJOR, on other dims, and on parts of whole tiles.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import CACHES
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, OPERANDS
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.hardware import TILE_SIDE

IN_PLACE_NS = 3_700.0  # update_cache of that cache (tt-metal, CosyVoice's notes)


@check(
    title="a cache moved on by slice and concat",
    lever=CACHES,
    of=ops_named("no Concat ops", "Concat"),
    needs=(OPERANDS, LOGICAL_SHAPES),
    worth=Worth(saving=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such slices and concats."""
    whole, left = facts.ops.inputs[0], facts.ops.outputs[0].logical
    joined = np.flatnonzero(facts.named("Concat") & (facts.joins.makers >= 0))
    cut = facts.joins.makers[joined]
    same = (whole.logical[cut] == left[joined]).all(axis=1)
    dropped = whole.logical[cut] - left[cut]
    by_height = (dropped[:, [0, 1, 3]] == 0).all(axis=1) & (dropped[:, 2] % TILE_SIDE > 0)
    moved = (facts.named("Slice") & whole.layout.among("TILE"))[cut] & same & by_height
    cut, joined = cut[moved], joined[moved]
    took = facts.kernel_ns[cut] + facts.kernel_ns[joined]
    share = np.maximum(1 - IN_PLACE_NS / np.maximum(took, 1.0), 0.0)
    rows = np.concatenate((cut, joined))
    tell = partial(_tell, cut, joined, dropped[moved, 2])
    yield Problem(rows, facts.kernel_ns[rows] * np.concatenate((share, share)), tell=tell)


def _tell(cut: Rows, joined: Rows, dropped: Rows, ops: Affected) -> Words:
    count = dropped[(cut == ops.row) | (joined == ops.row)][0]
    return Words(
        claim=(
            f"{len(cut)} tensors are moved on by {count} rows with a slice and a concat ({ops.time}): {ops.example}"
        ),
        assumption="one write in place of 3.7 us in place of each pair",
        cells=((ops.facts.ops.inputs[0], "LAYOUT"),),
        fix=(
            "ttnn.update_cache(cache, x, position) on a cache that stays where it is, x [1,heads,1,d]; or the rows in "
            "an outer dim, [1,rows,heads,d], permuted for the matmuls"
        ),
        verify="re-profile; the Slice and Concat rows are gone, UpdateKVCache takes a few us; PCC >= 0.99",
        caveat="rows then stay where they were written: attention masks those not yet written and counts positions so",
    )
