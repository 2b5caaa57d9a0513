"""What is known of kinds of op whose time no check explains: a sentence each, of what decides and what to try.

These are no findings: no line tells from a report whether they would help, and nothing is promised.
"""

from __future__ import annotations

_HEADS = (
    "of heads: pad the head size to 32 in the weights, then nlp_create_qkv_heads, nlp_concat_heads"
    # ttnn 0.81.1 has both; tt-metal PR #22938: 672 -> 612 ms over 70 attentions
)
_MASKS = "if it applies a mask: make it once outside the pass, or give it to fused attention (attn_mask, is_causal)"
HINTS = {
    # tt-metal PR #23257 and #22306 (SDXL); ttnn 0.81.1 chooses both
    "GroupNorm": (
        "cores and blocks decide: more cores and fewer num_out_blocks won in SDXL; without core_grid and "
        "num_out_blocks TTNN 0.81.1 chooses both; shards in L1 spare the DRAM"
    ),
    # docs.tenstorrent.com, ttnn.grid_sample
    "GridSample": (
        "a grid that stays the same can be prepared once (use_precomputed_grid=True), and K points in one row of it "
        "(last dim 2 K) make fewer, longer rows"
    ),
    # tech_reports/CNNs/cnn_optimizations.md
    "Halo": (
        "copies the borders of shards for the conv or pool behind it: keep one shard layout from conv to conv, and "
        "shards as tall as L1 allows"
    ),
    # a DeepLabV3 on Blackhole: 41.1 us left to TTNN in DRAM, 9.0 in height shards (8192x128 times 128x512)
    "Matmul": (
        "activations in L1 shards with a program_config took a fifth of the time of one left to TTNN in DRAM; "
        "check_setting without a value orders the legal blocks"
    ),
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
}


def hint_of(op_name: str) -> str | None:
    """What is known of ops of this canonical name; None where nothing is."""
    return HINTS.get(op_name)
