"""A tensor filled with a constant is made again in every pass.

`ttnn.full`, `ttnn.zeros`, `ttnn.ones` and `ttnn.arange` read no tensor: the same arguments give the same result each
time. Made once before the loop, it is a weight. Compilers leave such ops in the graph (tt-mlir #5512), and a binary op
with one value needs no tensor at all.

The line: Full and Arange without any input whose result only ops read that write a tensor of their own (element-wise,
matmuls, norms, softmax, Concat); 0.5 % of the window, as nothing can get less accurate. The bound is their time.

Silent where nobody reads it, and where one that writes in place does (cache updates, scatters, slice writes): it wants
a fresh tensor.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import CONSTANTS
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.worth import SAFE, Worth

MADE = ops_named("no Full or Arange ops", "Full", "Arange")
READ_ONLY = ("Binary", "Unary", "Ternary", "Where", "Matmul", "Linear", "LayerNorm", "Softmax", "Concat")


@check(
    title="a constant made again in every pass",
    lever=CONSTANTS,
    of=MADE,
    needs=(OPERANDS,),
    worth=Worth(saving=SAFE),
    compiled="register it as a buffer of the module (self.register_buffer), so that it is an input and no op",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all constants that are only read."""
    only_read = facts.joins.read_only_by(facts.named(*READ_ONLY))
    rows = np.flatnonzero(MADE.mask(facts) & ~facts.ops.inputs[0].present & only_read)
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    shape = ops.facts.ops.outputs[0].shape_text(ops.row)
    return Words(
        claim=(
            f"{ops.many('tensor', ('of constants is', 'of constants are'))} made in this pass ({ops.time}): "
            f"{ops.name} of {shape} at line {ops.line}"
        ),
        assumption="the arguments are the same in every pass, so the tensor is",
        fix=(
            "make it once, before the loop, and keep it; a binary op with one value takes it as a scalar: "
            "ttnn.multiply(x, 0.1)"
        ),
        verify=f"re-profile; list_ops(op_code='{ops.name}') is empty",
        caveat="not where the value or the shape changes with the step, or where an op writes into it",
    )
