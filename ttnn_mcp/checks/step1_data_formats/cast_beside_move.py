"""A typecast runs beside a move or a tilize that could write the type itself.

`ttnn.to_memory_config(x, memory_config, dtype=...)` runs one op where it shards a tensor or makes one interleaved: TTNN
0.81.1 passes the type on as `output_dtype` (seen on a mock device). A cast before or behind such a move reads and
writes the tensor once more; without it one path of an encoder took 82 us less (tt-metal's perf_automation guide).
`ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=...)` tilizes and converts in one op, to wider types too: without the casts
to FLOAT32 behind its tilizes a layer of Qwen3.6 took 0.96 ms less (tt-metal PR #49565).

The line: a Typecast between floats, in tiles, that alone reads what an InterleavedToSharded, ShardedToInterleaved or
tilize wrote, or whose result such a move alone reads, or in rows a tilize; together 0.5 % of the window (the same
rounding). The bound is the casts' whole time.

Silent if another op also reads the tensor between the two, about casts that narrow behind a move
(output-wider-than-consumer), about reshards (with another type TTNN copies instead), and about untilizes, which take
no type.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.casts import moves_beside_casts
from ttnn_mcp.analyses.op_kinds.layouts import TO_TILES
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.wording import op_name
from ttnn_mcp.checks.worth import SAFE, Worth


@check(
    title="a typecast that a move could make",
    lever=LAYOUT,
    of=ops_named("no typecasts", "Typecast"),
    needs=(OPERANDS,),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such casts."""
    partners = moves_beside_casts(facts.ops, facts.joins)
    rows = np.flatnonzero(partners >= 0)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, partners))


def _tell(partners: Rows, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    move, x, y = int(partners[row]), facts.ops.inputs[0], facts.ops.outputs[0]
    tilizes = facts.named(*TO_TILES)[move]
    call = "ttnn.to_layout(x, ttnn.TILE_LAYOUT" if tilizes else "ttnn.to_memory_config(x, memory_config"
    return Words(
        claim=(
            f"Typecasts run beside ops that could write the type ({len(ops.rows)}x, {ops.time}): "
            f"{x.dtype[row]} to {y.dtype[row]}, {ops.example}, {op_name(facts, move)} at line {facts.line(move)}"
        ),
        assumption="the move converts while it copies, at no extra cost",
        cells=((x, "DATATYPE"), (y, "DATATYPE")),
        fix=(
            f"{call}, dtype=ttnn.{y.dtype[row].lower()}) at line {facts.line(move)}, "
            f"and no ttnn.typecast at line {ops.line}"
        ),
        verify="re-profile; list_ops(op_code='TypecastDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="readers are inferred from shapes; a wider type makes shards larger",
    )
