"""What stays of an op whatever is changed about it; asked of minimal-matmul-on-few-rows, which counts down to it."""

from __future__ import annotations

import pytest

from tests.checks.asking import asker
from tests.checks.rows import put
from tests.profiles import DRAM, L1, Program
from tests.profiles.model import DeviceOp


@pytest.fixture
def saved(tmp_path):
    """What a minimal matmul of 50 us saves at most."""

    def ask(k, n, *, placement, fidelity="LoFi", kernel_ns=50_000):
        program = Program("wormhole_b0")
        x, y = program.tensor([1, 1, 32, k], placement=L1), program.tensor([1, 1, 32, n], placement=L1)
        w = program.tensor([1, 1, k, n], placement=placement)
        put(program, DeviceOp("MinimalMatmulOp", (x, w), (y,), kernel_ns, fidelity=fidelity))
        return asker("minimal-matmul-on-few-rows", tmp_path).ask(program).at_most_ns

    return ask


def test_a_launch_stays(saved):
    assert saved(64, 64, placement=L1) == 48_000


def test_arithmetic_on_all_cores_stays(saved):
    """2 x 32 x 4096 x 4096 FLOP at HiFi4 on 64 cores."""
    assert saved(4096, 4096, placement=L1, fidelity="HiFi4") == pytest.approx(
        50_000 - 4 * 2**30 / (64 * 4096), abs=1
    )


def test_bytes_at_achievable_bandwidth_stay(saved):
    assert saved(1024, 2048, placement=DRAM) == pytest.approx(50_000 - 2**22 / 240)


def test_the_larger_of_both_stays(saved):
    """8.4 MB are 35 us, 0.27 GFLOP at HiFi4 4 us."""
    left = saved(2048, 2048, placement=DRAM, fidelity="HiFi4", kernel_ns=100_000)
    assert left == pytest.approx(100_000 - 2**23 / 240)
