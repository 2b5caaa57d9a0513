"""What stays of an op whatever is changed about it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checks.asking import Asker
from tests.checks.rows import put
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.shared.floors import accumulation_saves, achievable_ns, least_ns, trial_saves


@pytest.fixture
def of_matmul(tmp_path):
    """What is known of a matmul of 50 us."""

    def ask(k, n, *, placement, fidelity="LoFi", kernel_ns=50_000, out=L1):
        program = Program("wormhole_b0")
        x, y = program.tensor([1, 1, 32, k], placement=L1), program.tensor([1, 1, 32, n], placement=out)
        w = program.tensor([1, 1, k, n], placement=placement)
        put(program, DeviceOp("MinimalMatmulOp", (x, w), (y,), kernel_ns, fidelity=fidelity))
        return Asker("", tmp_path, iter(range(9))).case(program)

    return ask


@pytest.fixture
def floors(of_matmul):
    """What stays of it: at achievable bandwidth, and at least."""

    def ask(k, n, **how):
        facts = of_matmul(k, n, **how)
        return float(achievable_ns(facts)[0]), float(least_ns(facts)[0])

    return ask


def test_partial_sums_save_no_more_than_the_bytes_leave(of_matmul):
    facts = of_matmul(2048, 2048, placement=DRAM, kernel_ns=32_000)
    assert accumulation_saves(facts, np.array([0])) == pytest.approx([32_000 - 2**23 / 288])


def test_a_try_may_keep_the_result_in_l1(of_matmul):
    facts = of_matmul(2048, 2048, placement=DRAM, kernel_ns=100_000, out=DRAM)
    assert trial_saves(facts) == pytest.approx([100_000 - 2**23 / 288])


def test_a_launch_stays(floors):
    assert floors(64, 64, placement=L1) == (LAUNCH_FLOOR_NS, LAUNCH_FLOOR_NS)


def test_arithmetic_on_all_cores_stays(floors):
    """2 x 32 x 4096 x 4096 FLOP at HiFi4 on 64 cores."""
    assert floors(4096, 4096, placement=L1, fidelity="HiFi4") == pytest.approx((4 * 2**30 / (64 * 4096),) * 2)


def test_bytes_stay_at_achievable_and_at_peak_bandwidth(floors):
    assert floors(1024, 2048, placement=DRAM) == pytest.approx((2**22 / 240, 2**22 / 288))


def test_the_larger_of_both_stays(floors):
    """8.4 MB are 35 us, 0.27 GFLOP at HiFi4 4 us."""
    left = floors(2048, 2048, placement=DRAM, fidelity="HiFi4", kernel_ns=100_000)
    assert left == pytest.approx((2**23 / 240, 2**23 / 288))


def test_no_more_stays_than_it_took(floors):
    """At 288 GB/s 8.4 MB take 29.1 us, at the 240 that ops reach 35."""
    assert floors(2048, 2048, placement=DRAM, kernel_ns=32_000) == pytest.approx((32_000, 2**23 / 288))


def test_of_a_row_that_cannot_be_everything_stays(floors):
    assert floors(2048, 2048, placement=DRAM, kernel_ns=20_000) == (20_000, 20_000)
