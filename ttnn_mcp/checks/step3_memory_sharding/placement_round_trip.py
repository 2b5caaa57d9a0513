"""A tensor leaves its shards and comes back, and no op in between needed it interleaved.

ShardedToInterleaved and InterleavedToSharded move every byte and compute nothing. Two of them on one tensor
are one `ttnn.reshard`, or none if the shards are the same. A copy out of shards that only element-wise ops
read is not needed either: they work on shards (SegFormer, Matmul -> ShardedToInterleaved -> Binary: 24 times,
246 us, 5 % of its time).

The line: the second op reads what the first wrote (equal elements, data type, layout and placement, no other writer);
adjacency is no evidence: of five neighbouring pairs in a DeepLabV3 report only one is a round trip. Round trips are
reported from 0.1 % of the window (real ones are pure waste), detours through element-wise ops from 1 %.

If another op reads the interleaved copy, the copy stays, and one reshard of about 2 us replaces the way back (no op,
if the shards are the same). Copies that wait for more than four ops for their reader were made to free L1 and are not
counted. A linked memory report makes a pair certain, or removes it.

Silent if another op wrote the tensor again in between, and if only the order in time suggests a pair.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.moves.move_patterns import AVOIDABLE, CONFIG_KEYS
from ttnn_mcp.analyses.moves.moves import Moves
from ttnn_mcp.checks.check import Check, Claim, Claims, Evidence, Rows, Subject, WindowFacts
from ttnn_mcp.checks.needs import PLACEMENTS
from ttnn_mcp.checks.shared.levers import optimized
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, moved, op_name, time_of
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.memory_config import parse_memory_config

ROUND_TRIP_SHARE = 0.001  # of the window: certain waste where it is real (ours)
DETOUR_SHARE = 0.01  # of the window: the element-wise op has to change too (ours)
UNPROVEN = "likely, not certain: only a linked memory report tells tensors apart"


def look(facts: WindowFacts) -> Claims:
    """Yield one claim for round trips, one for detours through element-wise ops."""
    moves = facts.moves
    trips = moves.among("round-trip")
    if moves.at_most_ns[trips].sum() > ROUND_TRIP_SHARE * facts.total_ns:
        yield _round_trips(facts, moves, trips)
    detours = moves.among("eltwise-detour")
    detours = detours[moves.avoidable[detours] >= AVOIDABLE.index("likely")]
    if moves.at_most_ns[detours].sum() > DETOUR_SHARE * facts.total_ns:
        yield _detours(facts, moves, detours)


def _round_trips(facts: WindowFacts, moves: Moves, trips: Rows) -> Claim:
    rows = moves.rows[trips]
    back = trips[np.isin(moves.makers[trips], rows)]
    heaviest = int(back[np.argmax(moves.kernel_ns[back])])
    row, first = int(moves.rows[heaviest]), int(moves.makers[heaviest])
    others = [reader for reader in moves.joins.readers(first) if reader not in rows]
    stays = f"; the copy is also read at line {facts.line(others[0])} and stays" if others else ""
    start = facts.ops.inputs[0].placement[first]
    places = " -> ".join(shown(placement) for placement in (start, moves.before(heaviest), moves.after(heaviest)))
    certain = moves.avoidable[trips] == AVOIDABLE.index("certain")
    return Claim(
        claim=(
            f"{len(back)} placement round trip{'s' if len(back) > 1 else ''} ({time_of(facts, rows)}): {places}, "
            f"{facts.ops.inputs[0].shape_text(row)}, lines {facts.line(first)} and {facts.line(row)}{stays}"
        ),
        rows=rows,
        at_most_ns=moves.at_most_ns[trips],
        at_least_ns=np.where(certain, moves.at_most_ns[trips], 0.0) if certain.any() else None,
        assumption=_assumption(moves, trips, heaviest, others=bool(others)),
        evidence=(
            *cite_op(facts, first),
            *cite_op(facts, row, (facts.ops.outputs[0], "MEMORY")),
            *(_cite_read(facts, first, reader) for reader in others[:1]),
        ),
        fix=_fix(facts, moves, heaviest, others=bool(others)),
        verify=f"re-profile; reshard_detect.patterns shows no round-trip at line {facts.line(row)}; PCC unchanged",
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
        return f"drop the ttnn.to_memory_config calls behind lines {lines}: pass the tensor on as it is"
    text = facts.attributes(row).text_of(*CONFIG_KEYS)
    target = parse_memory_config(text) if text else None
    return (
        f"y = ttnn.reshard(x, cfg)  # x: the sharded tensor that line {facts.line(first)} reads; cfg: what line "
        f"{facts.line(row)} writes ({target or shown(moves.after(heaviest))}). Or let the op before write cfg"
    )


def _detours(facts: WindowFacts, moves: Moves, detours: Rows) -> Claim:
    rows = moves.rows[detours]
    row = facts.heaviest(rows)[0]
    reader = next(iter(moves.joins.readers(row)))
    maker, several = int(moves.joins.makers[row]), len(rows) > 1
    return Claim(
        claim=(
            f"{len(rows)} move{'s' * several} only for element-wise ops take{'s' * (not several)} a tensor out of its "
            f"shards ({time_of(facts, rows)}): "
            f"{op_name(facts, maker)} -> {op_name(facts, row)} -> {op_name(facts, reader)}, "
            f"{facts.ops.inputs[0].shape_text(row)} at line {facts.line(row)}"
        ),
        rows=rows,
        at_most_ns=moves.at_most_ns[detours],
        assumption="the element-wise op takes the shards as they are; no later op reads the interleaved copy",
        evidence=cite_each(facts.heaviest(rows), lambda n: cite_op(facts, n, (facts.ops.inputs[0], "MEMORY"))),
        fix=(
            f"drop the move at line {facts.line(row)}: ttnn.add(a, b, memory_config=a.memory_config()) with a "
            f"sharded as line {facts.line(maker)} writes it, b in the same shards or one that broadcasts"
        ),
        verify="re-profile; reshard_detect.patterns: eltwise-detour count falls; PCC unchanged",
        caveat="joins are inferred from shapes and order; other operands may need the same shards",
    )


CHECK = Check(
    id="placement-round-trip",
    title="a tensor leaves its shards and comes back",
    step=3,
    look=look,
    of=Subject(moved, "no op changes a placement"),
    needs=(PLACEMENTS,),
    compiled=optimized("keeps chains in shards"),
)
