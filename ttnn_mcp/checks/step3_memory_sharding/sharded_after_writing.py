"""An op writes an interleaved tensor, and the op behind it only moves it into shards.

Most ops write shards themselves where the call has their `memory_config`: the move, and the way of the tensor to DRAM
and back, go. Cutting the queries of OpenFold3 into 42 parts took 3051 us with a move behind each slice, and 1566 with
the slices that wrote the shards (its port in tt-metal).

The line: an InterleavedToSharded, the only reader of what an op wrote that TTNN 0.81.1 lets write shards of that
layout from interleaved operands (seen on a mock device: slices, element-wise ops, norms, softmax, concat, permutes,
tilizes, reshapes, repeats, embeddings, sums over channels; rotary embeddings by height); together 0.5 % of the window.
The bound is the moves' time.

Silent where the move changes the data type, before convs (copies-before-halo), on casts, which need the layout of
their input (cast-beside-move), on attention, which refuses sharded results for grouped queries, on matmuls, whose
config has to fit the shards, on ops that read shards, whose own decide, and on exchanges.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_each, cite_op, op_name
from ttnn_mcp.checks.worth import SAFE, Worth

WRITERS = (  # of shards of any layout
    *("Slice", "Binary", "Unary", "Ternary", "LayerNorm", "RMSNorm", "Softmax", "Concat", "Permute", "Transpose"),
    *("Tilize", "TilizeWithValPadding", "Untilize", "Reshape", "Repeat", "Embeddings", "FastReduceNC"),
)
BY_HEIGHT = ("RotaryEmbedding", "RotaryEmbeddingHf")
MOVES = ops_named("no moves into shards", "InterleavedToSharded")


@check(
    title="moves into shards that an op could write",
    lever=LAYOUT,
    of=MOVES,
    needs=(PLACEMENTS,),
    worth=Worth(time=SAFE),
    compiled=optimized("keeps chains in shards"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such moves."""
    rows, joins, x, y = MOVES.rows(facts), facts.joins, facts.ops.inputs[0], facts.ops.outputs[0]
    makers = joins.makers[rows]
    writes, before_conv = facts.named(*WRITERS)[makers], _before_conv(facts)
    writes |= facts.named(*BY_HEIGHT)[makers] & (y.placement.among("L1_HEIGHT_SHARDED"))[rows]
    writes &= ~np.any([operand.sharded for operand in facts.ops.inputs], axis=0)[makers]
    able = writes & (joins.reader_counts[makers] == 1)  # the last op, NOBODY's place, has no reader
    able &= np.array([x.dtype[row] == y.dtype[row] and not before_conv(row) for row in rows.tolist()], dtype=bool)
    yield Problem(
        rows[able], facts.kernel_ns[rows[able]], gone=rows[able], tell=partial(_tell, makers[able]), is_trial=True
    )


def _before_conv(facts: WindowFacts) -> Callable[[int], bool]:
    """Whether a halo reads the shards of a row, directly or behind a Move."""
    joins, moves, halos = facts.joins, facts.named("Move"), facts.named("Halo")
    return lambda row: any(halos[reader] for reader in joins.readers(joins.chain(row, moves)[-1]))


def _tell(makers: Rows, ops: Affected) -> Words:
    facts, row, maker = ops.facts, ops.row, int(makers[ops.at])
    return Words(
        claim=(
            f"Moves into shards of what the op before could write in shards ({len(ops.rows)}x, {ops.time}): "
            f"{ops.example}, behind {op_name(facts, maker)} at line {facts.line(maker)}"
        ),
        assumption="a trial: OpenFold3's slices wrote shards in the same time",
        evidence=cite_each((row, maker), lambda n: cite_op(facts, n, (facts.ops.outputs[0], "MEMORY"))),
        fix=(
            f"memory_config= of line {ops.line} in the call of line {facts.line(maker)} ({op_name(facts, maker)}), and "
            f"no ttnn.to_memory_config (or interleaved_to_sharded) at line {ops.line}"
        ),
        verify="re-profile; list_ops(op_code='InterleavedToShardedDeviceOperation').total.count falls; PCC unchanged",
        caveat="builds before 0.81 may refuse it; the op may use the cores of the shards only; joins are inferred",
    )
