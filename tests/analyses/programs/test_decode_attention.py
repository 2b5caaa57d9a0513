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
