"""A reshape keeps the width of its rows and copies them all the same, where a view costs nothing.

`ttnn.reshape` is a view when the last dim stays and, in TILE, the second-last stays a multiple of 32 on both sides.
Otherwise every element moves. Rows that are not a multiple of 32 can be padded once, at the start; in ROW_MAJOR the
same reshape is a view. Over 2,159 test shapes a reshape took 0.7 in place of 17 (tt-metal PR #15118) once it was a view
wherever it can be.

The line: Reshape ops with kernel time whose last dim stays, together 1 % of the window. The bound is their whole time.

Silent on reshapes to another width, which `reshape-not-a-view` claims, and on rows below 64 B (`tiny-row-reshape`).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.reshapes import IN_WHOLE_TILES, RESHAPES, copied, copy_told
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


@check(
    title="reshapes that copy rows of one width",
    lever=LAYOUT,
    of=RESHAPES,
    needs=(OPERANDS,),
    worth=Worth(time=USUAL),
    compiled=IN_WHOLE_TILES,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all reshapes that keep the width."""
    rows = np.flatnonzero(copied(facts, same_width=True))
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    sides = (ops.facts.ops.inputs[0], ops.facts.ops.outputs[0])
    height = max((int(side.logical[ops.row, 2]) for side in sides), key=lambda rows: rows % TILE_SIDE)
    broken, stays = f"{height} rows are no whole tiles", "though width and whole tiles stay: a view would do"
    return copy_told(
        ops,
        broken if height % TILE_SIDE else stays,
        "pad the height to a multiple of 32 once, or reshape while the tensor is ROW_MAJOR (a view there), before "
        "ttnn.to_layout(x, ttnn.TILE_LAYOUT)",
    )
