"""A tensor is widened to FLOAT32, a few ops compute on it, and it is narrowed again.

FLOAT32 is twice the bytes of BFLOAT16, and both casts read and write the whole tensor. PyTorch code uses `.float()`
around a norm or a softmax for exact sums. The device has these without it: `fp32_dest_acc_en` in the compute config
accumulates in 32 bits while operands stay BFLOAT16 (tech_reports/op_kernel_dev/accuracy_tips).

The line: a Typecast from 16 bits or fewer to FLOAT32, then up to 16 ops in FLOAT32, then a Typecast back to 16 bits or
fewer; together 1 % of the window. The bound is the casts' whole time, and half the time of the ops between them, in
proportion to the bytes and never below the launch. At least is 0: element-wise ops between them round more without
FLOAT32.

Silent if no op is between the casts (typecast-round-trip), if the wide tensor is not narrowed again, on a model that
is FLOAT32 for longer, and on casts from and to integers. Readers are inferred from shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.arrays import Floats, Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import ACTIVATIONS
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.wording import cite_op, example
from ttnn_mcp.checks.worth import USUAL, Worth

WIDE, NARROW = "FLOAT32", ("BFLOAT16", "BFLOAT8_B", "BFLOAT4_B")
LONGEST = 16  # ops between the casts: a compiled RMSNorm is about 13 of them (tt-xla #3990)


@check(
    title="FLOAT32 between BFLOAT16 ends",
    lever=ACTIVATIONS,
    costs_accuracy=True,
    of=ops_named("no Typecast ops", "Typecast"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="drop the .float() and .to(dtype) pair around it in the model; norms and softmax sum in 32 bits anyway",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all islands of FLOAT32 with the casts around them."""
    source, output = facts.ops.inputs[0].dtype, facts.ops.outputs[0].dtype
    casts = facts.named("Typecast")
    widens = casts & source.among(*NARROW) & output.among(WIDE)
    narrows = casts & output.among(*NARROW)
    if not (widens.any() and narrows.any()):  # unmoved: it only saves the search through all joins
        return
    makers, readers = facts.joins.edges
    wide = output.among(WIDE)
    after, before = _steps(makers, readers, widens, wide), _steps(readers, makers, narrows, wide)
    between = (after > 0) & (before > 0) & (after + before - 1 <= LONGEST)
    widens, narrows = (_touching(ends, between, makers, readers) for ends in (widens, narrows))
    rows = np.flatnonzero(widens | narrows | between)
    at_most = np.where(between, halved_saves(facts), facts.kernel_ns)[rows]
    ends = np.flatnonzero(widens), np.flatnonzero(narrows)
    yield Problem(rows, at_most, tell=partial(_tell, *ends, int(between.sum())))


def _tell(widens: Rows, narrows: Rows, between: int, ops: Affected) -> Words:
    facts = ops.facts
    first, last = (facts.heaviest(casts, 1)[0] for casts in (widens, narrows))
    return Words(
        claim=(
            f"FLOAT32 between {len(widens)} widening and {len(narrows)} narrowing casts, with {between} ops in between "
            f"({ops.time}): {example(facts, first)}"
        ),
        assumption="the casts go, and the ops between take at best half, in proportion to the bytes",
        evidence=(
            *cite_op(facts, first, (facts.ops.outputs[0], "DATATYPE")),
            *cite_op(facts, last, (facts.ops.inputs[0], "DATATYPE")),
        ),
        fix=(
            f"drop the ttnn.typecast at lines {facts.line(first)} and {facts.line(last)}; for exact sums give norm, "
            "softmax, ttnn.sum or matmul between a compute_kernel_config with fp32_dest_acc_en=True"
        ),
        verify="re-profile: the casts are gone from list_ops(op_code='Typecast'), PCC >= 0.99",
        caveat="router scores, positions and long sums may need FLOAT32; readers are inferred from shapes",
    )


def _steps(starts: Rows, ends: Rows, begin: Mask, through: Mask) -> Rows:
    """Per op of `through`, the most steps from an op of `begin` to it; 0 if there is no path."""
    steps, front = np.zeros(len(begin), dtype=np.int64), begin
    for step in range(1, LONGEST + 1):
        touched = np.zeros_like(begin)
        touched[ends[front[starts]]] = True
        front = touched & through
        steps[front] = step
    return steps


def _touching(ends: Mask, between: Mask, makers: Rows, readers: Rows) -> Mask:
    """The casts that an op between them reads from or writes to."""
    touched = np.zeros_like(ends)
    touched[makers[between[readers]]] = True
    touched[readers[between[makers]]] = True
    return ends & touched


def halved_saves(facts: WindowFacts) -> Floats:
    """What an op may save if its FLOAT32 operands had half the bytes."""
    operands = (*facts.ops.inputs, *facts.ops.outputs)
    total = np.sum([operand.bytes for operand in operands], axis=0)
    wide = np.sum([np.where(operand.dtype.among(WIDE), operand.bytes, 0.0) for operand in operands], axis=0)
    then = np.fmax(facts.kernel_ns * (1 - wide / 2 / np.where(total > 0, total, np.inf)), LAUNCH_FLOOR_NS)
    return np.maximum(facts.kernel_ns - then, 0.0)
