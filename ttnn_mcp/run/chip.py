"""The chip a run was measured on, as far as its reports tell, and where each figure comes from."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import (
    ARCHITECTURES,
    MATMUL_FLOP_PER_CYCLE_PER_CORE,
    Architecture,
    canonical_architecture,
    dram_peak_gb_s,
    possible_cards,
)
from ttnn_mcp.quoting import figure, line, quoted
from ttnn_mcp.readers.performance.device_log import NAME, chip_beside
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.performance import CLOCK_TOLERANCE

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.readers.memory.report import MemoryReport
    from ttnn_mcp.run.performance import Performance

CLOCKS_NAMED = 4  # devices at another clock that a caveat names; the others are counted


@dataclass(frozen=True, slots=True)
class Chip:
    """Figures of one chip; None where the reports do not tell.

    Attributes:
        arch: the architecture's name.
        clock_ghz: the measured clock, otherwise the architecture's.
        worker_cores: cores of the compute grid; None where only the cores that ops used are known.
        cores_floor: the most cores that any op used, a lower bound of the grid.
        dram_peak_gb_s: peak of the fastest card it can be, so that times computed from it are true lower bounds.
        dram_achievable_gb_s: what a well-placed DRAM-bound op reaches; used for savings.
        caveats: what was inferred rather than read.
        clocks_apart: (device, GHz) of the devices of a mesh that ran at another clock.
        board: the name of its card ('p150b'), which only a memory report tells.
    """

    arch: str | None
    clock_ghz: float | None
    worker_cores: int | None
    cores_floor: int | None
    dram_peak_gb_s: float | None
    dram_achievable_gb_s: float | None
    caveats: tuple[str, ...]
    clocks_apart: tuple[tuple[int, float], ...] = ()
    board: str | None = None

    @property
    def known_dram_banks(self) -> int | None:
        """Banks of its DRAM; None where the cards that it can be differ."""
        arch = self.arch or ""
        cards = possible_cards(arch, self.worker_cores, self.board) or possible_cards(arch)
        banks = {card.dram_banks for card in cards}
        return banks.pop() if len(banks) == 1 else None

    def clock_on(self, device: int) -> float | None:
        """The clock of one device in GHz."""
        return dict(self.clocks_apart).get(device, self.clock_ghz)

    def on(self, device: int) -> Chip:
        """The same chip at the clock of one device."""
        clock = self.clock_on(device)
        return self if clock == self.clock_ghz else replace(self, clock_ghz=clock)

    @property
    def at_fastest(self) -> Chip:
        """The same chip at the fastest clock of any device: what it cannot do faster, no device can."""
        device, clock = max(self.clocks_apart, key=lambda one: one[1], default=(-1, 0.0))
        return self.on(device) if clock > (self.clock_ghz or 0.0) else self

    @property
    def architecture(self) -> Architecture | None:
        """The table row of `hardware`; None for an unknown architecture."""
        return ARCHITECTURES.get(self.arch or "")

    @property
    def foreign(self) -> bool:
        """Whether its architecture is named and none of ours, such as Quasar: its rates and formats are not known."""
        return self.arch is not None and self.architecture is None

    @property
    def flop_per_ns_per_core(self) -> float:
        """Of the matrix engine at LoFi; NaN where nobody knows."""
        return math.nan if self.foreign else MATMUL_FLOP_PER_CYCLE_PER_CORE * (self.clock_ghz or math.nan)

    @property
    def cores(self) -> int | None:
        """Cores to compute with: the grid, else the most that any op used."""
        return self.worker_cores or self.cores_floor


def chip_of(performance: Performance | None, memory: MemoryReport | None) -> Chip:
    """The chip by both reports together; what a report states has priority over what can be inferred."""
    caveats: list[str] = []
    arch = performance.arch_stated if performance else None
    arch = arch or (memory.arch if memory else None)
    arch = line(arch) if arch else None  # a name that is no architecture of ours is text of the report
    clock = performance.clock_ghz if performance else None
    if performance is not None:
        arch, clock = _with_log(performance.csv.path, arch, clock, caveats)
    if arch is None and performance is not None:
        arch = performance.arch_inferred
        if arch:
            caveats.append(f"no DEVICE ARCH: {arch} inferred from the {figure(clock, '.3g')} GHz clock")
        else:
            caveats.append("no DEVICE ARCH and no known clock: architecture unknown, no rooflines")
    grid_cores = performance.worker_cores_stated if performance else None
    if performance is not None and len(performance.sub_device_cores) > 1:
        parts = " + ".join(map(str, performance.sub_device_cores.values()))
        caveats.append(
            f"{grid_cores} worker cores are the sum of the sub-devices that ran ({parts}): the grid may be larger"
        )
    if grid_cores is None and memory is not None and memory.devices:
        grid_cores = memory.devices[0].compute_cores
    floor = performance.most_cores_used if performance else None
    apart = tuple((int(device), float(ghz)) for device, ghz in performance.clocks_apart) if performance else ()
    if apart:
        caveats.append(clocks_told(clock, apart))
    if grid_cores is None and floor is not None:
        caveats.append(f"no AVAILABLE WORKER CORE COUNT: at most {floor} cores were used, the grid may be larger")
    peak, achievable = _bandwidth(arch, grid_cores, memory, caveats)
    chip = ARCHITECTURES.get(arch or "")
    return Chip(
        arch=arch,
        clock_ghz=clock or (chip.clock_ghz if chip else None),
        worker_cores=grid_cores,
        cores_floor=floor,
        dram_peak_gb_s=peak,
        dram_achievable_gb_s=achievable,
        caveats=tuple(caveats),
        clocks_apart=apart,
        board=_board(memory),
    )


def _bandwidth(
    arch: str | None, grid_cores: int | None, memory: MemoryReport | None, caveats: list[str]
) -> tuple[float | None, float | None]:
    """Of DRAM, in GB/s: the peak, and what a well-placed op reaches."""
    chip = ARCHITECTURES.get(arch or "")
    if arch and chip is None:
        caveats.append(f"nothing is known here of architecture {quoted(arch)}: no rooflines, no advice on formats")
    peak = dram_peak_gb_s(arch, grid_cores, _board(memory)) if arch else None
    if peak is None or chip is None:  # unmoved: of an architecture that is known both are
        return None, None
    caveats += [peak.caveat] if peak.caveat else []
    return peak.at_most_gb_s, peak.at_most_gb_s * chip.dram_achievable_share


def clocks_told(clock: float | None, apart: tuple[tuple[int, float], ...]) -> str:
    """One sentence on devices that ran at another clock than the others."""
    named = ", ".join(f"device {device} {figure(ghz, '.3g')}" for device, ghz in apart[:CLOCKS_NAMED])
    more = f" and {len(apart) - CLOCKS_NAMED} more" if len(apart) > CLOCKS_NAMED else ""
    return (
        f"devices ran at different clocks ({named}{more}, the others "
        f"{figure(clock, '.3g')} GHz): a slower one makes all wait"
    )


def _with_log(
    report: Path, arch: str | None, clock: float | None, caveats: list[str]
) -> tuple[str | None, float | None]:
    """Architecture and clock, completed by line 1 of a device log beside the report; a log that disagrees is left."""
    logged = chip_beside(report)
    if logged is None or (logged_arch := canonical_architecture(logged[0])) is None:
        return arch, clock
    clock_ghz = logged[1] / 1e3
    if (arch and arch != logged_arch) or (clock and clock_ghz and abs(clock / clock_ghz - 1) > CLOCK_TOLERANCE):
        caveats.append(f"{NAME} beside it is of another chip ({logged_arch}, {logged[1]} MHz): not used")
        return arch, clock
    if arch is None:
        caveats.append(f"no DEVICE ARCH: {logged_arch} by {NAME}")
    return arch or logged_arch, clock or clock_ghz or None


def _board(memory: MemoryReport | None) -> str | None:
    """The card in the cluster descriptor; only this file tells a p100 from a p150."""
    return memory.boards[0] if memory is not None and memory.boards else None
