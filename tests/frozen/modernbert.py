"""ModernBERT base on one Wormhole chip (N300): one encoder layer of 22, eight rows of 256 tokens and one.

Hidden 768, 12 heads of 64, GeGLU of 1152; BFLOAT8_B weights, HiFi3 with FP32 accumulation. The ledger tells times of the
whole model: a 22nd of them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, Block, chunks, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import CONFIG, CORES, IN_L1, LOFI, SDPA_CHUNKS, SHARDED
from tests.profiles.model import block_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

README = f"{TT_METAL}/fe5e64f5a855de5d55d1cf51e5c3629974a4dc30/models/demos/modernbert/README.md"
HIDDEN, WIDE, HEADS, SIZE = 768, 1152, 12, 64


def layer(
    batch: int, *, attention: Placement = L1, shards: bool = True, erf: float = 0.0, stretch: float = 1.0, gap_us: float = 0.5,
) -> Callable[[], Block]:  # fmt: skip
    """`stretch`: how much longer attention's ops take in DRAM; `erf`: what an exact GELU costs more."""

    def build() -> Block:
        block = Block("wormhole_b0", gap_us=gap_us)
        rows, tall = batch * 256, batch * 8
        big = batch == 8
        low = {"dtype": "BFLOAT8_B", "fidelity": "HiFi3", "fp32": True}

        def shard(columns: int) -> Placement:
            return block_sharded(rows // 8, columns // 6, (6, 8))

        x = block.tensor([1, 1, rows, HIDDEN], place=shard(HIDDEN) if shards else DRAM)
        norm_us = 46.1 if big else 30.0
        given = block.from_shards("attention_flat", x, 16.0, attention) if shards else x
        normed = block.norm(
            "norm_attention", given, norm_us, cores=min(64, tall), kind="LAYERNORM", place=attention
        )
        config = two_d((8, 8), 8, (tall // 8, 9), subblock=(1, 3))
        qkv = block.linear("qkv", normed, 3 * HIDDEN, (118.0 if big else 48.0) * stretch, config=config, cores=64, place=attention, **low)  # fmt: skip
        flat = block.view(qkv, [batch, 1, 256, 3 * HIDDEN])
        q, k, v = block.split_heads("heads", flat, (33.6 if big else 20.0) * stretch, heads=HEADS, kv=HEADS, size=SIZE, rows=256, batch=batch, place=attention, cores=min(64, tall))  # fmt: skip
        turned = []
        for name, head in (("q", q), ("k", k)):
            one = block.to_shards(f"rope_{name}_placed", head, block.along(batch * HEADS * 256 // 64, SIZE, 64), 16.0 if big else 4.0)  # fmt: skip
            one = block.rotary(f"rope_{name}", one, 51.5 if big else 12.0, decode=False, cores=64)
            turned.append(block.from_shards(f"rope_{name}_flat", one, 16.0 if big else 4.0, attention))
        size = 256 if big else 128
        mask = block.tensor([batch, 1, 256, 256])
        attended = block.op(
            "sdpa", "SDPAOperation", (*turned, v, mask), block.tensor(q.shape, place=attention), (173.8 if big else 40.0) * stretch,
            cores=64, fidelity="HiFi3", compute_kernel_config=block.kernel("HiFi3", fp32=True), is_causal=False,
            output_mem_config=attention, program_config=chunks(size, size, (8, 8)), scale="0.125", sliding_window_size=None,
            use_mla=False,
        )  # fmt: skip
        joined = block.join_heads("joined", attended, (33.6 if big else 15.0) * stretch, cores=min(64, tall))
        joined = block.view(joined, [1, 1, rows, HIDDEN])
        out = block.linear("out", joined, HIDDEN, (55.0 if big else 23.7) * stretch, config=two_d((8, 8), 4, (tall // 8, 3), subblock=(1, 3)), cores=64, place=attention, **low)  # fmt: skip
        if shards:
            out = block.to_shards("out_placed", out, shard(HIDDEN), 16.0)
        x = block.binary(
            "sum_attention", "ADD", x, out, 4.7 if shards else 73.1 if big else 6.0, cores=48 if shards else 64
        )
        if shards:
            norm = f"LayerNormShardedMultiCoreProgramConfig(compute_with_storage_grid_size=(x=6,y=8),subblock_w=4,block_h={tall // 8},block_w=4,inplace=0,legacy_reduction=0,legacy_rsqrt=0,use_welford=0)"  # fmt: skip
            normed = block.norm("norm_feed", x, 40.0, cores=48, kind="LAYERNORM", config=norm)
        else:
            normed = block.norm("norm_feed", x, norm_us, cores=min(64, tall), kind="LAYERNORM", config=PLAIN_NORM)
        place = shard(WIDE) if shards else DRAM
        config = two_d((6, 8), 4 if shards else 8, (tall // 8, 6), subblock=(1, 3))
        times = (76.0, 76.0, 76.0) if shards else (150.0, 140.0, 165.0) if big else (33.0, 31.0, 41.9)

        def half(role: str, us: float, act: str | None) -> Tensor:
            used = config if act is None else config.replace("fused_activation=std::nullopt", "fused_activation=BasicUnaryWithParam<float>(op_type=UnaryOpType::GELU,param={1})")  # fmt: skip
            return block.linear(role, normed, WIDE, us, config=used, cores=48, place=place, **low)

        first = half("up", times[0], None if erf else "GELU")
        if erf:
            first = block.unary("gelu", "GELU", first, erf, cores=48 if shards else 64, parameter="0")
        hidden = block.binary("product", "MUL", first, half("gate", times[1], None), 22.0 if shards else 110.0 if big else 9.0, cores=48 if shards else 64)  # fmt: skip
        config_down = two_d((6, 8), 6, (tall // 8, 4), subblock=(1, 4)) if shards else None
        down = block.linear("down", hidden, HIDDEN, times[2], config=config_down, cores=48 if shards or big else 24, place=shard(HIDDEN) if shards else DRAM, **low)  # fmt: skip
        block.binary(
            "sum_feed", "ADD", x, down, 4.7 if shards else 73.1 if big else 6.0, cores=48 if shards else 64
        )
        return block

    return build


MODEL = "of the whole model; a 22nd of it"
SPLIT = "how times split over the ops of a kind; moves"

MODERNBERT = (
    laid(
        "modernbert-8-dram", README, "eight rows, attention in DRAM: about 27.7 ms for 22 layers",
        layer(8, attention=DRAM, stretch=1.62),
        (gain("attention-l1", "attention's ops interleaved in L1", 273, "norm_attention qkv heads rope_* sdpa joined out", IN_L1, f"21.7 % of the pass before, {MODEL}"),),
        f"{SPLIT}; that no other change came after it",
    ),
    laid(
        "modernbert-8-erf", README, "eight rows, attention in DRAM, exact GELU: about 30.4 ms for 22 layers",
        layer(8, attention=DRAM, stretch=1.62, erf=124),
        (gain("tanh", "GELU by tanh in the matmul instead of an exact one", 124, "gelu up", r"tanh|approx|fused_activation|activation=|fast_and_approximate", f"9.0 % of the pass before, {MODEL}"),),
        f"{SPLIT}; the time of GELU (what its change saved)",
    ),
    laid(
        "modernbert-8-flat", README, "eight rows, GeGLU interleaved in DRAM: 698.5 us for it",
        layer(8, shards=False),
        (gain("geglu", "norm, matmuls, product and sum of the GeGLU in block shards on 6x8 cores", 300, "norm_feed up gate product down sum_*", rf"{SHARDED}|{IN_L1}", "698.5 -> 398.4 us for the block"),),
        SPLIT,
    ),
    laid(
        "modernbert-8", README, "eight rows, tuned: 970 us of kernels a layer",
        layer(8),
        (
            dead("sdpa-grid", "attention on 8x6 cores", "sdpa", r"8x6|\(8, ?6\)|x=8, ?y=6|48 cores", f"1.2 % slower {MODEL}"),
            dead("sdpa-chunks", "q chunks below 256", "sdpa", rf"q_chunk|{SDPA_CHUNKS}", "slower, each step more"),
            dead("exp", "approximate exponentials", "sdpa", r"exp_approx", "no difference"),
            dead("rotary-fidelity", "rotary at a lower fidelity", "rope_q rope_k", r"fidelity|HiFi|LoFi", "within the noise"),
            dead("rotary-flat", "rotary without shards", "rope_*", r"without (the )?shard|interleaved|drop.{0,30}(move|shard)|keep.{0,30}(DRAM|L1)", f"1.6 % slower {MODEL}"),
            dead("pad", "the GeGLU padded to 1280 columns for 64 cores", "up gate down product", r"pad|more cores|64 cores|8x8|\(8, ?8\)", "21.65 ms either way"),
            dead("qkv-shards", "QKV straight from the shards", "attention_flat norm_attention qkv", r"shard", f"5.9 % slower {MODEL}"),
            dead("lofi", "LoFi", "qkv out up gate down", LOFI, "hangs the chip"),
        ),
        SPLIT, 970,
    ),
    laid(
        "modernbert-1", README, "one row, not traced: 332 us of kernels, 143 of gaps a layer",
        layer(1, shards=False, gap_us=7.1),
        (
            gain("trace", "a trace", 143, "*", r"trace", f"10.49 -> 7.34 ms {MODEL}"),
            gain("down", "8x8 cores for the projection back of the GeGLU", 11.1, "down", rf"{CORES}|{CONFIG}", "41.9 -> 30.8 us"),
            dead("norms", "norms in shards", "norm_attention norm_feed", rf"{SHARDED}", "30.0 -> 35.2 us each"),
            dead("queues", "two command queues", "*", r"command queue|num_command_queues|two queues", "10.49 -> 10.50 ms"),
            dead("geglu", "the GeGLU in shards", "up gate product down", r"block.?shard|BLOCK_SHARDED", f"63 % slower {MODEL}"),
        ),
        SPLIT,
    ),
)  # fmt: skip
