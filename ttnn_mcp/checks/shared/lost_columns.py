"""Columns that some reports lost (tables saved again by other programs): what to say, as silence is no pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.checks.check import CannotTell

if TYPE_CHECKING:
    from ttnn_mcp.analyses.window_facts import WindowFacts

AS_WRITTEN = "give the CSV as the profiler wrote it (`python -m tracy -r -p`)"
NO_OPERANDS = CannotTell(f"no INPUT_n and OUTPUT_n columns in the report; {AS_WRITTEN}")
NO_PLACEMENTS = CannotTell(f"no INPUT_n_MEMORY and OUTPUT_n_MEMORY columns in the report; {AS_WRITTEN}")
NO_CORES = CannotTell(f"no CORE COUNT in the report; {AS_WRITTEN}")


def has_operands(facts: WindowFacts, inputs: int = 1) -> bool:
    """Whether ops have so many inputs, and an output, in this report."""
    return len(facts.ops.inputs) >= inputs and bool(facts.ops.outputs)


def has_placements(facts: WindowFacts) -> bool:
    """Whether the report says where operands live."""
    return has_operands(facts) and any(
        operand.memory.distinct for operand in (*facts.ops.inputs, *facts.ops.outputs)
    )


def has_cores(facts: WindowFacts) -> bool:
    """Whether the report says how many cores ops used, of how many."""
    return facts.chip.cores is not None and bool(np.isfinite(facts.ops.numbers("cores")).any())
