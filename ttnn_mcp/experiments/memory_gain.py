"""A gain in memory: a lower peak of L1 counts where time and accuracy hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.memory_comparison import MemoryDelta

LEAST_BYTES = TILE_BYTES["BFLOAT16"]  # L1 is given out in pages, and most pages are tiles of bfloat16


@dataclass(frozen=True, slots=True)
class MemoryGain:
    """A lower peak of L1, in bytes of one bank."""

    before: int
    after: int

    @property
    def change_share(self) -> float:
        """Relative change; negative is less."""
        return self.after / self.before - 1

    @property
    def summary(self) -> str:
        """The figures in words."""
        return f"L1 peak {self.before:,} -> {self.after:,} bytes per bank ({self.change_share:+.1%})"


def memory_gain(delta: MemoryDelta | None) -> MemoryGain | None:
    """The gain; None where there is none, or where a peak is a floor and proves nothing."""
    return None if delta is None or delta.caveats else _lower_peak(delta)


def unproven_gain(delta: MemoryDelta | None) -> str | None:
    """A lower peak that is no gain, because buffers are missing in the reports; None where there is none."""
    peak = _lower_peak(delta) if delta is not None and delta.caveats else None
    return f"{peak.summary}, but not all circular buffers are in the reports: no proof" if peak else None


def _lower_peak(delta: MemoryDelta) -> MemoryGain | None:
    peak = next((figure for figure in delta.figures if figure.name == "l1_peak"), None)
    if peak is None or not peak.before or peak.after is None or peak.before - peak.after < LEAST_BYTES:
        return None
    return MemoryGain(peak.before, peak.after)
