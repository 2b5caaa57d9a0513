"""What TTNN chooses for a matmul in DRAM, as captured of TTNN 0.81.1 on mock devices: BFLOAT16 by BFLOAT8_B."""

from __future__ import annotations

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.chosen_matmul import chosen_in_dram, is_narrow

N150, P100 = (8, 8), (13, 10)


@for_all(
    ("grid", "sizes", "one_sided", "block", "cores"),
    [
        (N150, (32, 2048, 5120), True, 2, 54),
        (N150, (32, 992, 2048), True, 1, 64),
        (N150, (32, 2048, 32), True, 2, 1),
        (N150, (32, 3072, 16384), True, 2, 64),
        (N150, (32, 2048, 256), True, 2, 8),  # one row of tiles is divided by columns, however few
        (N150, (256, 2048, 2048), False, 8, 64),
        (P100, (32, 2048, 5120), True, 2, 80),
        (P100, (32, 3072, 16384), True, 2, 128),
        (P100, (64, 2048, 2048), True, 2, 64),
        (P100, (256, 2048, 2048), False, 1, 104),  # 13 columns do not divide 64 tiles of K
    ],
)
def test_a_choice_follows_from_sizes_and_grid(grid, sizes, one_sided, block, cores):
    m, k, n = (size // 32 for size in sizes)
    chosen = chosen_in_dram(m, k, n, grid)
    assert (chosen.one_sided, chosen.in0_block_w, chosen.cores(m, n)) == (one_sided, block, cores)


def test_a_side_of_one_tile_is_narrow_where_it_is_said_so():
    assert [is_narrow(1, 8, small=small) for small in (True, False)] == [True, False]


def test_the_longer_side_is_divided():
    tall, wide = chosen_in_dram(320, 8, 4, N150), chosen_in_dram(4, 8, 320, N150)
    assert (tall.per_core_m, tall.per_core_n) == (5, 4)
    assert (wide.per_core_m, wide.per_core_n) == (4, 5)
