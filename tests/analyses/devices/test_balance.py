"""Devices side by side: the same launch is compared with itself, or not at all."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checks.rows import put, read
from tests.for_all import for_all
from tests.profiles import Iteration, Program, header_of, performance_rows, write_rows
from tests.profiles.model import DeviceOp
from tests.profiles.ops import collective, unary
from ttnn_mcp.analyses.devices.balance import balance_of


def mesh(devices=4, layers=3):
    """Per layer an op of 100 us, on the last device 300 us, and a gather that waits."""
    program = Program("blackhole", devices=devices)
    x = program.tensor([1, 1, 512, 256])
    for layer in range(1, layers + 1):  # no two layers alike, or they would be iterations
        work = [100_000] * (devices - 1) + [300_000]
        y = put(program, unary("RELU", x, program.tensor(x.shape), 0))
        program.device_ops[-1].kernel_ns = work
        out = program.tensor([1, 1, 512, 256 * devices * layer])
        exchange = [40_000 + 10_000 * device for device in range(devices)]
        put(program, collective("AllGatherAsync", y, out, exchange, ring_size=devices))
    return program


def balance(tmp_path, rows, **how):
    case = read(write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))
    encodes = how.get("encodes_device", case.run.performance_report.encodes_device)
    return balance_of(case.scope.ops, encodes_device=encodes)


@pytest.fixture
def rows():
    return performance_rows(mesh(), [Iteration()])


def test_launches_are_matched_by_call_count_whatever_the_order_of_rows(tmp_path, rows):
    found = balance(tmp_path, rows[::-1])
    assert found.matched == "call_count"
    assert found.times_ns.tolist()[0] == [100_000, 100_000, 100_000, 300_000]
    assert found.collective.tolist() == [False, True] * 3
    assert found.left_out == 0


@for_all("encodes_device", [False, True])
def test_without_ops_there_is_nothing_to_compare(tmp_path, rows, encodes_device):
    case = read(write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))
    found = balance_of(case.scope.ops.take(np.arange(0)), encodes_device=encodes_device)
    assert (found.devices, found.matched, len(found.rows)) == ((), "not_matched", 0)


def test_totals_and_shares_are_sums_over_rows(tmp_path, rows):
    found = balance(tmp_path, rows)
    assert found.kernel_ns.tolist() == [3 * (100_000 + 40_000), 450_000, 480_000, 3 * (300_000 + 70_000)]
    assert found.collective_ns.tolist() == [120_000, 150_000, 180_000, 210_000]
    assert found.collective_share == pytest.approx(660_000 / (4 * 300_000 + 3 * 200_000 + 660_000))
    assert found.waiting_ns().tolist() == [0, 30_000, 60_000, 90_000]
    assert found.imbalance[0] == pytest.approx(300_000 / 150_000)


def test_a_row_dropped_on_one_device_takes_only_its_own_launch_out(tmp_path, rows):
    third = [row for row in rows if row["DEVICE ID"] == "2"][2]
    found = balance(tmp_path, [row for row in rows if row is not third])
    assert (len(found.rows), found.left_out) == (5, 3)
    assert found.times_ns[1].tolist() == [40_000, 50_000, 60_000, 70_000]


def test_by_position_devices_compare_only_if_all_ran_the_same_ops(tmp_path, rows):
    assert balance(tmp_path, rows, encodes_device=False).matched == "position"
    short = [row for row in rows if row is not rows[-1]]
    assert balance(tmp_path, short, encodes_device=False).matched == "not_matched"
    other = [dict(row) for row in rows]
    other[0]["OP CODE"] = "TanhDeviceOperation"
    assert balance(tmp_path, other, encodes_device=False).matched == "not_matched"


def test_an_op_is_never_compared_with_another_one_of_the_same_number(tmp_path, rows):
    other = [dict(row) for row in rows]
    other[0]["OP CODE"] = "TanhDeviceOperation"
    found = balance(tmp_path, other)
    assert (len(found.rows), found.left_out) == (5, 4)


def test_replays_of_a_trace_repeat_launches_under_one_number(tmp_path):
    program = mesh(devices=2, layers=1)
    passes = [Iteration(capture=True), Iteration(trace=(1, 1)), Iteration(trace=(1, 2))]
    rows = [row for row in performance_rows(program, passes) if row.get("DEVICE KERNEL DURATION [ns]")]
    case = read(write_rows(tmp_path / "ops_perf_results_1.csv", rows, header_of(rows, "C7")))
    found = balance_of(case.run.performance_report.ops, encodes_device=True)
    assert (len(found.rows), found.left_out) == (4, 0)
    assert np.isfinite(found.times_ns).all()


def test_one_device_is_even_with_itself(tmp_path):
    found = balance(tmp_path, performance_rows(mesh(devices=1), [Iteration()]))
    assert found.imbalance.tolist() == [1.0] * 6
    assert found.waiting_ns().tolist() == [0.0]


def test_an_op_is_one_row_per_device(tmp_path):
    program = Program("blackhole", devices=3)
    put(
        program,
        DeviceOp("TanhDeviceOperation", (program.tensor([1, 1, 32, 32]),), (program.tensor([1, 1, 32, 32]),)),
    )
    found = balance(tmp_path, performance_rows(program, [Iteration()]))
    assert sorted(found.rows[0].tolist()) == [0, 1, 2]
