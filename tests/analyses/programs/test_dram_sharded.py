"""Matmuls on weights sharded over the banks of DRAM: the buffers of a core and the rule of its shards, by hand."""

from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.matmul_config import Tiles


def of(columns, per_core_n=1, cores=64):
    tiles = Tiles(1, 64, columns, a_bytes=2048, b_bytes=1088, out_bytes=2048)
    return DramSharded(tiles, 12, cores, 8, in0_block_w=8, per_core_m=1, per_core_n=per_core_n)


def test_banks_of_padding_do_not_read_and_columns_are_computed_in_as_few_sub_blocks_as_dst_allows():
    """13 columns are two on each of 7 banks; 9 of a bank are two sub-blocks of 5, and 17 three of 6."""
    assert of(13).buffers["IN1"] == 3 * 8 * 2 * 1088
    assert [of(12 * columns).buffers["OUT"] // 2048 for columns in (7, 8, 9, 16, 17)] == [7, 8, 10, 16, 18]


def test_readers_of_a_bank_share_its_columns():
    """TTNN 0.81.1 on a mock P150: 4096 x 6144, in0_block_w=4, with one, two and three of them."""
    tiles = Tiles(1, 128, 192, a_bytes=2048, b_bytes=1088, out_bytes=2048)
    plans = [DramSharded(tiles, 8, 120, 32, 4, 1, 6, readers=readers) for readers in (1, 2, 3)]
    assert [(plan.buffers["IN1"], plan.buffers["OUT"]) for plan in plans] == [
        (313_344, 49_152),
        (156_672, 24_576),
        (104_448, 16_384),
    ]


def test_shards_of_the_output_fit_the_cores():
    assert all(of(64).rules().values())
    assert [rule for rule, holds in of(65).rules().items() if not holds] == ["65 shards of per_core_N fit 64 cores"]
    assert of(64, per_core_n=4).output_shard_bytes == 4 * 2048
