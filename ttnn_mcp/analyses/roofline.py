"""The roofline of every op: least time its arithmetic, its DRAM traffic and its launch can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ttnn_mcp.run.texts import Texts


@dataclass(frozen=True, slots=True)
class Roofline:
    """Bounds per op; NaN where not modelled.

    Attributes:
        flops: useful arithmetic, on logical shapes.
        padded_flops: arithmetic the engine performs, on padded shapes.
        dram_bytes: bytes of all operands that live in DRAM, each once, block-float exponents included.
        compute_ns: `padded_flops` at the op's fidelity on all worker cores at the measured clock.
        dram_ns: `dram_bytes` at the chip's peak DRAM bandwidth (a true lower bound).
        dram_achievable_ns: the same at what well-placed ops reach (for savings).
        bound: "compute", "dram", "l1" or "overhead" per op; empty where nothing can be said.
        efficiency: the larger of compute_ns and dram_ns over the measured kernel time.
        why: what stands in the way of a model, per op; empty where modelled.
    """

    flops: NDArray[np.float64]
    padded_flops: NDArray[np.float64]
    dram_bytes: NDArray[np.float64]
    compute_ns: NDArray[np.float64]
    dram_ns: NDArray[np.float64]
    dram_achievable_ns: NDArray[np.float64]
    bound: Texts
    efficiency: NDArray[np.float64]
    why: Texts


def roofline_of(ops: OpTable, chip: Chip) -> Roofline:
    """Bounds of every op of the table on this chip."""
    raise NotImplementedError
