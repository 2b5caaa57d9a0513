"""One op core by core, from the marks of the device log.

The time of a core is from its first kernel start to its last kernel end, on its own clock. So it is right even if the
clock of a core was reset. A reset makes only comparisons between cores wrong.
"""

from __future__ import annotations

from collections import defaultdict
from statistics import mean

from ttnn_mcp.readers.performance.device_log import Mark
from ttnn_mcp.records import dataclass

Core = tuple[int, int]
KERNEL, FIRMWARE = "-KERNEL", "-FW"  # suffixes of the profiler's own zones
CLOCKS_APART_NS = 1e5  # no launch spreads the starts so far: 2.1 us at most over five real reports


@dataclass(frozen=True, slots=True)
class CoreTimes:
    """One op on its cores.

    Attributes:
        core_ns: core -> its kernel time.
        kernel_ns: the op's kernel time: first start to last end of the cores whose clocks agree, but at least the
            time of the longest core.
        off_clock: cores whose clock differs from most others.
        zones_ns: zone that the kernels mark themselves -> time on the core where it took longest.
    """

    core_ns: dict[Core, float]
    kernel_ns: float
    off_clock: tuple[Core, ...]
    zones_ns: dict[str, float]

    @property
    def longest_ns(self) -> float:
        """The time of the slowest core."""
        return max(self.core_ns.values())

    @property
    def balance(self) -> float:
        """Mean time of a core divided by that of the slowest: 1 if all take equally long."""
        return mean(self.core_ns.values()) / self.longest_ns if self.longest_ns else 1.0

    def idle(self, workers: int | None) -> int | None:
        """Cores of the grid without work; None where the grid is not known."""
        return max(workers - len(self.core_ns), 0) if workers else None

    def occupancy(self, workers: int | None) -> float | None:
        """Share of the grid's cores that worked; None where the grid is not known."""
        return min(len(self.core_ns) / workers, 1.0) if workers else None

    def slowest(self, most: int) -> list[tuple[Core, float]]:
        """The slowest cores, the slowest first."""
        return sorted(self.core_ns.items(), key=lambda item: (-item[1], item[0]))[:most]


def core_times_of(marks: tuple[Mark, ...], clock_ghz: float) -> CoreTimes | None:
    """The times of one run of an op; None if the marks hold no kernel, or more than one run of it."""
    spans: dict[Core, list[tuple[int, int]]] = defaultdict(list)
    zones: dict[str, dict[Core, int]] = defaultdict(lambda: defaultdict(int))
    kernels: set[tuple[Core, str, str]] = set()
    for (core, processor, zone), start, end in _paired(marks):
        if zone.endswith(KERNEL):
            if (core, processor, zone) in kernels:
                return None
            kernels.add((core, processor, zone))
            spans[core].append((start, end))
        elif not zone.endswith(FIRMWARE):
            zones[zone][core] += end - start
    if not spans:
        return None
    bounds = {
        core: (min(start for start, _ in kernel), max(end for _, end in kernel)) for core, kernel in spans.items()
    }
    agreeing = _on_one_clock({core: start for core, (start, _) in bounds.items()}, CLOCKS_APART_NS * clock_ghz)
    together = max(bounds[core][1] for core in agreeing) - min(bounds[core][0] for core in agreeing)
    core_ns = {core: (end - start) / clock_ghz for core, (start, end) in bounds.items()}
    return CoreTimes(
        core_ns=core_ns,
        kernel_ns=max(together / clock_ghz, *core_ns.values()),
        off_clock=tuple(sorted(bounds.keys() - agreeing)),
        zones_ns={zone: max(of_cores.values()) / clock_ghz for zone, of_cores in zones.items()},
    )


def _on_one_clock(starts: dict[Core, int], apart: float) -> set[Core]:
    """The largest group of cores whose starts follow each other without a jump of `apart` cycles."""
    groups: list[list[Core]] = []
    last = 0
    for core in sorted(starts, key=lambda core: starts[core]):
        if not groups or starts[core] - last > apart:
            groups.append([])
        groups[-1].append(core)
        last = starts[core]
    return set(max(groups, key=len))


def _paired(marks: tuple[Mark, ...]) -> list[tuple[tuple[Core, str, str], int, int]]:
    """(core, processor and zone; start; end) of each zone that ended after it started; zones of one name may nest."""
    opened: dict[tuple[Core, str, str], list[int]] = defaultdict(list)
    pairs: list[tuple[tuple[Core, str, str], int, int]] = []
    for mark in sorted(marks, key=lambda mark: (mark.cycle, not mark.starts)):
        place = (mark.core, mark.processor, mark.zone)
        if mark.starts:
            opened[place].append(mark.cycle)
        elif opened[place]:
            pairs.append((place, opened[place].pop(), mark.cycle))
    return pairs
