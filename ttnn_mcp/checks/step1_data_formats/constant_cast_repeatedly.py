"""A tensor that never changes is cast to another data type in every iteration.

A typecast reads and writes the whole tensor and computes nothing. Constants can be cast once, before the loop.

The line: in a window that is one of several iterations, a Typecast of a tensor that no op of the iteration made;
together 1 % of the window. Joins rest on equal size, type, layout and placement.

Silent on a first pass, which casts constants once as it should. The model's own inputs look the same: the caveat says
so.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.layouts import reads_unmade
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import CONSTANTS
from ttnn_mcp.checks.worth import USUAL, Worth


@check(
    title="an unchanging tensor cast per iteration",
    lever=CONSTANTS,
    of=ops_named("no Typecast ops", "Typecast"),
    worth=Worth(saving=USUAL),
    compiled="drop the .to() pair in the model; cast constants once, outside forward()",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all casts of tensors that the window did not make."""
    if (facts.scope.window.of_iterations or 0) > 1:
        rows = np.flatnonzero(facts.named("Typecast") & reads_unmade(facts.ops, facts.flow))
        yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    return Words(
        claim=(
            f"{ops.many('cast')} per iteration ({ops.time}) {ops.verb('read')} tensors that no op of it made: "
            f"constants, or inputs; heaviest {ops.example}"
        ),
        assumption="all of them are constants and are cast once, before the loop",
        cells=((ops.facts.input(0), "DATATYPE"), (ops.facts.output(), "DATATYPE")),
        fix="cast where it is loaded, outside forward(): w = ttnn.typecast(w, ttnn.bfloat8_b)",
        verify="re-profile: tensor_formats.conversions lists fewer Typecast ops",
        caveat="the model's own inputs may be among them: upload those in the type that is needed",
    )
