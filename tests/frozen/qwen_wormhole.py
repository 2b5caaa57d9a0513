"""Qwen3.5 9B on two Wormhole chips (N300) and Qwen3.6 27B on eight (T3K): layers of 2048 tokens, and decode.

9B: hidden 4096, 16 heads over 4 KV heads of 256, SwiGLU of 12288. 27B: hidden 5120, SwiGLU of 17408. Times of matmuls,
norms, attention and gathers are kernel times of real layers; what stands around them was made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import L1, Block, chunks, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCK_W, CONFIG, CORES, DRAM_SHARDED, IN_L1

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MODEL = "models/demos/blackhole/qwen36"
SWEEPS = f"{TT_METAL}/ad60b404d4a816eb8fcf350894379e50cc17f036/{MODEL}/tests/perf"
FEED = f"{TT_METAL}/9c5dd3c7183266788374ad85a784bed7e70322fd/{MODEL}/tt/mlp.py"
ROWS = 2048


def halved(grid: tuple[int, int], block: int, per_core: tuple[int, int], subblock: tuple[int, int]) -> str:
    """A 2D config whose output comes in blocks of half the columns: the input is read twice."""
    whole = two_d(grid, block, per_core, subblock=subblock, batch=False)
    return whole.replace(f"out_block_w={per_core[1]},", f"out_block_w={per_core[1] // 2},")


def nine() -> Block:
    """A layer of full attention of the 9B, FP32 accumulation, outputs in halves."""
    block = Block("wormhole_b0", devices=2, gap_us=3.0)
    x = block.tensor([1, 1, ROWS, 2048])

    def gathered(name: str, given: Tensor) -> Tensor:
        whole = block.collective(f"gather_{name}", "AllGatherAsync", given, 4096, 900.0, ring=2, links=1, topology="Linear")  # fmt: skip
        return block.norm(f"norm_{name}", whole, 110.0, cores=64)

    def summed(name: str, given: Tensor, onto: Tensor) -> Tensor:
        part = block.collective(f"scatter_{name}", "ReduceScatterMinimalAsync", given, 2048, 950.0, ring=2, links=1, topology="Linear")  # fmt: skip
        return block.binary(f"sum_{name}", "ADD", onto, part, 60.0)

    config = two_d((8, 8), 4, (8, 20), subblock=(1, 4), batch=False).replace("out_block_w=20,", "out_block_w=4,")
    wide = block.linear(
        "qkv", gathered("in", x), 5120, 1683.7, dtype="BFLOAT8_B", config=config, cores=64, fp32=True
    )
    q, k, v = block.split_heads("heads", wide, 240.0, heads=8, kv=2, size=256, rows=ROWS)
    turned = []
    for name, one, norm_us, times_us in (("q", q, 112.0, 70.0), ("k", k, 34.0, 21.1)):
        bare = block.op(f"norm_{name}", "LayerNorm", (one,), block.tensor(one.shape, place=L1), norm_us, cores=64, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), distributed_norm_stage="DistributedLayerNormStage::NOT_DISTRIBUTED", dtype=None, eps="1e-06", fused_activation=None, norm_type="LayerNormType::RMSNORM", output_mem_config=L1, program_config="LayerNormDefaultProgramConfig(legacy_reduction=0,legacy_rsqrt=0,use_welford=0)")  # fmt: skip
        scaled = block.binary(f"scale_{name}", "MUL", bare, block.tensor([1, 1, 1, 256]), times_us, place=L1)
        turned.append(block.rotary(f"rope_{name}", scaled, 60.0 if name == "q" else 20.0, decode=False))
    attended = block.attend("sdpa", *turned, v, 1500.0, config=chunks(128, 512, (8, 8)), cores=64)
    joined = block.join_heads("joined", attended, 60.0)
    out = block.linear("out", joined, 4096, 558.6, dtype="BFLOAT8_B", config=halved((8, 8), 4, (8, 16), (1, 4)), cores=64, fp32=True)  # fmt: skip
    x = summed("attention", out, x)
    normed = gathered("feed", x)
    low = {"fidelity": "LoFi", "fp32": True, "packer": False, "cores": 64}
    gate = block.linear("gate", normed, 6144, 1321.0, dtype="BFLOAT4_B", config=halved((8, 8), 4, (8, 24), (1, 4)), **low)  # fmt: skip
    up = block.linear(
        "up", normed, 6144, 1183.0, dtype="BFLOAT4_B", config=halved((8, 8), 4, (8, 24), (1, 4)), **low
    )
    hidden = block.binary("product", "MUL", gate, up, 220.0, lhs="SILU")
    down = block.linear("down", hidden, 4096, 1110.0, dtype="BFLOAT8_B", config=halved((8, 8), 4, (8, 16), (1, 4)), **low)  # fmt: skip
    summed("fed", down, x)
    return block


def twenty_seven(*, linear: bool) -> Callable[[], Block]:
    """A layer of the 27B on eight chips: full attention, or `linear` (only its exchange and projections are here)."""

    def build() -> Block:
        block = Block("wormhole_b0", devices=8, gap_us=3.0)
        x = block.tensor([1, 1, ROWS, 640])

        def gathered(name: str, us: float, given: Tensor, dtype: str = "BFLOAT16") -> Tensor:
            if dtype != given.dtype:
                given = block.typecast(f"{name}_narrow", given, dtype, 6.0)
            return block.collective(f"gather_{name}", "AllGatherAsync", given, 5120, us, ring=8, links=1, topology="Linear")  # fmt: skip

        normed = block.norm("norm_in", x, 60.0, cores=64)
        whole = gathered("in", 1144.0, normed)
        if linear:
            wide = block.linear("project", whole, 2112, 620.0, dtype="BFLOAT8_B", config=two_d((8, 8), 8, (8, 9), subblock=(1, 3), batch=False), cores=64)  # fmt: skip
            mixed = block.unary(
                "mixed", "SILU", block.slice("part", wide, (0, 0, 0, 0), (1, 1, ROWS, 768), 40.0), 30.0
            )
        else:
            wide = block.linear("qkv", whole, 2048, 610.0, dtype="BFLOAT8_B", config=two_d((8, 8), 8, (8, 8), subblock=(1, 8), batch=False), cores=64)  # fmt: skip
            q, k, v = block.split_heads("heads", wide, 110.0, heads=3, kv=1, size=256, rows=ROWS)
            q, k = (block.rotary(f"rope_{name}", one, 30.0, decode=False) for name, one in (("q", q), ("k", k)))
            for name, one in (("k", k), ("v", v)):
                cache = block.tensor([64, 1, 64, 256])
                block.op(f"fill_{name}", "PagedFillCache", (cache, one), cache, 11.0, cores=64, batch_idx=0)
            attended = block.attend("sdpa", q, k, v, 455.0, config=chunks(128, 512, (8, 8)), cores=64)
            mixed = block.join_heads("joined", attended, 30.0)
        out = block.linear("out", mixed, 5120, 240.0, dtype="BFLOAT8_B", config=two_d((8, 8), 4, (8, 20), subblock=(1, 5), batch=False), cores=64)  # fmt: skip
        part = block.collective("scatter_attention", "ReduceScatterMinimalAsync", out, 640, 900.0, ring=8, links=1, topology="Linear")  # fmt: skip
        x = block.binary("sum_attention", "ADD", x, part, 20.0)
        fed = gathered("feed", 698.0, block.norm("norm_feed", x, 60.0, cores=64), "BFLOAT8_B")
        low = {"fidelity": "LoFi", "out": "BFLOAT8_B"}
        config = two_d((6, 8), 4, (8, 12), subblock=(1, 6), batch=False)
        gate, up = (block.linear(role, fed, 2176, 468.5, dtype="BFLOAT4_B", config=config, cores=48, **low) for role in ("gate", "up"))  # fmt: skip
        hidden = block.binary("product", "MUL", gate, up, 60.0, lhs="SILU")
        down = block.linear("down", hidden, 5120, 442.8, dtype="BFLOAT8_B", config=two_d((8, 8), 4, (8, 20), subblock=(1, 5), batch=False), cores=64, **low)  # fmt: skip
        part = block.collective("scatter_fed", "ReduceScatterMinimalAsync", down, 640, 900.0, ring=8, links=1, topology="Linear")  # fmt: skip
        block.binary("sum_feed", "ADD", x, part, 20.0)
        return block

    return build


def decode(block_w: int, us: tuple[float, float, float]) -> Callable[[], Block]:
    """The feed-forward of the 27B for one tile of tokens on eight chips."""

    def build() -> Block:
        block = Block("wormhole_b0", devices=8, gap_us=1.0)
        x = block.tensor([1, 1, 32, 640], place=L1)
        whole = block.collective("gather", "AllGatherAsync", x, 5120, 30.0, ring=8, links=1, topology="Linear")
        normed = block.norm("norm", whole, 18.0, cores=8, place=L1)
        low = {"fidelity": "LoFi", "fp32": True, "place": L1}
        config = one_d((8, 8), block_w, (1, 2), subblock=(1, 2))
        gate = block.linear("gate", normed, 2176, us[0], dtype="BFLOAT4_B", config=one_d((8, 8), block_w, (1, 2), subblock=(1, 2), act="SILU"), cores=34, **low)  # fmt: skip
        up = block.linear("up", normed, 2176, us[1], dtype="BFLOAT4_B", config=config, cores=34, **low)
        hidden = block.binary("product", "MUL", gate, up, 4.0)
        down = block.linear("down", hidden, 5120, us[2], dtype="BFLOAT8_B", config=one_d((8, 8), 4, (1, 3), subblock=(1, 3)), cores=54, **low)  # fmt: skip
        block.collective(
            "scatter", "ReduceScatterMinimalAsync", down, 640, 30.0, ring=8, links=1, topology="Linear"
        )
        return block

    return build


WHOLE_BLOCKS = r"out_block_w|out_subblock|fp32_dest_acc_en"
AROUND = "norms of the residual, exchanges that no lever names, heads, rotary, sums"

QWEN_WORMHOLE = (
    laid(
        "qwen35-9b-prefill", FEED, "2048 tokens through a layer of the 9B on two chips",
        nine,
        (
            gain("feed", "no FP32 accumulation, outputs in whole blocks, packer accumulation", 716, "gate up down", WHOLE_BLOCKS, "1321, 1183 and 1110 -> 982, 903 and 1013 us in the layer"),
            gain("qkv", "no FP32 accumulation, output in whole blocks, LoFi", 672.2, "qkv", WHOLE_BLOCKS, "1683.7 -> 1011.5 us", f"{SWEEPS}/test_attn_prefill_matmul_sweep.py"),
            gain("out", "no FP32 accumulation, output in whole blocks", 41.4, "out", WHOLE_BLOCKS, "558.6 -> 517.2 us", f"{SWEEPS}/test_attn_prefill_matmul_sweep.py"),
            gain("head-norms", "the norms' weights in the norms, not by products after them", 133.7, "norm_q scale_q norm_k scale_k", r"weight=|gamma|pass .{0,40}weight|in the norm", "182.0 -> 78.3 us and 55.1 -> 25.1", f"{SWEEPS}/test_qknorm_rope_sweep.py"),
            dead("out-input", "the output projection's input in L1", "joined out", IN_L1, "0.6 % more than without, within the noise", f"{SWEEPS}/test_attn_prefill_matmul_sweep.py"),
        ),
        f"{AROUND}; how norm and product split",
    ),
    laid(
        "qwen36-27b-prefill", FEED, "2048 tokens through a layer of the 27B on eight chips",
        twenty_seven(linear=False),
        (
            gain("gate-up", "8 columns of cores instead of 6, in0_block_w 8", 232.4, "gate up", rf"{CORES}|{CONFIG}|{BLOCK_W}", "468.5 -> 352.3 us each"),
            gain("down", "subblock 2x4 instead of 1x5", 51.9, "down", rf"out_subblock|{CONFIG}", "442.8 -> 390.9 us"),
            gain("narrow-cache", "the cache, queries, keys and values in BFLOAT8_B", 52, "sdpa fill_k fill_v", BFP8, "attention 455 -> 413 us, two fills 11 -> 6; 27 us of casts not counted"),
            dead("bfp4-gather", "the feed-forward's gather in BFLOAT4_B instead of BFLOAT8_B", "gather_feed", BFP4, "about 13 of 698 us: latency"),
        ),
        AROUND,
    ),
    laid(
        "qwen36-27b-linear-prefill", FEED, "2048 tokens through a layer of linear attention of the 27B, its recurrence left out",
        twenty_seven(linear=True),
        (gain("narrow-gather", "the gather before attention in BFLOAT8_B", 446, "gather_in", BFP8, "1144 -> 698 us"),),
        f"{AROUND}; the recurrence",
    ),
    laid(
        "qwen36-27b-decode", f"{SWEEPS}/test_mlp_decode_matmul_sweep.py", "the feed-forward of the 27B for one tile of tokens on eight chips",
        decode(8, (46.3, 42.0, 58.9)),
        (
            dead("cores", "other counts of cores", "gate up down", r"more cores|\d+ cores|core_grid|compute_with_storage_grid_size", "46.3, 42.0 and 58.9 us -> 47.4, 41.0 and 58.3"),
            dead("banks", "gate and up DRAM-sharded", "gate up", DRAM_SHARDED, "46.3 -> 60.7 us for gate"),
        ),
        AROUND,
    ),
    laid(
        "qwen36-27b-decode-blocks", FEED, "the same with slower gate and up",
        decode(8, (58.0, 58.0, 58.9)),
        (gain("blocks", "in0_block_w 16 instead of 8", 11.8, "gate up", BLOCK_W, "58.0 -> 52.1 us each"),),
        AROUND,
    ),
)  # fmt: skip
