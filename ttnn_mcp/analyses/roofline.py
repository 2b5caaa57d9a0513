"""The roofline of every op: least time its arithmetic, its DRAM traffic and its launch can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.flops import MODELS, flops_of
from ttnn_mcp.analyses.reasons import Reasons
from ttnn_mcp.analyses.traffic import dram_bytes_of
from ttnn_mcp.hardware import FIDELITY_PHASES, MATMUL_FLOP_PER_CYCLE_PER_CORE
from ttnn_mcp.run.op_names import family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.op_table import OpTable
    from ttnn_mcp.run.texts import Texts


@dataclass(frozen=True, slots=True)
class Roofline:
    """Bounds per op; NaN where not modelled.

    Attributes:
        flops: useful arithmetic, on logical shapes.
        padded_flops: arithmetic the engine performs, on padded shapes.
        dram_bytes: least bytes the op must move from and to DRAM, block-float exponents included.
        compute_ns: `padded_flops` at the op's fidelity on all worker cores at the measured clock.
        compute_used_ns: the same on the cores the op used.
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
    compute_used_ns: NDArray[np.float64]
    dram_ns: NDArray[np.float64]
    dram_achievable_ns: NDArray[np.float64]
    bound: Texts
    efficiency: NDArray[np.float64]
    why: Texts


LAUNCH_FLOOR_NS = 5_000.0  # no advice takes an op below: 2 to 5 us to start and drain a program on all cores
EXPLAINS = 0.3  # efficiency from which on the bound explains the time


def roofline_of(ops: OpTable, chip: Chip) -> Roofline:
    """Bounds of every op of the table on this chip."""
    why = Reasons(len(ops))
    flops, padded = flops_of(ops, why)
    dram_bytes = dram_bytes_of(ops)
    phases = ops.texts("fidelity").mapped(
        lambda text: FIDELITY_PHASES.get(text, np.nan), missing=np.nan, dtype=np.float64
    )
    on_engine = ops.texts("op_code").where(lambda text: family(text) in MODELS)
    why.say(on_engine & np.isnan(phases), "no known MATH FIDELITY: the arithmetic's peak is unknown")
    per_core_ns = padded * phases / (MATMUL_FLOP_PER_CYCLE_PER_CORE * (chip.clock_ghz or np.nan))
    compute_ns = per_core_ns / (chip.cores or np.nan)
    used = ops.numbers("cores")
    compute_used_ns = per_core_ns / np.where(used > 0, used, np.nan)
    dram_ns = dram_bytes / (chip.dram_peak_gb_s or np.nan)
    kernel = ops.numbers("kernel_ns")
    least = np.fmax(compute_ns, dram_ns)
    efficiency = least / np.where(kernel > 0, kernel, np.nan)
    bound = Reasons(len(ops))
    bound.say(kernel <= LAUNCH_FLOOR_NS, "overhead")
    bound.say((efficiency >= EXPLAINS) & (np.nan_to_num(compute_ns) > dram_ns), "compute")
    bound.say(efficiency >= EXPLAINS, "dram")
    bound.say(dram_bytes == 0, "l1")
    bound.say((least >= LAUNCH_FLOOR_NS) & (np.nan_to_num(compute_ns) > dram_ns), "compute")
    bound.say(least >= LAUNCH_FLOOR_NS, "dram")
    bound.say(efficiency < EXPLAINS, "overhead")
    return Roofline(
        flops=flops,
        padded_flops=padded,
        dram_bytes=dram_bytes,
        compute_ns=compute_ns,
        compute_used_ns=compute_used_ns,
        dram_ns=dram_ns,
        dram_achievable_ns=dram_bytes / (chip.dram_achievable_gb_s or np.nan),
        bound=bound.texts(),
        efficiency=efficiency,
        why=why.texts(),
    )
