"""A tensor leaves its shards only for element-wise ops, which work on shards as well.

ShardedToInterleaved moves every byte and computes nothing. A copy out of shards that only element-wise ops read is not
needed (SegFormer, Matmul -> ShardedToInterleaved -> Binary: 24 times, 246 us, 5 % of its time).

The line: the element-wise op reads what the move wrote (equal elements, data type, layout and placement, no other
writer), and nobody else does; together 1 % of the window to save: the element-wise op has to change too.

Silent on copies that wait for more than four ops for their reader: they were made to free L1. A linked memory report
removes moves that other ops read. Copies that come back into shards are placement-round-trip.
"""

from __future__ import annotations

from ttnn_mcp.analyses.moves.move_patterns import AVOIDABLE
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.eltwise_calls import call_in_shards, has_second
from ttnn_mcp.checks.wording import moved, op_name
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="shards left for element-wise ops",
    lever=LAYOUT,
    of=Subject(moved, "no op changes a placement"),
    needs=(PLACEMENTS,),
    worth=Worth(saving=USUAL),
    compiled=optimized("keeps chains in shards"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all moves that only element-wise ops read."""
    moves = facts.moves
    detours = moves.among("eltwise-detour")
    detours = detours[moves.avoidable[detours] >= AVOIDABLE.index("likely")]
    yield Problem(moves.rows[detours], moves.at_most_ns[detours], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row, joins = ops.facts, ops.row, ops.facts.moves.joins
    reader, maker, x = next(iter(joins.readers(row))), int(joins.makers[row]), facts.ops.inputs[0]
    call = call_in_shards(facts, row)
    beside = ", b in the same shards or one that broadcasts" * has_second(facts, reader)
    return Words(
        claim=(
            f"{ops.many('move')} only for element-wise ops {ops.verb('take')} a tensor out of its shards "
            f"({ops.time}): {op_name(facts, maker)} -> {ops.name} -> {op_name(facts, reader)}, "
            f"{x.shape_text(row)} at line {ops.line}"
        ),
        assumption="the element-wise op takes the shards as they are; no later op reads the interleaved copy",
        cells=((x, "MEMORY"),),
        cited=3,
        fix=(
            f"drop the move at line {ops.line}: {call} with a sharded as line {facts.line(maker)} writes it{beside}"
        ),
        verify="re-profile; reshard_detect.patterns: eltwise-detour count falls; PCC unchanged",
        caveat="joins are inferred from shapes and order; other operands may need the same shards",
    )
