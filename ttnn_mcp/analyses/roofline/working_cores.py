"""How many cores can do an op's arithmetic: the whole grid, or as many as its program gives work to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.arrays import Floats

if TYPE_CHECKING:
    from ttnn_mcp.readers.printed.attributes import Attributes
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable

DRAM_SHARDED = "DRAMSharded"  # in the name of a config, batched or not


def working_cores(ops: OpTable, chip: Chip) -> Floats:
    """Per op, the most cores that can compute; NaN where the chip is not known.

    A matmul with DRAM-sharded weights computes on the cores beside the banks of DRAM only, one per bank unless
    num_workers_per_dram_bank says otherwise: the others hold its operands (tt-metal's factory/
    matmul_multicore_reuse_mcast_dram_sharded_program_factory.cpp). CORE COUNT may count those too (#13108).
    """
    cores = np.full(len(ops), chip.cores or np.nan)
    banks = dram_banks(chip)
    if banks is not None:
        rows = np.flatnonzero(ops.of_family("matmul"))
        readers = attributes_of(ops).numbers(rows, readers_per_bank)
        cores[rows] = np.fmin(banks * readers, cores[rows])
    return cores


def readers_per_bank(attributes: Attributes) -> float | None:
    """Cores that read each bank, by the op's config; None where it is none for DRAM-sharded weights."""
    config = attributes.struct("program_config")
    if config is None or DRAM_SHARDED not in config.name:
        return None
    return config.number("num_workers_per_dram_bank") or 1  # builds before 0.78 have one


def dram_banks(chip: Chip) -> int | None:
    """Banks of DRAM of the fastest card the chip can be; None for an unknown architecture."""
    if chip.architecture is None or chip.dram_peak_gb_s is None:
        return None
    return round(chip.dram_peak_gb_s / chip.architecture.dram_bank_gb_s)
