"""A conv's input is copied into shards in front of Halo, although the op that wrote it could have written shards.

A conv reads a halo: each core's rows plus the neighbours' rows that its window needs. Halo itself is needed; the
interleaved-to-sharded copy or reshard before it often is not: the op before wrote interleaved.

The line: the copies cost 1 % of the window. The bound is their time.

Silent about Halo, about the first copy of the model's input, about slices (see conv-sliced-in-dram), about tensors
that just left their shards (see placement-round-trip), and behind ops that write no shards: Typecast and Upsample of
an interleaved tensor. Untilize, slice, pad, permute, norms and element-wise ops do (TTNN 0.81.1). Producers are
inferred from shapes, types and placements; only a memory report makes them certain.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.moves.move_patterns import CONFIG_KEYS
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import BLOCK_CONFIG
from ttnn_mcp.checks.shared.conv_ops import conv_check, makers_of
from ttnn_mcp.checks.wording import op_name
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.memory_config import parse_memory_config

COPIES = ("InterleavedToSharded", "Reshard")
WRITES_NO_SHARDS = ("Typecast", "Upsample")  # of an interleaved input: TTNN 0.81.1 refuses (a mock device)
OUT_OF_SHARDS = ("ShardedToInterleaved", "ShardedToInterleavedPartial")  # half of a placement-round-trip


@conv_check(
    title="a conv's input copied into shards",
    lever=LAYOUT,
    needs=(BLOCK_CONFIG,),
    worth=Worth(time=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the copies that go into Halo, through a Move or not, and whose source another op made."""
    halos = np.flatnonzero(facts.named("Halo"))
    copies = makers_of(facts, np.append(halos, makers_of(facts, halos, "Move")), *COPIES)
    source = facts.joins.makers[copies]
    rows = copies[(source != NOBODY) & _writes(facts)[source]]
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    maker = int(facts.joins.makers[row])
    printed = facts.attributes(row).text_of(*CONFIG_KEYS)
    target = parse_memory_config(printed) if printed else None
    return Words(
        claim=(
            f"Copies into sharded L1 in front of Halo ({len(ops.rows)}x, {ops.time}): heaviest {ops.example}, written "
            f"by {op_name(facts, maker)} at line {facts.line(maker)}"
        ),
        assumption="the op before can write the conv's shards itself at no extra cost",
        fix=(
            f"{_writer(facts, maker)} write sharded, with the memory_config that line {ops.line} writes "
            f"({target or shown(facts.ops.outputs[0].placement[row])}); a conv called with its input in DRAM: "
            "slice_config=ttnn.Conv2dL1FullSliceConfig, from 0.64.0"
        ),
        verify="re-profile; reshard_detect.total_us falls and compare_runs.added shows no new copy",
        caveat="producers are inferred from shapes; a new grid or layout of the conv has other shards: set it first",
    )


def _writer(facts: WindowFacts, maker: int) -> str:
    """'let line 316 (TILE, without the untilize at line 317)': Halo untilizes what it reads; else the op before."""
    before = int(facts.joins.makers[maker])
    if not op_name(facts, maker).startswith("Untilize") or before == NOBODY or not _writes(facts)[before]:
        return f"let line {facts.line(maker)}"
    return (
        f"let line {facts.line(before)} (in TILE, without the untilize: Halo untilizes) or line {facts.line(maker)}"
    )


def _writes(facts: WindowFacts) -> Mask:
    """The ops that can write shards."""
    return ~facts.named(*OUT_OF_SHARDS, *WRITES_NO_SHARDS)
