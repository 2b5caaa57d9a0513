"""Ops around a conv move its input without need.

A conv reads a halo: each core's rows plus the neighbours' rows that its window needs. Halo itself is needed. Two other
ops often are not: an interleaved-to-sharded copy before it, because the op before wrote interleaved; and a Move after
it, which compacts L1 for `reallocate_halo_output` although L1 is not short.

The line: the copies (or the Moves) cost 1 % of the window. A Move counts only if the conv would also fit with the gap
that the Move closes (at most the size of the halo tensor), by the conv's own formulas and with 5 % to spare.

Silent about Halo, about the first copy of the model's input, about slices (see conv-sliced-in-dram), about tensors
that just left their shards (see placement-round-trip), and behind ops that write no shards: Typecast and Upsample of
an interleaved tensor. Untilize, slice, pad, permute, norms and element-wise ops do (TTNN 0.81.1). Producers are
inferred from shapes, types and placements; only a memory report makes them certain.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.moves.move_patterns import CONFIG_KEYS
from ttnn_mcp.checks.check import CannotTell, Claim, Claims, Rows, WindowFacts
from ttnn_mcp.checks.needs import BLOCK_CONFIG, L1_LIMIT
from ttnn_mcp.checks.shared.conv_ops import conv_check
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.memory_config import parse_memory_config
from ttnn_mcp.run.ops.op_names import canonical

COPIES = ("InterleavedToSharded", "Reshard")
WRITES_NO_SHARDS = ("Typecast", "Upsample")  # of an interleaved input: TTNN 0.81.1 refuses (a mock device)
OUT_OF_SHARDS = ("ShardedToInterleaved", "ShardedToInterleavedPartial")  # half of a placement-round-trip


def look(facts: WindowFacts) -> Claims:
    """Yield one claim for copies in front of Halo, one for Moves behind it."""
    copies, moves = _feeding_halo(facts), _idle_moves(facts)
    if len(copies):
        yield _copies_claim(facts, copies)
    if facts.l1_limit is None and facts.named("Move").any():
        yield CannotTell(L1_LIMIT.why(facts))
    if len(moves):
        yield _moves_claim(facts, moves)


def _feeding_halo(facts: WindowFacts) -> Rows:
    """Copies whose result goes into Halo (through a Move or not), and whose source another op made."""
    halos = np.flatnonzero(facts.named("Halo"))
    moves = _makers_of(facts, halos, "Move")
    copies = _makers_of(facts, np.append(halos, moves), *COPIES)
    source = facts.joins.makers[copies]
    return copies[(source != NOBODY) & ~facts.named(*OUT_OF_SHARDS, *WRITES_NO_SHARDS)[source]]


def _idle_moves(facts: WindowFacts) -> Rows:
    """Moves from Halo to a conv that would fit L1 without them."""
    # without the Move at most the halo tensor's size is lost; the allocated bytes include it
    roomy = facts.convs.where(lambda conv: conv.total_bytes + conv.allocated_bytes <= facts.safe_l1_bytes)
    moves = _makers_of(facts, roomy, "Move")
    source = facts.joins.makers[moves]
    return moves[(source != NOBODY) & facts.named("Halo")[source]]


def _makers_of(facts: WindowFacts, rows: Rows, *names: str) -> Rows:
    """The ops of these names that made INPUT_0 of the rows."""
    makers = facts.joins.makers[rows]
    makers = np.unique(makers[makers != NOBODY])
    return makers[facts.named(*names)[makers]]


def _copies_claim(facts: WindowFacts, rows: Rows) -> Claim:
    row = facts.heaviest(rows)[0]
    maker = int(facts.joins.makers[row])
    printed = facts.attributes(row).text_of(*CONFIG_KEYS)
    target = parse_memory_config(printed) if printed else None
    return Claim(
        claim=(
            f"Copies into sharded L1 in front of Halo ({len(rows)}x, {time_of(facts, rows)}): heaviest "
            f"{example(facts, row)}, written by {shown(canonical(facts.names[maker]))} at line {facts.line(maker)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="the op before can write the conv's shards itself at no extra cost",
        evidence=cite_op(facts, row),
        fix=(
            f"let line {facts.line(maker)} write sharded, with the memory_config that line {facts.line(row)} writes "
            f"({target or shown(facts.ops.outputs[0].placement[row])}); a conv called with its input in DRAM: "
            "slice_config=ttnn.Conv2dL1FullSliceConfig, from 0.64.0"
        ),
        verify="re-profile; reshard_detect.total_us falls and compare_runs.added shows no new copy",
        caveat="producers are inferred from shapes; an op that cannot write shards keeps its copy",
    )


def _moves_claim(facts: WindowFacts, rows: Rows) -> Claim:
    row = facts.heaviest(rows)[0]
    return Claim(
        claim=(
            f"Moves between Halo and Conv2d ({len(rows)}x, {time_of(facts, rows)}) pack L1 that is not short: "
            f"heaviest at line {facts.line(row)}, {facts.ops.inputs[0].shape_text(row)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="each conv fits with its halo tensor left where it is (L1 by model, 5 % kept free)",
        evidence=cite_op(facts, row),
        fix=(
            "ttnn.Conv2dConfig(reallocate_halo_output=False)  # on these convs; back to True if one runs out of L1"
        ),
        verify="re-profile; list_ops(op_code='MoveDeviceOperation').total falls, no circular-buffer clash",
        caveat="fragmentation is not modelled: try the largest conv first",
    )


CHECK = conv_check(
    id="conv-data-movement",
    title="copies and moves around convs",
    look=look,
    needs=(BLOCK_CONFIG,),
    worth=Worth(time=USUAL),
)
