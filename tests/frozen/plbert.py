"""The text encoder of a speech model (an ALBERT) on Blackhole chips (p300c): one of its twelve layers, 512 tokens.

Hidden 768, 12 heads of 64, feed-forward of 2048; bidirectional, replayed from a trace. The ledger tells times of ops in
its profiles and of the whole encoder: a twelfth of the latter here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    BLOCK_W,
    CONFIG,
    CORES,
    HIFI2,
    IN_L1,
    LOFI,
    PACKED,
    RING,
    SDPA_CHUNKS,
    SHARDED,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "https://github.com/housTT/tt-metal/blob/c4491a6d4951ff2497518f2a46120cd3b665b708/models/autoports/hexgrad_kokoro_82m/doc/optimized_decoder"
README = f"{FOLDER}/README.md"
LOG = f"{FOLDER}/work_log.md"
GRIDS = f"{FOLDER}/sweeps/matmul_grid.json"
ADVICE = f"{FOLDER}/sweeps/advice_disposition.json"
MESH = "https://github.com/housTT/tt-metal/blob/1929cdaeebc2e159c9a28711824a0fd8f9531338/models/autoports/hexgrad_kokoro_82m/doc/multichip_decoder/sweeps/RESULTS.md"
HIDDEN, WIDE, HEADS, SIZE = 768, 2048, 12, 64


def by_hand() -> Block:
    """Three projections and attention in parts, all in FLOAT32."""
    block = Block("blackhole", gap_us=0.6)
    rows = 512
    x = block.tensor([1, 1, rows, HIDDEN], "FLOAT32")
    exact = {"dtype": "BFLOAT16", "fidelity": "HiFi4", "fp32": True, "out": "FLOAT32"}
    parts = [block.linear(name, x, HIDDEN, 32, cores=64, bias=True, **exact) for name in "qkv"]

    def split(name: str, given: Tensor) -> Tensor:
        shaped = block.moved(f"{name}_shaped", "ReshapeView", given, 147, shape=[1, rows, HEADS, SIZE], cores=110)
        return block.moved(f"{name}_turned", "Transpose", shaped, 18, shape=[1, HEADS, rows, SIZE], cores=110, fidelity="HiFi4", dim="TransposeOpDim::HC", pad_value=0)  # fmt: skip

    q = split("q", parts[0])
    shaped = block.moved("k_shaped", "ReshapeView", parts[1], 147, shape=[1, rows, HEADS, SIZE], cores=110)
    k = block.permute("k_turned", shaped, (0, 2, 3, 1), 61)
    v = split("v", parts[2])

    def product(role: str, a: Tensor, b: Tensor, us: float, cores: int) -> Tensor:
        shape = [*a.shape[:-1], b.shape[-1]]
        return block.op(role, "Matmul", (a, b), block.tensor(shape, "FLOAT32"), us, cores=cores, fidelity="HiFi4", bcast_batch=False, compute_kernel_config=block.kernel("HiFi4", fp32=True), output_dtype="DataType::FLOAT32", output_mem_config=a.placement, program_config=None, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip

    scores = product("scores", q, k, 81, 64)
    scores = block.unary("scores_scaled", "MUL_UNARY_SFPU", scores, 67, cores=110, parameter="0.125")
    scores = block.binary(
        "scores_masked", "ADD", scores, block.tensor([1, 1, rows, rows], "FLOAT32"), 323, cores=110
    )
    soft = block.op("softmax", "Softmax", (scores,), block.tensor(scores.shape, "FLOAT32"), 71, cores=110, fidelity="HiFi4", dim=3, is_causal_mask=False, numeric_stable=True, program_config="SoftmaxDefaultProgramConfig()", scale=None)  # fmt: skip
    context = product("context", soft, v, 126, 16)
    turned = block.moved("context_turned", "Transpose", context, 24, shape=[1, rows, HEADS, SIZE], cores=110, fidelity="HiFi4", dim="TransposeOpDim::HC", pad_value=0)  # fmt: skip
    joined = block.moved("context_joined", "ReshapeView", turned, 176, shape=[1, 1, rows, HIDDEN], cores=110)
    out = block.linear("out", joined, HIDDEN, 30, cores=64, bias=True, **exact)
    x = block.binary("sum_attention", "ADD", out, x, 17, cores=110)
    x = block.norm("norm_attention", x, 21, cores=16, kind="LAYERNORM")
    wide = block.linear("up", x, WIDE, 50, cores=88, bias=True, **exact)
    wide = block.unary("gelu", "GELU", wide, 26, cores=110, parameter="0")
    down = block.linear("down", wide, HIDDEN, 71, cores=64, bias=True, **exact)
    x = block.binary("sum_feed", "ADD", down, x, 18, cores=110)
    block.norm("norm_feed", x, 21, cores=16, kind="LAYERNORM")
    return block


@dataclass(frozen=True)
class How:
    """The layer at a step of its tuning; times in us."""

    qkv: float = 27
    out: float = 13
    up: float = 48
    down: float = 22
    gelu: float = 0.0  # an op of its own where not 0
    grid: bool = True  # 10 x 8 cores; else TTNN chose about 24
    tuned: bool = True  # a config for the last matmul
    weights: str = "BFLOAT8_B"
    fidelity: str = "HiFi2"


def fused(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", gap_us=0.7)
        x = block.tensor([1, 1, 512, HIDDEN])
        low = {"dtype": how.weights, "fidelity": how.fidelity, "fp32": True, "bias": True}

        def spread(per_n: int, k_block: int = 2, act: str | None = None) -> str | None:
            return two_d((10, 8), k_block, (2, per_n), act=act) if how.grid else None

        cores = 80 if how.grid else 24
        qkv = block.linear("qkv", x, 3 * HIDDEN, how.qkv, config=spread(8), cores=72 if how.grid else 24, **low)
        q, k, v = block.split_heads("heads", qkv, 32, heads=HEADS, kv=HEADS, size=SIZE, rows=512, cores=16)
        attended = block.attend("sdpa", q, k, v, 29, config=chunks(128, 128, (11, 10)), cores=110, causal=False, fidelity=how.fidelity, fp32=True)  # fmt: skip
        joined = block.join_heads("joined", attended, 11, cores=16)
        out = block.linear("out", joined, HIDDEN, how.out, config=spread(3), cores=64 if how.grid else 24, **low)
        x = block.binary("sum_attention", "ADD", out, x, 9, cores=110)
        x = block.norm("norm_attention", x, 20, cores=16, kind="LAYERNORM")
        act = None if how.gelu else "GELU"
        wide = block.linear("up", x, WIDE, how.up, config=spread(7, 2, act), cores=cores, **low)
        if how.gelu:
            wide = block.unary("gelu", "GELU", wide, how.gelu, cores=110, parameter="0")
        last = two_d((8, 8), 8, (2, 3), subblock=(1, 3)) if how.tuned else spread(3)
        down = block.linear("down", wide, HIDDEN, how.down, config=last, cores=64 if how.grid else 24, **low)
        x = block.binary("sum_feed", "ADD", down, x, 9, cores=110)
        block.norm("norm_feed", x, 20, cores=16, kind="LAYERNORM")
        return block

    return build


def mesh(rows: int, us: float, collective_us: float, *, k_block: int, topology: str) -> Callable[[], Block]:
    """On four chips: three heads each, the residual split along the tokens; `us` of the first matmul of the feed-forward."""

    def build() -> Block:
        block = Block("blackhole", devices=4, gap_us=0.6)
        own = rows // 4
        x = block.tensor([1, 1, own, HIDDEN])
        low = {"dtype": "BFLOAT8_B", "fidelity": "HiFi2", "fp32": True, "bias": True}
        common = {"num_links": 2, "ring_size": 4, "topology": f"Topology::{topology}", "cluster_axis": 1, "dim": 2, "chunks_per_sync": None, "num_workers_per_link": None, "num_buffers_per_channel": None}  # fmt: skip
        whole = block.op("gather", "AllGatherAsync", (x,), block.tensor([1, 1, rows, HIDDEN]), collective_us, cores=8, output_mem_config=x.placement, **common)  # fmt: skip
        qkv = block.linear(
            "qkv", whole, 576, 11, config=two_d((9, 8), 8, (max(1, rows // 256), 2)), cores=72, **low
        )
        q, k, v = block.split_heads("heads", qkv, 14, heads=3, kv=3, size=SIZE, rows=rows, cores=rows // 32)
        attended = block.attend("sdpa", q, k, v, 15, config=chunks(128, 128, (11, 10)), cores=12, causal=False)
        joined = block.join_heads("joined", attended, 7, cores=rows // 32)
        out = block.linear("out", joined, HIDDEN, 9, config=two_d((8, 8), 6, (max(1, rows // 256), 3), subblock=(1, 3)), cores=64, **low)  # fmt: skip
        part = block.op("scatter", "ReduceScatterMinimalAsync", (out,), block.tensor(x.shape), collective_us, cores=8, fidelity="HiFi4", output_mem_config=x.placement, **common)  # fmt: skip
        x = block.binary("sum_attention", "ADD", part, x, 4, cores=110)
        x = block.norm("norm_attention", x, 12, cores=own // 32, kind="LAYERNORM")
        per_m = own // 32
        wide = block.linear("up", x, WIDE, us, config=two_d((8, per_m), k_block, (1, 8), subblock=(1, 2), act="GELU"), cores=8 * per_m, **low)  # fmt: skip
        down = block.linear("down", wide, HIDDEN, 15, config=two_d((8, per_m), 8, (1, 3), subblock=(1, 3)), cores=8 * per_m, **low)  # fmt: skip
        x = block.binary("sum_feed", "ADD", down, x, 4, cores=110)
        block.norm("norm_feed", x, 12, cores=own // 32, kind="LAYERNORM")
        return block

    return build


TWELFTH = "of the whole encoder; a twelfth of it"
MADE_UP = "the configs as printed, which TTNN made of the core grid; gaps"
MATMULS = "qkv out up down"

PLBERT = (
    laid(
        "plbert-by-hand", README, "attention in parts, FLOAT32, HiFi4: 1.64 ms",
        by_hand,
        (
            gain("sdpa", "one op for attention instead of five", 639, "scores scores_scaled scores_masked softmax context", r"scaled_dot_product_attention", "668 us of the profile -> 29 us (in BFLOAT16, as all that follow)"),
            gain("heads", "one op for the heads of queries, keys and values", 505, "*_shaped *_turned q_* k_* v_*", r"nlp_create_qkv_heads|split_query_key_value|create_qkv", "537 us of the profile -> 32 us"),
            gain("join", "one op to join the heads", 188, "context_turned context_joined", r"concat_heads|concatenate_heads", "200 us of the profile -> 11 us"),
            gain("packed", "one projection instead of three", 44, "q k v", PACKED, "96 us of the profile -> 52 us before its grid was set", GRIDS),
        ),
        "gaps; which reshape belongs to which tensor",
    ),
    laid(
        "plbert-default", README, "fused, TTNN's own choice of cores: about 4.75 ms for twelve layers",
        fused(How(qkv=51.8, out=41.9, up=51.3, down=98.8, gelu=23, grid=False, tuned=False)),
        (
            gain("qkv", "10x8 cores for QKV", 25.8, "qkv", rf"{CORES}|{CONFIG}", "51.8 -> 26.0 us", GRIDS),
            gain("out", "10x8 cores for the output projection", 27.9, "out", rf"{CORES}|{CONFIG}", "41.9 -> 14.0 us", GRIDS),
            gain("up", "10x8 cores for the first matmul of the feed-forward", 26.7, "up", rf"{CORES}|{CONFIG}", "51.3 -> 24.6 us", GRIDS),
            gain("down", "10x8 cores for the second one", 71.8, "down", rf"{CORES}|{CONFIG}", "98.8 -> 27.0 us", GRIDS),
            gain("gelu", "GELU in the matmul", 23, "up gelu", ACTIVATION_IN_MATMUL, "an op of 23 us dropped; the fused matmul's 24 us of GELU are in its 48"),
        ),
        "about 24 cores each; gaps",
    ),
    laid(
        "plbert-hifi4", README, "BFLOAT16 weights, HiFi4: 3.35 ms for twelve layers",
        fused(How(qkv=39, out=18, up=60, down=33, weights="BFLOAT16", fidelity="HiFi4")),
        (gain("hifi2", "HiFi2", 24, f"{MATMULS} sdpa", HIFI2, f"3.35 -> 3.06 ms {TWELFTH}"),),
        "how the difference splits over the ops",
    ),
    laid(
        "plbert-wide", README, "BFLOAT16 weights, HiFi2: 3.07 ms for twelve layers",
        fused(How(qkv=30, out=15, up=50, down=28, tuned=False, weights="BFLOAT16")),
        (
            gain("narrow", "BFLOAT8_B weights", 10, MATMULS, BFP8, f"3.07 -> 2.95 ms {TWELFTH}"),
            gain("down-config", "a config with in0_block_w 8 and a subblock of three for the last matmul", 6, "down", rf"{BLOCK_W}|{CONFIG}", "27 -> 21 us", LOG),
        ),
        "how the difference splits over the ops",
    ),
    laid(
        "plbert-tuned", README, "tuned: 2.95 ms for twelve layers",
        fused(How()),
        (
            dead("inputs", "inputs of matmuls in L1 shards", MATMULS, rf"{IN_L1}|{SHARDED}", "refused: 16 rows of tiles", ADVICE),
            dead("subblock", "a subblock of four for the first matmul of the feed-forward", "up", r"subblock", "48.5 -> 54.8 and 55.9 us", ADVICE),
            dead("norms", "norms in shards", "norm_*", SHARDED, "refused: 16 rows of tiles", LOG),
            dead("chunks", "chunks of 256 or 512", "sdpa", SDPA_CHUNKS, "slower", LOG),
            dead("lofi", "LoFi", MATMULS, LOFI, "no faster and wrong (PCC 0.991)"),
            dead("bfp4", "BFLOAT4_B weights of the feed-forward", "up down", BFP4, "no faster and wrong (PCC 0.95)"),
            dead("acc", "accumulation in BFLOAT16", MATMULS, r"fp32_dest_acc", "2.95 -> 2.96 ms"),
            dead("cores", "100 cores for QKV and the last matmul", "qkv down", CORES, "26.0 -> 42.6 and 27.0 -> 28.2 us", GRIDS),
            dead("out-cores", "100 cores for the output projection", "out", CORES, "14.0 -> 13.8 us", GRIDS),
        ),
        MADE_UP, 240,
    ),
    laid(
        "plbert-mesh", MESH, "512 tokens on four chips, a line: 2.71 ms for twelve layers",
        mesh(512, 43.0, 40, k_block=1, topology="Linear"),
        (
            gain("ring", "a ring", 12.5, "gather scatter", RING, f"2.71 -> 2.56 ms {TWELFTH}"),
            gain("up-block", "in0_block_w 8", 9.8, "up", BLOCK_W, "43.0 -> 33.2 us"),
        ),
        "all times but that of the first matmul of the feed-forward",
    ),
    laid(
        "plbert-mesh-128", MESH, "128 tokens on four chips, a line: 1.93 ms for twelve layers",
        mesh(128, 28.9, 30, k_block=8, topology="Linear"),
        (
            dead("ring", "a ring", "gather scatter", RING, "1.93 -> 1.95 ms"),
            dead("up-block", "in0_block_w 12 or 24", "up", BLOCK_W, "28.9 -> 29.4 and 31.5 us"),
        ),
        "all times but that of the first matmul of the feed-forward",
    ),
)  # fmt: skip
