"""When each op ran, by its kernel time and the gap before it. A device's first op begins at 0: its gap is not ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ttnn_mcp.records import dataclass

US_NS = 1000


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
