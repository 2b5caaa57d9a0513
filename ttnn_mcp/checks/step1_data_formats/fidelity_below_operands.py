"""Bfloat16 operands are multiplied at LoFi, which reads only the upper half of their mantissas.

An accuracy risk, not a cost: LoFi is the fastest fidelity. Usually nobody chose it: `ttnn.matmul` with a core_grid or
a program_config but without compute_kernel_config falls from HiFi2 to LoFi (tt-metal #55889, #22549). If accuracy is
good enough, such weights as BFLOAT8_B lose little more and are half the bytes.

The line: a matmul or conv at LoFi with BFLOAT16 or FLOAT32 on both sides; together 1 % of the window. No saving is
claimed. Silent with BFLOAT8_B or BFLOAT4_B on either side, where LoFi is common practice.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import SIXTEEN_BITS_OR_MORE, phases, weight_of
from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, Subject, WindowFacts, no_saving
from ttnn_mcp.checks.needs import FIDELITY
from ttnn_mcp.checks.shared.levers import compute_config_of_compiler
from ttnn_mcp.checks.shared.wording import cite_op, kernel_config, kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all ops that drop mantissa bits on both sides."""
    weight, activation = facts.ops.inputs[1], facts.ops.inputs[0]
    wide = weight.dtype.among(*SIXTEEN_BITS_OR_MORE) & activation.dtype.among(*SIXTEEN_BITS_OR_MORE)
    rows = np.flatnonzero(_with_operands(facts) & wide & (phases(facts.ops) == 1))
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    chosen = facts.attributes(row).text_of("program_config", "user_core_coord") is not None
    yield Claim(
        claim=(
            f"{kinds(facts, rows)} ({time_of(facts, rows)}) multiply {activation.dtype[row]} by "
            f"{weight.dtype[row]} at LoFi: half of each mantissa is not read; heaviest line {facts.line(row)}"
        ),
        rows=rows,
        at_most_ns=no_saving(rows),
        assumption="accuracy risk; HiFi2 costs at most twice the arithmetic",
        evidence=(
            *facts.cite(row, "fidelity"),
            facts.ops.cite_operand(row, activation, "DATATYPE"),
            *cite_op(facts, row, (weight, "DATATYPE")),
        ),
        fix=f"if PCC is short: {kernel_config(facts, row, math_fidelity='HiFi2')}; else weights in BFLOAT8_B",
        verify="compare PCC of this op's output at LoFi and HiFi2; tensor_formats.fidelity shows which ran",
        caveat="a program_config or core_grid was given: without compute_kernel_config it sets LoFi"
        if chosen
        else None,
    )


def _with_operands(facts: WindowFacts) -> Mask:
    """Matmuls and convs of a report that has two operand columns."""
    return facts.of_family("matmul", "conv") & (weight_of(facts.ops) is not None)


CHECK = Check(
    id="fidelity-below-operands",
    title="bfloat16 multiplied at LoFi",
    step=1,
    look=look,
    of=Subject(_with_operands, "no matmul or conv ops"),
    needs=(FIDELITY,),
    worth=Worth(time=USUAL),
    compiled=compute_config_of_compiler("math_fidelity=HiFi2"),
)
