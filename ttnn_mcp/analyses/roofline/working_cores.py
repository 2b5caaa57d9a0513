"""How many cores can do an op's arithmetic: the whole grid, or as many as its program gives work to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.op_kinds.matmul_choice import matmul_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable


def working_cores(ops: OpTable, chip: Chip) -> NDArray[np.float64]:
    """Per op, the most cores that can compute; NaN where the chip is not known.

    A matmul with DRAM-sharded weights computes on the cores beside the banks of DRAM only, one per bank unless
    num_workers_per_dram_bank says otherwise: the others hold its operands (tt-metal's factory/
    matmul_multicore_reuse_mcast_dram_sharded_program_factory.cpp). CORE COUNT may count those too (#13108).
    """
    cores = np.full(len(ops), chip.cores or np.nan)
    choice, banks = matmul_choice(ops), dram_banks(chip)
    if banks is not None:
        which = choice.dram_sharded
        cores[choice.rows[which]] = np.fmin(banks * choice.bank_workers[which], cores[choice.rows[which]])
    return cores


def dram_banks(chip: Chip) -> int | None:
    """Banks of DRAM of the fastest card the chip can be; None for an unknown architecture."""
    if chip.architecture is None or chip.dram_peak_gb_s is None:
        return None
    return round(chip.dram_peak_gb_s / chip.architecture.dram_bank_gb_s)
