"""What pictures are drawn from: when each op ran, and the roofline of a window.

An op ran for its kernel time after the gap before it. A device's first op begins at 0: its gap is not ours. The roofs
are those that the bounds of the ops were computed with, and each op stands against them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ttnn_mcp.records import dataclass

if TYPE_CHECKING:
    Answer = dict[str, Any]

US_NS = 1000
LEAST_US = 1  # answers have three decimals: of a shorter time they would tell a peak wrong by more than 0.1 %


class Point(NamedTuple):
    """An op on the roofline: its row, arithmetic per byte of DRAM traffic, and the rate it reached."""

    row: int
    flops_per_byte: float
    tflops: float


@dataclass(frozen=True, slots=True)
class Slot:
    """An op in time, in nanoseconds since the window began on its device.

    Attributes:
        row: the op's place in the table.
        device: where it ran.
        start_ns: when its kernel started.
        end_ns: when it ended.
        gap_ns: time before it in which nothing ran; 0 where ops overlap or nothing was measured.
    """

    row: int
    device: int
    start_ns: int
    end_ns: int
    gap_ns: int


def slots_of(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, warm: bool = True) -> list[Slot]:
    """The ops of list_ops in time; the table has them in the order each device ran them.

    In a window that is not `warm` no gap counts: there it is compiling and loading (as in time_budget).
    """
    device_at, kernel_at, gap_at = (columns.index(name) for name in ("device", "kernel_us", "gap_us"))
    ends: dict[int, int] = {}
    slots: list[Slot] = []
    for row, cells in enumerate(rows):
        device = cells[device_at]
        before = ends.get(device)
        gap_ns = round((cells[gap_at] or 0) * US_NS) if warm and before is not None else 0
        start = max((before or 0) + gap_ns, 0)
        end = start + round((cells[kernel_at] or 0) * US_NS)
        ends[device] = end
        slots.append(Slot(row, device, start, end, max(gap_ns, 0)))
    return slots


def roofs_of(ops: Answer, rooflines: Answer) -> list[dict[str, Any]]:
    """`gbs` of DRAM, then `tflops` of each fidelity: bytes over their time, arithmetic over its time."""
    dram_bytes, dram_us, flops, compute_us = _columns(
        rooflines, "dram_bytes", "dram_us", "padded_flops", "compute_us"
    )
    (fidelities,) = _columns(ops["ops"], "fidelity")
    gbs = max(
        (moved / us / 1e3 for moved, us in zip(dram_bytes, dram_us, strict=True) if (us or 0) > LEAST_US), default=0
    )
    peaks: dict[str, float] = {}
    for fidelity, done, us in zip(fidelities, flops, compute_us, strict=True):
        if (us or 0) > LEAST_US and fidelity:
            peaks[fidelity] = max(peaks.get(fidelity, 0), done / us / 1e6)
    memory: list[dict[str, Any]] = [{"gbs": gbs}] if gbs else []
    return memory + [{"fidelity": fidelity, "tflops": peak} for fidelity, peak in peaks.items()]


def points_of(ops: Answer, rooflines: Answer) -> list[Point]:
    """The ops that have arithmetic, DRAM traffic and a time."""
    flops, moved = _columns(rooflines, "padded_flops", "dram_bytes")
    (kernel_us,) = _columns(ops["ops"], "kernel_us")
    return [
        Point(row, done / size, done / us / 1e6)
        for row, (done, size, us) in enumerate(zip(flops, moved, kernel_us, strict=True))
        if done and size and us
    ]


def _columns(table: Answer, *names: str) -> list[Sequence[Any]]:
    places = [table["columns"].index(name) for name in names]
    return [[row[place] for row in table["rows"]] for place in places]
