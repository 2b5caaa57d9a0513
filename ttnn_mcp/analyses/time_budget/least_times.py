"""The least time of every op, step by step: from the work that the model needs to the work that the op did.

Each step adds one cause to the step before, so it cannot be shorter: first the arithmetic and bytes that the model
needs, then padding, then the passes of the op's own MATH FIDELITY, then excess bytes where DRAM traffic was measured,
then unused cores. All are true lower bounds: they take peak rates and move each byte once. They leave out the
arithmetic of the vector unit (softmax, norms, activations). The lowest is what no change of formats, placement or
fusion can go below.

An op's bytes take each of these paths once: DRAM, the networks of its cores, their unpackers and packers. The slowest
decides, so an op with all its tensors in L1 has a bound too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.devices.collectives import collectives_of, payload_gb_s
from ttnn_mcp.analyses.op_kinds.formats import needed_phases, phases, reads_weights
from ttnn_mcp.analyses.roofline.borrowed_rows import borrowed
from ttnn_mcp.analyses.roofline.reasons import Reasons
from ttnn_mcp.analyses.roofline.roofline import IMPOSSIBLE, WHY_COLLECTIVE, roofline_of
from ttnn_mcp.analyses.roofline.traffic import touched_of
from ttnn_mcp.analyses.roofline.working_cores import working_cores
from ttnn_mcp.analyses.time_budget.operand_bytes import NARROW_WEIGHT, as_stored, narrowed, without_padding
from ttnn_mcp.arrays import Array, Booleans, Floats
from ttnn_mcp.hardware import ELEMENT_BYTES
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from ttnn_mcp.analyses.dataflow.likely_producers import Flow
    from ttnn_mcp.analyses.roofline.roofline import Roofline
    from ttnn_mcp.analyses.time_budget.operand_bytes import Weigh
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand

ASSUMED = "weights read once per op from DRAM as BFLOAT4_B, one pass of arithmetic on all cores, nothing else"
LOFI_PASSES = 1.0
MODELLED = 0.95  # share of the kernel time that bounds must cover before they tell what a window needs


@dataclass(frozen=True, slots=True)
class LeastTimes:
    """Nanoseconds per op; 0 if unknown.

    Attributes:
        needed_ns: arithmetic of the logical shapes with the passes its operands can use, bytes without padding, the
            whole grid.
        padded_ns: the same on padded shapes.
        as_it_is_ns: the same with the op's own passes: the present formats.
        as_moved_ns: the same with the DRAM traffic in DRAM BW UTIL, if the report has it (tt-npe).
        on_its_cores_ns: the same on the cores that the op used, or that its program can use.
        cheaper_ns: the program with weights as BFLOAT4_B, activations as BFLOAT8_B, one pass.
        arithmetic_ns: the arithmetic alone, as in `needed_ns`.
        weight_bytes: bytes of weights that the op reads from DRAM.
        bounded: ops with a bound.
        complete: ops whose bound leaves out no known cost (`Roofline.why` is empty).
    """

    needed_ns: Floats
    padded_ns: Floats
    as_it_is_ns: Floats
    as_moved_ns: Floats
    on_its_cores_ns: Floats
    cheaper_ns: Floats
    arithmetic_ns: Floats
    weight_bytes: Floats
    bounded: Booleans
    complete: Booleans


@artefact
def least_times_of(ops: OpTable, chip: Chip, flow: Flow, mesh_devices: int) -> LeastTimes:
    """The least times of one device's ops; `ops` are in execution order."""
    bounds = roofline_of(ops, chip)
    unknown = bounds.impossible | borrowed(ops)
    grid = np.full(len(ops), chip.cores or np.nan)
    used = np.fmin(np.where(ops.numbers("cores") > 0, ops.numbers("cores"), np.nan), working_cores(ops, chip))
    own = phases(ops)
    needed = np.fmin(np.where(np.isfinite(needed_phases(ops)), needed_phases(ops), own), own)
    paths = DataPaths(ops, chip)
    links = _on_links(ops, chip, mesh_devices)

    def least(
        flops: Floats,
        passes: Floats | float,
        cores: Floats,
        bytes_of: Weigh,
    ) -> Floats:
        arithmetic = _arithmetic_ns(flops, passes, cores, chip)
        longest = np.fmax(np.fmax(arithmetic, paths.least_ns(bytes_of, cores)), links)
        return np.where(unknown, 0.0, np.nan_to_num(longest))

    steps = np.maximum.accumulate(
        np.stack(
            [
                least(bounds.flops, needed, grid, without_padding),
                least(bounds.padded_flops, needed, grid, as_stored),
                least(bounds.padded_flops, own, grid, as_stored),
                _measured_ns(ops),
                least(bounds.padded_flops, own, used, as_stored),
            ]
        ),
        axis=0,
    )
    # the row is faster than its bound, so it is wrong: no bound
    unknown = unknown | ~(steps[-1] <= IMPOSSIBLE * ops.numbers("kernel_ns"))
    steps = np.where(unknown, 0.0, steps)
    weights = reads_weights(ops, flow)
    return LeastTimes(
        *steps,
        cheaper_ns=np.minimum(least(bounds.padded_flops, LOFI_PASSES, grid, narrowed(ops)), steps[2]),
        arithmetic_ns=np.where(unknown, 0.0, np.nan_to_num(_arithmetic_ns(bounds.flops, needed, grid, chip))),
        weight_bytes=np.where(weights & ~unknown, np.nan_to_num(paths.read_bytes(1)), 0.0),
        bounded=steps[2] > 0,
        complete=~unknown
        & bounds.why.mapped(_leaves_nothing_out, missing=True, dtype=np.bool_)
        & _finite(ops, links),
    )


def _measured_ns(ops: OpTable) -> Floats:
    """The time that the measured DRAM traffic takes at the peak rate; 0 where nothing was measured."""
    share = np.nan_to_num(ops.numbers("dram_util_pct")) / 100
    return np.where(share <= IMPOSSIBLE, np.maximum(np.minimum(share, 1.0), 0.0), 0.0) * ops.numbers("kernel_ns")


def _finite(ops: OpTable, links: Floats) -> Booleans:
    """All ops except collectives whose links are unknown."""
    return np.isfinite(links) | (_families(ops) != "collective")


def _leaves_nothing_out(why: str) -> bool:
    return why == WHY_COLLECTIVE  # its links bound it, and they count here


def _families(ops: OpTable) -> Array:
    return ops.texts("op_code").mapped(family, missing="other", dtype=np.object_)


def _arithmetic_ns(flops: Floats, passes: Floats | float, cores: Floats, chip: Chip) -> Floats:
    return flops * passes / (chip.flop_per_ns_per_core * cores)


def _on_links(ops: OpTable, chip: Chip, mesh_devices: int) -> Floats:
    """Least time of collectives over their links, both ways at once; NaN elsewhere."""
    least = np.full(len(ops), np.nan)
    exchanged = collectives_of(ops, mesh_devices)
    least[exchanged.rows] = exchanged.least_ns(payload_gb_s(chip), both_directions=True)
    return least


class DataPaths:
    """What some ops read and write of each operand, and the time of that on each data path."""

    def __init__(self, ops: OpTable, chip: Chip) -> None:
        self._ops, self._chip = ops, chip
        self._shows_both = bool(ops.inputs and ops.outputs)
        if self._shows_both:
            touched = touched_of(ops, lambda operand: operand.present.astype(np.float64), Reasons(len(ops)))
            self._read, self._written = touched.reads, touched.writes  # shares of each operand

    def read_bytes(self, number: int) -> Floats:
        """Bytes that the ops read of one input, as stored."""
        if not self._shows_both or number >= len(self._ops.inputs):
            return np.zeros(len(self._ops))
        return self._read[number] * self._ops.inputs[number].bytes

    def least_ns(self, weigh: Weigh, cores: Floats) -> Floats:
        """The time of the slowest data path on so many cores; unknown bytes count as 0."""
        architecture, clock = self._chip.architecture, self._chip.clock_ghz
        if not self._shows_both or architecture is None or not clock:
            return np.full(len(self._ops), np.nan)
        read, read_of_dram = self._bytes(self._ops.inputs, self._read, weigh, numbered=True)
        written, written_to_dram = self._bytes(self._ops.outputs, self._written, weigh, numbered=False)
        cycles_ns = 1 / (clock * np.where(np.isfinite(cores), cores, np.inf))
        path_times = (
            (read_of_dram + written_to_dram) / (self._chip.dram_peak_gb_s or np.inf),
            np.maximum(read_of_dram, written_to_dram) / architecture.noc_bytes_per_cycle * cycles_ns,
            read / architecture.unpack_bytes_per_cycle * cycles_ns,
            written / architecture.pack_bytes_per_cycle * cycles_ns,
        )
        return np.stack(path_times).max(axis=0)

    def _bytes(
        self, operands: Sequence[Operand], shares: Floats, weigh: Weigh, *, numbered: bool
    ) -> tuple[Floats, Floats]:
        """Bytes per op over these operands, and those of them in DRAM."""
        all_bytes = np.zeros(len(self._ops), dtype=np.float64)
        in_dram = np.zeros(len(self._ops), dtype=np.float64)
        for number, operand in enumerate(operands):
            moved = np.nan_to_num(shares[number] * weigh(operand, number if numbered else None))
            all_bytes += moved
            in_dram += np.where(operand.in_dram, moved, 0.0)
        return all_bytes, in_dram


def lowest_ns(ops: OpTable, least: LeastTimes, bounds: Roofline, chip: Chip) -> float:
    """Nanoseconds for the ops of one device; 0 where the chip or the operands are not known."""
    stored = np.ones(len(ops))
    if len(ops.inputs) > 1:
        element = ops.inputs[1].dtype.mapped(
            lambda text: ELEMENT_BYTES.get(text, np.inf), missing=np.inf, dtype=np.float64
        )
        stored = np.minimum(ELEMENT_BYTES[NARROW_WEIGHT] / element, 1.0)
    bytes_read = float(np.nansum(least.weight_bytes * stored))
    arithmetic = float(np.nansum(bounds.flops)) / (chip.flop_per_ns_per_core * (chip.worker_cores or np.inf))
    return max(bytes_read / (chip.dram_peak_gb_s or np.inf), float(np.nan_to_num(arithmetic)))
