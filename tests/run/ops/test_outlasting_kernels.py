"""Kernel times that are timestamps: longer than the firmware around them, so the firmware's time is told."""

from __future__ import annotations

import numpy as np
import pytest

from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from tests.run.ops.test_op_table import table
from tests.shared_reports import CLIP, DEEPLAB, DEEPSEEK, OFT, SEGFORMER, shared
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.ops.outlasting_kernels import outlasting, within_firmware
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.trust import caveats_of

KERNEL, GAP = "DEVICE KERNEL DURATION [ns]", "OP TO OP LATENCY [ns]"
SINCE_RESET_NS = 61_000_000_000  # a chip that was reset a minute ago
FW_NS = 800  # more than the kernel takes, in made profiles


def report(folder, spoilt, add=SINCE_RESET_NS, without="", devices=1):
    program = block(layers=4)
    program.devices = devices
    rows = performance_rows(program, [Iteration(cold=True), Iteration()])
    written = [{**row, KERNEL: str(int(row[KERNEL]) + add)} if n in spoilt else row for n, row in enumerate(rows)]
    kept = [name for name in header_of(rows, "C7") if not without or without not in name]
    return Performance(read_performance_csv(write_rows(folder / "x.csv", written, kept))), rows


def cycles_of(**columns):
    return table(**{name: np.array(values, dtype=float) for name, values in columns.items()})


def test_a_timestamp_spoils_no_sum(tmp_path):
    here, rows = report(tmp_path, {3, 4, 9})
    true = sum(int(row[KERNEL]) for row in rows)
    assert here.outlasting == 3
    assert len(here.ops) == len(rows)
    assert here.ops.numbers("kernel_ns").sum() == pytest.approx(true + 3 * FW_NS, abs=10)
    assert any(
        "3 device ops say a kernel time that is longer than their firmware ran" in one for one in caveats_of(here)
    )


def test_the_gap_before_it_is_the_firmwares(tmp_path):
    here, rows = report(tmp_path, {3})
    assert here.ops.numbers("gap_ns")[3] == pytest.approx(max(int(rows[3][GAP]) - FW_NS, 0), abs=2)
    assert here.ops.numbers("gap_ns")[4] == int(rows[4][GAP])


def test_each_device_has_ends_of_its_own(tmp_path):
    here, rows = report(tmp_path, {4, 5}, devices=2)
    for row in (4, 5):
        assert here.ops.numbers("gap_ns")[row] == pytest.approx(max(int(rows[row][GAP]) - FW_NS, 0), abs=2)


def test_the_cited_cells_are_the_firmwares(tmp_path):
    here, _ = report(tmp_path, {3})
    assert here.ops.cite(3, "kernel_ns").column == "DEVICE FW END CYCLE"
    assert here.ops.cite(4, "kernel_ns").column == KERNEL


def test_a_microsecond_and_a_hundredth_are_rounding(tmp_path):
    """The firmware takes 800 ns more than the kernel."""
    _, rows = report(tmp_path, ())
    kernel = int(rows[3][KERNEL])
    most = int(0.01 * (kernel + FW_NS) + 1_000 + FW_NS)
    assert report(tmp_path, {3}, add=most - 5)[0].outlasting == 0
    assert report(tmp_path, {3}, add=most + 5)[0].outlasting == 1


@for_all(("ends", "outlasts"), [(1_100, True), (1_000, False), (900, False)])
def test_a_firmware_that_took_no_time_proves_nothing(ends, outlasts):
    ops = cycles_of(kernel_ns=[5_000], fw_start_cycle=[1_000], fw_end_cycle=[ends], device=[0])
    assert outlasting(ops, 1.0).tolist() == [outlasts]


@for_all("clock_ghz", [1.0, 2.0])
def test_the_first_op_of_a_device_has_no_end_before_it(clock_ghz):
    ops = cycles_of(kernel_ns=[9, 9, 9], fw_start_cycle=[0, 50, 99], fw_end_cycle=[40, 90, 120], device=[0, 1, 1])
    times = np.array([9.0, 9.0, 9.0]), np.array([1.0, 2.0, 3.0])
    kernel, gap = within_firmware(ops, np.array([False, True, True]), times, clock_ghz)
    assert kernel.tolist() == [9, 40 / clock_ghz, 21 / clock_ghz]
    assert gap.tolist() == [1, 2, 9 / clock_ghz]


@for_all("without", ["FW START CYCLE", "FW DURATION"])
def test_without_firmware_cycles_or_a_clock_nothing_is_known(tmp_path, without):
    assert report(tmp_path, {3}, without=without)[0].outlasting == 0


@for_all("name", [CLIP, DEEPLAB, OFT, DEEPSEEK, SEGFORMER])
def test_no_kernel_of_a_real_report_outlasts_its_firmware(name):
    here = Performance(read_performance_csv(shared(name)))
    assert here.outlasting == 0
