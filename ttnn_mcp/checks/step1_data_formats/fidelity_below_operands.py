"""Bfloat16 operands are multiplied at LoFi, which reads only the upper half of their mantissas.

An accuracy risk, not a cost: LoFi is the fastest fidelity. It is usually no choice: `ttnn.matmul` with a core_grid
or a program_config but without compute_kernel_config falls from HiFi2 to LoFi (tt-metal #55889, #22549). Where
accuracy holds, storing such weights as BFLOAT8_B loses little more and moves half the bytes.

The line: a matmul or conv at LoFi with BFLOAT16 or FLOAT32 on both sides; together 1 % of the window. No saving is
claimed. Silent with BFLOAT8_B or BFLOAT4_B on either side, where LoFi is common practice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import SIXTEEN_BITS_OR_MORE, phases, weight_of
from ttnn_mcp.checks.check import CannotTell, Check, Claim, NotApplicable, Said, no_saving
from ttnn_mcp.checks.shared.wording import cite_op, kernel_config, kinds, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ttnn_mcp.analyses.window_facts import WindowFacts

RISK_SHARE = 0.01  # of the window


def look(facts: WindowFacts) -> Iterator[Said]:
    """Yield one claim over all ops that drop mantissa bits on both sides."""
    able = facts.of_family("matmul", "conv")
    weight, activation = weight_of(facts.ops), facts.input(0)
    if weight is None or activation is None or not able.any():
        yield NotApplicable("no matmul or conv ops")
        return
    now = phases(facts.ops)
    if np.isnan(now[able]).all():
        yield CannotTell("MATH FIDELITY is empty on every matmul and conv; profile with device-side profiling on")
        return
    wide = weight.dtype.among(*SIXTEEN_BITS_OR_MORE) & activation.dtype.among(*SIXTEEN_BITS_OR_MORE)
    rows = np.flatnonzero(able & wide & (now == 1))
    if not len(rows) or facts.share(rows) < RISK_SHARE:
        return
    row = facts.heaviest(rows)[0]
    chosen = facts.attributes(row).given("program_config", "user_core_coord") is not None
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


CHECK = Check(
    id="fidelity-below-operands",
    title="bfloat16 multiplied at LoFi",
    step=1,
    look=look,
    read_next="step-01-data-formats.md",
)
