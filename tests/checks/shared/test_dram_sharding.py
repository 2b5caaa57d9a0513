"""The call for a matmul on DRAM-sharded weights: as many cores as divide K and N in tiles, two tiles of K at least."""

from __future__ import annotations

import pytest

from tests.checks.asking import asker
from tests.checks.rows import put
from tests.profiles import Program
from tests.profiles.model import DeviceOp


@pytest.fixture
def fix(tmp_path):
    def ask(k, n, arch="wormhole_b0", grid=None):
        program = Program(arch, grid=grid)
        x, w, y = program.tensor([1, 1, 32, k]), program.weight([1, 1, k, n]), program.tensor([1, 1, 32, n])
        put(program, DeviceOp("MinimalMatmulOp", (x, w), (y,), 1_000_000, fidelity="LoFi"))
        return asker("minimal-matmul-on-few-rows", tmp_path).ask(program).claim.fix

    return ask


@pytest.mark.parametrize(
    ("k", "n", "blocks", "cores"),
    [
        (4096, 4096, "in0_block_w=2, per_core_M=1, per_core_N=2", 64),
        (4096, 1024, "in0_block_w=4, per_core_M=1, per_core_N=1", 32),
        (1280, 1280, "in0_block_w=2, per_core_M=1, per_core_N=2", 20),
        (1280, 5120, "in0_block_w=2, per_core_M=1, per_core_N=8", 20),
        (64, 4096, "in0_block_w=2, per_core_M=1, per_core_N=128", 1),
        (32, 4096, "in0_block_w=1, per_core_M=1, per_core_N=128", 1),
        (352, 4096, "in0_block_w=11, per_core_M=1, per_core_N=128", 1),
    ],
)
def test_cores_divide_k_and_n(fix, k, n, blocks, cores):
    text = fix(k, n)
    assert f"MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig({blocks}, fused_activation=None))" in text
    assert f"x L1 WIDTH_SHARDED on {cores} cores, w WIDTH_SHARDED in DRAM" in text


def test_a_larger_grid_takes_more_cores(fix):
    """Blackhole's 11 x 10 has rectangles of up to 110; 100 tiles of N on 50 of them."""
    assert "WIDTH_SHARDED on 50 cores" in fix(3200, 3200, "blackhole", (11, 10))
    assert "WIDTH_SHARDED on 50 cores" not in fix(3200, 3200)


@pytest.mark.parametrize(("side", "cores"), [(4096, 64), (5120, 40)])
def test_a_grid_of_no_known_card_is_taken_for_the_smallest(fix, side, cores):
    """8 x 8; 160 tiles would go on 80 cores of ten columns or rows."""
    assert f"WIDTH_SHARDED on {cores} cores" in fix(side, side, "wormhole_b0", (7, 7))
