"""A decode step transposes a tensor for the rotary embedding and back.

rotary_embedding_llama in its decode mode wants [1, users, heads, d] in shards. A tensor that stands as
[1, heads, users, d] before and after needs no such mode: in prefill mode the op turns it as it is. In DeepSeek's MLA,
transpose, shard, embedding, unshard and transpose took 14 us, the prefill mode on tables in shards 3.9 (tt-metal
PR #39572), and 4.2 with sin and cos interleaved in L1 (PR #41498). With all tables in DRAM it takes 10.

The line: RotaryEmbeddingLlama with is_decode_mode between two ops that swap its dims 1 and 2, directly or with moves
into and out of shards, each read by the next alone; together 1 % of the window. The bound is what stands around the
embedding, and what it takes itself above its bytes.

Silent on the prefill mode, on one transpose alone (then the layout is wanted), and where somebody else reads what is
between. Who reads whom is inferred from shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import ATTRIBUTES, OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_attribute, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

MOVES = ("InterleavedToSharded", "ShardedToInterleaved", "Reshard")
ROPES = ops_named("no rotary embeddings", "RotaryEmbeddingLlama")


@check(
    title="a rotary embedding between two transposes",
    lever=LAYOUT,
    of=ROPES,
    needs=(OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all embeddings between two transposes, with what stands around them."""
    moves, turns = facts.named(*MOVES), _turns(facts)
    decoding = [row for row in ROPES.rows(facts).tolist() if _decodes(facts, row)]
    around = {row: others for row in decoding if (others := _around(facts.joins, row, moves, turns))}
    ropes = np.array([*around], dtype=np.int64)
    rows = np.array(sorted({row for rope, others in around.items() for row in (rope, *others)}), dtype=np.int64)
    at_most = facts.kernel_ns[rows] - np.where(np.isin(rows, ropes), achievable_ns(facts)[rows], 0.0)
    yield Problem(rows, at_most, tell=partial(_tell, rows, around), about=ropes)


def _tell(rows: Rows, around: dict[int, list[int]], ops: Affected) -> Words:
    facts, others = ops.facts, around[ops.row]
    first, last = min(others), max(others)
    return Words(
        claim=(
            f"{ops.many('rotary embedding')} in decode mode between two transposes ({time_of(facts, rows)}): "
            f"{ops.example}, lines {facts.line(first)} to {facts.line(last)}"
        ),
        assumption="prefill mode turns the tensor as it stands before the transpose; its bytes stay",
        also=(cite_attribute(facts, ops.row, "is_decode_mode"), *facts.cite(first)),
        fix=(
            f"ttnn.experimental.rotary_embedding_llama(x, cos, sin, trans_mat, is_decode_mode=False) on what line "
            f"{facts.line(first)} reads; trans_mat L1 HEIGHT_SHARDED, cos and sin [1,1,users,d] in L1 interleaved"
        ),
        verify="re-profile; compare_runs.removed lists both transposes; PCC >= 0.99",
        caveat="sharded cos and sin gave wrong output on two Galaxies (tt-metal #40629); older builds refuse shards",
    )


def _decodes(facts: WindowFacts, row: int) -> bool:
    return facts.attributes(row).flag("is_decode_mode") is True


def _turns(facts: WindowFacts) -> Mask:
    """Ops that swap dims 1 and 2."""
    swapped = facts.ops.inputs[0].logical[:, [0, 2, 1, 3]] == facts.ops.outputs[0].logical
    return facts.named("Transpose", "Permute") & swapped.all(axis=1)


def _around(joins: Joins, row: int, moves: Mask, turns: Mask) -> list[int]:
    """The transposes before and after, with the moves between; empty where one of them is missing."""
    passed = joins.chain(row, moves)
    readers = joins.readers(passed[-1])
    at = row
    # nobody's place is the last op's
    while joins.reader_counts[maker := int(joins.makers[at])] == 1 and moves[maker]:
        passed.append(at := maker)
    between = len(readers) == 1 and turns[readers[0]] and turns[maker] and joins.reader_counts[maker] == 1
    return [*passed[1:], readers[0], maker] if between else []
