"""Qwen2.5-Coder 32B: a decode step of 32 users through one layer, on four Blackhole chips in a ring and on one.

Hidden 5120, 40 heads over 8 KV heads of 128, SwiGLU of 27648.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCK_W, DRAM_SHARDED, IN_L1, INTERLEAVED_1D, LOFI, PACKED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MODEL = "models/autoports/qwen_qwen2_5_coder_32b_instruct/doc"
MESH = f"{TT_METAL}/344306d32637574ce68b5314f98d4b15d8d7fbbb/{MODEL}/optimized_multichip_decoder/work_log.md"
ONE = f"{TT_METAL}/5c5ef8d7f1acd51010f03f0575dad8f95e4140ef/{MODEL}/optimized_decoder/work_log.md"
HIDDEN, LOCAL, QKV, OUT, WIDE = 5120, 1280, 2048, 1280, 7168  # of one of four chips; QKV's 1792 padded
USERS = 32


@dataclass(frozen=True)
class Step:
    """The step on four chips as it was shipped."""

    qkv: float = 25.9
    out: float = 18.7
    up: float = 133.7
    down: float = 67.4
    blocks: tuple[int, int, int, int] = (10, 5, 5, 14)
    dtypes: tuple[str, str, str, str] = ("BFLOAT8_B", "BFLOAT8_B", "BFLOAT4_B", "BFLOAT4_B")
    fidelity: tuple[str, str] = ("LoFi", "LoFi")
    boundary: bool = False


def mesh(step: Step = Step()) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=4, gap_us=0.6)
        norm = norm_shards((8, 2), 10)

        def project(number: int, role: str, x: Tensor, n: int, us: float, cores: int) -> Tensor:  # noqa: PLR0917
            config = banked(step.blocks[number], -(-n // 32 // cores))
            fidelity = step.fidelity[number // 2]
            return block.linear(role, x, n, us, dtype=step.dtypes[number], fidelity=fidelity, config=config, cores=12, place=block.across(32, n, cores), banks=True)  # fmt: skip

        def whole(name: str, x: Tensor) -> Tensor:
            gathered = block.collective(f"gather_{name}", "AllGatherAsync", x, HIDDEN, 11.2, cores=12, place=DRAM)
            placed = block.to_shards(f"{name}_placed", gathered, block.across(32, HIDDEN, 16), 1.8)
            return block.norm(f"norm_{name}", placed, 6.8, cores=16, config=norm)

        x = block.tensor([1, 1, USERS, LOCAL], place=DRAM if step.boundary else block.across(32, LOCAL, 20))
        x = block.moved("entry_shaped", "ReshapeView", x, 19.7, cores=40)
        if step.boundary:
            x = block.to_shards("entry", x, block.across(32, LOCAL, 20), 1.4)
        wide = project(0, "qkv", whole("in", x), QKV, step.qkv, 16)
        wide = block.from_shards("qkv_flat", block.binary("qkv_bias", "ADD", wide, block.tensor([1, 1, 32, QKV]), 2.5), 1.5, L1)  # fmt: skip
        wide = block.slice("qkv_part", wide, (0, 0, 0, 0), (1, 1, USERS, 1792), 1.5)
        q, k, v = block.heads_of_decode("heads", wide, 6.2, heads=10, kv=2, size=128, users=USERS)
        q, k = (block.from_shards(f"{name}_flat", one, 1.8) for name, one in (("q", q), ("k", k)))
        q, k = (block.op(f"rope_{name}", "RotaryEmbedding", (one, *(block.tensor([1, USERS, 1, 128]) for _ in range(2))), block.tensor(one.shape), 7.4, cores=32, fidelity="HiFi4", output_mem_config=DRAM, token_idx=None) for name, one in (("q", q), ("k", k)))  # fmt: skip
        cache = block.tensor([USERS, 2, 64, 128], "BFLOAT8_B")
        block.update_cache("cache_k", cache, block.to_shards("k_placed", k, block.along(32, 128, USERS), 1.7), 4.4)
        block.update_cache("cache_v", cache, v, 4.4)
        q = block.moved("q_rows", "Untilize", block.slice("q_ten", q, (0, 0, 0, 0), (1, USERS, 10, 128), 2.2), 5.0, layout=ROW_MAJOR, cores=32)  # fmt: skip
        groups = []
        for number in (0, 1):
            part = block.slice(f"group{number}", q, (0, 0, 5 * number, 0), (1, USERS, 5 * number + 5, 128), 2.1)
            parts = [part, *(block.moved(f"group{number}_row{row}", "UntilizeWithUnpadding", block.tensor([1, USERS, 1, 128]), 4.5, layout=ROW_MAJOR, cores=32) for row in range(5))]  # fmt: skip
            groups.append(block.concat(f"group{number}_padded", parts, [1, USERS, 16, 128], 2, 3.7))
        q = block.concat("q_padded", groups, [1, USERS, 32, 128], 2, 5.7)
        q = block.moved("q_tiled", "TilizeWithValPadding", q, 10.4, layout="TILE", cores=32, fidelity="HiFi4")
        attended = block.attend_decode("sdpa", q, cache, 18.8, config=chunks(0, 0, (8, 4)), cores=32, fp32=False)
        attended = block.moved("attended_rows", "Untilize", block.slice("attended_part", attended, (0, 0, 0, 0), (1, USERS, 32, 128), 2.2), 5.0, layout=ROW_MAJOR, cores=32)  # fmt: skip
        halves = [block.slice(f"attended_group{n}", attended, (0, 0, 16 * n, 0), (1, USERS, 16 * n + 5, 128), 2.2) for n in (0, 1)]  # fmt: skip
        attended = block.concat("attended_joined", halves, [1, USERS, 10, 128], 2, 1.8)
        attended = block.moved("attended_tiled", "TilizeWithValPadding", attended, 12.5, layout="TILE", cores=32, fidelity="HiFi4")  # fmt: skip
        placed = block.to_shards("attended_placed", attended, block.along(32, 128, USERS), 1.3)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 5.4, shape=[1, 1, USERS, OUT], place=block.across(32, OUT, 10), cores=10, num_heads=10, on_subcoregrids=False)  # fmt: skip
        joined = block.to_shards("out_placed", block.from_shards("joined_flat", joined, 1.5), block.across(32, OUT, 8), 1.1)  # fmt: skip
        out = block.from_shards("out_flat", project(1, "out", joined, HIDDEN, step.out, 8), 2.1, L1)
        part = block.collective("scatter_attention", "ReduceScatterMinimalAsync", out, LOCAL, 23.2, cores=12, place=block.across(32, LOCAL, 20))  # fmt: skip
        x = block.binary("sum_attention", "ADD", x, part, 1.5)
        normed = block.reshard("feed_placed", whole("feed", x), block.across(32, HIDDEN, 32), 2.5)
        both = block.from_shards("up_flat", project(2, "up", normed, 2 * WIDE, step.up, 32), 1.8, L1)
        gate, up = (block.slice(f"half{n}", both, (0, 0, 0, n * WIDE), (1, 1, USERS, (n + 1) * WIDE), 2.2) for n in (0, 1))  # fmt: skip
        hidden = block.to_shards("down_placed", block.binary("glu", "MUL", gate, up, 13.8, lhs="SILU"), block.across(32, WIDE, 16), 2.1)  # fmt: skip
        down = block.from_shards("down_flat", project(3, "down", hidden, HIDDEN, step.down, 16), 1.9, L1)
        part = block.collective("scatter_fed", "ReduceScatterMinimalAsync", down, LOCAL, 20.4, cores=12, place=block.across(32, LOCAL, 20))  # fmt: skip
        x = block.binary("sum_feed", "ADD", x, part, 1.4)
        if step.boundary:
            x = block.from_shards("exit", x, 2.0)
        block.moved("exit_shaped", "ReshapeView", x, 17.0, cores=110)
        return block

    return build


def changed(**change: object) -> Callable[[], Block]:
    return mesh(replace(Step(), **change))


def mesh_prefill() -> Block:
    """32 users of 32 padded tokens on four chips: 1.99 ms."""
    block = Block("blackhole", devices=4)
    rows = 1024

    def project(role: str, x: Tensor, n: int, us: float, dtype: str) -> Tensor:
        config = two_d((10, 10), 10 if x.shape[-1] % 320 == 0 else 8, (4, -(-n // 32 // 10)))
        return block.linear(role, x, n, us, dtype=dtype, fidelity="LoFi", config=config, cores=80)

    def whole(name: str, x: Tensor, us: float) -> Tensor:
        return block.norm(f"norm_{name}", block.collective(f"gather_{name}", "AllGatherAsync", x, HIDDEN, us, cores=12), 60, cores=32)  # fmt: skip

    x = block.tensor([1, 1, rows, LOCAL])
    wide = block.binary("qkv_bias", "ADD", project("qkv", whole("in", x, 83), 1792, 72, "BFLOAT8_B"), block.tensor([1, 1, 1, 1792]), 12)  # fmt: skip
    q, k, v = block.split_heads("heads", wide, 40, heads=10, kv=2, size=128, rows=32, batch=USERS)
    q, k = (block.op(f"rope_{name}", "RotaryEmbedding", (one, *(block.tensor([1, 1, 32, 128]) for _ in range(2))), block.tensor(one.shape), us, cores=110, fidelity="HiFi4", output_mem_config=DRAM, token_idx=None) for name, one, us in (("q", q, 40), ("k", k, 14)))  # fmt: skip
    cache = block.tensor([USERS, 2, 64, 128], "BFLOAT8_B")
    for name, one in (("k", k), ("v", v)):
        narrow = block.typecast(f"narrow_{name}", one, "BFLOAT8_B", 8)
        for user in range(8):
            block.op(f"fill_{name}{user}", "PagedFillCache", (cache, narrow, block.tensor([1, 64], "INT32", layout=ROW_MAJOR)), cache, 23, cores=8, batch_idx=user)  # fmt: skip
    attended = block.attend("sdpa", q, k, v, 110, config=chunks(32, 32, (11, 10)), cores=110)
    joined = block.join_heads("joined", attended, 40)
    joined = block.view(joined, [1, 1, rows, OUT])
    part = block.collective("scatter_attention", "ReduceScatterMinimalAsync", project("out", joined, HIDDEN, 57, "BFLOAT8_B"), LOCAL, 87, cores=12)  # fmt: skip
    x = block.binary("sum_attention", "ADD", x, part, 14)
    both = project("up", whole("feed", x, 81), 2 * WIDE, 356, "BFLOAT4_B")
    gate, up = (
        block.slice(f"half{n}", both, (0, 0, 0, n * WIDE), (1, 1, rows, (n + 1) * WIDE), 45) for n in (0, 1)
    )
    down = project("down", block.binary("glu", "MUL", gate, up, 100, lhs="SILU"), HIDDEN, 185, "BFLOAT4_B")
    part = block.collective("scatter_fed", "ReduceScatterMinimalAsync", down, LOCAL, 90, cores=12)
    block.binary("sum_feed", "ADD", x, part, 14)
    return block


def alone(*, banks: bool = False, took: float = 0) -> Callable[[], Block]:
    """32 users on one chip, BFLOAT8_B and HiFi2; `took`: what its matmuls take beside their time in 1D configs."""

    def build() -> Block:
        block = Block("blackhole", gap_us=0.7)
        us = {"qkv": 110.3, "out": 101.8, "up": 820.7, "down": 583.2}
        us = {role: one * (1 + took / sum(us.values())) for role, one in us.items()}
        residual = block.across(32, HIDDEN, 80)
        norm = norm_shards((11, 1), 15)

        def project(role: str, x: Tensor, n: int, wide: int, grid: tuple[int, int], per_n: int) -> Tensor:  # noqa: PLR0917
            if banks:
                cores = 40 if n == HIDDEN or n > 10_000 else 32
                return block.linear(role, x, n, us[role], dtype="BFLOAT8_B", config=banked(4, -(-n // 32 // cores)), cores=12, place=block.across(32, n, cores), banks=True)  # fmt: skip
            subblock = next(size for size in (8, 3, 2, 1) if per_n % size == 0)
            config = one_d(grid, 2, (1, per_n), subblock=(1, subblock))
            return block.linear(role, x, n, us[role], dtype="BFLOAT8_B", config=config, cores=wide, place=block.across(32, n, wide))  # fmt: skip

        x = block.moved("entry", "Transpose", block.tensor([1, USERS, 1, HIDDEN]), 29.0, dim="TransposeOpDim::HC", shape=[1, 1, USERS, HIDDEN], place=L1, cores=110)  # fmt: skip
        x = block.to_shards("entry_placed", x, residual, 1.0)
        placed = block.reshard("norm_placed", x, block.across(32, HIDDEN, 11), 1.4)
        normed = block.reshard("qkv_placed", block.norm("norm_in", placed, 7.8, cores=11, config=norm), block.across(32, HIDDEN, 40), 2.6)  # fmt: skip
        wide = block.binary("qkv_bias", "ADD", project("qkv", normed, 7168, 75, (11, 7), 3), block.tensor([1, 1, 32, 7168]), 4.1)  # fmt: skip
        q, k, v = block.heads_of_decode("heads", block.from_shards("qkv_flat", wide, 1.5, L1), 20.7, heads=40, kv=8, size=128, users=USERS)  # fmt: skip
        q, k = (block.from_shards(f"{name}_flat", one, us_) for name, one, us_ in (("q", q, 2.4), ("k", k, 1.5)))
        tables = []
        for name in ("cos", "sin"):
            rows = block.moved(f"{name}_rows", "Untilize", block.tensor([1, 1, 4096, 128]), 4.3, layout=ROW_MAJOR, cores=4)  # fmt: skip
            picked = block.slice(f"{name}_picked", rows, (0, 0, 17, 0), (1, 1, 18, 128), 0.8)
            tables.append(block.moved(f"{name}_tiled", "TilizeWithValPadding", picked, 5.6, layout="TILE", cores=1, fidelity="HiFi4"))  # fmt: skip
        q, k = (block.op(f"rope_{name}", "RotaryEmbedding", (one, *tables), block.tensor(one.shape), us_, cores=cores, fidelity="HiFi4", output_mem_config=DRAM, token_idx=None) for name, one, us_, cores in (("q", q, 12.6, 64), ("k", k, 7.2, 32)))  # fmt: skip
        q = block.slice("q_part", q, (0, 0, 0, 0), (1, USERS, 40, 128), 3.5)
        k = block.to_shards("k_placed", block.slice("k_part", k, (0, 0, 0, 0), (1, USERS, 8, 128), 2.0), block.along(32, 128, USERS), 1.7)  # fmt: skip
        cache = block.tensor([USERS, 8, 64, 128], "BFLOAT8_B")
        block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v, block.tensor([USERS], "INT32", layout=ROW_MAJOR)), cache, 21.4, cores=66, batch_offset=0, op_type="PagedUpdateCacheOpType::FUSED_UPDATE", share_cache=False)  # fmt: skip
        attended = block.attend_decode("sdpa", q, cache, 49.5, config=chunks(0, 0, (8, 8)), cores=64, fp32=False)
        placed = block.to_shards("attended_placed", attended, block.along(64, 128, USERS), 1.9)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 5.7, shape=[1, 1, USERS, HIDDEN], place=block.across(32, HIDDEN, 40), cores=40, num_heads=40, on_subcoregrids=False)  # fmt: skip
        joined = block.from_shards("joined_flat", joined, 1.5, L1)
        x = block.binary("sum_attention", "ADD", x, project("out", joined, HIDDEN, 80, (11, 8), 2), 1.3)
        placed = block.reshard("feed_norm_placed", x, block.across(32, HIDDEN, 11), 1.4)
        normed = block.reshard("feed_placed", block.norm("norm_feed", placed, 7.7, cores=11, config=norm), residual, 3.2)  # fmt: skip
        both = block.from_shards("up_flat", project("up", normed, 55296, 108, (11, 10), 16), 5.5, L1)
        gate, up = (block.slice(f"half{n}", both, (0, 0, 0, n * 27648), (1, 1, USERS, (n + 1) * 27648), 3.9) for n in (0, 1))  # fmt: skip
        hidden = block.binary("glu", "MUL", gate, up, 15.4, lhs="SILU")
        hidden = block.to_shards("down_placed", hidden, block.across(32, 27648, 87), 2.0)
        x = block.binary("sum_feed", "ADD", x, project("down", hidden, HIDDEN, 80, (11, 8), 2), 1.3)
        block.moved("exit", "Transpose", x, 42.2, dim="TransposeOpDim::HC", shape=[1, USERS, 1, HIDDEN], place=DRAM, cores=110)  # fmt: skip
        return block

    return build


def one_user() -> Block:
    """One user on one chip, everything in BFLOAT16 and left to TTNN: 2.9 ms of wall time."""
    block = Block("blackhole", gap_us=0.8)

    def project(role: str, x: Tensor, n: int, us: float) -> Tensor:
        per_n = -(-n // 32 // 110)
        return block.linear(role, x, n, us, fidelity="HiFi4", config=one_d((11, 10), 2, (1, per_n)), cores=-(-n // 32 // per_n), fp32=True)  # fmt: skip

    x = block.tensor([1, 1, 32, HIDDEN])
    wide = block.binary("qkv_bias", "ADD", project("qkv", block.norm("norm_in", x, 86, cores=1), 7168, 176), block.tensor([1, 1, 32, 7168]), 4)  # fmt: skip
    q, k, v = block.heads_of_decode("heads", wide, 16, heads=40, kv=8, size=128, users=1)
    q, k = (block.rotary(f"rope_{name}", one, 6, decode=True, cores=1) for name, one in (("q", q), ("k", k)))
    cache = block.tensor([64, 8, 64, 128])
    block.update_cache("cache_k", cache, k, 5)
    block.update_cache("cache_v", cache, v, 5)
    attended = block.attend_decode("sdpa", q, cache, 22, config=chunks(0, 0, (11, 10)), cores=64)
    placed = block.to_shards("attended_placed", attended, block.along(64, 128, 1), 1)
    joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 3, shape=[1, 1, 32, HIDDEN], place=block.across(32, HIDDEN, 40), cores=40, num_heads=40, on_subcoregrids=False)  # fmt: skip
    x = block.binary("sum_attention", "ADD", x, project("out", block.from_shards("joined_flat", joined, 1.5), HIDDEN, 150), 3)  # fmt: skip
    normed = block.norm("norm_feed", x, 86, cores=1)
    gate = block.unary("silu", "SILU", project("gate", normed, 27648, 745), 9)
    hidden = block.binary("glu", "MUL", gate, project("up", normed, 27648, 745), 11)
    block.binary("sum_feed", "ADD", x, project("down", hidden, HIDDEN, 770), 3)
    return block


BOTH = "both of wall time, seven trials of 100 replays"
SOME = "wall time; 20 replays"
ASYNC_8 = rf"(gather|scatter|collective|payload|ccl).{{0,120}}({BFP8})|({BFP8}).{{0,120}}(gather|scatter|collective|payload|ccl)"
MATMULS = "qkv out up down"
OPS = "which rows of padded heads go through which of the small ops, as far as the published profile does not tell"
SPLIT = f"how the difference splits over the matmuls; {OPS}"

QWEN_CODER = (
    laid(
        "qwen-coder-tp4-decode", MESH, "decode of 32 users on four chips, tuned: 758.0 us of wall time, 595 us of device time",
        mesh(),
        (
            dead("bfp8-collectives", "collectives in BFLOAT8_B", "gather_* scatter_*", ASYNC_8, f"758.0 -> 788.0 us, {BOTH}"),
            dead("gather-matmul", "gather and gate as one op", "gather_feed up", r"all_gather_matmul|gather.{0,40}fus|fus.{0,40}gather", f"758.0 -> 930.7 us, {BOTH}"),
            dead("matmul-scatter", "matmuls and reduce-scatters as one op", "out scatter_attention down scatter_fed", r"matmul_reduce_scatter|fus.{0,60}(reduce.scatter|collective)|reduce.scatter.{0,60}fus", f"758.0 -> 885.5 us, {SOME}"),
            dead("bfp8-attention-outputs", "attention's matmuls write BFLOAT8_B", "qkv out", rf"(output|write|activation).{{0,80}}({BFP8})|output_dtype", f"758.0 -> 771.9 us, {SOME}"),
            dead("bfp8-feed-outputs", "the feed-forward matmuls write BFLOAT8_B", "up down", rf"(output|write|activation).{{0,80}}({BFP8})|output_dtype", f"758.0 -> 759.6 us, {BOTH}"),
            dead("distributed-norm", "statistics gathered instead of rows", "norm_in norm_feed gather_in gather_feed", r"distributed|pre_all_gather|each (chip|device)|per (chip|device)", f"782.6 -> 795.0 us, {SOME}"),
            dead("qkv-cores", "QKV on 32 cores", "qkv", r"32 cores|more cores", f"758.6 -> 767.8 us, {SOME}"),
            dead("out-cores", "the output projection on 20 or 40 cores", "out", r"(20|40) cores|more cores", f"758.6 -> 761.7 and 775.1 us, {SOME}"),
            dead("down-cores", "down on 32 cores", "down", r"32 cores|more cores", f"758.6 -> 763.3 us, {SOME}"),
            dead("up-cores", "gate and up on 64 cores, K padded", "up", r"64 cores|more cores", f"758.0 -> 792.8 us, {BOTH}"),
            dead("out-1d", "the output projection interleaved, 1D", "out", INTERLEAVED_1D, "32.8 -> 35.1 us alone"),
            dead("up-1d", "gate and up interleaved, 1D", "up", INTERLEAVED_1D, "139.1 -> 148.6 us alone"),
            dead("down-1d", "down interleaved, 1D", "down", INTERLEAVED_1D, "73.0 -> 154.1 us alone"),
            dead("bfp4", "attention weights in BFLOAT4_B", "qkv out", BFP4, f"758.6 -> 758.3 us, and refused for its accuracy, {SOME}"),
            dead("head-groups", "attention over groups padded to eight", "sdpa", r"pad.{0,40}(8|eight)|groups? of eight|SDPAProgramConfig", f"758.6 -> 772.0 us, {SOME}"),
        ),
        OPS, 595,
    ),
    laid(
        "qwen-coder-tp4-boundary", MESH, "decode on four chips, the residual handed on in DRAM: 792.0 us of wall time",
        changed(boundary=True, fidelity=("HiFi2", "LoFi"), qkv=39.9, out=27.7),
        (
            gain("boundary", "the residual handed on in its L1 shards", 6.0, "entry entry_shaped exit exit_shaped", r"shard|L1|layout|move|convert", f"792.0 -> 786.0 us, {BOTH}"),
            gain("lofi", "LoFi for BFLOAT8_B attention weights", 23.0, "qkv out", LOFI, f"782.6 -> 759.6 us, {SOME}"),
        ),
        SPLIT,
    ),
    laid(
        "qwen-coder-tp4-hifi2", MESH, "decode on four chips, BFLOAT4_B feed-forward in HiFi2: 951.9 us of wall time",
        changed(fidelity=("HiFi2", "HiFi2"), qkv=39.9, out=27.7, up=246.7, down=123.7),
        (gain("lofi", "LoFi for BFLOAT4_B weights", 169.3, "up down", LOFI, f"951.9 -> 782.6 us, {SOME}"),),
        SPLIT,
    ),
    laid(
        "qwen-coder-tp4-wide-gate", MESH, "decode on four chips, gate and up in BFLOAT8_B: 812.0 us of wall time",
        changed(fidelity=("HiFi2", "LoFi"), qkv=39.9, out=27.7, dtypes=("BFLOAT8_B", "BFLOAT8_B", "BFLOAT8_B", "BFLOAT4_B"), up=163.1),
        (gain("bfp4", "gate and up in BFLOAT4_B", 29.4, "up", BFP4, f"812.0 -> 782.6 us, {SOME}"),),
        SPLIT,
    ),
    laid(
        "qwen-coder-tp4-wide-down", MESH, "decode on four chips, down in BFLOAT8_B: 799.1 us of wall time",
        changed(fidelity=("HiFi2", "LoFi"), qkv=39.9, out=27.7, dtypes=("BFLOAT8_B", "BFLOAT8_B", "BFLOAT4_B", "BFLOAT8_B"), down=83.9),
        (gain("bfp4", "down in BFLOAT4_B", 16.5, "down", BFP4, f"799.1 -> 782.6 us, {SOME}"),),
        SPLIT,
    ),
    laid(
        "qwen-coder-tp4-qkv-block", MESH, "decode on four chips, QKV with in0_block_w 2: 792.0 us of wall time",
        changed(blocks=(2, 5, 5, 14), qkv=59.3),
        (gain("block", "in0_block_w 10", 33.4, "qkv", BLOCK_W, f"792.0 -> 758.6 us, {SOME}; 763.2 with 5"),),
        f"that all of it is this matmul's; {OPS}",
    ),
    laid(
        "qwen-coder-tp4-out-block", MESH, "decode on four chips, the output projection with in0_block_w 1: 771.1 us of wall time",
        changed(blocks=(10, 1, 5, 14), out=31.2),
        (gain("block", "in0_block_w 5", 12.5, "out", BLOCK_W, f"771.1 -> 758.6 us, {SOME}"),),
        f"that all of it is this matmul's; {OPS}",
    ),
    laid(
        "qwen-coder-tp4-up-block", MESH, "decode on four chips, gate and up with in0_block_w 1: 872.3 us of wall time",
        changed(blocks=(10, 5, 1, 14), up=247.4),
        (gain("block", "in0_block_w 5", 113.7, "up", BLOCK_W, f"872.3 -> 758.6 us, {SOME}"),),
        f"that all of it is this matmul's; {OPS}",
    ),
    laid(
        "qwen-coder-tp4-down-block", MESH, "decode on four chips, down with in0_block_w 2: 787.9 us of wall time",
        changed(blocks=(10, 5, 5, 2), down=96.7),
        (gain("block", "in0_block_w 14", 29.3, "down", BLOCK_W, f"787.9 -> 758.6 us, {SOME}; 762.4 with 7"),),
        f"that all of it is this matmul's; {OPS}",
    ),
    laid(
        "qwen-coder-tp4-prefill", MESH, "32 users of 32 padded tokens on four chips: 3.57 ms of wall time, 1.99 ms of device time",
        mesh_prefill,
        (
            dead("grid", "8 x 10 cores, subblock 1x4", MATMULS, r"subblock", "3.572 -> 3.680 ms of wall time"),
            dead("blocks", "in0_block_w of 16 or 20", MATMULS, BLOCK_W, "refused: circular buffers exceed L1"),
            dead("inputs", "the matmuls' inputs in L1", f"norm_in norm_feed joined glu {MATMULS}", IN_L1, "3.566 -> 3.580 ms of wall time"),
        ),
        "how the small ops split, how many cache fills one of them is", 1_992,
    ),
    laid(
        "qwen-coder-decode", ONE, "decode of 32 users on one chip, BFLOAT8_B in HiFi2, 1D configs: 1.94 ms of wall time, 1.91 ms of device time",
        alone(),
        (
            dead("banks", "all four matmuls DRAM-sharded", MATMULS, DRAM_SHARDED, "1.941 -> 2.291 ms of wall time"),
            dead("up-block", "gate and up with in0_block_w 4, 8 or 16", "up", BLOCK_W, "refused: the input's shard is two tiles wide"),
            dead("down-block", "down with in0_block_w 4, 8 or 16", "down", BLOCK_W, "refused: shards and K divide by 2 only"),
        ),
        OPS, 1_908,
    ),
    laid(
        "qwen-coder-decode-banks", ONE, "decode of 32 users on one chip, BFLOAT8_B in HiFi2, DRAM-sharded: 2.29 ms of wall time",
        alone(banks=True, took=349.6),
        (gain("one-d", "1D configs over interleaved weights on 75 to 108 cores", 349.6, MATMULS, INTERLEAVED_1D, "2290.6 -> 1941.0 us of wall time"),),
        f"how the difference splits over the four; {OPS}",
    ),
    laid(
        "qwen-coder-decode-functional", ONE, "decode of one user on one chip, BFLOAT16, left to TTNN: 2.90 ms of wall time",
        one_user,
        (
            gain("bfp8-banks", "BFLOAT8_B in HiFi2, DRAM-sharded, sharded norms", 709.9, "qkv out gate up down norm_in norm_feed", rf"{BFP8}|{DRAM_SHARDED}", "2902.8 -> 2192.9 us of wall time"),
            dead("lofi", "LoFi for BFLOAT8_B weights", "qkv out gate up down", LOFI, "refused for its accuracy: below the functional bar"),
            dead("pack", "gate and up as one matmul", "gate up", PACKED, "2.152 ms against 2.193 with 32 and 16 cores: within 2 %"),
        ),
        "the times of single ops",
    ),
)  # fmt: skip
