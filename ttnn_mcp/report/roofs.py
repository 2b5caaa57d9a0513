"""The roofline of a window: the roofs that the bounds of its ops were computed with, and each op against them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    Answer = dict[str, Any]

LEAST_US = 1  # answers have three decimals: of a shorter time they would tell a peak wrong by more than 0.1 %


class Point(NamedTuple):
    """An op on the roofline: its row, arithmetic per byte of DRAM traffic, and the rate it reached."""

    row: int
    flops_per_byte: float
    tflops: float


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
