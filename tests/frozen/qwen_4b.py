"""Qwen3 4B: a decode step of one user through one layer, on four Blackhole chips (p150b) in a ring and on one.

Hidden 2560, 32 heads over 8 KV heads of 128 with norms, SwiGLU of 9728. A law knows this model's matmuls on Wormhole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, banked, chunks, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, BLOCK_W, CONFIG, DRAM_SHARDED, IN_L1, PACKED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MODEL = "models/autoports/qwen_qwen3_4b/doc"
MESH = f"{TT_METAL}/7a14908339bf333bd791b8503089747d802f669c/{MODEL}/optimized_multichip_decoder/work_log.md"
ONE = f"{TT_METAL}/ca9572d56c45b2ea9ce9bc407308e29d98212585/{MODEL}/optimized_decoder/work_log.md"
HIDDEN = 2560


def one_head_group(block: Block, name: str, x: Tensor, heads: int, us: tuple[float, ...]) -> Tensor:
    """Heads of queries or keys by a reshape, two transposes, a norm and a rotary op."""
    x = block.moved(f"{name}_shaped", "ReshapeView", x, us[0], shape=[1, 1, heads, 128], cores=4)
    x = block.moved(f"{name}_turned", "Transpose", x, us[1], dim="TransposeOpDim::HC", shape=[1, heads, 1, 128], cores=110)  # fmt: skip
    x = block.norm(f"norm_{name}", x, us[2], cores=heads)
    tables = [block.tensor([1, 1, 32, 128]) for _ in range(2)]
    x = block.op(f"rope_{name}", "RotaryEmbedding", (x, *tables), block.tensor(x.shape), us[3], cores=heads, fidelity="HiFi4", output_mem_config=DRAM, token_idx=None)  # fmt: skip
    x = block.moved(f"{name}_back", "Transpose", x, us[4], dim="TransposeOpDim::HC", shape=[1, 1, heads, 128], cores=110)  # fmt: skip
    x = block.slice(f"{name}_part", x, (0, 0, 0, 0), (1, 1, heads, 128), 1.6)
    return block.to_shards(f"{name}_placed", x, block.along(32, 128, 1), 0.6)


def attention(block: Block, wide: Tensor, heads: int, kv: int, us: dict[str, tuple[float, ...]]) -> Tensor:
    edge = heads * 128
    q = block.slice("q_columns", wide, (0, 0, 0, 0), (1, 1, 32, edge), us["slices"][0])
    k = block.slice("k_columns", wide, (0, 0, 0, edge), (1, 1, 32, edge + 128 * kv), us["slices"][1])
    v = block.slice("v_columns", wide, (0, 0, 0, edge + 128 * kv), (1, 1, 32, edge + 256 * kv), us["slices"][2])
    q = one_head_group(block, "q", q, heads, us["q"])
    k = one_head_group(block, "k", k, kv, us["k"])
    v = block.to_shards("v_placed", block.moved("v_shaped", "ReshapeView", v, us["k"][0], shape=[1, 1, kv, 128], cores=4), block.along(32, 128, 1), 0.6)  # fmt: skip
    cache = block.tensor([64, kv, 32, 128])
    block.update_cache("cache_k", cache, k, us["cache"][0])
    block.update_cache("cache_v", cache, v, us["cache"][0])
    attended = block.attend_decode("sdpa", q, cache, us["sdpa"][0], config=chunks(0, 0, (8, 8)), cores=64)
    placed = block.to_shards("attended_placed", attended, block.along(32, 128, 1), 0.6)
    joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 1.3, shape=[1, 1, 32, edge], place=block.across(32, edge, heads), cores=heads, num_heads=heads, on_subcoregrids=False)  # fmt: skip
    return block.slice("joined_rows", joined, (0, 0, 0, 0), (1, 1, 32, edge), 1.6)


def mesh(*, tuned: bool) -> Callable[[], Block]:
    """On four chips, weights in BFLOAT4_B and LoFi."""

    def build() -> Block:
        block = Block("blackhole", devices=4, gap_us=0.7)
        low = {"dtype": "BFLOAT4_B", "fidelity": "LoFi"}

        def summed(name: str, x: Tensor, us: tuple[float, float]) -> Tensor:
            if tuned:
                place = block.across(32, HIDDEN, 8)
                x = x if x.placement == place else block.reshard(f"{name}_placed", x, place, 1.5)
                made = block.op(f"reduce_{name}", "AllReduceAsync", (x, block.tensor([1, 1, 32, 4 * HIDDEN], place=block.across(32, 4 * HIDDEN, 8))), block.tensor(x.shape, place=place), 15.9, cores=9, num_links=1, ring_size=4, topology="Topology::Ring", output_mem_config=place, cluster_axis=1, dtype="DataType::BFLOAT16")  # fmt: skip
                return block.from_shards(f"{name}_flat", made, 1.8)
            part = block.collective(f"scatter_{name}", "ReduceScatter", x, HIDDEN // 4, us[0], links=1, cores=6)
            return block.collective(f"gather_{name}", "AllGather", part, HIDDEN, us[1], links=1, cores=6)

        x = block.tensor([1, 1, 32, HIDDEN])
        normed = block.norm("norm_in", x, 22.2, cores=1)
        config = one_d((8, 3), 5, (1, 2), subblock=(1, 2)) if tuned else one_d((11, 10), 2, (1, 1))
        wide = block.linear("qkv", normed, 1536, 18.2 if tuned else 41.5, config=config, cores=24 if tuned else 48, **low)  # fmt: skip
        heads = {
            "slices": (1.65, 1.2, 1.3), "q": (5.5, 2.6, 5.3, 8.4, 4.7), "k": (3.0, 2.3, 5.3, 8.4, 4.3),
            "cache": (3.8,), "sdpa": (8.3,),
        }  # fmt: skip
        joined = attention(block, wide, 8, 2, heads)
        out = block.linear("out", joined, HIDDEN, 17.9, config=one_d((8, 1), 4, (1, 10), subblock=(1, 5)), cores=8, **low)  # fmt: skip
        x = block.binary("sum_attention", "ADD", x, summed("attention", out, (25.1, 14.2)), 2.4)
        normed = block.norm("norm_feed", x, 22.2, cores=1)
        if tuned:
            normed = block.moved("feed_placed", "Copy", normed, 1.7, place=L1, cores=80, backwards=False, output_dtype="DataType::BFLOAT16")  # fmt: skip
            config, cores = one_d((10, 2), 10, (1, 4), subblock=(1, 4)), 19
        else:
            config, cores = one_d((11, 10), 2, (1, 1)), 76
        gate = block.linear("gate", normed, 2432, 18.5 if tuned else 51.2, config=config, cores=cores, **low)
        gate = block.unary("silu", "SILU", gate, 3.0)
        up = block.linear("up", normed, 2432, 18.2 if tuned else 50.7, config=config, cores=cores, **low)
        hidden = block.binary("glu", "MUL", gate, up, 2.9)
        if tuned:
            hidden = block.to_shards("down_placed", hidden, block.across(32, 2432, 4), 1.9)
            down = block.linear("down", hidden, HIDDEN, 14.7, config=banked(19, 20), cores=12, place=block.across(32, HIDDEN, 4), banks=True, **low)  # fmt: skip
        else:
            down = block.linear("down", hidden, HIDDEN, 49.9, config=one_d((11, 10), 2, (1, 1)), cores=80, **low)
        block.binary("sum_feed", "ADD", x, summed("fed", down, (24.6, 15.3)), 2.3)
        return block

    return build


def alone() -> Block:
    """On one chip, BFLOAT8_B attention, BFLOAT4_B feed-forward in LoFi, left to TTNN: 0.90 ms of wall time."""
    block = Block("blackhole", gap_us=0.7)
    low = {"dtype": "BFLOAT4_B", "fidelity": "LoFi"}
    x = block.tensor([1, 1, 32, HIDDEN])
    normed = block.norm("norm_in", x, 22.0, cores=1)
    wide = block.linear("qkv", normed, 6144, 70, dtype="BFLOAT8_B", config=one_d((11, 10), 2, (1, 2), subblock=(1, 2)), cores=96)  # fmt: skip
    heads = {
        "slices": (2.4, 1.6, 1.6), "q": (18.9, 4.2, 5.8, 11.1, 6.6), "k": (6.2, 2.6, 5.3, 8.4, 4.3), "cache": (8.3,),
        "sdpa": (11.1,),
    }  # fmt: skip
    joined = attention(block, wide, 32, 8, heads)
    out = block.linear("out", joined, HIDDEN, 38, dtype="BFLOAT8_B", config=one_d((8, 4), 4, (1, 3), subblock=(1, 3)), cores=27)  # fmt: skip
    x = block.binary("sum_attention", "ADD", x, out, 2.4)
    normed = block.norm("norm_feed", x, 22.0, cores=1)
    normed = block.moved("feed_placed", "Copy", normed, 1.7, place=L1, cores=80, backwards=False, output_dtype="DataType::BFLOAT16")  # fmt: skip
    config = one_d((11, 10), 2, (1, 3), subblock=(1, 3))
    gate = block.unary(
        "silu", "SILU", block.linear("gate", normed, 9728, 86.6, config=config, cores=102, **low), 5.1
    )
    up = block.linear("up", normed, 9728, 82.3, config=config, cores=102, **low)
    hidden = block.binary("glu", "MUL", gate, up, 6.2)
    down = block.linear("down", hidden, HIDDEN, 200, config=one_d((11, 10), 2, (1, 1)), cores=80, **low)
    block.binary("sum_feed", "ADD", x, down, 2.2)
    return block


WALL = "wall time of a replayed trace"

QWEN_4B = (
    laid(
        "qwen3-4b-tp4-decode", MESH, "decode on four chips, BFLOAT4_B in LoFi, matmuls left to TTNN: 437.9 us of wall time",
        mesh(tuned=False),
        (
            gain("down", "down DRAM-sharded", 23.4, "down", DRAM_SHARDED, f"437.9 -> 414.5 us, {WALL}"),
            gain("reduce", "all_reduce_async over persistent buffers in L1 shards", 41.3, "scatter_* gather_*", r"all_reduce|persistent|one (op|call|collective)", f"411.5 -> 370.1 us, {WALL}"),
            gain("qkv", "1D config on 24 cores, in0_block_w 5, subblock 1x2", 26.9, "qkv", unbanked(rf"{BLOCK_W}|{CONFIG}"), f"370.1 -> 343.3 us, {WALL}"),
            gain("gate-up", "1D configs on 19 cores, in0_block_w 10, subblock 1x4, input in L1", 66.7, "gate up", unbanked(rf"{BLOCK_W}|{CONFIG}"), f"370.1 -> 303.4 us, {WALL}"),
            dead("links", "two links", "scatter_* gather_*", r"num_links", f"414.5 -> 429.6 us, {WALL}"),
            dead("narrow-cache", "the cache in BFLOAT8_B", "sdpa cache_k cache_v", BFP8, f"414.5 -> 414.0 us, {WALL}"),
        ),
        "the norm at the layer's start (the profile begins behind it)",
    ),
    laid(
        "qwen3-4b-tp4-decode-tuned", MESH, "decode on four chips, tuned: 279.1 us of wall time",
        mesh(tuned=True),
        (
            dead("pack", "gate and up as one matmul", "gate up", PACKED, f"279.1 -> 284.5 us, {WALL}"),
            dead("down-block", "down on two cores or one, in0_block_w 38 or 76", "down", BLOCK_W, f"280.7 -> 282.6 and 287.0 us, {WALL}"),
            dead("distributed", "the residual in four parts, norms over all chips", "reduce_* norm_in norm_feed", r"distributed|reduce.scatter|each (chip|device)|per (chip|device)", "0.94 -> 2.41 ms for the residual and the feed-forward alone"),
        ),
        "the norm at the layer's start (the profile begins behind it)",
    ),
    laid(
        "qwen3-4b-decode", ONE, "decode on one chip, BFLOAT4_B feed-forward, left to TTNN: 899.0 us of wall time",
        alone,
        (
            gain("down", "down DRAM-sharded", 155.4, "down", DRAM_SHARDED, f"899.0 -> 743.6 us, {WALL}"),
            dead("qkv-banks", "QKV DRAM-sharded", "qkv", DRAM_SHARDED, f"899.0 -> 888.2 us, 1.2 %, {WALL}"),
            dead("out-banks", "the output projection DRAM-sharded", "out", DRAM_SHARDED, f"899.0 -> 908.8 us, {WALL}"),
            dead("pack", "gate and up as one matmul", "gate up", PACKED, f"891.8 -> 895.2 us in DRAM, 950.5 in L1, {WALL}"),
            dead("qkv-input", "QKV's input in L1", "norm_in qkv", IN_L1, f"908.4 -> 921.7 us, {WALL}"),
            dead("feed-outputs", "all of the feed-forward's results in L1", "gate up down silu glu", IN_L1, f"878.3 -> 932.4 us, {WALL}"),
            dead("narrow-cache", "the cache in BFLOAT8_B", "sdpa cache_k cache_v", BFP8, f"501.8 -> 503.3 us when all else was tuned, {WALL}"),
        ),
        "the times of QKV, output projection and down before their tuning (those after it are told)",
    ),
)  # fmt: skip
