"""The effect of a change on memory: L1 peak, headroom, live tensors and DRAM of two runs, from their replays."""

from __future__ import annotations

from ttnn_mcp.analyses.memory.death import death_of
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.replayed import Replayed
from ttnn_mcp.errors import ReportError
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.run import Run


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure of both runs, in bytes of one bank (one core, or one DRAM bank); None if a report lacks it."""

    name: str
    before: int | None
    after: int | None

    @property
    def delta(self) -> int | None:
        """Positive: more memory (or more headroom)."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class MemoryDelta:
    """The figures of both runs, and their limits."""

    figures: tuple[Figure, ...]
    caveats: tuple[str, ...]


async def memory_delta(before: Run, after: Run) -> MemoryDelta | None:
    """Compare the memory of two runs; None if neither has a memory report, or both are the same run."""
    sides = {"baseline": before, "candidate": after}
    lacking = [label for label, run in sides.items() if run.memory is None]
    if len(lacking) == len(sides) or before.id == after.id:
        return None
    if lacking:
        return MemoryDelta((), (f"memory not compared: the {lacking[0]} has no memory report",))
    figures: list[dict[str, int | None]] = []
    caveats: list[str] = []
    for label, run in sides.items():
        try:
            replayed = await replay_of(run)
        except ReportError as broken:
            return MemoryDelta((), (f"memory not compared: {broken}",))
        if not len(replayed.operations):
            return MemoryDelta((), (f"memory not compared: the {label}'s memory report holds no operations",))
        death = death_of(replayed.memory)
        if death is not None:
            caveats.append(
                f"{label}: the run died in {death.where}, and what it would have taken later is not known"
            )
        if replayed.floor_because is not None:
            caveats.append(f"{label}: L1 figures are floors, not all circular buffers are known")
        elif replayed.without_snapshots:
            caveats.append(f"{label}: without a buffers table nobody knows what Python dropped")
        elif replayed.fullest.by_model[replayed.fullest.peak]:
            caveats.append(f"{label}: its L1 peak holds circular buffers by a model, the report leaves them out")
        figures.append(_figures(replayed))
    first, second = figures
    return MemoryDelta(tuple(Figure(name, first[name], second[name]) for name in first), tuple(caveats))


def _figures(replayed: Replayed) -> dict[str, int | None]:
    device = replayed.fullest
    peak = device.peak
    level, capacity = int(device.l1[peak]), replayed.capacity_bytes
    return {
        "l1_peak": level,
        "l1_headroom": None if capacity is None else capacity - level,
        "l1_live_tensors": int(device.tensors[peak]),
        "l1_circular_buffers": int(device.circular[peak]),
        "dram_peak": max(int(one.dram.max(initial=0)) for one in replayed.devices),
    }
