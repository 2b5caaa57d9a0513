"""RF-DETR base (boxes in a picture) on one Blackhole chip: a block of its backbone, and a layer of its decoder, in a trace.

DINOv2 ViT-S/14 in 16 windows of 101 tokens, 384 channels, 6 heads of 64; a decoder of three layers over 300 queries of 256,
with 8 heads of 32 among them and 16 heads of 16 that sample a map of 40 x 40. The README tells a picture's time per change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import IN_L1, LOFI

if TYPE_CHECKING:
    from tests.profiles import Tensor

README = "https://github.com/changh95/tt-RF-DETR/blob/0c4586095eef4ce5ae9a470e7c22a2633bdcd620/README.md"
GRID, CORES, QUERIES, WIDE = (11, 10), 110, 300, 256


def backbone() -> Block:
    """All in DRAM, attention op by op."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    windows, rows, hidden, heads = 16, 101, 384, 6
    of = {"cores": CORES, "bias": True}
    x = block.tensor([windows, 1, rows, hidden])
    y = block.norm("norm", x, 34, cores=64, kind="LAYERNORM")
    y = block.linear("qkv", y, 3 * hidden, 195, **of)
    q, k, v = block.split_heads("heads", y, 42, heads=heads, kv=heads, size=64, rows=rows, batch=windows, cores=64)
    k = block.turned("turned", k, 30, cores=CORES)
    y = block.product("scores", q, k, 130, cores=CORES, fidelity="HiFi2", fp32=False)
    y = block.binary("scaled", "MUL", y, block.tensor([1, 1, 1, 1]), 30, cores=CORES)
    y = block.binary("masked", "ADD", y, block.tensor([1, 1, 1, rows]), 30, cores=CORES)
    y = block.softmax("softmax", y, 60, cores=CORES, fp32=False)
    y = block.product("context", y, v, 115, cores=CORES, fidelity="HiFi2", fp32=False)
    y = block.join_heads("join", y, 30, cores=64)
    y = block.linear("proj", y, hidden, 130, **of)
    y = block.binary("proj_scale", "MUL", y, block.tensor([1, 1, 1, hidden]), 27, cores=CORES)
    x = block.binary("add", "ADD", x, y, 28, cores=CORES)
    y = block.norm("norm_feed", x, 34, cores=64, kind="LAYERNORM")
    y = block.linear("fc1", y, 4 * hidden, 290, act="GELU", **of)
    y = block.linear("fc2", y, hidden, 400, **of)
    y = block.binary("fc2_scale", "MUL", y, block.tensor([1, 1, 1, hidden]), 27, cores=CORES)
    block.binary("add_feed", "ADD", x, y, 28, cores=CORES)
    return block


def among(block: Block, x: Tensor, place: Tensor) -> Tensor:
    """Self attention of the queries, op by op."""
    where = block.binary("self_place", "ADD", x, place, 9, cores=80)
    turned: list[Tensor] = []
    for role, source in (("q", where), ("k", where), ("v", x)):
        y = block.linear(f"self_{role}", source, WIDE, 20, cores=80, bias=True)
        y = block.moved(f"self_{role}_heads", "ReshapeView", y, 26, shape=[1, QUERIES, 8, 32], cores=CORES)
        turned.append(block.turned(f"self_{role}_turned", y, 22, dims="CH", cores=CORES))
    k = block.turned("self_k_across", turned[1], 14, cores=80)
    y = block.product("self_scores", turned[0], k, 22, cores=80, fidelity="HiFi2", fp32=False)
    y = block.softmax("self_softmax", y, 24, cores=80, fp32=False)
    y = block.product("self_context", y, turned[2], 22, cores=80, fidelity="HiFi2", fp32=False)
    y = block.turned("self_back", y, 22, dims="CH", cores=CORES)
    y = block.moved("self_joined", "ReshapeView", y, 26, shape=[1, 1, QUERIES, WIDE], cores=CORES)
    y = block.linear("self_out", y, WIDE, 20, cores=80, bias=True)
    return block.binary("self_add", "ADD", x, y, 9, cores=80)


def sampled(block: Block, x: Tensor, place: Tensor) -> Tensor:
    """Deformable attention: 16 heads sample two points each of one map, through grid_sample."""
    heads, points, side = 16, 2, 40
    where = block.binary("cross_place", "ADD", x, place, 9, cores=80)
    value = block.linear("cross_value", block.tensor([1, 1, side * side, WIDE]), WIDE, 26, cores=CORES, bias=True)
    value = block.moved("cross_value_rows", "UntilizeWithUnpadding", value, 30, layout=ROW_MAJOR, cores=CORES, use_multicore=True)  # fmt: skip
    value = block.moved(
        "cross_value_heads", "ReshapeView", value, 40, shape=[side * side, heads, 1, 16], cores=CORES
    )
    value = block.permute("cross_value_turned", value, (1, 2, 0, 3), 90)
    value = block.moved("cross_value_pad", "Pad", value, 50, shape=[heads, side, side, 32], cores=CORES)
    offset = block.linear("cross_offset", where, 2 * heads * points, 14, cores=32, bias=True)
    offset = block.binary("cross_offset_size", "MUL", offset, block.tensor([1, 1, QUERIES, 1]), 9, cores=32)
    offset = block.binary("cross_offset_from", "ADD", offset, block.tensor([1, 1, QUERIES, 64]), 9, cores=32)
    offset = block.unary("cross_grid", "MUL_UNARY_SFPU", offset, 7, cores=32)
    offset = block.moved("cross_grid_rows", "UntilizeWithUnpadding", offset, 16, layout=ROW_MAJOR, cores=10, use_multicore=True)  # fmt: skip
    offset = block.moved(
        "cross_grid_heads", "ReshapeView", offset, 34, shape=[QUERIES, heads, points, 2], cores=CORES
    )
    offset = block.permute("cross_grid_turned", offset, (1, 0, 2, 3), 55)
    weight = block.linear("cross_weight", where, heads * points, 12, cores=16, bias=True)
    weight = block.moved(
        "cross_weight_heads", "ReshapeView", weight, 40, shape=[1, QUERIES, heads, points], cores=CORES
    )
    weight = block.softmax("cross_softmax", weight, 26, cores=CORES, fp32=False)
    weight = block.permute("cross_weight_turned", weight, (0, 2, 1, 3), 45)
    found = block.op("cross_sample", "GridSample", (value, offset), block.tensor([heads, QUERIES, points, 32], layout=ROW_MAJOR), 350, cores=CORES, mode="bilinear", padding_mode="zeros")  # fmt: skip
    found = block.slice("cross_unpad", found, (0, 0, 0, 0), (heads, QUERIES, points, 16), 40)
    found = block.moved(
        "cross_tiles", "TilizeWithValPadding", found, 60, layout="TILE", cores=CORES, use_multicore=True
    )
    weight = block.moved("cross_weight_shaped", "ReshapeView", weight, 45, shape=[heads, QUERIES, points, 1], cores=CORES)  # fmt: skip
    found = block.binary("cross_times", "MUL", found, weight, 60, cores=CORES)
    found = block.op("cross_sum", "Reduce", (found,), block.tensor([heads, 1, QUERIES, 16]), 55, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::H", math_op="ReduceOpMath::SUM")  # fmt: skip
    found = block.permute("cross_back", found, (1, 2, 0, 3), 60)
    found = block.moved("cross_joined", "ReshapeView", found, 45, shape=[1, 1, QUERIES, WIDE], cores=CORES)
    found = block.linear("cross_out", found, WIDE, 20, cores=80, bias=True)
    return block.binary("cross_add", "ADD", x, found, 9, cores=80)


def decoder() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    x, place = (block.tensor([1, 1, QUERIES, WIDE]) for _ in range(2))
    x = block.norm("norm_self", among(block, x, place), 14, cores=10, kind="LAYERNORM")
    x = block.norm("norm_cross", sampled(block, x, place), 14, cores=10, kind="LAYERNORM")
    y = block.linear("ffn_in", x, 2048, 36, cores=CORES, bias=True)
    y = block.unary("ffn_relu", "RELU", y, 14, cores=CORES)
    y = block.linear("ffn_out", y, WIDE, 48, cores=80, bias=True)
    y = block.binary("ffn_add", "ADD", x, y, 9, cores=80)
    block.norm("norm_ffn", y, 14, cores=10, kind="LAYERNORM")
    return block


ATTENTION = "turned scores scaled masked softmax context"
MATMULS = "qkv proj proj_scale add fc1 fc2 fc2_scale add_feed"
SDPA = r"scaled_dot_product_attention|\bSDPA\b"
FUSED = rf"{SDPA}|minimal_matmul|addcmul"
RF_DETR = (
    laid(
        "rf-detr-backbone", README, "a block of the backbone, in DRAM: 31.0 ms for a picture with all that is around it", backbone,
        (
            gain("l1", "the backbone's working set in L1", 416, "*", IN_L1, "31.0 -> 26.0 ms of the traced picture, shared by twelve blocks"),
            gain("fused", "SDPA without a mask, and minimal_matmul with scale and sum in it", 890, f"{ATTENTION} {MATMULS}", FUSED, "25.5 -> 14.4 ms of the traced picture, after L1, of which one block that is left out is taken off; shared by eleven"),
            dead("lofi", "LoFi for the backbone's matmuls", "qkv proj fc1 fc2", LOFI, "20.80 pictures a second, 21.31 before, and worse boxes: not bound by fidelity"),
            dead("folded", "scales of attention and of the layer in the weights before them", "scaled proj_scale fc2_scale", r"fold|into the weights", "20.69 pictures a second, 21.31 before, and worse boxes"),
            dead("fp32", "fp32 sums for the matmuls", "qkv proj fc1 fc2", r"fp32_dest_acc_en", "hangs; with minimal_matmul it runs, and the boxes are worse"),
            dead("merged", "all windows in one SDPA with a mask of blocks", ATTENTION, r"block.diagonal|cu_window_seqlens|(one|merged).{0,30}SDPA", "slower: sixteen times the work; and not the same from run to run"),
        ),
        "how a block's ops share its time; that it takes 1.66 ms, from what both changes saved; formats and fidelity; core counts; gaps",
    ),
    laid(
        "rf-detr-decoder", README, "a layer of the decoder: 1.79 ms, three of them", decoder,
        (
            gain("sampled", "deformable attention as one op of TTNN's, its grid in one matmul", 857, "cross_*", r"multi_scale_deformable_attn", "11.75 -> 9.18 ms of the traced picture, a third of it"),
            gain("self", "SDPA and one projection for queries, keys and values", 130, "self_*", rf"{FUSED}|one projection|\bqkv\b", "9.18 -> 8.79 ms of the traced picture, a third of it"),
            gain("ffn", "RELU and the sum in the feed-forward's matmuls", 36.7, "ffn_*", r"fused_activation|activation=|minimal_matmul|addcmul", "0.11 ms of the trace, a third of it"),
            dead("framework", "ops run one after the other, or side by side, in one launch", "self_* cross_* ffn_*", r"op.fusion|Sequential|Parallel\(", "not to be captured in a trace, and no device time won"),
        ),
        "how a layer's ops share its time, and their number; core counts; default fidelity; gaps",
        pass_us=1790,
    ),
)  # fmt: skip
