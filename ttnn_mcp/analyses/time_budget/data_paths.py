"""The data paths that an op's bytes must take: DRAM, the networks of its cores, their unpackers and packers.

The slowest path decides, so an op with all its tensors in L1 has a bound too. Each byte takes each path once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.traffic import touched_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.time_budget.operand_bytes import Weigh
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand


class DataPaths:
    """What some ops read and write of each operand, and the time of that on each data path."""

    def __init__(self, ops: OpTable, chip: Chip) -> None:
        self._ops, self._chip = ops, chip
        self._shows_both = bool(ops.inputs and ops.outputs)
        if self._shows_both:
            touched = touched_of(ops, lambda operand: operand.present.astype(np.float64), Reasons(len(ops)))
            self._read, self._written = touched.reads, touched.writes  # shares of each operand

    def read_bytes(self, number: int) -> NDArray[np.float64]:
        """Bytes that the ops read of one input, as stored."""
        if not self._shows_both or number >= len(self._ops.inputs):
            return np.zeros(len(self._ops))
        return self._read[number] * self._ops.inputs[number].bytes

    def least_ns(self, weigh: Weigh, cores: NDArray[np.float64]) -> NDArray[np.float64]:
        """The time of the slowest data path on so many cores; unknown bytes count as 0."""
        architecture, clock = self._chip.architecture, self._chip.clock_ghz
        if not self._shows_both or architecture is None or not clock:
            return np.full(len(self._ops), np.nan)
        read, read_of_dram = self._bytes(self._ops.inputs, self._read, weigh, numbered=True)
        written, written_to_dram = self._bytes(self._ops.outputs, self._written, weigh, numbered=False)
        cycles_ns = 1 / (clock * np.where(np.isfinite(cores), cores, np.inf))
        path_times = (
            (read_of_dram + written_to_dram) / (self._chip.dram_peak_gb_s or np.inf),
            np.maximum(read_of_dram, written_to_dram) / architecture.noc_bytes_per_cycle * cycles_ns,
            read / architecture.unpack_bytes_per_cycle * cycles_ns,
            written / architecture.pack_bytes_per_cycle * cycles_ns,
        )
        return np.stack(path_times).max(axis=0)

    def _bytes(
        self, operands: Sequence[Operand], shares: NDArray[np.float64], weigh: Weigh, *, numbered: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bytes per op over these operands, and those of them in DRAM."""
        all_bytes = np.zeros(len(self._ops), dtype=np.float64)
        in_dram = np.zeros(len(self._ops), dtype=np.float64)
        for number, operand in enumerate(operands):
            moved = np.nan_to_num(shares[number] * weigh(operand, number if numbered else None))
            all_bytes += moved
            in_dram += np.where(operand.in_dram, moved, 0.0)
        return all_bytes, in_dram
