"""A program for products of batches: most cores, one block each, what L1 holds."""

from dataclasses import replace

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.analyses.programs.products import suggested_products

TILE = 2048
GRID = (11, 10)


def suggested(m=10, k=10, n=1, batch=16, room=1_300_000, **flags):
    return suggested_products(
        Tiles(m, k, n, TILE, TILE, TILE), batch, GRID, room, **{"fp32": False, "packer_l1": False, **flags}
    )


def test_the_fewest_rows_that_leave_no_core_two_blocks():
    assert suggested().per_core_m == 2
    assert suggested(batch=11).per_core_m == 1  # 110 blocks on 110 cores
    assert suggested(batch=12).per_core_m == 2
    assert suggested(batch=220).per_core_m == 20  # two whole products
    assert suggested(m=1, batch=331).per_core_m == 331  # a prime number of them: one core


def test_k_is_as_deep_as_l1_holds():
    deep = suggested()
    needed = sum(deep.buffers.values())
    assert deep.in0_block_w == 10
    assert suggested(room=needed).in0_block_w == 10
    assert suggested(room=needed - 1).in0_block_w == 5
    assert suggested(room=1_000) is None


def test_subblocks_fill_the_destination_register():
    assert (suggested(m=8, n=4, batch=12).out_subblock_h, suggested(m=8, n=4, batch=12).out_subblock_w) == (1, 4)
    wide = suggested(m=8, n=2, batch=26, fp32=True)
    assert (wide.per_core_m, wide.out_subblock_h, wide.out_subblock_w) == (2, 2, 2)
    assert suggested(m=8, n=6, batch=26).out_subblock_w == 6


def test_a_subblock_is_no_higher_than_one_product():
    """TTNN 0.81.1 refuses another: "out_subblock_h (3) needs to divide M (1) evenly"."""
    plan = suggested(m=1, batch=220)
    assert (plan.per_core_m, plan.out_subblock_h) == (2, 1)
    assert suggested(m=2, batch=220).out_subblock_h == 2
    broken = replace(plan, out_subblock_h=2).rules()
    assert [rule for rule, holds in broken.items() if not holds] == ["out_subblock_h divides the 1 tiles of M"]


@for_all("how", [{"m": 0}, {"k": 0}, {"n": 0}, {"batch": 1 << 40}, {"batch": 1 << 40, "m": 0}, {"m": 1 << 40}])
def test_of_no_whole_tiles_and_of_absurd_sizes_there_is_none(how):
    """A damaged report may tell any; it costs no time."""
    assert suggested(**how) is None
