"""A reshape to another width copies its tensor, where a head op or another order of the ops needs no copy.

In TILE `ttnn.reshape` is a view only when the last dim stays; otherwise every element moves. The best way to split and
join heads is the special ops. One of them can also replace a transpose after a split or before a join: three head ops
in place of reshapes and transposes took SDXL's UNet from 672 to 612 ms (tt-metal PR #22938).

The line: Reshape ops with kernel time whose last dim changes, together 1 % of the window. The bound is their whole
time, and that of the transposes of heads beside them.

Silent on reshapes that keep the width, which `rows-regrouped-by-copies` claims, on rows below 64 B
(`tiny-row-reshape`), and around columns that are put in another order behind a matmul (`columns-permuted-every-call`).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.reshapes import IN_WHOLE_TILES, RESHAPES, copied, copy_told
from ttnn_mcp.checks.wording import time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


@check(
    title="reshapes that copy to another width",
    lever=LAYOUT,
    of=RESHAPES,
    needs=(OPERANDS,),
    worth=Worth(time=USUAL),
    compiled=IN_WHOLE_TILES,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all reshapes that change the width, with the transposes of heads beside them."""
    reshapes = np.flatnonzero(copied(facts, same_width=False))
    turns = _turns(facts, reshapes)
    rows = np.concatenate((reshapes, turns))
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, turns), about=reshapes)


def _tell(turns: Rows, ops: Affected) -> Words:
    beside = f", {len(turns)} transposes of heads beside them {time_of(ops.facts, turns)}" if len(turns) else ""
    return copy_told(ops, "the last dim changes", _fix(ops), beside=beside)


def _fix(ops: Affected) -> str:
    heads, widths = _heads(ops.facts, np.append(ops.rows, ops.row))
    if not heads[-1]:
        return "order the ops so that the last dim stays, or reshape in ROW_MAJOR where the next op takes rows"
    counts = heads[(heads > 0) & (widths == widths[-1])]
    most, least = int(counts.max()), int(counts.min())
    # left out, num_kv_heads is num_heads: other columns, which TTNN does not refuse
    of_k = "<those of k and v>" if most == least else least
    return (
        f"q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads={most}, "
        f"num_kv_heads={of_k}, transpose_key=False); join with ttnn.experimental.nlp_concat_heads(x); or reshape in "
        "ROW_MAJOR, a view there"
    )


def _turns(facts: WindowFacts, rows: Rows) -> Rows:
    """The transposes that alone read a split into heads, or make what alone a join of heads reads."""
    source, output, joins = facts.ops.inputs[0].logical, facts.ops.outputs[0].logical, facts.joins
    turned = facts.named("Transpose", "Permute")
    splits = rows[output[rows, 2] * output[rows, 3] == source[rows, 3]]
    behind = [reader for row in splits.tolist() if joins.reader_counts[row] == 1 for reader in joins.readers(row)]
    joined = rows[source[rows, 2] * source[rows, 3] == output[rows, 3]]
    before = joins.makers[joined]
    before = before[joins.reader_counts[before] == 1]  # NOBODY is the last row as a maker, which nobody reads
    turns = np.unique(np.concatenate((np.array(behind, dtype=np.int64), before)))
    return turns[turned[turns]]


def _heads(facts: WindowFacts, rows: Rows) -> tuple[Rows, Rows]:
    """Heads and their width, where one side is [.., heads, width] and the other [.., heads * width]; else no heads.

    TTNN splits whole tiles only.
    """
    one, other = facts.ops.inputs[0].logical[rows], facts.ops.outputs[0].logical[rows]
    split = np.where((one[:, 3] < other[:, 3])[:, None], one, other)
    heads, width = split[:, 2], split[:, 3]
    whole = (heads * width == np.maximum(one[:, 3], other[:, 3])) & (width % TILE_SIDE == 0)
    return np.where(whole, heads, 0), width
