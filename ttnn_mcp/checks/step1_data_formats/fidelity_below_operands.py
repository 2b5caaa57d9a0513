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

    from ttnn_mcp.checks.case import Case

RISK_SHARE = 0.01  # of the window


def look(case: Case) -> Iterator[Said]:
    """Yield one claim over all ops that drop mantissa bits on both sides."""
    able = case.of_family("matmul", "conv")
    weight, activation = weight_of(case.ops), case.input(0)
    if weight is None or activation is None or not able.any():
        yield NotApplicable("no matmul or conv ops")
        return
    now = phases(case.ops)
    if np.isnan(now[able]).all():
        yield CannotTell("MATH FIDELITY is empty on every matmul and conv; profile with device-side profiling on")
        return
    wide = weight.dtype.among(*SIXTEEN_BITS_OR_MORE) & activation.dtype.among(*SIXTEEN_BITS_OR_MORE)
    rows = np.flatnonzero(able & wide & (now == 1))
    if not len(rows) or case.share(rows) < RISK_SHARE:
        return
    row = case.heaviest(rows)[0]
    chosen = case.attributes(row).given("program_config", "user_core_coord") is not None
    yield Claim(
        claim=(
            f"{kinds(case, rows)} ({time_of(case, rows)}) multiply {activation.dtype[row]} by "
            f"{weight.dtype[row]} at LoFi: half of each mantissa is not read; heaviest line {case.line(row)}"
        ),
        rows=rows,
        at_most_ns=no_saving(rows),
        assumption="accuracy risk; HiFi2 costs at most twice the arithmetic",
        evidence=(
            *case.cite(row, "fidelity"),
            case.ops.cite_operand(row, activation, "DATATYPE"),
            *cite_op(case, row, (weight, "DATATYPE")),
        ),
        fix=f"if PCC is short: {kernel_config(case, row, math_fidelity='HiFi2')}; else weights in BFLOAT8_B",
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
