"""One performance report, understood: which rows are device ops, whose they are, and how time runs on them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.hardware import ARCHITECTURES, canonical_architecture
from ttnn_mcp.run.iterations import Iterations, iterations_of
from ttnn_mcp.run.ops.call_counts import runtime_ids
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.wrapped_counters import unwrapped, wrapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.readers.performance.csv_file import PerformanceCsv

DEVICE_TYPE = "tt_dnn_device"
CLOCK_TOLERANCE = 0.03  # of an architecture's clock, to recognise it by; measured clocks differ by under 0.1 %


class Performance:
    """The rows of one performance report by kind, and what holds for all of them."""

    def __init__(self, csv: PerformanceCsv) -> None:
        self.csv = csv
        rows = OpTable.of(csv)
        self.device_unsaid = not np.isfinite(rows.numbers("device")).any()
        self.rows = rows.of_one_device() if self.device_unsaid else rows

    @cached_property
    def _kinds(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        types = self.rows.texts("op_type")
        timed = np.isfinite(self.rows.numbers("device" if not self.device_unsaid else "kernel_ns"))
        device = types.among(DEVICE_TYPE) if self.rows.has("op_type") else timed
        signpost = types.among("signpost")
        named = self.rows.texts("op_code").codes >= 0
        return device, signpost, named & ~device & ~signpost

    @cached_property
    def _placed(self) -> NDArray[np.bool_]:
        """Device ops of which the report says where they ran."""
        return self._kinds[0] & np.isfinite(self.rows.numbers("device"))

    @cached_property
    def unplaced(self) -> int:
        """Device ops without a DEVICE ID, where others have one: they belong to no device's time."""
        return int((self._kinds[0] & ~self._placed).sum())

    @cached_property
    def _wrapped(self) -> NDArray[np.bool_]:
        """Device ops whose duration a wrapped counter made, or a later writer blanked for it."""
        blank = np.isnan(self.rows.numbers("kernel_ns")) & np.isfinite(self.rows.numbers("fw_end_cycle"))
        return self._placed & (wrapped(self.rows) | (blank & np.isfinite(self.rows.numbers("trace_id"))))

    @cached_property
    def _measured(self) -> OpTable:
        """Device ops with a duration that can be."""
        return self.rows.take(self._placed & (self.rows.numbers("kernel_ns") >= 0) & ~self._wrapped)

    @cached_property
    def ops(self) -> OpTable:
        """Device ops with a kernel duration: measured, or told from firmware ends where a counter wrapped."""
        if not self._wrapped.any() or self.clock_ghz is None:
            return self._measured
        on_device = self.rows.take(self._placed)
        doubtful = self._wrapped[self._placed]
        kernel, gap = unwrapped(on_device, doubtful, self.clock_ghz)
        return on_device.corrected(kernel_ns=kernel, gap_ns=gap, where=doubtful).take(kernel >= 0)

    @cached_property
    def untimed(self) -> OpTable:
        """Device ops without one: captured but not replayed, dropped by the profiler, or impossible."""
        return self.rows.take(self._placed & ~np.isin(self.rows.lines, self.ops.lines))

    @cached_property
    def impossible(self) -> int:
        """Device ops whose duration a wrapped counter made."""
        return int(self._wrapped.sum())

    @cached_property
    def impossible_left_out(self) -> int:
        """Those of them whose time nothing else tells."""
        return int((self._wrapped & ~np.isin(self.rows.lines, self.ops.lines)).sum())

    @cached_property
    def signposts(self) -> OpTable:
        """Marks the user set in the run."""
        return self.rows.take(self._kinds[1])

    @cached_property
    def host_rows(self) -> OpTable:
        """Host calls; mostly to/from-torch plumbing, seldom fallbacks."""
        return self.rows.take(self._kinds[2])

    @cached_property
    def devices(self) -> tuple[int, ...]:
        """Chips with timed ops."""
        ids = np.unique(self.ops.numbers("device"))
        return tuple(int(device) for device in ids)

    @cached_property
    def steady(self) -> OpTable:
        """Timed device ops without a compiler's const-eval ops, which run once and never again."""
        once = self.ops.texts("const_eval").where(lambda text: text.strip().lower() == "true")
        return self.ops.take(~once)

    @cached_property
    def iterations(self) -> Iterations:
        """Repeats of the model over the whole report."""
        return iterations_of(self.steady, self.signposts)

    @cached_property
    def clock_ghz(self) -> float | None:
        """Device clock, from cycles over nanoseconds of the firmware zones; None without cycle columns."""
        cycles = self._measured.numbers("fw_end_cycle") - self._measured.numbers("fw_start_cycle")
        took = self._measured.numbers("fw_ns")
        usable = (took > 0) & (cycles > 0)
        return float(np.median(cycles[usable] / took[usable])) if usable.any() else None

    @cached_property
    def arch_said(self) -> str | None:
        """Architecture by DEVICE ARCH, canonical; None where no row says it."""
        said = {canonical_architecture(text) or text for text in self.ops.texts("arch").occurring()}
        return min(said) if said else None

    @cached_property
    def arch_inferred(self) -> str | None:
        """Architecture whose clock this is; None where none fits."""
        clock = self.clock_ghz
        if clock is None:
            return None
        return next(
            (name for name, chip in ARCHITECTURES.items() if abs(clock / chip.clock_ghz - 1) < CLOCK_TOLERANCE),
            None,
        )

    @property
    def arch(self) -> str | None:
        """DEVICE ARCH, else by the clock."""
        return self.arch_said or self.arch_inferred

    @cached_property
    def sub_device_cores(self) -> dict[str, int]:
        """Cores per SUB DEVICE ID, where no row says how many the whole grid has; else empty."""
        partition, said = self.ops.texts("sub_device"), self.ops.numbers("worker_cores")
        if (np.isfinite(said) & (partition.codes < 0)).any():
            return {}
        known = np.isfinite(said) & (partition.codes >= 0)
        most = np.full(len(partition.distinct), -1, dtype=np.int64)
        np.maximum.at(most, partition.codes[known], said[known].astype(np.int64))
        return {name: int(cores) for name, cores in zip(partition.distinct, most, strict=True) if cores >= 0}

    @cached_property
    def worker_cores_said(self) -> int | None:
        """Compute grid by AVAILABLE WORKER CORE COUNT, its sub-devices together; None where no row says it."""
        if self.sub_device_cores:
            return sum(self.sub_device_cores.values())
        said = self.ops.numbers("worker_cores")
        return int(np.nanmax(said)) if np.isfinite(said).any() else None

    @cached_property
    def most_cores_used(self) -> int | None:
        """The most cores any op used: a floor for the grid, never the grid."""
        used = self.ops.numbers("cores")
        return int(np.nanmax(used)) if np.isfinite(used).any() else None

    @cached_property
    def traced(self) -> bool:
        """Whether any row is a trace replay. False is no proof: blank columns also mean an unprofiled replay."""
        return bool(np.isfinite(self.rows.numbers("trace_id")).any())

    @property
    def encodes_device(self) -> bool:
        """Whether GLOBAL CALL COUNT is (runtime id << 10) | device on every row, as written since 2025."""
        return self.runtime_ids is not None

    @cached_property
    def runtime_ids(self) -> NDArray[np.int64] | None:
        """Per timed op the id shared by the devices that ran it; None where call counts do not encode it."""
        return runtime_ids(self.ops)
