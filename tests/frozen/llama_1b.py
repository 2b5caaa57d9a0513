"""Llama 3.2 1B over eight Wormhole chips (T3K): tensor parallel, the residual on every chip.

Hidden 2048, 32 heads over 8 KV heads of 64, SwiGLU of 8192. A law knows this model's matmuls on one chip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, banked, chunks, norm_shards, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, BLOCK_W

if TYPE_CHECKING:
    from tests.profiles import Tensor

LOG = f"{TT_METAL}/9c2c1b6d1e5c5a5abaf25f863fffadf159d1994e/models/autoports/meta_llama_llama_3_2_1b_instruct/doc/optimized_multichip_decoder/work_log.md"  # fmt: skip
HIDDEN, LOCAL, QKV, WIDE = 2048, 256, 384, 1024


def prefill() -> Block:
    """8192 tokens, collectives in BFLOAT16: 15.9 ms of wall time, 8.2 ms of it in collectives."""
    block = Block("wormhole_b0", devices=8, grid=(8, 8))
    rows = 8192

    def project(role: str, x: Tensor, n: int, us: float, dtype: str) -> Tensor:
        config = two_d((8, 8), 4, (32, -(-n // 32 // 8)), subblock=(1, min(4, -(-n // 32 // 8))))
        return block.linear(role, x, n, us, dtype=dtype, config=config, cores=64)

    def whole(name: str, x: Tensor, us: float) -> Tensor:
        return block.collective(f"gather_{name}", "AllGatherAsync", x, HIDDEN, us, ring=8, links=1)

    x = block.tensor([1, 1, rows, HIDDEN])
    normed = block.norm("norm_in", x, 420, cores=64)
    wide = project("qkv", normed, QKV, 952, "BFLOAT8_B")
    q, k, v = block.split_heads("heads", wide, 150, heads=4, kv=1, size=64, rows=rows)
    tables = [block.tensor([1, 1, rows, 64]) for _ in range(2)]
    q, k = (block.rotary(f"rope_{name}", one, us, decode=False, tables=tables) for name, one, us in (("q", q, 130), ("k", k, 45)))  # fmt: skip
    attended = block.attend("sdpa", q, k, v, 1_218, config=chunks(256, 256, (8, 8)), cores=64, fidelity="HiFi4")
    joined = whole("attention", block.join_heads("joined", attended, 70), 2_130)
    out = project("out", joined, LOCAL, 420, "BFLOAT8_B")
    x = block.binary("sum_attention", "ADD", x, whole("out", out, 2_135), 330)
    normed = block.norm("norm_feed", x, 420, cores=64)
    gate, up = (project(role, normed, WIDE, us, "BFLOAT4_B") for role, us in (("gate", 743), ("up", 740)))
    hidden = block.binary("glu", "MUL", gate, up, 260, lhs="SILU")
    down = project("down", hidden, HIDDEN, 791, "BFLOAT4_B")
    part = block.collective("scatter_fed", "ReduceScatterMinimalAsync", down, LOCAL, 1_793, ring=8, links=1)
    block.binary("sum_feed", "ADD", x, whole("fed", part, 2_135), 330)
    return block


def decode() -> Block:
    """32 users at position 8192, collectives in BFLOAT16: 665.2 us of wall time, 352 us of device time when tuned."""
    block = Block("wormhole_b0", devices=8, grid=(8, 8), gap_us=8)
    norm = norm_shards((8, 4), 2)
    residual = block.across(32, HIDDEN, 32)

    def project(role: str, x: Tensor, n: int, us: float, size: int, dtype: str) -> Tensor:  # noqa: PLR0917
        return block.linear(role, x, n, us, dtype=dtype, config=banked(size, 1 if n < HIDDEN else 2), cores=12, place=block.across(32, n, min(32, n // 32)), banks=True)  # fmt: skip

    x = block.to_shards("entry", block.tensor([1, 1, 32, HIDDEN]), residual, 2.5)
    normed = block.norm("norm_in", x, 10, cores=32, config=norm)
    wide = block.from_shards("qkv_flat", project("qkv", normed, QKV, 11, 2, "BFLOAT8_B"), 2.5, L1)
    q, k, v = block.heads_of_decode("heads", wide, 8, heads=4, kv=1, size=64, users=32)
    q, k = (block.rotary(f"rope_{name}", one, 4, decode=True, cores=32) for name, one in (("q", q), ("k", k)))
    cache = block.tensor([4096, 1, 64, 64], "BFLOAT8_B")
    block.update_cache("cache_k", cache, k, 5)
    block.update_cache("cache_v", cache, v, 5)
    attended = block.attend_decode("sdpa", q, cache, 60, config=chunks(0, 0, (8, 8)), cores=64)
    placed = block.to_shards("attended_placed", attended, block.along(32, 64, 32), 2.5)
    joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 4, shape=[1, 1, 32, LOCAL], place=block.across(32, LOCAL, 4), cores=4, num_heads=4, on_subcoregrids=False)  # fmt: skip
    out = block.op("out", "AllGatherMatmulAsync", (joined, block.weight(HIDDEN, LOCAL, "BFLOAT8_B")), (block.tensor([1, 1, 32, HIDDEN]), block.tensor([1, 1, 32, LOCAL], place=L1)), 33.5, cores=16, fidelity="HiFi2", num_links=1, ring_size=8, topology="Topology::Ring")  # fmt: skip
    out = block.tensor([1, 1, 32, LOCAL], place=L1) if out.shape[-1] != LOCAL else out
    out = block.collective("gather_out", "AllGatherAsync", out, HIDDEN, 19, ring=8, links=1, place=L1)
    x = block.binary("sum_attention", "ADD", x, block.to_shards("out_placed", out, residual, 2.5), 3)
    normed = block.norm("norm_feed", x, 10, cores=32, config=norm)
    gate, up = (project(role, normed, WIDE, 17, 2, "BFLOAT4_B") for role in ("gate", "up"))
    hidden = block.binary("glu", "MUL", gate, up, 6, lhs="SILU")
    down = block.from_shards("down_flat", project("down", hidden, HIDDEN, 20, 1, "BFLOAT4_B"), 3, L1)
    part = block.collective(
        "scatter_fed", "ReduceScatterMinimalAsync", down, LOCAL, 40, ring=8, links=1, place=DRAM
    )
    fed = block.collective("gather_fed", "AllGatherAsync", part, HIDDEN, 19, ring=8, links=1, place=L1)
    x = block.binary("sum_feed", "ADD", x, block.to_shards("fed_placed", fed, residual, 2.5), 3)
    block.from_shards("exit", x, 2.5)
    return block


LLAMA_1B = (
    laid(
        "llama-1b-tp8-prefill", LOG, "8192 tokens on eight chips, collectives in BFLOAT16: 15.9 ms of wall time",
        prefill,
        (
            gain("bfp8-collectives", "gathers and reduce-scatter in BFLOAT8_B", 1_968, "gather_* scatter_fed", BFP8, "15.885 -> 13.917 ms of wall time; 8.19 -> 5.84 ms of the collectives' device time"),
        ),
        "how the collectives' time splits over the four, what gathers there are, the small ops' times",
    ),
    laid(
        "llama-1b-tp8-decode", LOG, "decode on eight chips, down with in0_block_w 1: 665.2 us of wall time",
        decode,
        (
            dead("down-block", "down on 16 cores, in0_block_w 2", "down", BLOCK_W, "665.2 -> 662.9 us of wall time, 0.3 %"),
            dead("bfp8-gathers", "gathers in BFLOAT8_B", "gather_*", BFP8, "665.2 -> 676.9 us of wall time"),
            dead("bfp8-scatter", "the reduce-scatter in BFLOAT8_B", "scatter_fed", BFP8, "665.2 -> 826.2 us of wall time"),
        ),
        "the times of single ops but the fused gather; that one user's rows are padded to 32",
    ),
)  # fmt: skip
