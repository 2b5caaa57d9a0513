"""Tilize and untilize take a notable part of the kernel time.

Conversions compute nothing. A model should enter TILE once, stay in it through matmuls, norms and element-wise
ops, and leave it only for an op that needs rows. One SegFormer of 2024 spent 91 % of its time here.

The line: more than 5 % of the window, 1 % of it avoidable; beyond 25 % always (domain practice). The bound is the
whole time of the conversions that no op seems to need. Counted but not promised: conversions around ops that read or
write rows (halo, pool, upsample, grid sampling, embeddings; sliced convs in reports before September 2025, since
tt-metal PR #25072 they take tiles), the first of a tensor that no op made (the model's input), the last that no op
reads (its output), and round trips, which `tilize-round-trip` claims.

Silent below the line. Reshapes, permutes and transposes are no conversions; other checks look at them.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES
from ttnn_mcp.analyses.op_kinds.round_trips import explained_conversions
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL

FOUND_SHARE = 0.05  # of the window: domain practice
FIRST_SHARE = 0.25  # same: from here on no other step matters before


@check(
    title="tilize and untilize take a notable share",
    lever=LAYOUT,
    of=ops_named("no Tilize or Untilize ops", *TO_TILES, *TO_ROWS),
    compiled=('torch_xla.set_custom_compile_options({"optimization_level": "1"}); fewer permutes in the model'),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all conversions, where they take more than the line."""
    rows = np.flatnonzero(facts.named(*TO_TILES, *TO_ROWS))
    at_most = np.where(explained_conversions(facts.ops, facts.flow), 0.0, facts.kernel_ns)[rows]
    avoidable, share = float(at_most.sum()), facts.share(rows)
    if share > FIRST_SHARE or (share > FOUND_SHARE and avoidable >= USUAL * facts.total_ns):
        yield Problem(rows, at_most, tell=partial(_tell, avoidable))


def _tell(avoidable_ns: float, ops: Affected) -> Words:
    facts = ops.facts
    to_tiles, to_rows = (int(facts.named(*names).sum()) for names in (TO_TILES, TO_ROWS))
    first = ": do this step first" if facts.share(ops.rows) > FIRST_SHARE else ""
    needed = (
        f"no op seems to need {took(avoidable_ns)} of it" if avoidable_ns else "ops or the boundary need them all"
    )
    return Words(
        claim=(
            f"{to_tiles} tilize and {to_rows} untilize ops take {ops.time}{first}; {needed}; heaviest {ops.example}"
        ),
        assumption="conversions that no row-only op, model boundary or round trip explains can go",
        cells=((facts.input(0), "LAYOUT"), (facts.output(), "LAYOUT")),
        fix=(
            "x = ttnn.to_layout(x, ttnn.TILE_LAYOUT) once at the start; TILE through eltwise, norm, permute "
            "and concat; ttnn.conv2d takes TILE too and untilizes in its halo"
        ),
        verify="re-profile: tensor_formats.conversions falls in total, not only here; PCC unchanged",
        caveat="the need for a layout is inferred from size, type and placement",
    )
