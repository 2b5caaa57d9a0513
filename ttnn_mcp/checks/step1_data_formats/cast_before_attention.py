"""A tensor is cast to a wider type only for attention to read it.

Fused attention takes BFLOAT16, BFLOAT8_B and BFLOAT4_B. A cast of Q, K or V in front of it is an op of its own, and
attention then moves twice the bytes. Without 72 such casts a BGE-M3 encoder of 24 layers spent 1.6 ms instead of 11.1
on casts and 21.5 ms instead of 35.2 in attention.

The line: a Typecast that widens, whose output only fused attention reads; the casts and their attention ops take 1 %
of the window. The bound is the casts' whole time, and for attention a part in step with the bytes of the cast inputs,
never below its arithmetic.

Silent where another op reads the wide tensor too, and on casts from FLOAT32 or integers. Who reads whom is inferred
from shapes, types and placements.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.alike_inputs import other_makers
from ttnn_mcp.checks.check import Check, Claim, Claims, Floats, Mask, Rows, WindowFacts, ops_of_family
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import ELEMENT_BYTES

WIDTH = {dtype: ELEMENT_BYTES[dtype] for dtype in ("BFLOAT4_B", "BFLOAT8_B", "BFLOAT16")}  # what SDPA accepts


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such casts and the attention ops behind them."""
    casts = _widening(facts)
    if not casts.any():
        return
    readers, spared = _attention_behind(facts, casts)
    rows = np.concatenate((np.flatnonzero(casts), readers))
    at_most = np.concatenate((facts.kernel_ns[casts], spared))
    alone = np.flatnonzero(casts)
    row = facts.heaviest(alone)[0]
    source, output = facts.ops.inputs[0], facts.ops.outputs[0]
    yield Claim(
        claim=(
            f"{len(alone)} casts from {source.dtype[row]} to {output.dtype[row]} serve attention alone "
            f"({time_of(facts, alone)}): {example(facts, row)}, read at line {facts.line(int(readers[0]))}"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption="attention reads the narrow tensors; its time falls at most in step with their bytes",
        evidence=cite_op(facts, row, (source, "DATATYPE"), (output, "DATATYPE")),
        fix=(
            f"drop the ttnn.typecast at line {facts.line(row)}: ttnn.transformer.scaled_dot_product_attention takes "
            f"ttnn.{source.dtype[row].lower()} as it is"
        ),
        verify="re-profile: the casts are gone from list_ops(op_code='Typecast'), PCC >= 0.99",
        caveat="who reads the cast is inferred from shapes; older decode kernels wanted Q in bfloat16",
    )


def _widening(facts: WindowFacts) -> Mask:
    """Casts to a wider type whose readers are all attention."""
    bytes_each = [
        one.dtype.mapped(lambda text: WIDTH.get(text, np.nan), missing=np.nan, dtype=np.float64)
        for one in (facts.ops.inputs[0], facts.ops.outputs[0])
    ]
    casts = facts.named("Typecast") & (bytes_each[0] < bytes_each[1])
    makers, readers = _edges(facts)
    other, some = np.zeros(len(facts), dtype=np.bool_), np.zeros(len(facts), dtype=np.bool_)
    attends = facts.of_family("attention")[readers]
    other[makers[~attends]] = True
    some[makers[attends]] = True
    return casts & some & ~other


def _edges(facts: WindowFacts) -> tuple[Rows, Rows]:
    """(makers, readers), Q, K and V of one size told apart."""
    makers, readers = facts.joins.edges
    others, their_readers = other_makers(facts.ops)
    return np.concatenate((makers, others)), np.concatenate((readers, their_readers))


def _attention_behind(facts: WindowFacts, casts: Mask) -> tuple[Rows, Floats]:
    """The attention ops that read such casts, and what fewer bytes may save on each."""
    source, output = facts.ops.inputs[0].bytes, facts.ops.outputs[0].bytes
    total, less = np.zeros(len(facts)), np.zeros(len(facts))
    for operand in facts.ops.inputs:
        total += operand.bytes
    makers, readers = _edges(facts)
    read = casts[makers] & facts.of_family("attention")[readers]
    np.add.at(less, readers[read], (output - source)[makers[read]])
    rows = np.flatnonzero(less > 0)
    took = facts.kernel_ns[rows]
    return rows, np.minimum(took * less[rows] / total[rows], took - least_ns(facts)[rows])


CHECK = Check(
    id="cast-before-attention",
    title="a wider type for attention alone",
    step=1,
    look=look,
    of=ops_of_family("no attention ops", "attention"),
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="drop the .to(dtype) in front of scaled_dot_product_attention in the model",
)
