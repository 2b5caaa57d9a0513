"""Attention of one token against dry captures of TTNN 0.81.1 on mock devices, Wormhole: 32 heads of 128, BFLOAT16."""

from tests.for_all import for_all
from ttnn_mcp.analyses.programs.decode_attention import DecodeAttention

ALL = 64  # cores: without a config TTNN takes them, and 512 keys at a time
CASES = [  # in the batch, heads of the keys, keys, chunk, cores that may share a head, measured
    (1, 1, 8192, 128, 4, 270_336),
    (1, 1, 8192, 128, 16, 417_792),
    (1, 1, 8192, 128, 64, 1_007_616),
    (1, 1, 8192, 512, ALL, 1_449_984),
    (2, 1, 8192, 128, 16, 417_792),
    (2, 1, 8192, 128, 64, 614_400),  # the cores are shared by both
    (2, 1, 8192, 512, ALL, 1_056_768),
    (8, 8, 1024, 128, 4, 233_472),  # a core for each head
    (8, 8, 1024, 512, ALL, 675_840),
]


@for_all("case", CASES, ids=str)
def test_the_buffers_grow_with_the_cores_that_share_a_head(case):
    batch, key_heads, keys, chunk, cores_per_head, measured = case
    tiles = dict.fromkeys(("q_bytes", "k_bytes", "v_bytes", "out_bytes"), 2048)
    plan = DecodeAttention(
        batch, 32, key_heads, keys, 128, 128, chunk, (8, 8), (8, 8), cores_per_head=cores_per_head, **tiles
    )
    assert sum(plan.buffers.values()) == measured


def test_two_tiles_of_heads_take_twice_the_rows_and_cores_are_shared_by_heads_of_keys():
    tiles = dict.fromkeys(("q_bytes", "k_bytes", "v_bytes", "out_bytes"), 2048)
    one, two = (
        DecodeAttention(1, heads, 2, 8192, 128, 128, 128, (8, 8), (8, 8), cores_per_head=8, **tiles)
        for heads in (32, 64)
    )
    once = {name: one.buffers[name] for name in ("K", "V", "SCALARS", "WORDS")}
    assert two.buffers == {name: 2 * size for name, size in one.buffers.items()} | once
    assert one.cores_of_a_head == 8


def test_a_core_for_each_of_the_batch_is_enough_and_none_are_too_few():
    tiles = dict.fromkeys(("q_bytes", "k_bytes", "v_bytes", "out_bytes"), 2048)

    def broken(batch, grid):
        plan = DecodeAttention(batch, 32, 1, 8192, 128, 128, 128, grid, (8, 8), cores_per_head=1, **tiles)
        return [rule for rule, holds in plan.rules().items() if not holds]

    assert broken(64, (8, 8)) == []
    assert broken(65, (8, 8)) == ["a core for each of 65 in the batch"]
    assert broken(0, (0, 8)) == ["at most the 64 cores of the chip"]
