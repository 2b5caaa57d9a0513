"""A reshape copies its tensor although another shape would make it a view, which costs nothing.

`ttnn.reshape` is a view when the last dim stays and, in TILE, the second-last stays a multiple of 32 on both sides.
Otherwise every element moves. The best way to split and join heads is the special ops; rows that are not a multiple of
32 can be padded once, at the start. Over 2,159 test shapes a reshape took 0.7 in place of 17 (tt-metal PR #15118) once
it was a view wherever it can be.

The line: Reshape ops with kernel time, together 1 % of the window. The bound is their whole time. One head op can also
replace a transpose after a split or before a join, so their time counts too: three head ops in place of them took
SDXL's UNet from 672 to 612 ms (tt-metal PR #22938).

Silent on rows below 64 B, which `tiny-row-reshape` claims, and around columns that are put in another order behind a
matmul (columns-permuted-every-call). Each kind (other width, same width) is a claim of its own.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.permuted_columns import rows_of_permuted
from ttnn_mcp.analyses.op_kinds.tiny_rows import moves_tiny_rows
from ttnn_mcp.checks.check import Check, Claim, Claims, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


def look(facts: WindowFacts) -> Claims:
    """Yield a claim over reshapes that change the width, and one over those that keep it."""
    source, output = facts.ops.inputs[0], facts.ops.outputs[0]
    reshapes = facts.named("Reshape") & ~moves_tiny_rows(facts.ops)
    reshapes[rows_of_permuted(facts.ops)] = False
    same_width = source.logical[:, 3] == output.logical[:, 3]
    yield from _claim(facts, np.flatnonzero(reshapes & ~same_width), same_width=False)
    yield from _claim(facts, np.flatnonzero(reshapes & same_width), same_width=True)


def _claim(facts: WindowFacts, rows: Rows, *, same_width: bool) -> Claims:
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    turns = np.zeros(0, dtype=np.int64) if same_width else _turns(facts, rows)
    beside = f", {len(turns)} transposes of heads beside them {time_of(facts, turns)}" if len(turns) else ""
    source, output = facts.ops.inputs[0], facts.ops.outputs[0]
    height = max((source, output), key=lambda operand: operand.logical[row, 2] % TILE_SIDE).logical[row, 2]
    why = "the last dim changes"
    if same_width:
        stays = "though width and whole tiles stay: a view would do"
        why = f"{height} rows are no whole tiles" if height % TILE_SIDE else stays
    yield Claim(
        claim=(
            f"{len(rows)} reshapes ({time_of(facts, rows)}) copy, no views: {why}; heaviest {example(facts, row)}"
            f"{beside}"
        ),
        rows=np.concatenate((rows, turns)),
        at_most_ns=facts.kernel_ns[np.concatenate((rows, turns))],
        assumption="each becomes a view, or falls into a fused op that does its move",
        evidence=cite_op(facts, row, (source, "LAYOUT"), (output, "LAYOUT")),
        fix=_fix(facts, row, same_width=same_width),
        verify="re-profile: compare_runs.removed lists the Reshape ops; PCC unchanged",
        caveat="a fused op takes some time of its own, which the bound does not subtract",
    )


def _fix(facts: WindowFacts, row: int, *, same_width: bool) -> str:
    if same_width:
        return (
            "pad the height to a multiple of 32 once, or reshape while the tensor is ROW_MAJOR (a view there), "
            "before ttnn.to_layout(x, ttnn.TILE_LAYOUT)"
        )
    heads = _heads(facts, row)
    return (
        f"q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(qkv, num_heads={heads}, "
        "transpose_key=False); join with ttnn.experimental.nlp_concat_heads(x); or reshape in ROW_MAJOR, a view there"
        if heads
        else "order the ops so that the last dim stays, or reshape in ROW_MAJOR where the next op takes rows"
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


def _heads(facts: WindowFacts, row: int) -> int | None:
    """Heads, where one side is [.., heads, width] and the other [.., heads * width]; TTNN splits whole tiles only."""
    wide, split = facts.ops.inputs[0].logical[row], facts.ops.outputs[0].logical[row]
    if wide[3] < split[3]:
        wide, split = split, wide
    return int(split[2]) if split[2] * split[3] == wide[3] and split[3] % TILE_SIDE == 0 else None


CHECK = Check(
    id="reshape-not-a-view",
    title="reshapes that copy",
    step=2,
    look=look,
    of=ops_named("no Reshape ops took device time: all were views, or there were none", "Reshape"),
    needs=(OPERANDS,),
    worth=Worth(time=USUAL),
    compiled="pad sequence and head dims to multiples of 32 in the model, so that the compiler's reshapes are views",
)
