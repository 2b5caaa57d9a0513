"""Qwen3.8 Flash Next over four Blackhole chips (two P300): decode of one user, the delta rule's layer, experts dispatched.

The streams are split over the chips, so that each mixer gathers and sums; 128 experts live on each chip, and the tokens are
sent to them. The ledger lists the ops of one traced step with their times on one chip under the profiler, which it tells
to be half as long again as without; changes were timed on a traced step of three layers and the model's ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import L1, ROW_MAJOR, Block, one_d
from tests.frozen.flash_next import DOC, FLAT, rows, ternary, tiles
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, DRAM_SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

PROFILE = DOC.format("edc555ee86347fe4236366d1b7d2c3ee4cdf3f4d") + "phase0_4chip_profiler/README.md"
HEAD = DOC.format("8a7ed4dbfb6f8dae45a8ffbc41815af0f16f8dd2") + "optimized_full_model/README.md"
STEPS = DOC.format("edc555ee86347fe4236366d1b7d2c3ee4cdf3f4d") + "phase1_cfgA/README.md"
GRID, ALL_CORES, CHIPS = (11, 10), 110, 4
STREAMS, HIDDEN, INNER = 4, 2560, 320
LOCAL, EXPERTS, ACTIVE, WIDE, SIZE = HIDDEN // CHIPS, 512, 10, 640, 128
MIXED, GATES, VALUES = 10240, 96, 48


def linear(block: Block, role: str, x: Tensor, n: int, us: float, cores: int, out: str = "BFLOAT16") -> Tensor:  # noqa: PLR0917
    deep, per_n = x.shape[-1] // 32, -(-n // 32 // cores)
    block_w = next(one for one in (8, 5, 4, 2, 1) if deep % one == 0)
    return block.linear(role, x, n, us, dtype="BFLOAT8_B", config=one_d(FLAT[cores], block_w, (1, per_n)), cores=min(cores, -(-n // 32)), place=L1, out=out)  # fmt: skip


def mixed(block: Block, name: str, x: Tensor) -> tuple[Tensor, Tensor]:
    """Statistics of a norm gathered, the mixer's partial sums reduced, its mean gathered."""
    stats = block.op(f"{name}_statistics", "LayerNormPreAllGather", (x,), block.tensor([1, 1, STREAMS, 32], place=L1), 9, cores=1, fidelity="HiFi4", norm_type="LayerNormType::RMSNORM", compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    stats = block.collective(f"{name}_statistics_gather", "AllGather", stats, 32 * CHIPS, 22)
    normed = block.op(f"{name}_norm", "LayerNormPostAllGather", (x, stats), block.tensor(x.shape, place=L1), 9, cores=1, fidelity="HiFi4", norm_type="LayerNormType::RMSNORM", eps="1e-06", compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    both = linear(block, f"{name}_down_inject", normed, INNER + STREAMS, 13, 10)
    parts = block.collective(f"{name}_broadcast", "AllBroadcast", both, both.shape[-1], 13)
    joined = block.concat(f"{name}_parts", [parts] * CHIPS, [CHIPS, 1, STREAMS, INNER + STREAMS], 0, 4)
    both = block.op(f"{name}_sum", "MorehSum", (joined,), block.tensor(both.shape, place=L1), 5, cores=11, fidelity="HiFi4", dim=0, keepdim=True, compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    inner = block.slice(f"{name}_inner", both, (0, 0, 0, 0), (1, 1, STREAMS, INNER), 4)
    inject = block.slice(f"{name}_inject", both, (0, 0, 0, INNER), (1, 1, STREAMS, INNER + STREAMS), 4)
    up = linear(block, f"{name}_up", block.unary(f"{name}_silu", "SILU", inner, 3, cores=10), LOCAL, 9, 20)
    one = block.moved(f"{name}_streams", "ReshapeView", up, 14, shape=[1, 1, STREAMS, LOCAL], cores=20)
    one = block.binary(f"{name}_weighed", "MUL", one, x, 4, cores=20)
    one = block.moved(f"{name}_filled", "FillPad", one, 6, cores=20)
    mean = block.op(f"{name}_mean", "Reduce", (one,), block.tensor([1, 1, 1, LOCAL], place=L1), 7, cores=20, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM", compute_kernel_config=block.kernel("HiFi4"))  # fmt: skip
    return block.collective(f"{name}_gather", "AllGather", mean, HIDDEN, 9), inject


def injected(block: Block, name: str, x: Tensor, out: Tensor, inject: Tensor) -> Tensor:
    wide = block.moved(f"{name}_spread", "Repeat", out, 6, shape=[1, 1, STREAMS, LOCAL], cores=20)
    share = block.binary(f"{name}_share", "MUL", wide, block.view(inject, [1, 1, STREAMS, STREAMS]), 5, cores=20, rhs="SIGMOID")  # fmt: skip
    return ternary(block, f"{name}_added", (x, share, block.tensor(x.shape, place=L1)), 5)


def delta(block: Block, x: Tensor) -> Tensor:
    wide = linear(block, "gdn_qkv_b_a", x, MIXED + GATES, 85, 110, "FLOAT32")
    new = block.slice("gdn_new", wide, (0, 0, 0, 0), (1, 1, 1, MIXED), 90)
    small = [block.slice(f"gdn_{name}", wide, (0, 0, 0, MIXED + at), (1, 1, 1, MIXED + at + VALUES), 5) for name, at in (("beta", 0), ("decay", VALUES))]  # fmt: skip
    z = linear(block, "in_proj_z", x, VALUES * SIZE, 55, 48)
    taps = [block.tensor([1, 1, 1, MIXED], "FLOAT32", L1) for _ in range(3)]
    state = block.tensor([1, VALUES, SIZE, SIZE], "FLOAT32")
    state = block.moved("gdn_state_in", "Copy", state, 26, place=L1, cores=ALL_CORES)
    for number, tap in enumerate(taps):
        block.moved(f"gdn_tap_in_{number}", "Copy", tap, 4, cores=ALL_CORES)
    total = block.binary("gdn_tap", "MUL", new, taps[0], 12, cores=ALL_CORES)
    for number, tap in enumerate(taps):
        total = ternary(block, f"gdn_tap_{number}", (total, tap, taps[0]), 12)
    total = block.unary("gdn_silu", "SILU", total, 9, cores=ALL_CORES)
    again = linear(block, "gdn_again", x, MIXED + GATES, 121, 110, "FLOAT32")
    block.slice("gdn_again_new", again, (0, 0, 0, 0), (1, 1, 1, MIXED), 86)
    for number, tap in enumerate(taps):
        block.moved(f"gdn_keep_{number}", "Copy", tap, 9.7, cores=ALL_CORES)
    heads: list[Tensor] = []
    for name, at, us in (("q", 0, 12), ("k", 2048, 12)):
        one = block.slice(f"gdn_{name}", total, (0, 0, 0, at), (1, 1, 1, at + 2048), 6)
        one = block.moved(f"gdn_{name}_heads", "ReshapeView", one, us, shape=[1, 1, 16, SIZE], cores=16)
        flat = rows(block, f"gdn_{name}_rows", block.norm(f"gdn_{name}_norm", one, 9, cores=1), 8)
        flat = block.concat(f"gdn_{name}_thrice", [flat] * 3, [1, 16, 3, SIZE], 2, 8)
        flat = tiles(block, f"gdn_{name}_tiles", block.view(flat, [1, VALUES, 1, SIZE]), 8, 48)
        heads.append(
            block.moved(f"gdn_{name}_columns", "ReshapeView", flat, 34, shape=[1, VALUES, SIZE, 1], cores=48)
        )
    v = block.moved("gdn_v_heads", "ReshapeView", block.slice("gdn_v", total, (0, 0, 0, 4096), (1, 1, 1, MIXED), 8), 33, shape=[1, VALUES, 1, SIZE], cores=48)  # fmt: skip
    decay = block.unary("gdn_softplus", "SOFTPLUS", small[1], 57, cores=4)
    beta = block.unary("gdn_beta_sigmoid", "SIGMOID", small[0], 6, cores=2)
    out = block.op("gdn_recurrence", "RecurrentGatedDeltaRule", (*heads, v, decay, beta, state), (block.tensor([1, VALUES, 1, SIZE], "FLOAT32", L1), state), 26, cores=48, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True))  # fmt: skip
    block.moved("gdn_state_out", "Copy", state, 42, cores=ALL_CORES)
    out = block.norm("gdn_out_norm", block.moved("gdn_out_heads", "ReshapeView", out, 16, shape=[1, 1, VALUES, SIZE], cores=48), 10, cores=2)  # fmt: skip
    gate = block.unary("gdn_gate", "SIGMOID", block.moved("gdn_z_heads", "ReshapeView", z, 14, shape=[1, 1, VALUES, SIZE], cores=48), 19, cores=8)  # fmt: skip
    out = block.typecast(
        "gdn_narrow", block.binary("gdn_gated", "MUL", out, gate, 6, cores=8), "BFLOAT16", 4, cores=8
    )
    out = block.moved("gdn_joined", "ReshapeView", out, 14, shape=[1, 1, 1, VALUES * SIZE], cores=48)
    return linear(block, "gdn_out", out, LOCAL, 41, 20)


def experts(block: Block, x: Tensor) -> Tensor:
    """Rows sent to where their experts live, and back."""
    wide = linear(block, "moe_input", x, EXPERTS + 2 * WIDE // CHIPS + 32, 15, 40)
    logits = block.slice("router", wide, (0, 0, 0, 0), (1, 1, 1, EXPERTS), 7)
    halves = [block.slice(f"shared_{name}", wide, (0, 0, 0, a), (1, 1, 1, a + 160), 6) for name, a in (("gate", EXPERTS), ("up", EXPERTS + 160))]  # fmt: skip
    best = (block.tensor([1, 1, 1, ACTIVE], place=L1), block.tensor([1, 1, 1, ACTIVE], "UINT16", L1))
    scores = block.softmax("scores", block.op("topk", "TopK", (logits,), best, 76, cores=1, fidelity="HiFi4", dim=3, k=ACTIVE, largest=True, sorted=True), 8, cores=1)  # fmt: skip
    numbers = block.moved("numbers_filled", "FillPad", block.typecast("numbers", best[1], "UINT32", 8, cores=1), 14, cores=1)  # fmt: skip
    numbers = rows(block, "numbers_rows", block.moved("numbers_padded", "Pad", numbers, 18, shape=[1, 1, 32, ACTIVE], cores=1), 10)  # fmt: skip
    counts = block.op("counted", "MaskedBincount", (numbers,), block.tensor([1, EXPERTS], "UINT32", layout=ROW_MAJOR), 123, cores=64, num_experts=EXPERTS)  # fmt: skip
    counts = block.collective("counts_gather", "AllGather", counts, EXPERTS * CHIPS, 120)
    offsets = block.op("offsets", "OffsetCumsum", (counts,), block.tensor([CHIPS, EXPERTS], "UINT32", layout=ROW_MAJOR), 43, cores=1, cluster_axis=1)  # fmt: skip
    row = rows(block, "moe_rows", x, 8)
    sent = block.op("dispatched", "Dispatch", (row, numbers, offsets), block.tensor([1, 1, 320, HIDDEN], layout=ROW_MAJOR), 27, cores=8, cluster_axis=1, num_links=2, topology="Topology::Linear")  # fmt: skip
    sent = block.moved("dispatched_tiles", "Tilize", sent, 57, layout="TILE", cores=10, fidelity="HiFi4")
    weights = [
        block.tensor([1, EXPERTS // CHIPS, k, n], "BFLOAT4_B") for k, n in ((HIDDEN, 2 * WIDE), (WIDE, HIDDEN))
    ]
    out = block.op("experts", "UnifiedRoutedExpertFfn", (sent, offsets, *weights), block.tensor([1, 1, 320, HIDDEN]), 152, cores=ALL_CORES, fidelity="LoFi", compute_kernel_config=block.kernel("LoFi"))  # fmt: skip
    back = block.op("combined", "Combine", (out, numbers, offsets), block.tensor([1, 32, ACTIVE, HIDDEN], layout=ROW_MAJOR), 80, cores=8, cluster_axis=1, num_links=2, topology="Topology::Linear")  # fmt: skip
    column = block.moved("scores_shaped", "ReshapeView", scores, 83, shape=[1, 32, ACTIVE, 1], cores=1)
    total = block.op("total", "PostCombineReduce", (back, column), block.tensor([1, 1, 32, HIDDEN]), 202, cores=32, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4"), expert_dim=2)  # fmt: skip
    total = block.collective("feed_scatter", "ReduceScatterMinimalDirect", total, LOCAL, 217)
    shared = block.binary("shared_gated", "MUL", halves[1], halves[0], 9, cores=5, rhs="SILU")
    shared = linear(block, "shared_down_proj", block.binary("shared_weighted", "MUL", shared, shared, 9, cores=5, rhs="SIGMOID"), HIDDEN, 7, 40)  # fmt: skip
    shared = block.collective("shared_scatter", "ReduceScatterMinimalDirect", shared, LOCAL, 18)
    return block.binary("shared_added", "ADD", block.slice("feed_row", total, (0, 0, 0, 0), (1, 1, 1, LOCAL), 6), shared, 6, cores=20)  # fmt: skip


def decode() -> Block:
    block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1)
    x = block.tensor([1, 1, STREAMS, LOCAL])
    one, inject = mixed(block, "attn_hc", x)
    x = injected(block, "attn_hc", x, delta(block, one), inject)
    one, inject = mixed(block, "mlp_hc", x)
    injected(block, "mlp_hc", x, experts(block, one), inject)
    return block


def head(dtype: str, us: float) -> Callable[[], Block]:
    """What turns the streams' mean into a token on two chips: four matmuls on each."""

    def build() -> Block:
        block = Block("blackhole", devices=2, grid=GRID, gap_us=1)
        x = block.norm("norm", block.tensor([1, 1, 1, HIDDEN], place=L1), 36, cores=1)
        words = (32768, 32768, 32768, 25856)
        parts = [block.linear(f"head_{number}", x, count, us * count / sum(words), dtype=dtype, cores=ALL_CORES) for number, count in enumerate(words)]  # fmt: skip
        logits = block.concat("logits", parts, [1, 1, 1, sum(words)], 3, 150)
        logits = block.collective(
            "logits_gather", "AllGather", logits, 2 * sum(words), 401, ring=2, topology="Linear"
        )
        flat = block.moved("logits_rows", "UntilizeWithUnpadding", logits, 39, layout=ROW_MAJOR, cores=ALL_CORES, fidelity="HiFi4")  # fmt: skip
        block.op("token", "ArgMax", (flat,), block.tensor([1, 1, 1, 1], "UINT32", layout=ROW_MAJOR), 51, cores=ALL_CORES, dim=3, keepdim=True, use_multicore=True)  # fmt: skip
        return block

    return build


MOE = "counted counts_gather offsets moe_rows dispatched dispatched_tiles experts combined scores_shaped total feed_scatter shared_scatter"

FLASH_NEXT_MESH = (
    laid(
        "flashnext-tp4-delta", STEPS, "decode on four chips, the delta rule's layer, experts dispatched: about 2.8 ms in kernels under the profiler",
        decode,
        (
            gain("banks", "each chip's experts by sparse matmuls of the ten chosen, one sum over the chips", 530.0, MOE, r"sparse_matmul|without (the )?(dispatch|combin)|(drop|remov|no).{0,30}dispatch", "7.77 -> 6.18 ms of a traced step of three layers: 1.59 / 3"),
            gain("again", "the tap from the first projection, not from a second one", None, "gdn_again gdn_again_new", r"(second|duplicate|redundant|twice|same|again|repeat).{0,80}(matmul|projection)|(matmul|projection).{0,80}(second|duplicate|redundant|twice|same|again|repeat)", "121 and 86 us under the profiler; gone, but timed only with other changes", PROFILE),
            gain("split", "the gates' 96 columns by a matmul of their own", None, "gdn_qkv_b_a gdn_new gdn_beta gdn_decay", r"split|separate|own (matmul|projection)|two (matmuls|projections)|without.{0,20}slic", "a slice of 90 us under the profiler; gone, but timed only with other changes", PROFILE),
            dead("state", "the state in DRAM, without its way to L1 and back", "gdn_state_in gdn_state_out", r"DRAM|in place|copy|copies", "neutral on a traced step of three layers"),
            dead("streams", "all streams on each chip, mixers without collectives", "attn_hc_statistics_gather attn_hc_broadcast attn_hc_gather mlp_hc_statistics_gather mlp_hc_broadcast mlp_hc_gather", r"replicat|without (the )?(gather|collective)|(drop|remov|no).{0,30}(gather|collective)", "not faster, says the ledger without a figure"),
        ),
        "columns of the packed projections on a chip, cores, formats but those told, times of small ops, gaps", 2790,
    ),
    laid(
        "flashnext-tp2-head-bf16", HEAD, "the head of one user on two chips, weights in BFLOAT16: 1.69 ms a row",
        head("BFLOAT16", 1617),
        (gain("bfp8", "BFLOAT8_B for the head's weights", 721.0, "head_*", BFP8, "1.693 -> 0.972 ms a row, HiFi2 in both"),),
        "kernel times of the head in BFLOAT16, the norm and the join of its four parts, gaps",
    ),
    laid(
        "flashnext-tp2-head", HEAD, "the head of one user on two chips, weights in BFLOAT8_B: 897 us of the head, 491 us of the sampling, in kernels",
        head("BFLOAT8_B", 896.8),
        (
            dead("banks", "five or fewer parts over the DRAM banks, from 40 shards", "head_*", DRAM_SHARDED, "0.972 -> 1.331 ms a row with five parts; refused with four and with one: no room for the circular buffers"),
            dead("candidates", "the best 32 of each chip gathered, instead of all words and one argmax", "logits_gather logits_rows token", r"top.?k|local|candidates|each chip", "0.664 -> 0.899 ms of the sampling"),
        ),
        "the norm and the join of the head's four parts, cores, gaps",
    ),
)  # fmt: skip
