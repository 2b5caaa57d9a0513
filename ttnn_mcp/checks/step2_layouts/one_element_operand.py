"""An element-wise op reads a constant of one element as a tensor.

A tensor of one element is a tile that every core fetches and broadcasts for each of its tiles. The same number as a
Python argument is compiled into the op. Multiplying 4096 x 4096 values in L1 took 53.8 us with the tensor and 27.8
us with the number (tt-metal #36444).

The line: a binary op with one operand of a single element that no op of the window made (a constant) and another
of more than a tile; such ops take 1 % of the window. The bound leaves the bytes of the large operands and the launch.

Silent if an op of the window computes the element: then only the device has it.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


@check(
    title="a constant read as a tensor",
    of=ops_named("no binary element-wise ops", "Binary"),
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=USUAL, saving=USUAL),
    compiled="write the constant as a Python number in the model, not as a tensor or buffer of one element",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops with a constant of one element."""
    rows = np.flatnonzero(_one_element(facts))
    yield Problem(rows, (facts.kernel_ns - achievable_ns(facts))[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    constant = min(facts.ops.inputs[:2], key=lambda operand: operand.elements[row])
    number, tensor = ("0.125, x", "t, x") if constant is facts.ops.inputs[0] else ("x, 0.125", "x, t")
    return Words(
        claim=(
            f"{ops.many('element-wise op')} ({ops.time}) {ops.verb('read')} a constant of one element as a tensor: "
            f"{ops.example}"
        ),
        assumption="as a number it costs nothing; the bytes of the large operand and the launch stay",
        cells=((constant, "MEMORY"),),
        also=(cite_attribute(facts, row, "binary_op_type"),),
        fix=(
            f"pass a Python scalar instead of the tensor: ttnn.multiply({number}) for ttnn.multiply({tensor}) (also "
            f"add, subtract, divide)  # line {ops.line}"
        ),
        verify="re-profile; list_ops(op_code='Binary') kernel_us falls; PCC unchanged",
        caveat="a trace keeps the number it was captured with: a value that changes per call must stay a tensor",
    )


def _one_element(facts: WindowFacts) -> Mask:
    """Binary ops with a constant of one element and more than a tile."""
    first, second = facts.ops.inputs[:2]
    made_first, made_second = facts.flow.made[:2]
    by_first = (first.elements == 1) & ~made_first & (second.elements > TILE_SIDE**2)
    by_second = (second.elements == 1) & ~made_second & (first.elements > TILE_SIDE**2)
    return facts.named("Binary") & (by_first | by_second)
