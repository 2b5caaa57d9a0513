"""Several moves in a row change the placement of one tensor, where one move would do.

Each move reads and writes the whole tensor. Reshard after Reshard, or InterleavedToSharded and then Reshard,
comes from two places in the code that each ask for their own layout.

The line: a move reads what another move wrote, no other op reads it, and it does not lead back (that is
placement-round-trip); together 0.5 % of the window to save (merging two moves is safe). One move stays; at best it
costs what the cheaper of the two costs now.

Silent if another op reads the tensor in between, and if only the order in time suggests a chain.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.moves.move_patterns import CONFIG_KEYS
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import PLACEMENTS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_each, cite_op, moved
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.errors import shown
from ttnn_mcp.readers.printed.memory_config import parse_memory_config


@check(
    title="several moves where one would do",
    lever=LAYOUT,
    of=Subject(moved, "no op changes a placement"),
    needs=(PLACEMENTS,),
    worth=Worth(saving=SAFE),
    compiled=optimized("keeps chains in shards"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all chains."""
    chained = facts.moves.among("chain")
    rows = facts.moves.rows[chained]
    last = rows[np.isin(facts.moves.makers[chained], rows)]
    yield Problem(rows, facts.moves.at_most_ns[chained], tell=_tell, about=last)


def _tell(ops: Affected) -> Words:
    facts, moves, row = ops.facts, ops.facts.moves, ops.row
    heaviest = int(np.flatnonzero(moves.rows == row)[0])
    first = int(moves.makers[heaviest])
    text = facts.attributes(row).text_of(*CONFIG_KEYS)
    target = parse_memory_config(text) if text else None
    return Words(
        claim=(
            f"{len(ops.together)} moves follow one another on the same tensor ({ops.time_together}): "
            f"{shown(facts.ops.inputs[0].placement[first])} -> {shown(moves.before(heaviest))} -> "
            f"{shown(moves.after(heaviest))}, "
            f"{facts.ops.inputs[0].shape_text(row)}, lines {facts.line(first)} and {ops.line}"
        ),
        assumption="one move of each chain stays, at the price of the cheaper; no other op reads in between",
        evidence=cite_each((first, row), lambda n: cite_op(facts, n, (facts.ops.outputs[0], "MEMORY"))),
        fix=(
            f"one ttnn.to_memory_config(x, cfg) in place of lines {facts.line(first)} and {ops.line}; "
            f"cfg: what the last one writes ({target or shown(moves.after(heaviest))})"
        ),
        verify=f"re-profile; reshard_detect.patterns shows no chain at line {ops.line}; PCC unchanged",
        caveat="likely, not certain: only a linked memory report tells tensors apart",
    )
