"""The chip that programs are made for, as the memory report describes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import CARDS

if TYPE_CHECKING:
    from ttnn_mcp.analyses.op_kinds.grids import Grid
    from ttnn_mcp.readers.memory.report import MemoryReport


@dataclass(frozen=True, slots=True)
class Machine:
    """A chip.

    Attributes:
        grid: columns and rows of its worker cores.
        arch: 'wormhole_b0', 'blackhole'; None where the report does not say.
        dram_banks: 0 where unknown.
        bank_bytes: L1 of a core above the first program buffer, L1_SMALL not counted.
    """

    grid: Grid
    arch: str | None
    dram_banks: int
    bank_bytes: int

    @property
    def cores(self) -> int:
        """How many there are."""
        return self.grid[0] * self.grid[1]


def machine_of(report: MemoryReport) -> Machine | None:
    """The chip of a report; None where it does not describe one."""
    device = next(iter(report.devices), None)
    if device is None or not device.compute_grid_x or not device.compute_grid_y:
        return None
    grid = (device.compute_grid_x, device.compute_grid_y)
    cores = grid[0] * grid[1]
    cards = [card for card in CARDS if card.architecture == report.arch]
    banks = {card.dram_banks for card in cards if cores in card.worker_cores} or {card.dram_banks for card in cards}
    return Machine(grid, report.arch, max(banks, default=0), device.l1_bank_bytes or 0)
