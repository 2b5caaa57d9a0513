"""Columns that some reports lost (tables saved again by other programs): what to say, as silence is no pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.checks.check import CannotTell

if TYPE_CHECKING:
    from ttnn_mcp.checks.case import Case

AS_WRITTEN = "give the CSV as the profiler wrote it (`python -m tracy -r -p`)"
NO_OPERANDS = CannotTell(f"no INPUT_n and OUTPUT_n columns in the report; {AS_WRITTEN}")
NO_PLACEMENTS = CannotTell(f"no INPUT_n_MEMORY and OUTPUT_n_MEMORY columns in the report; {AS_WRITTEN}")
NO_CORES = CannotTell(f"no CORE COUNT in the report; {AS_WRITTEN}")


def has_operands(case: Case, inputs: int = 1) -> bool:
    """Whether ops have so many inputs, and an output, in this report."""
    return len(case.ops.inputs) >= inputs and bool(case.ops.outputs)


def has_placements(case: Case) -> bool:
    """Whether the report says where operands live."""
    return has_operands(case) and any(operand.memory.distinct for operand in (*case.ops.inputs, *case.ops.outputs))


def has_cores(case: Case) -> bool:
    """Whether the report says how many cores ops used, of how many."""
    return case.chip.cores is not None and bool(np.isfinite(case.ops.numbers("cores")).any())
