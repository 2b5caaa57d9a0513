"""The roofline of every op: the least time its arithmetic and its DRAM traffic can take, and what binds it.

Bounds are true ones: peak rates, padded shapes, every core that can work, each byte moved once. What an op is held
up by otherwise (launch, too few cores, the network on the chip) is told from how far it stays below them.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.roofline.borrowed_rows import WHY_BORROWED, borrowed
from ttnn_mcp.analyses.roofline.flops import flops_of, on_engine
from ttnn_mcp.analyses.roofline.parts_touched import taken_whole
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.traffic import dram_bytes_of
from ttnn_mcp.analyses.roofline.working_cores import working_cores
from ttnn_mcp.arrays import Booleans, Floats, Integers
from ttnn_mcp.hardware import FIDELITY_PHASES
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.texts import Texts

LAUNCH_ALWAYS_NS = 2 * 2_000.0  # below, an op is mostly launch whatever else it does: few warm ops take under 2 us
LAUNCH_MAYBE_NS = 2 * 5_000.0  # below, launch can be the reason if nothing else is
EXPLAINS = 0.3  # efficiency from which on a bound explains the time; below, something else does
SUGGESTS = 0.1  # the same where both arithmetic and traffic are known: the larger is the first to look at
IMPOSSIBLE = 1.05  # efficiency that cannot be: clocks and spec bandwidths are good to a few percent

WHY_TIME = "no kernel time was measured"
WHY_FIDELITY = "no known MATH FIDELITY, so the peak rate is unknown"
WHY_CORES = "clock or worker cores unknown, so the peak rate is unknown"
WHY_DRAM = "architecture unknown, so the peak DRAM bandwidth is"
WHY_COLLECTIVE = "a collective is bound by links and by waiting for other devices, not by its own chip"
WHY_IMPOSSIBLE = "what the row shows cannot be done in the time it took, even at peak rates"


@dataclass(frozen=True, slots=True)
class Roofline:
    """Bounds per op; NaN where not modelled.

    Attributes:
        flops: useful arithmetic of matmuls, convolutions and attention, on logical shapes.
        padded_flops: the same as the engine performs it, on padded shapes.
        dram_bytes: least bytes to and from DRAM, padding and block-float exponents included.
        compute_ns: `padded_flops` at the op's fidelity on all cores that can work, at the measured clock.
        compute_used_ns: the same on the cores the op used.
        dram_ns: `dram_bytes` at the chip's peak DRAM bandwidth (a true lower bound).
        dram_achievable_ns: the same at what well-placed ops reach (for savings).
        bound: "compute", "dram", "l1" or "overhead" per op; empty where nothing can be said. "overhead" is launch,
            too few cores or data movement: whatever is neither arithmetic, nor DRAM, nor an op wholly in L1.
        efficiency: the larger of compute_ns and dram_ns over the measured kernel time.
        impossible: the row shows what cannot be done in its time; its bounds are NaN.
        why: what stands in the way of a model, or what a figure leaves out, per op; empty where nothing does.
    """

    flops: Floats
    padded_flops: Floats
    dram_bytes: Floats
    compute_ns: Floats
    compute_used_ns: Floats
    dram_ns: Floats
    dram_achievable_ns: Floats
    bound: Texts
    efficiency: Floats
    impossible: Booleans
    why: Texts

    def take(self, rows: Integers) -> Roofline:
        """The bounds of some ops, in the order wanted."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return Roofline(**{name: part.take(rows) for name, part in parts.items()})  # arrays and texts alike


@artefact
def roofline_of(ops: OpTable, chip: Chip) -> Roofline:
    """Bounds of every op of the table on this chip.

    `ops` must be all ops of a stretch of time: whether a row shows its own operands is told from its neighbours.
    For some ops only, compute the bounds of all and `take`.
    """
    why = Reasons(len(ops))
    not_its_own = borrowed(ops)
    why.add(not_its_own, WHY_BORROWED)
    flops, padded_flops = flops_of(ops, why)
    dram_bytes = np.where(not_its_own, np.nan, dram_bytes_of(ops, why))
    engine = on_engine(ops)
    phases = ops.texts("fidelity").mapped(FIDELITY_PHASES.get, missing=np.nan, dtype=np.float64)
    one_core_ns = padded_flops * phases / chip.flop_per_ns_per_core
    able = working_cores(ops, chip)
    compute_ns = one_core_ns / able
    dram_ns = _over(dram_bytes, chip.dram_peak_gb_s)
    kernel_ns = _positive(ops.numbers("kernel_ns"))
    too_much = taken_whole(ops) & (dram_ns > IMPOSSIBLE * kernel_ns)  # so it touched a part of its operands
    dram_bytes, dram_ns = np.where(too_much, np.nan, dram_bytes), np.where(too_much, np.nan, dram_ns)
    impossible = np.fmax(compute_ns, dram_ns) > IMPOSSIBLE * kernel_ns
    why.add(np.isnan(kernel_ns), WHY_TIME)
    why.add(impossible, WHY_IMPOSSIBLE)
    why.add(engine & np.isnan(phases), WHY_FIDELITY)
    why.add(engine & np.isnan(compute_ns), WHY_CORES)
    why.add(np.isnan(dram_ns), WHY_DRAM)
    families = ops.texts("op_code").mapped(family, missing="other", dtype=object)
    why.add(families == "collective", WHY_COLLECTIVE)
    compute_ns, dram_ns = np.where(impossible, np.nan, compute_ns), np.where(impossible, np.nan, dram_ns)
    least_ns = np.where(engine, np.maximum(compute_ns, dram_ns), dram_ns)
    return Roofline(
        flops=np.where(impossible, np.nan, flops),
        padded_flops=np.where(impossible, np.nan, padded_flops),
        dram_bytes=np.where(impossible, np.nan, dram_bytes),
        compute_ns=compute_ns,
        compute_used_ns=np.where(
            impossible, np.nan, one_core_ns / np.minimum(able, _positive(ops.numbers("cores")))
        ),
        dram_ns=dram_ns,
        dram_achievable_ns=np.where(impossible, np.nan, _over(dram_bytes, chip.dram_achievable_gb_s)),
        bound=_bound(ops, families == "collective", compute_ns, dram_ns, least_ns),
        efficiency=least_ns / kernel_ns,
        impossible=impossible,
        why=why.texts(),
    )


def _bound(
    ops: OpTable,
    exchanged: Booleans,
    compute_ns: Floats,
    dram_ns: Floats,
    least_ns: Floats,
) -> Texts:
    """What binds each op, by the first rule that applies."""
    kernel_ns = _positive(ops.numbers("kernel_ns"))
    efficiency = least_ns / kernel_ns
    larger = np.where(np.nan_to_num(compute_ns) > dram_ns, "compute", "dram")
    on_chip = _on_chip(ops)
    bound = Reasons(len(ops))
    for binds in ("compute", "dram"):
        bound.add(~exchanged & (kernel_ns > LAUNCH_ALWAYS_NS) & (efficiency >= EXPLAINS) & (larger == binds), binds)
    bound.add(~exchanged & (kernel_ns <= LAUNCH_ALWAYS_NS), "overhead")
    left = ~exchanged & np.isfinite(efficiency)
    bound.add(left & (kernel_ns <= LAUNCH_MAYBE_NS), "overhead")
    bound.add(left & on_chip, "l1")
    for binds in ("compute", "dram"):
        bound.add(np.isfinite(compute_ns) & (efficiency >= SUGGESTS) & (larger == binds), binds)
    bound.add(left, "overhead")
    return bound.texts()


def _on_chip(ops: OpTable) -> Booleans:
    """Ops whose first input and first output lie in L1."""
    if not ops.inputs or not ops.outputs:
        return np.zeros(len(ops), dtype=np.bool_)
    return ops.inputs[0].in_l1 & ops.outputs[0].in_l1


def _over(amount: Floats, rate: float | None) -> Floats:
    """Nothing takes no time, even at an unknown rate."""
    return np.where(amount == 0, 0.0, amount / (rate or np.nan))


def _positive(values: Floats) -> Floats:
    return np.where(values > 0, values, np.nan)
