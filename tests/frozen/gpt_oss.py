"""GPT-OSS 20B: one layer of 32 experts, four of them active; on one Blackhole chip (p300c), and on four."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, chunks, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, CONFIG, DRAM_SHARDED, LOFI, PACKED, SDPA_CHUNKS, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

MODEL = "models/autoports/openai_gpt_oss_20b/doc"
LOG = f"{TT_METAL}/18bb48a272f6470fd252f2176728cf1173a219ae/{MODEL}/optimized_decoder/work_log.md"
MESH = f"{TT_METAL}/1bb000d5d0266e4c6b1b476dfabc80c34caabaae/{MODEL}/multichip_decoder/work_log.md"
HIDDEN, QKV, HEADS, EXPERTS = 2880, 5120, 4096, 32


def _attention(block: Block, normed: Tensor, qkv: Tensor, sdpa_us: float, config: str | None) -> Tensor:
    q, k, v = block.heads_of_decode("heads", qkv, 14, heads=64, kv=8, size=64, users=1)
    tables = [block.tensor([1, 1, 32, 64]) for _ in range(2)]
    q, k = (block.rotary(f"rope_{name}", one, 6, decode=True, cores=1, tables=tables) for name, one in (("q", q), ("k", k)))  # fmt: skip
    cache = block.tensor([1, 8, 128, 64], "BFLOAT8_B")
    block.update_cache("cache_k", cache, k, 5)
    block.update_cache("cache_v", cache, v, 5)
    attended = block.attend_decode("sdpa", q, cache, sdpa_us, config=config, cores=64 if config else 8)
    placed = block.to_shards("attended_placed", attended, block.along(64, 64, 1), 3)
    return block.moved("joined", "NLPConcatHeadsDecode", placed, 4, shape=[1, 1, 32, HEADS], place=block.across(32, HEADS, 64), cores=64, num_heads=64, on_subcoregrids=False)  # fmt: skip


def _routing(block: Block, normed: Tensor) -> Tensor:
    wide = block.typecast("router_wide", normed, "FLOAT32", 5)
    logits = block.linear("router", wide, EXPERTS, 20, dtype="FLOAT32", fidelity="HiFi4", cores=1, out="FLOAT32", fp32=True)  # fmt: skip
    narrow = block.typecast("router_narrow", logits, "BFLOAT16", 3)
    best = block.op("topk", "TopK", (narrow,), (block.tensor([1, 1, 32, 4]), block.tensor([1, 1, 32, 4], "UINT16")), 18, cores=1, fidelity="HiFi4", dim=3, k=4, largest=True, sorted=True)  # fmt: skip
    soft = block.op("softmax", "Softmax", (best,), block.tensor([1, 1, 32, 4]), 8, cores=1, fidelity="HiFi4", dim=3, program_config="SoftmaxDefaultProgramConfig()")  # fmt: skip
    rows = block.moved("scores_rows", "UntilizeWithUnpadding", soft, 4, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
    spread = block.op(
        "scatter", "Scatter", (rows,), block.tensor([1, 1, 32, EXPERTS], layout=ROW_MAJOR), 12, cores=1
    )
    return block.moved("scores", "TilizeWithValPadding", spread, 5, layout="TILE", cores=1, fidelity="HiFi4")


def dense() -> Block:
    """All 32 experts as one batched matmul: 5856 us, 56 ops."""
    block = Block("blackhole")
    x = block.tensor([1, 1, 32, HIDDEN])
    normed = block.norm("norm_in", x, 58, cores=1)
    qkv = block.linear("qkv", normed, QKV, 73.75, fidelity="HiFi2", config=one_d((11, 10), 2, (1, 2), subblock=(1, 2)), cores=80, place=L1, bias=True)  # fmt: skip
    joined = block.from_shards("joined_flat", _attention(block, normed, qkv, 13.586, None), 4)
    out = block.linear("out", joined, HIDDEN, 71.421, fidelity="HiFi2", config=one_d((11, 10), 2, (1, 1)), cores=90, bias=True)  # fmt: skip
    x = block.binary("sum_attention", "ADD", x, out, 6)
    normed = block.norm("norm_feed", x, 58, cores=1)
    scores = _routing(block, normed)
    repeated = block.moved("repeated", "Repeat", normed, 24, shape=[1, EXPERTS, 32, HIDDEN])

    def batched(role: str, given: Tensor, n: int, us: float) -> Tensor:
        weight = block.tensor([1, EXPERTS, given.shape[-1], n])
        return block.op(role, "Matmul", (given, weight), block.tensor([1, EXPERTS, 32, n]), us, cores=110, fidelity="HiFi2", bcast_batch=False, compute_kernel_config=block.kernel("HiFi2"), output_dtype="DataType::BFLOAT16", output_mem_config=DRAM, program_config=None, transpose_a=False, transpose_b=False, user_core_coord=None, user_fused_activation=None)  # fmt: skip

    both = batched("experts_up", repeated, 2 * HIDDEN, 2597.105)
    both = block.binary("experts_up_bias", "ADD", both, block.tensor([1, EXPERTS, 1, 2 * HIDDEN]), 95)
    gate, up = (block.slice(f"experts_half{n}", both, (0, 0, 0, n * HIDDEN), (1, EXPERTS, 32, (n + 1) * HIDDEN), 52) for n in (0, 1))  # fmt: skip
    gate = block.unary("experts_clamp_gate", "MINIMUM", gate, 40, parameter="7")
    up = block.unary("experts_clamp_up", "CLAMP_TSS", up, 40, parameter="-7, 7")
    scaled = block.unary("experts_scale", "MUL_UNARY_SFPU", gate, 40, parameter="1.702")
    squashed = block.unary("experts_sigmoid", "SIGMOID", scaled, 52)
    glu = block.binary("experts_glu", "MUL", gate, squashed, 62)
    plus = block.unary("experts_plus", "ADD_UNARY_SFPU", up, 40, parameter="1")
    hidden = block.binary("experts_product", "MUL", plus, glu, 62)
    down = batched("experts_down", hidden, HIDDEN, 1945.872)
    down = block.binary("experts_down_bias", "ADD", down, block.tensor([1, EXPERTS, 1, HIDDEN]), 62)
    turned = block.permute("scores_turned", scores, (0, 3, 2, 1), 10)
    weighted = block.binary("experts_weighted", "MUL", down, turned, 62)
    total = block.op("experts_sum", "FastReduceNC", (weighted,), block.tensor([1, 1, 32, HIDDEN]), 70, cores=90, fidelity="HiFi4", dim=1)  # fmt: skip
    block.binary("sum_feed", "ADD", x, total, 6)
    return block


def chosen(
    block: Block, role: str, given: Tensor, n: int, us: float, *, experts: int = EXPERTS, grid: tuple[int, int] = (9, 10),
    size: int = 45, dtype: str = "BFLOAT8_B", fidelity: str = "LoFi", nnz: str = "std::nullopt", rows: int = 1,
    out: str = "BFLOAT16",
) -> Tensor:  # fmt: skip
    """Only the experts that the scores' rows name."""
    per_n = -(-n // 32 // (grid[0] * grid[1]))
    weight = block.tensor([1, experts, given.shape[-1], n], dtype)
    sparsity = block.tensor([1, 1, rows, experts], layout=ROW_MAJOR)
    return block.op(
        role, "SparseMatmul", (given, weight, sparsity), block.tensor([1, rows, 1, experts, 32, n], out), us,
        cores=grid[0] * grid[1], fidelity=fidelity, compute_kernel_config=block.kernel(fidelity),
        is_input_a_sparse=role.endswith("down"), is_input_b_sparse=True, nnz=nnz, output_dtype=f"DataType::{out}",
        output_mem_config=DRAM, program_config=one_d(grid, size, (1, per_n)), user_core_coord=None,
    )  # fmt: skip


def sparse(us: tuple[float, float, float] = (116.07, 116.04, 110.39), **how: object) -> Callable[[], Block]:
    """Active experts only, sharded norms and attention matmuls: 776 us, 75 ops."""

    def build() -> Block:
        block = Block("blackhole")
        x = block.to_shards("entry", block.tensor([1, 1, 32, HIDDEN]), block.across(32, HIDDEN, 10), 3)
        norm = norm_shards((10, 1), 9)
        normed = block.norm("norm_in", x, 12, cores=10, config=norm)
        spread = block.reshard("normed_placed", normed, block.across(32, HIDDEN, 45), 3)
        qkv = block.linear("qkv", spread, QKV, 73.5, fidelity="LoFi", config=one_d((11, 8), 2, (1, 2), subblock=(1, 2)), cores=80, place=block.across(32, QKV, 80), bias=True)  # fmt: skip
        joined = _attention(block, normed, block.from_shards("qkv_flat", qkv, 4, L1), 9.762, chunks(32, 32, (8, 8)))
        out = block.linear("out", joined, HIDDEN, 58.4, fidelity="LoFi", config=one_d((11, 9), 2, (1, 1)), cores=90, place=block.across(32, HIDDEN, 90), bias=True)  # fmt: skip
        out = block.reshard("out_placed", out, block.across(32, HIDDEN, 10), 3)
        x = block.binary("sum_attention", "ADD", x, out, 5, cores=10)
        normed = block.norm("norm_feed", x, 12, cores=10, config=norm)
        flat = block.from_shards("feed_flat", normed, 3, L1)
        scores = _routing(block, flat)
        rows = block.moved("sparsity", "Untilize", scores, 4, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
        gate, up = (chosen(block, role, flat, HIDDEN, took, **how) for role, took in (("experts_gate", us[0]), ("experts_up", us[1])))  # fmt: skip
        gate, up = (block.binary(f"{name}_bias", "ADD", one, block.tensor([1, 1, 1, EXPERTS, 1, HIDDEN]), 14) for name, one in (("gate", gate), ("up", up)))  # fmt: skip
        gate = block.unary("clamp_gate", "MINIMUM", gate, 9, parameter="7")
        up = block.unary("clamp_up", "CLAMP_TSS", up, 9, parameter="-7, 7")
        glu = block.binary("glu", "MUL", gate, gate, 13, rhs="SIGMOID")
        hidden = block.binary(
            "product", "MUL", block.unary("plus", "ADD_UNARY_SFPU", up, 9, parameter="1"), glu, 13
        )
        down = chosen(block, "experts_down", hidden, HIDDEN, us[2], **how)
        down = block.binary("down_bias", "ADD", down, block.tensor([1, 1, 1, EXPERTS, 1, HIDDEN]), 14)
        weighted = block.binary("weighted", "MUL", down, block.view(rows, [1, 1, 1, EXPERTS, 32, 1]), 14)
        total = block.op("sum_experts", "FastReduceNC", (weighted,), block.tensor([1, 1, 32, HIDDEN], place=L1), 20, cores=90, fidelity="HiFi4", dim=3)  # fmt: skip
        placed = block.to_shards("total_placed", total, block.across(32, HIDDEN, 10), 3)
        block.from_shards("exit", block.binary("sum_feed", "ADD", x, placed, 5, cores=10), 3)
        return block

    return build


def expert_parallel() -> Block:
    """128 tokens on four chips, eight experts on each, routed results in BFLOAT8_B: 25.7 ms."""
    block = Block("blackhole", devices=4)
    rows, local = 4, EXPERTS // 4
    x = block.tensor([1, 1, 32 * rows, HIDDEN])
    normed = block.norm("norm_in", x, 62, cores=4)
    qkv = block.linear("qkv", normed, QKV // 4, 55, config=one_d((10, 9), 9, (4, 2), subblock=(1, 2)), cores=20)
    q, k, v = block.split_heads("heads", qkv, 14, heads=16, kv=2, size=64, rows=32 * rows, cores=4)
    q, k = (block.rotary(f"rope_{name}", one, 9, decode=False) for name, one in (("q", q), ("k", k)))
    attended = block.attend("sdpa", q, k, v, 40, config=chunks(128, 128, (11, 10)), cores=16)
    out = block.linear("out", block.join_heads("joined", attended, 9, cores=4), HIDDEN, 48, cores=90)
    part = block.collective("scatter_attention", "ReduceScatterMinimalAsync", out, HIDDEN // 4, 120, cores=24)
    x = block.binary("sum_attention", "ADD", x, block.collective("gather_attention", "AllGatherAsync", part, HIDDEN, 25, cores=18), 9)  # fmt: skip
    normed = block.norm("norm_feed", x, 62, cores=4)
    _routing(block, normed)
    folded = block.view(normed, [1, rows, 32, HIDDEN])
    narrow = block.typecast("cast_in", folded, "BFLOAT8_B", 30)
    padded = block.moved("pad_in", "FillPad", narrow, 70)

    def routed(role: str, given: Tensor, us: float, grid: tuple[int, int]) -> Tensor:
        return chosen(block, role, given, HIDDEN, us, experts=local, grid=grid, rows=rows, size=45, fidelity="HiFi2", dtype="BFLOAT16", out="BFLOAT8_B")  # fmt: skip

    parts = []
    for name, us in (("gate", 5_050), ("up", 5_050)):
        y = block.moved(f"{name}_shaped", "ReshapeView", routed(f"experts_{name}", padded, us, (3, 5)), 745)
        y = block.moved(f"pad_{name}", "FillPad", y, 463)
        y = block.binary(f"{name}_bias", "ADD", block.typecast(f"cast_{name}", y, "BFLOAT16", 590), block.tensor([1, rows, 1, local, 1, HIDDEN]), 60)  # fmt: skip
        parts.append(block.unary(f"clamp_{name}", "CLAMP_TSS", y, 510, parameter="-7, 7"))
    glu = block.binary("glu", "MUL", parts[0], parts[0], 70, rhs="SIGMOID")
    hidden = block.binary("product", "MUL", block.unary("plus", "ADD_UNARY_SFPU", parts[1], 510, parameter="1"), glu, 70)  # fmt: skip
    hidden = block.typecast("cast_hidden", hidden, "BFLOAT8_B", 590)
    down = routed("experts_down", hidden, 3_510, (5, 6))
    down = block.moved("down_shaped", "ReshapeView", down, 745)
    down = block.typecast("cast_down", block.moved("pad_down", "FillPad", down, 462), "BFLOAT16", 590)
    weighted = block.binary("weighted", "MUL", down, block.tensor([1, rows, 1, local, 32, 1]), 70)
    weighted = block.typecast("cast_weighted", weighted, "BFLOAT8_B", 590)
    total = block.op("sum_experts", "FastReduceNC", (weighted,), block.tensor([1, 1, 32 * rows, HIDDEN], "BFLOAT8_B"), 120, cores=90, fidelity="HiFi4", dim=3)  # fmt: skip
    total = block.moved("total_shaped", "ReshapeView", total, 743)
    wide = block.typecast("cast_total", total, "BFLOAT16", 578)
    part = block.collective("scatter_fed", "ReduceScatterMinimalAsync", wide, HIDDEN // 4, 1_279, cores=24)
    block.binary(
        "sum_feed", "ADD", x, block.collective("gather_fed", "AllGatherAsync", part, HIDDEN, 26, cores=18), 9
    )
    return block


SMALL = "which small ops, and their times (their sum is told)"
EXPERT = "experts_gate experts_up experts_down"

GPT_OSS = (
    laid(
        "gpt-oss-decode-dense", LOG, "decode, all 32 experts multiplied in BFLOAT16: 5856 us, 56 ops",
        dense,
        (
            gain("sparse", "sparse_matmul of the four active experts, BFLOAT8_B", 4_200, "experts_up experts_down", r"sparse_matmul|active|chosen|only the (four |\d+ )?experts", "2597.1 + 1945.9 -> 342.5 us for three matmuls, device time"),
            gain("out", "the output projection on 90 cores, width-sharded, 1D config on 11x9", 13.2, "out", unbanked(rf"{CONFIG}|shard|\b1D\b"), "71.4 -> 58.3 us, device time"),
            gain("sdpa", "attention on 8x8 cores, k chunks of 32", 3.8, "sdpa", r"chunk|grid|SDPAProgramConfig", "13.6 -> 9.8 us, device time"),
            dead("qkv", "QKV with an L1-sharded input and output, 1D config on 11x8", "qkv", unbanked(rf"{CONFIG}|shard|\b1D\b"), "73.75 -> 72.4 and 73.5 us, device time"),
        ),
        f"that dense weights are BFLOAT16; {SMALL}",
        5855.8,
    ),
    laid(
        "gpt-oss-decode-sparse", LOG, "decode, four active experts on 90 cores, HiFi2: 776 us, 75 ops",
        sparse(fidelity="HiFi2"),
        (
            dead("lofi", "LoFi for the experts", EXPERT, LOFI, "834.6 -> 834.4 us of wall time"),
            dead("pack", "gate and up as one matmul", "experts_gate experts_up", PACKED, "873 -> 1150 us of wall time, casts and slices included"),
            dead("banks", "QKV and out DRAM-sharded", "qkv out", DRAM_SHARDED, "834 -> 852 us in BFLOAT16 and LoFi; 849 -> 921 us in BFLOAT8_B and HiFi2"),
            dead("wide-subblocks", "30 cores, three tiles of N each, subblock 3", EXPERT, r"subblock_?[hw]?\W{0,4}3|30 cores|(larger|wider) (output )?subblock", "834 -> 886 us of wall time"),
            dead("larger-blocks", "in0_block_w 90", EXPERT, r"in0_block_w\W{0,4}90|larger in0_block_w|increase in0_block_w", "834 -> 855 us of wall time"),
            dead("smaller-blocks", "in0_block_w 30", EXPERT, r"in0_block_w\W{0,4}30", "834 -> 875 us of wall time"),
            dead("chunks", "k chunks of 64 in attention", "sdpa", SDPA_CHUNKS, "847 us, no better than 32"),
            dead("dense-in-l1", "all experts dense, but chained through L1", EXPERT, r"dense|batched|all experts", "834 -> 5710 us of wall time"),
        ),
        f"each expert matmul's time is LoFi's; {SMALL}",
        775.8,
    ),
    laid(
        "gpt-oss-decode-bf16-experts", LOG, "decode, active experts in BFLOAT16, LoFi: 1068 us of wall time",
        sparse((195.3, 195.3, 186.0), dtype="BFLOAT16"),
        (gain("bfp8", "the experts' weights in BFLOAT8_B", 234.1, EXPERT, BFP8, "1068.4 -> 834.4 us of wall time"),),
        f"how the difference splits over the three; {SMALL}",
    ),
    laid(
        "gpt-oss-decode-30-cores", LOG, "decode, active experts on 30 cores: 942 us of wall time",
        sparse((152.7, 152.7, 145.1), grid=(5, 6)),
        (
            gain("cores", "90 cores, one tile of N each", 108.0, EXPERT, r"cores|grid|per_core_N", "942.3 -> 834.4 us of wall time"),
            gain("subblock", "subblock 1x3", 56.8, EXPERT, r"subblock", "942.3 -> 885.6 us of wall time"),
            dead("45-cores", "45 cores (9x5)", EXPERT, r"45 cores|9x5|\(9, ?5\)", "942 -> 963 us of wall time"),
        ),
        f"how the difference splits over the three; {SMALL}",
    ),
    laid(
        "gpt-oss-ep4-prefill", MESH, "128 tokens on four chips, eight experts on each: 26.7 ms of wall time",
        expert_parallel,
        (
            gain("gate-cores", "gate and up on 30 cores instead of 15", 1_690, "experts_gate experts_up", r"cores|grid|per_core_N", "26.677 -> 24.987 ms of wall time"),
            gain("down-cores", "down on 90 cores instead of 30", 231, "experts_down", r"90 cores|9x10|\(9, ?10\)|more cores|all (of )?the cores|grid", "26.677 -> 26.446 ms of wall time"),
            gain("bf16-between", "the routed matmuls write BFLOAT16: no fills and casts between", 1_869, "pad_* cast_gate cast_up cast_hidden cast_down cast_weighted", r"BFLOAT16|bfloat16|typecast|cast|FillPad|fill", "26.677 -> 24.808 ms of wall time; four fills and eight casts gone"),
            dead("45-cores", "down on 45 cores (5x9)", "experts_down", r"45 cores|5x9|\(5, ?9\)", "26.677 -> 26.742 ms of wall time"),
            dead("smaller-chunks", "64 or 32 rows at a time through the experts", EXPERT, r"\b(64|32) rows|smaller (chunk|batch)|chunks? of (64|32)", "26.677 -> 27.018 and 27.203 ms"),
        ),
        f"how sparse matmuls, casts, reshapes, fills and unary ops split over their ops (each kind's sum is told); {SMALL}",
    ),
)  # fmt: skip
