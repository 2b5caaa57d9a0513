"""What is known of kinds of op whose time no check explains: a sentence each, of what decides and what to try.

These are no findings: no line tells from a report whether they would help, and nothing is promised.
"""

from __future__ import annotations

_HEADS = (
    "of heads: pad the head size to 32 in the weights, then nlp_create_qkv_heads, nlp_concat_heads"
    # ttnn 0.81.1 has both; tt-metal PR #22938: 672 -> 612 ms over 70 attentions
)
_ELEMENTWISE = "takes its bytes: operands in L1, or as activations= of the op before it"
_LAYOUTS = (
    "element-wise ops and sliced convs take both layouts: leave the conversion out, or convert once, where least"
)
_SHARDS = (
    "no move where the next op takes the same shards: memory_config of the op that writes; inside ttnn.conv2d "
    "slice_config=ttnn.Conv2dL1FullSliceConfig"
)
_SLICES = "of a conv in slices of DRAM: slice_config=ttnn.Conv2dL1FullSliceConfig if it fits L1, else fewer slices"
_MASKS = "if it applies a mask: make it once outside the pass, or give it to fused attention (attn_mask, is_causal)"
HINTS = {
    # tt-metal PR #23257 and #22306 (SDXL); ttnn 0.81.1 chooses both
    "GroupNorm": (
        "cores and blocks decide: more cores and fewer num_out_blocks won in SDXL; without core_grid and "
        "num_out_blocks TTNN 0.81.1 chooses both; shards in L1 spare the DRAM"
    ),
    # kernels of ttnn 0.81.1; an OFT: 480x512 on 5x4 cores in BLOCK shards, 1920x256 on 20 in HEIGHT shards
    "GroupNorm in shards": (
        "a core takes its groups one by one, and HEIGHT shards give each core all of them; BLOCK shards share them out "
        "over columns: 33 us with 4 groups a core, 228 with 16, in an OFT"
    ),
    # docs.tenstorrent.com, ttnn.grid_sample; an OFT on Blackhole: images of 24x80 and 48x160 took the same
    "GridSample": (
        "its time goes with the points, not with the image: points prepared once on the host, K in each row of "
        "the grid, and shards in L1 spare waits"
    ),
    # tech_reports/CNNs/cnn_optimizations.md
    "Halo": (
        "copies borders of shards for the conv or pool behind it: one layout from conv to conv, shards as tall "
        "as L1 allows"
    ),
    # a DeepLabV3 on Blackhole: 41.1 us left to TTNN in DRAM, 9.0 in height shards (8192x128 times 128x512)
    "Matmul": (
        "activations in L1 shards with a program_config took a fifth of one left to TTNN in DRAM; check_setting orders "
        "the legal blocks"
    ),
    # tech_reports/CNNs/cnn_optimizations.md; a 1x1 conv of stride 1 runs as a Matmul
    "Conv2d": (
        "shard layout (HEIGHT for tall images, BLOCK or WIDTH for many channels), tallest act_block_h, both double "
        "buffers: check_setting judges each"
    ),
    # tt-metal #18240: of YOLOv4; more layouts since PR #21137
    "Pool2D": (
        "keep the shards of the conv before it: on twice the cores its halo lost what a pool won; BLOCK or WIDTH "
        "shards for many channels"
    ),
    # the law of norms in shards (ttnn://laws), of seven measurements on Wormhole
    "LayerNorm": (
        "about 9 us stay on Wormhole whatever the cores; L1 shards with a sharded program config helped (check_setting "
        "orders core_grid), and weight, bias and residual in the same call"
    ),
    # tt-metal's experimental/minimal_matmul: its blocks are its only setting
    "MinimalMatmul": (
        "blocks of M, K and N decide, 8 tiles each as a start; with few rows ttnn.linear with a program_config, whose "
        "weights stream at DRAM's rate, is faster"
    ),
    # tech_reports/LLMs/llms.md 2.5.6; ttnn 0.81.1 takes both layouts in BinaryNg and Unary
    **dict.fromkeys(("Binary", "Unary"), _ELEMENTWISE),
    # tt-metal PR #25072 (sliced convs), ttnn 0.81.1 on a mock device (element-wise ops)
    **dict.fromkeys(("Tilize", "TilizeWithValPadding", "Untilize", "UntilizeWithUnpadding"), _LAYOUTS),
    # conv2d_nanobind.cpp and PR #27147 of tt-metal
    **dict.fromkeys(("ShardedToInterleaved", "InterleavedToSharded", "Reshard"), _SHARDS),
    **dict.fromkeys(("SliceWrite", "PaddedSlice"), _SLICES),
    # tt-metal #55758 and #55759
    "ScaledDotProductAttention": (
        "81 % of the engine is the best that was measured: try chunks of 256 to 512, and fp32_dest_acc_en=False, "
        "which takes a faster kernel"
    ),
    # tt-metal, MiniMax-H3's performance log: 8.43 -> 7.56 ms over a ring of 8
    "RingJointSDPA": (
        "chunks of 320 x 384 took a tenth less than 256 x 512 over 4768 rows, if they fit L1; the grid must leave the "
        "column of the exchange free"
    ),
    **dict.fromkeys(("Pad", "Permute", "Transpose", "Concat"), _HEADS),
    **dict.fromkeys(("Where", "Ternary"), _MASKS),
    # tt-metal #38487 (widths), autoports of Nemotron 3 Nano and gpt-oss (argmax of rows on all cores)
    "TopK": (
        "greedy sampling needs none: ttnn.argmax(logits in ROW_MAJOR, dim=-1) works on all cores; otherwise widths "
        "that are powers of two up to 32,768, split before and merged"
    ),
}


def hint_of(op_name: str, *, sharded: bool = False) -> str | None:
    """What is known of ops of this canonical name, whose input lies in shards or not; None where nothing is."""
    return (HINTS.get(f"{op_name} in shards") if sharded else None) or HINTS.get(op_name)
