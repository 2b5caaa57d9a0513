"""Ops as the laws of time look at them: what is computed, in which formats, where it lies, and on which cores.

A measured row and an op of a report become the same description, which stands beside the laws about it, and
`dataclasses.replace` makes what a change would make of it. Formats and placements are spelled as in a report
(BFLOAT8_B, L1_BLOCK_SHARDED); an empty text and None mean that it is not known. Sizes are in elements unless a name
says otherwise.
"""

from __future__ import annotations

from dataclasses import field
from math import ceil

from ttnn_mcp.hardware import (
    ARCHITECTURES,
    CARDS,
    FIDELITY_PHASES,
    MATMUL_FLOP_PER_CYCLE_PER_CORE,
    TILE_BYTES,
    TILE_SIDE,
)
from ttnn_mcp.records import dataclass

TILE_CYCLES = 2 * TILE_SIDE**3 / MATMUL_FLOP_PER_CYCLE_PER_CORE  # of one product of tiles at LoFi
ABOVE_PEAK = 1.05  # clocks and bandwidths of a data sheet are good to a few percent: as roofline.IMPOSSIBLE
MOST_CORES = {
    chip: max(cores for card in CARDS if card.architecture == chip for cores in card.worker_cores)
    for chip in ARCHITECTURES
}


@dataclass(frozen=True, slots=True)
class Described:
    """Any op.

    Attributes:
        chip: key of `hardware.ARCHITECTURES`.
        cores: number of cores at work.
        grid: columns and rows of the cores that the op may use.
        fidelity: of the matrix engine.
        card_gb_s: the peak of its card's DRAM, where it is known to be less than that of the chip: of a p100.
    """

    chip: str
    cores: int | None = None
    grid: tuple[int, int] | None = None
    fidelity: str = ""
    card_gb_s: float | None = field(default=None, kw_only=True)

    @property
    def clock_ghz(self) -> float:
        """Clock of the chip."""
        return ARCHITECTURES[self.chip].clock_ghz

    @property
    def dram_peak_gb_s(self) -> float:
        """Peak of its DRAM."""
        return self.card_gb_s or ARCHITECTURES[self.chip].dram_peak_gb_s

    @property
    def usable_cores(self) -> int | None:
        """Number of cores at work, otherwise of those that may be."""
        return self.cores or (self.grid[0] * self.grid[1] if self.grid else None)

    @property
    def in_turn(self) -> float:
        """How many equal parts run one after the other: a law holds for the time of one."""
        return 1.0

    @property
    def dram_bytes(self) -> float:
        """The least bytes to and from DRAM."""
        return 0.0

    @property
    def products(self) -> float:
        """Products of tiles that the matrix engine performs."""
        return 0.0

    @property
    def engines(self) -> int:
        """The most cores that multiply."""
        return self.usable_cores or MOST_CORES[self.chip]

    @property
    def floor_us(self) -> float:
        """The least time that the hardware takes: its DRAM and the engines of its cores at their peaks."""
        engine_us = self.engine_us(self.products / self.engines)
        return max(self.dram_us(self.dram_bytes), engine_us) / ABOVE_PEAK

    def dram_us(self, size: float) -> float:
        """Microseconds for so many bytes at the peak of its DRAM."""
        return size / 1e3 / self.dram_peak_gb_s

    def engine_us(self, products: float) -> float:
        """Microseconds for so many products of tiles at the peak of one core's engine; one pass if not known."""
        return products * TILE_CYCLES * FIDELITY_PHASES.get(self.fidelity, 1) / 1e3 / self.clock_ghz


def tiles(elements: int) -> int:
    """Tiles that cover so many elements of one dim."""
    return ceil(elements / TILE_SIDE)


def stored_bytes(count: float, dtype: str) -> float:
    """Bytes of so many tiles; of an unknown format none, so that floors stay low."""
    return count * TILE_BYTES.get(dtype, 0)


def in_dram(place: str, count: float, dtype: str) -> float:
    """The same if the place is in DRAM, else none."""
    return stored_bytes(count, dtype) if place.startswith("DRAM") else 0.0
