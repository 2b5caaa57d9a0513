"""One performance report, its rows sorted by kind (device ops, signposts, host calls), and its figures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ttnn_mcp.arrays import Array, Booleans, Integers
from ttnn_mcp.hardware import ARCHITECTURES, canonical_architecture
from ttnn_mcp.run.iterations import Iterations
from ttnn_mcp.run.lost_times import iterations_of_run
from ttnn_mcp.run.ops.call_counts import runtime_ids
from ttnn_mcp.run.ops.device_clocks import at_odds, clock_of, clock_of_rows, clocks_apart
from ttnn_mcp.run.ops.lost_shapes import LOST_SHAPE, lost_shapes
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.outlasting_kernels import outlasting, within_firmware
from ttnn_mcp.run.ops.wrapped_counters import unwrapped, wrapped

if TYPE_CHECKING:
    from ttnn_mcp.readers.performance.csv_file import PerformanceCsv

DEVICE_TYPE = "tt_dnn_device"
FIGURES = (  # of all rows, computed once per file: each a JSON value
    "arch_stated",
    "clock_ghz",
    "clocks_apart",
    "cycles_false",
    "impossible",
    "impossible_left_out",
    "most_cores_used",
    "outlasting",
    "sub_device_cores",
    "traced",
    "unplaced",
    "worker_cores_stated",
)
CLOCK_TOLERANCE = 0.03  # of an architecture's clock, to recognise it by; measured clocks differ by under 0.1 %


class Performance:
    """The rows of one performance report by kind, and what holds for all of them.

    Attributes:
        csv: the report as it was read.
        no_device_ids: whether no row has a DEVICE ID; then all rows count as rows of device 0.
        rows: all rows of the report.
        known_caveats: what `trust` says of the report, where that was computed before.
    """

    def __init__(self, csv: PerformanceCsv, iterations: Iterations | None = None) -> None:
        self.csv = csv
        self.known_caveats: tuple[str, ...] | None = None
        self._known_iterations = iterations  # where they were computed before
        rows = OpTable.of(csv)
        self.no_device_ids = not np.isfinite(rows.numbers("device")).any()
        self.rows = rows.of_one_device() if self.no_device_ids else rows

    @cached_property
    def _kinds(self) -> tuple[Booleans, Booleans, Booleans]:
        types = self.rows.texts("op_type")
        timed = np.isfinite(self.rows.numbers("device" if not self.no_device_ids else "kernel_ns"))
        device = types.among(DEVICE_TYPE) if self.rows.has("op_type") else timed
        signpost = types.among("signpost")
        has_name = self.rows.texts("op_code").codes >= 0
        return device, signpost, has_name & ~device & ~signpost

    def figures(self) -> tuple[dict[str, Any], Array]:
        """What is computed of all rows: figures as JSON values, and per row the masks that are true of it, as bits."""
        masks = (*self._kinds, self._wrapped, self._outlasting, self._lost)
        bits = sum((mask.astype(np.int8) << place for place, mask in enumerate(masks)), np.zeros(1, dtype=np.int8))
        return {name: getattr(self, name) for name in FIGURES}, bits

    def know(self, figures: Mapping[str, Any], bits: Array) -> None:
        """Take what `figures` returned for the same file, so that it is not computed again.

        Raises:
            KeyError, ValueError: it did not.
        """
        if len(bits) != len(self.rows):
            raise ValueError("not of these rows")
        device, signpost, host, wrapped_rows, outlast, lost = (
            (bits >> place & 1).astype(np.bool_) for place in range(6)
        )
        known = {name: figures[name] for name in FIGURES}
        vars(self).update(
            known, _kinds=(device, signpost, host), _wrapped=wrapped_rows, _outlasting=outlast, _lost=lost
        )

    @cached_property
    def _placed(self) -> Booleans:
        """Mask of the device ops that have a DEVICE ID."""
        return self._kinds[0] & np.isfinite(self.rows.numbers("device"))

    @cached_property
    def unplaced(self) -> int:
        """How many device ops have no DEVICE ID although other rows have one: no device's time includes them."""
        return int((self._kinds[0] & ~self._placed).sum())

    @cached_property
    def _wrapped(self) -> Booleans:
        """Mask of the device ops whose duration comes from a wrapped counter, or was left blank because of one."""
        blank = np.isnan(self.rows.numbers("kernel_ns")) & np.isfinite(self.rows.numbers("fw_end_cycle"))
        return self._placed & (wrapped(self.rows) | (blank & np.isfinite(self.rows.numbers("trace_id"))))

    @cached_property
    def _measured(self) -> OpTable:
        """Device ops with a measured, possible duration."""
        return self.rows.take(self._placed & (self.rows.numbers("kernel_ns") >= 0) & ~self._wrapped)

    @cached_property
    def ops(self) -> OpTable:
        """Device ops with a kernel duration: measured, or computed from the firmware's where it cannot be true.

        Those whose shapes are lost have no kind, so that nobody is asked what they compute.
        """
        lost = self.timed.at_lines(self.lost)
        return self.timed.renamed(lost, LOST_SHAPE) if lost.any() else self.timed

    @cached_property
    def _lost(self) -> Booleans:
        """Mask of the device ops with a shape that cannot be."""
        return self._placed & lost_shapes(self.rows)

    @property
    def lost(self) -> Integers:
        """Lines of the ops whose shapes are lost."""
        return self.rows.lines[self._lost]

    @cached_property
    def timed(self) -> OpTable:
        """The same under the names, and with the operands, that they were written with."""
        if self.clock_ghz is None:
            return self._measured.without_cycles() if self.cycles_false else self._measured
        if not (self._wrapped.any() or self._outlasting.any()):  # unmoved: it saves a copy of all rows
            return self._measured
        on_device = self.rows.take(self._placed)
        doubtful, outlast = self._wrapped[self._placed], self._outlasting[self._placed]
        clock = clock_of_rows(on_device, self.clock_ghz, self.clocks_apart)
        times = unwrapped(on_device, doubtful, clock)
        kernel, gap = within_firmware(on_device, outlast, times, clock)
        corrected = on_device.corrected(kernel_ns=kernel, gap_ns=gap, corrected_rows=doubtful | outlast)
        return corrected.take(kernel >= 0)

    @property
    def ops_as_written(self) -> OpTable:
        """Device ops with a measured, possible duration, with their cycles even where these are false."""
        return self._measured

    @property
    def told_otherwise(self) -> Integers:
        """Lines of the ops whose durations cannot be true, and are told from other columns."""
        return self.rows.lines[self._wrapped | self._outlasting]

    @cached_property
    def _outlasting(self) -> Booleans:
        """Mask of the device ops whose kernel time is longer than their firmware's, for another reason."""
        known = self.clock_ghz
        clock = None if known is None else clock_of_rows(self.rows, known, self.clocks_apart)
        return self._placed & ~self._wrapped & outlasting(self.rows, clock)

    @cached_property
    def outlasting(self) -> int:
        """How many device ops say a kernel time that is longer than their firmware's."""
        return int(self._outlasting.sum())

    @cached_property
    def untimed(self) -> OpTable:
        """Device ops without a kernel duration: captured but not replayed, dropped by the profiler, or impossible."""
        return self.rows.take(self._placed & ~self.rows.at_lines(self.ops.lines))

    @cached_property
    def impossible(self) -> int:
        """How many device ops have a duration that comes from a wrapped counter."""
        return int(self._wrapped.sum())

    @cached_property
    def impossible_left_out(self) -> int:
        """How many of the impossible durations could not be computed from other columns either."""
        return int((self._wrapped & ~self.rows.at_lines(self.ops.lines)).sum())

    @cached_property
    def signposts(self) -> OpTable:
        """Rows of the marks that the user set with `signpost()`."""
        return self.rows.take(self._kinds[1])

    @cached_property
    def host_rows(self) -> OpTable:
        """Rows of host calls: mostly from_torch and to_torch internals, rarely ops that fall back to the host."""
        return self.rows.take(self._kinds[2])

    @cached_property
    def devices(self) -> tuple[int, ...]:
        """Ids of the devices with timed ops."""
        ids = np.unique(self.ops.numbers("device"))
        return tuple(int(device) for device in ids)

    @cached_property
    def steady(self) -> OpTable:
        """Timed device ops without those that run once."""
        return self.ops.take(~_once(self.ops))

    @cached_property
    def iterations(self) -> Iterations:
        """Repeats of the model over the whole report."""
        return self._known_iterations or iterations_of_run(self.ran, self.steady, self.signposts)

    @cached_property
    def ran(self) -> OpTable:
        """`steady` and the ops that ran by their cycles, but have no time; what a trace recorded did not run."""
        lost = self.untimed.take(np.isfinite(self.untimed.numbers("fw_end_cycle")) & ~_once(self.untimed))
        lines = np.concatenate((self.steady.lines, lost.lines))
        return self.rows.take(self.rows.at_lines(lines)) if len(lost) else self.steady

    @cached_property
    def clock_ghz(self) -> float | None:
        """Device clock in GHz: cycles divided by nanoseconds of the firmware zones.

        None without these columns, and where they do not imply one clock, or one that no chip runs at.
        """
        return clock_of(self._measured)

    @cached_property
    def cycles_false(self) -> bool:
        """Whether there are cycles and nanoseconds that do not belong together; then no time is told from cycles."""
        return self.clock_ghz is None and bool(at_odds(self._measured, None).any())

    @cached_property
    def clocks_apart(self) -> list[tuple[int, float]]:
        """(device, GHz) of the devices that ran at another clock than `clock_ghz`."""
        return clocks_apart(self._measured, self.clock_ghz)

    @cached_property
    def arch_stated(self) -> str | None:
        """Architecture in the column DEVICE ARCH, by its canonical name; None where no row has one."""
        names = {canonical_architecture(text) or text for text in self.ops.texts("arch").occurring()}
        return min(names) if names else None

    @cached_property
    def arch_inferred(self) -> str | None:
        """Architecture that runs at the measured clock; None where none does."""
        clock = self.clock_ghz
        if clock is None:
            return None
        return next(
            (name for name, chip in ARCHITECTURES.items() if abs(clock / chip.clock_ghz - 1) < CLOCK_TOLERANCE),
            None,
        )

    @property
    def arch(self) -> str | None:
        """Architecture: from DEVICE ARCH, otherwise inferred from the clock; None where neither tells."""
        return self.arch_stated or self.arch_inferred

    @cached_property
    def sub_device_cores(self) -> dict[str, int]:
        """Worker cores per SUB DEVICE ID; empty if some row states the cores of the whole grid."""
        sub_device, cores = self.ops.texts("sub_device"), self.ops.numbers("worker_cores")
        if (np.isfinite(cores) & (sub_device.codes < 0)).any():
            return {}
        stated = np.isfinite(cores)
        most = np.full(len(sub_device.distinct), -1, dtype=np.int64)
        np.maximum.at(most, sub_device.codes[stated], cores[stated].astype(np.int64))
        return {name: int(count) for name, count in zip(sub_device.distinct, most, strict=True) if count >= 0}

    @cached_property
    def worker_cores_stated(self) -> int | None:
        """Cores of the compute grid by AVAILABLE WORKER CORE COUNT (the sum of its sub-devices); None if blank."""
        if self.sub_device_cores:
            return sum(self.sub_device_cores.values())
        cores = self.ops.numbers("worker_cores")
        return int(np.nanmax(cores)) if np.isfinite(cores).any() else None

    @cached_property
    def most_cores_used(self) -> int | None:
        """The most cores that any op used: the grid has at least so many."""
        used = self.ops.numbers("cores")
        return int(np.nanmax(used)) if np.isfinite(used).any() else None

    @cached_property
    def traced(self) -> bool:
        """Whether any row is a trace replay. False proves nothing: columns are blank for unprofiled replays too."""
        return bool(np.isfinite(self.rows.numbers("trace_id")).any())

    @property
    def encodes_device(self) -> bool:
        """Whether GLOBAL CALL COUNT is (runtime id << 10) | device on every row, as written since 2025."""
        return self.runtime_ids is not None

    @cached_property
    def runtime_ids(self) -> Integers | None:
        """Per timed op, the id that its rows on all devices share; None where call counts do not encode it."""
        return runtime_ids(self.ops)


def _once(ops: OpTable) -> Booleans:
    """Mask of a compiler's const-eval ops, which run once and never again."""
    return ops.texts("const_eval").where(lambda text: text.strip().lower() == "true")
