"""A tensor that never changes is tilized or untilized in every iteration.

Weights, masks and position tables can be converted once, where they are loaded. A conversion inside forward() is
paid per call. `ttnn.embedding` untilizes a table in tiles by itself, all of it in each call (tt-mlir PR #6276, #3550).

The line: in a window that is one of several iterations, conversions whose input no op of the iteration made,
besides the first of them, which is likely the model's input, unless an embedding reads it as its table; together 1 % of
the window. Cannot tell on a run of one pass when such conversions take 1 %: constants are converted once there, as they
should be.

Silent if an op of the same window made a tensor of equal size, type and placement. State carried over from the
iteration before (caches) looks like a constant: the caveat says so.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES, reads_unmade
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import CannotTell, Problems, WindowFacts, check, ops_named
from ttnn_mcp.checks.levers import CONSTANTS
from ttnn_mcp.checks.problem import Affected, Problem, Words
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL


@check(
    title="an unchanging tensor converted per iteration",
    lever=CONSTANTS,
    of=ops_named("no Tilize or Untilize ops", *TO_TILES, *TO_ROWS),
    compiled="keep the tensor as a parameter or buffer of the module: the compiler folds its conversion once",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all conversions of tensors that the window did not make, where they are seen to repeat."""
    conversions, window = facts.named(*TO_TILES, *TO_ROWS), facts.scope.window
    rows = np.flatnonzero(conversions & reads_unmade(facts.ops, facts.flow))
    rows = rows[(np.arange(len(rows)) > 0) | np.isin(rows, _tables(facts))]
    spent = float(facts.kernel_ns[rows].sum())
    if spent < USUAL * facts.total_ns:
        return
    if (window.of_iterations or 0) > 1 and window.kind == "iteration":
        yield Problem(rows, facts.kernel_ns[rows], tell=_tell)
    elif len(rows):
        yield CannotTell(
            f"{len(rows)} conversions ({took(spent)}) read what no op made; one pass does not show whether they "
            "repeat. Profile 2 or more iterations"
        )


def _tell(ops: Affected) -> Words:
    facts = ops.facts
    return Words(
        claim=(
            f"{len(ops.rows)} conversions per iteration ({ops.time}) read tensors that no op of it made, so "
            f"likely constants; heaviest {ops.example}"
        ),
        assumption="all of them are constants and are converted once, where they are loaded",
        cells=((facts.input(0), "LAYOUT"), (facts.output(), "LAYOUT")),
        fix=(
            f"ttnn.from_torch(t, dtype=ttnn.bfloat16, layout=ttnn.{_layout(facts, ops.row)}, device=device) at load "
            "time; no ttnn.to_layout on it in forward()"
        ),
        verify="re-profile 2 iterations: tensor_formats.conversions loses them",
        caveat="further model inputs, or caches from the iteration before, would look the same",
    )


def _tables(facts: WindowFacts) -> Rows:
    """What embeddings read as their tables."""
    tables = facts.joins.by_input[1:2]
    return tables[0][facts.named("Embeddings")] if tables else np.zeros(0, dtype=np.int64)


def _layout(facts: WindowFacts, row: int) -> str:
    return "TILE_LAYOUT" if facts.named(*TO_TILES)[row] else "ROW_MAJOR_LAYOUT"
