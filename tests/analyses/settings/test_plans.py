"""What holds for the plan of any op: numbers below one are illegal, and an unknown chip has no rule about its grid."""

from __future__ import annotations

from dataclasses import replace

from tests.analyses.settings.conv_asked import ConvAsked
from tests.for_all import for_all
from ttnn_mcp.analyses.programs.attention import CHUNKS_AT_MOST, Attention
from ttnn_mcp.analyses.programs.conv_spread import Channels
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.programs.decode_attention import DecodeAttention
from ttnn_mcp.analyses.programs.dram_sharded import DramSharded
from ttnn_mcp.analyses.programs.group_norms import GroupNorm
from ttnn_mcp.analyses.programs.matmul import MatmulPlan
from ttnn_mcp.analyses.programs.matmul_config import Tiles
from ttnn_mcp.analyses.programs.matmul_shards import Shard
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul
from ttnn_mcp.analyses.programs.norms import ShardedNorm, ShardedSoftmax
from ttnn_mcp.analyses.settings.trial import broken_of

ON = (8, 8)
TILES = Tiles(8, 8, 8, 2048, 2048, 2048)
ATTENTION = Attention(8, 1024, 1024, 128, 128, 2048, 2048, 2048, 2048, ON, ON, 128, 128)
DECODE = DecodeAttention(8, 32, 8, 1024, 128, 128, 128, ON, ON, 2048, 2048, 2048, 2048, 16)
GROUPS = GroupNorm(1, 128, 320, 32, ON, 1, device_grid=ON)
MATMUL = MatmulPlan("2D", TILES, ON, ON, 2, 1, 1, 1, 1)
MINIMAL = MinimalMatmul((8, 8, 8), (2, 2), ON, ON, 2048, 2048, 2048)
BANKED = DramSharded(replace(TILES, m=1), 12, 64, 8, 1, 1, 1)
NORM = ShardedNorm(8, 8, ON, ON, 1, 1, 1, ON)
SOFTMAX = ShardedSoftmax((1, 8), ON, ON, 1, 8, 4, device_grid=ON)


@for_all(
    ("plan", "fields"),
    [
        (ATTENTION, ("q_chunk", "k_chunk")),
        (replace(ATTENTION, start=0), ("q_chunk", "k_chunk")),
        (DECODE, ("k_chunk",)),
        (MATMUL, ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_m", "per_core_n")),
        (BANKED, ("in0_block_w", "per_core_m", "per_core_n")),
        (NORM, ("block_h", "block_w", "subblock_w")),
        (SOFTMAX, ("block_h", "block_w", "subblock_w")),
    ],
    ids=lambda plan: type(plan).__name__,
)
def test_numbers_below_one_are_illegal(plan, fields):
    assert not broken_of(plan.rules())
    for field in fields:
        for number in (0, -32):
            assert broken_of(replace(plan, **{field: number}).rules()), field


@for_all("name", ["M_block_size", "K_block_size", "N_block_size", "subblock_h", "subblock_w"])
def test_so_are_those_of_minimal_matmul(name):
    assert not broken_of(MINIMAL.rules())
    assert broken_of(MINIMAL.with_field(name, 0).rules()) == ("at least 1",)


@for_all("grid", [(0, 8), (8, 0)])
def test_so_is_a_grid_of_no_core(grid):
    assert broken_of(replace(GROUPS, grid=grid).rules()) == ("at least one core",)


def test_so_is_a_block_of_a_conv_but_for_none_at_all():
    window = ConvWindow(1, (56, 56), (3, 3), (1, 1), (1, 1, 1, 1))
    conv = ConvAsked("HEIGHT_SHARDED", window, Channels(64, 64, 8))
    assert [not broken_of(replace(conv, block_h=rows).rules(ON)) for rows in (-32, 0, 32)] == [False, True, True]


@for_all("plan", [ATTENTION, DECODE, GROUPS, MATMUL, MINIMAL, NORM, SOFTMAX], ids=lambda plan: type(plan).__name__)
def test_a_grid_lies_within_the_chips_where_that_is_known(plan):
    for grid in ((8, 16), (16, 8)):
        (rule,) = broken_of(replace(plan, grid=grid).rules())
        assert "grid" in rule or "cores of the chip" in rule
        assert not broken_of(replace(plan, grid=grid, device_grid=None).rules())


def test_so_do_the_shards_of_a_banked_matmul():
    wide = replace(BANKED, cores=4)
    assert broken_of(wide.rules()) == ("8 shards of per_core_N fit 4 cores",)
    assert not broken_of(replace(wide, cores=None).rules())


WIDE, TALL = Tiles(1, 8, 64, 2048, 2048, 2048), Tiles(64, 8, 1, 2048, 2048, 2048)
ROWS, COLUMNS = (replace(MATMUL, kind="1D", tiles=tiles, mcast_in0=tiles is WIDE) for tiles in (WIDE, TALL))


@for_all(
    ("plan", "broken"),
    [
        (replace(MATMUL, per_core_m=4, out_subblock_h=3), ("out_subblock_h divides per_core_M 4",)),
        (replace(MATMUL, per_core_m=4, block_h=2, out_subblock_h=4), ("out_subblock_h divides out_block_h 2",)),
        (replace(MATMUL, per_core_m=8), ()),
        (replace(MATMUL, per_core_m=9), ("per_core_M is at most the 8 tiles of M",)),
        (ROWS, ()),
        (replace(ROWS, tiles=replace(WIDE, m=2)), ("per_core_M holds the 2 tiles of M",)),
        (COLUMNS, ()),
        (replace(COLUMNS, tiles=replace(TALL, n=2)), ("per_core_N holds the 2 tiles of N",)),
    ],
    ids=lambda each: "",
)
def test_blocks_cover_the_matrices(plan, broken):
    rules = replace(plan, grid=(8, 16), device_grid=None).rules()
    assert broken_of(rules) == broken
    tall = replace(COLUMNS, tiles=replace(TALL, m=65))
    assert broken_of(tall.rules()) == ("65 x 1 blocks of per_core_M x per_core_N fit the 8x8 grid",)


def test_a_norm_has_the_blocks_of_its_shards_and_gathers_along_a_column():
    assert broken_of(replace(NORM, columns=16).rules()) == ("block_w is the 2 tiles of a shard's width",)
    column = replace(NORM, rows=4, columns=2, shards=(1, 8), block_h=4)
    assert column.buffers["VARIANCE"] == 2048  # four rows of tiles over eight cores


def test_a_softmax_holds_its_row_its_mask_and_in_float32_more_of_all():
    masked = replace(SOFTMAX, block_w=8, mask_bytes=1088)
    assert masked.buffers == {
        "SCALARS": 3 * 2048,
        "EXPONENTS": 8 * 2048,
        "SUMS": 2048,
        "MAXIMA": 9 * 2048,
        "MASK": 8 * (2048 + 1088),
    }
    wide = {"SCALARS": 2048 + 4096, "EXPONENTS": 8 * 4096, "SUMS": 4096, "MAXIMA": 0, "MASK": 0}
    assert replace(SOFTMAX, fp32=True, stable=False).buffers == wide


def test_chains_of_a_broken_report_are_not_followed():
    """One chunk of keys: every core reads as much, so any even number of chunks may be chained."""
    plan = replace(ATTENTION, keys=32, k_chunk=32, q_chunk=32, chains=True)
    chained = [bool(replace(plan, rows=32 * chunks).buffers["CHAIN"]) for chunks in (1 << 14, (1 << 14) + 2)]
    assert chained == [True, False]
    assert CHUNKS_AT_MOST == 1 << 14


WHOLE = replace(MATMUL, kind="Reuse", batch=16, per_core_m=2, per_core_n=8)


@for_all(
    ("changed", "wrong"),
    [
        ({}, False),  # 64 blocks on 64 cores
        ({"batch": 17}, True),  # the 65th of 68 is the second of its core
        ({"per_core_m": 1}, True),
        ({"grid": (8, 7)}, True),
        ({"grid": (4, 2), "per_core_m": 8}, False),  # two blocks for a core, each of a whole matrix
        ({"grid": (4, 2), "per_core_m": 16}, False),  # or of several
        ({"per_core_m": 1, "shard": Shard("HEIGHT_SHARDED", 1, 8)}, False),
        ({"per_core_m": 1, "output": "HEIGHT_SHARDED"}, False),
        ({"per_core_m": 1, "kind": "1D"}, False),
    ],
)
def test_a_core_of_several_parts_of_a_matrix_read_the_wrong_ones_until_081(changed, wrong):
    """Rows of blocks, as many as 32x20 by 5 tiles on 110 cores in tt-metal #54798: a PCC of 0."""
    words = replace(WHOLE, **changed).wrong_values
    assert (words != "") is wrong
    if changed == {"batch": 17}:
        assert words.endswith("68 blocks of per_core_M on 64 cores")
