"""A tensor that never changes is tilized or untilized in every iteration.

Weights, masks and position tables can be converted once, where they are loaded. A conversion inside forward() is
paid per call.

The line: in a window that is one of several iterations, conversions whose input no op of the iteration made,
besides the first of them, which is likely the model's input; together 1 % of the window. Cannot tell on a run of
one pass when such conversions take 1 %: constants are converted once there, as they should be.

Silent where an op of the same window made a tensor of equal size, type and placement. State carried over from the
iteration before (caches) looks like a constant: the caveat says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES, named, reads_unmade
from ttnn_mcp.checks.check import CannotTell, Check, Claim, NotApplicable, Said
from ttnn_mcp.checks.shared.wording import cite_op, compiled, example, time_of, took

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.analyses.window_facts import WindowFacts

WORTH_SHARE = 0.01  # of the window


def look(facts: WindowFacts) -> Iterator[Said]:
    """Yield one claim over all conversions of tensors that the window did not make."""
    conversions = named(facts.ops, *TO_TILES, *TO_ROWS)
    if not conversions.any():
        yield NotApplicable("no Tilize or Untilize ops")
        return
    rows = np.flatnonzero(conversions & reads_unmade(facts.ops, facts.flow))[1:]
    spent = float(facts.kernel_ns[rows].sum())
    if spent < WORTH_SHARE * facts.total_ns or not len(rows):
        return
    if (facts.scope.window.of_iterations or 0) < 2 or facts.scope.window.kind != "iteration":
        yield CannotTell(
            f"{len(rows)} conversions ({took(spent)}) read what no op made; one pass does not show whether they "
            "repeat. Profile 2 or more iterations"
        )
        return
    row = facts.heaviest(rows)[0]
    yield Claim(
        claim=(
            f"{len(rows)} conversions per iteration ({time_of(facts, rows)}) read tensors that no op of it made, so "
            f"likely constants; heaviest {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="all of them are constants and are converted once, where they are loaded",
        evidence=cite_op(facts, row, (facts.input(0), "LAYOUT"), (facts.output(), "LAYOUT")),
        fix=(
            "keep the tensor as a parameter or buffer of the module: the compiler folds its conversion once"
            if compiled(facts)
            else "ttnn.from_torch(t, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device) at load time; no "
            "ttnn.to_layout on it in forward()"
        ),
        verify="re-profile 2 iterations: tensor_formats.conversions loses them",
        caveat="further model inputs, or caches from the iteration before, would look the same",
    )


CHECK = Check(
    id="constant-converted-repeatedly",
    title="an unchanging tensor converted per iteration",
    step=2,
    look=look,
    read_next="step-02-tensor-layouts.md",
)
