"""A tensor leaves its shards and comes back, and no op in between needed it interleaved.

ShardedToInterleaved and InterleavedToSharded move every byte and compute nothing. Two of them on one tensor
are one `ttnn.reshard`, or none if the shards are the same.

The line: the second op reads what the first wrote (equal elements, data type, layout and placement, no other writer);
adjacency is no evidence: of five neighbouring pairs in a DeepLabV3 report only one is a round trip. 0.1 % of the window
to save: real ones are pure waste.

If another op reads the interleaved copy, the copy stays, and one reshard of about 2 us replaces the way back (no op,
if the shards are the same). Copies that wait for more than four ops for their reader were made to free L1 and are not
counted. A linked memory report makes a pair certain, or removes it.

Silent if another op wrote the tensor again in between, and if only the order in time suggests a pair. Copies that only
element-wise ops read are shards-left-for-eltwise.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.moves.move_patterns import AVOIDABLE, CONFIG_KEYS
from ttnn_mcp.analyses.moves.moves import Moves
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import Affected, Evidence, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_op, moved
from ttnn_mcp.checks.worth import Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.memory_config import parse_memory_config

ROUND_TRIP_SHARE = 0.001  # of the window: certain waste where it is real (ours)
UNPROVEN = "likely, not certain: only a linked memory report tells tensors apart"


@check(
    title="a tensor leaves its shards and comes back",
    lever=LAYOUT,
    of=Subject(moved, "no op changes a placement"),
    needs=(PLACEMENTS,),
    worth=Worth(saving=ROUND_TRIP_SHARE),
    compiled=optimized("keeps chains in shards"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the moves of all round trips."""
    moves = facts.moves
    trips = moves.among("round-trip")
    at_most, certain = moves.at_most_ns[trips], moves.avoidable[trips] == AVOIDABLE.index("certain")
    at_least = np.where(certain, at_most, 0.0) if certain.any() else None
    back = moves.rows[trips[np.isin(moves.makers[trips], moves.rows[trips])]]
    yield Problem(moves.rows[trips], at_most, at_least_ns=at_least, tell=partial(_tell, trips), about=back)


def _tell(trips: Rows, ops: Affected) -> Words:
    facts, moves, row = ops.facts, ops.facts.moves, ops.row
    heaviest = int(np.flatnonzero(moves.rows == row)[0])
    first = int(moves.makers[heaviest])
    others = [reader for reader in moves.joins.readers(first) if reader not in ops.together]
    stays = f"; the copy is also read at line {facts.line(others[0])} and stays" if others else ""
    start = facts.ops.inputs[0].placement[first]
    places = " -> ".join(shown(placement) for placement in (start, moves.before(heaviest), moves.after(heaviest)))
    certain = moves.avoidable[trips] == AVOIDABLE.index("certain")
    return Words(
        claim=(
            f"{ops.many('placement round trip')} ({ops.time_together}): {places}, "
            f"{facts.ops.inputs[0].shape_text(row)}, lines {facts.line(first)} and {ops.line}{stays}"
        ),
        assumption=_assumption(moves, trips, heaviest, others=bool(others)),
        evidence=(
            *cite_op(facts, first),
            *cite_op(facts, row, (facts.ops.outputs[0], "MEMORY")),
            *(_cite_read(facts, first, reader) for reader in others[:1]),
        ),
        fix=_fix(facts, moves, heaviest, others=bool(others)),
        verify=f"re-profile; reshard_detect.patterns shows no round-trip at line {ops.line}; PCC unchanged",
        caveat=None if certain.all() else UNPROVEN,
    )


def _cite_read(facts: WindowFacts, maker: int, reader: int) -> Evidence:
    """The operand of `reader` that `maker` made."""
    pairs = zip(facts.ops.inputs, facts.flow.producers, strict=True)
    operand = next((read for read, made_by in pairs if made_by[reader] == maker), facts.ops.inputs[0])
    return facts.ops.cite_operand(reader, operand, "MEMORY")


def _assumption(moves: Moves, trips: Rows, heaviest: int, *, others: bool) -> str:
    if others and moves.verdict(heaviest) != "partly":
        return "the copy stays for its other readers; the shards are the same, so the way back goes"
    if others:
        return "the copy stays for its other readers; one reshard of 2 us replaces the way back"
    if (moves.avoidable[trips] == AVOIDABLE.index("partly")).any():
        return "the shards may differ: one reshard of 2 us replaces both; no other op reads the copy"
    return "the shards are the same: both ops go; no other op reads the copy"


def _fix(facts: WindowFacts, moves: Moves, heaviest: int, *, others: bool) -> str:
    row, first = int(moves.rows[heaviest]), int(moves.makers[heaviest])
    if others and moves.verdict(heaviest) != "partly":
        return (
            f"drop the ttnn.to_memory_config call behind line {facts.line(row)}: pass on the sharded tensor that line "
            f"{facts.line(first)} reads; its interleaved copy stays for the others"
        )
    if moves.verdict(heaviest) != "partly":
        lines = f"{facts.line(first)} and {facts.line(row)}"
        return f"drop the ttnn.to_memory_config calls of lines {lines}: pass the tensor on as it is"
    text = facts.attributes(row).text_of(*CONFIG_KEYS)
    target = parse_memory_config(text) if text else None
    return (
        f"y = ttnn.reshard(x, cfg)  # x: the sharded tensor that line {facts.line(first)} reads; cfg: what line "
        f"{facts.line(row)} writes ({target or shown(moves.after(heaviest))}). Or let the op before write cfg"
    )
