"""Bfloat16 operands are multiplied at LoFi, which reads only the upper half of their mantissas.

An accuracy risk, not a cost: LoFi is the fastest fidelity. Usually nobody chose it: `ttnn.matmul` with a core_grid or
a program_config but without compute_kernel_config falls from HiFi2 to LoFi (tt-metal #55889, #22549). If accuracy is
good enough, such weights as BFLOAT8_B lose little more and are half the bytes.

The line: a matmul or conv at LoFi with BFLOAT16 or FLOAT32 on both sides; together 1 % of the window. No saving is
claimed. Silent with BFLOAT8_B or BFLOAT4_B on either side, where LoFi is common practice.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import SIXTEEN_BITS_OR_MORE, phases
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, no_saving
from ttnn_mcp.checks.levers import KERNEL_CONFIG, PASSES
from ttnn_mcp.checks.needs import FIDELITY
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler
from ttnn_mcp.checks.shared.compute_configs import WEIGHTED_OPS, sets_compute
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth

SETS = sets_compute(math_fidelity="HiFi2")
GIVEN = "a program_config or core_grid was given: without compute_kernel_config it sets LoFi"


@check(
    title="bfloat16 multiplied at LoFi",
    lever=KERNEL_CONFIG,
    slot=PASSES,
    risk=True,
    of=WEIGHTED_OPS,
    needs=(FIDELITY,),
    worth=Worth(time=USUAL),
    compiled=compute_config_of_compiler("math_fidelity=HiFi2"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that drop mantissa bits on both sides."""
    weight, activation = facts.ops.inputs[1], facts.ops.inputs[0]
    wide = weight.dtype.among(*SIXTEEN_BITS_OR_MORE) & activation.dtype.among(*SIXTEEN_BITS_OR_MORE)
    rows = np.flatnonzero(WEIGHTED_OPS.mask(facts) & wide & (phases(facts.ops) == 1))
    yield Problem(rows, no_saving(rows), sets=SETS, tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row, (activation, weight) = ops.facts, ops.row, ops.facts.ops.inputs[:2]
    chosen = facts.attributes(row).text_of("program_config", "user_core_coord") is not None
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) {'multiply' if ops.s else 'multiplies'} "
            f"{activation.dtype[row]} by {weight.dtype[row]} at LoFi: half of each "
            f"mantissa is not read; heaviest line {ops.line}"
        ),
        assumption="accuracy risk; HiFi2 costs at most twice the arithmetic",
        evidence=(
            *facts.cite(row, "fidelity"),
            facts.ops.cite_operand(row, activation, "DATATYPE"),
            *cite_op(facts, row, (weight, "DATATYPE")),
        ),
        fix=f"if PCC is short: {ops.with_only(SETS).compute_text}; else weights in BFLOAT8_B",
        verify="compare PCC of this op's output at LoFi and HiFi2; tensor_formats.fidelity shows which ran",
        caveat=GIVEN if chosen else None,
    )
