"""Qwen3.8 27B on one Blackhole chip: a decode step of one user through a layer with full attention; a long prefill.

Hidden 5120, 24 heads over 4 KV heads of 256 with a gate on the attention, SwiGLU of 17408.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block, chunks, minimal, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, CORES, DRAM_SHARDED, IN_L1, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = f"{TT_METAL}/f33ab5872a45a65443003ca9c9cc130dd3ff2206/models/autoports/qwen_qwen3_8_27b/doc"
README = f"{FOLDER}/optimized_decoder/README.md"
LOG = f"{TT_METAL}/bf45adb3d50af529f239a0a7c22e0b3d155eb6ab/models/autoports/qwen_qwen3_8_27b/doc/optimized_decoder/work_log.md"  # fmt: skip
HIDDEN, QKVG, OUT, WIDE = 5120, 14336, 6144, 17408


def decode(us: dict[str, float], attention: str, feed: str, fidelity: tuple[str, str]) -> Callable[[], Block]:
    """Interleaved in DRAM, left to TTNN."""

    def build() -> Block:
        block = Block("blackhole", gap_us=1.1)

        def project(role: str, x: Tensor, n: int) -> Tensor:
            per_n = -(-n // 32 // 110)
            mine = role in {"qkvg", "out"}
            return block.linear(role, x, n, us[role], dtype=attention if mine else feed, fidelity=fidelity[0 if mine else 1], config=one_d((11, 10), 2, (1, per_n)), cores=-(-n // 32 // per_n), fp32=True)  # fmt: skip

        x = block.tensor([1, 1, 32, HIDDEN])
        wide = project("qkvg", block.norm("norm_in", x, 86, cores=1), QKVG)
        qkv = block.slice("qkv_part", wide, (0, 0, 0, 0), (1, 1, 32, 8192), 2.6)
        gate = block.slice("gate_part", wide, (0, 0, 0, 8192), (1, 1, 32, QKVG), 2.4)
        q, k, v = block.heads_of_decode("heads", qkv, 12, heads=24, kv=4, size=256, users=1)
        q, k = (block.norm(f"norm_{name}", one, 4.2, cores=1) for name, one in (("q", q), ("k", k)))
        q, k = (block.rotary(f"rope_{name}", one, 3, decode=True, cores=1) for name, one in (("q", q), ("k", k)))
        cache = block.tensor([64, 4, 32, 256])
        v = block.reshard("v_placed", v, block.along(32, 256, 1), 0.4)
        block.op("cache", "PagedFusedUpdateCache", (cache, k, cache, v, block.tensor([1], "INT32", layout=ROW_MAJOR)), cache, 5, cores=2, batch_offset=0, op_type="PagedUpdateCacheOpType::FUSED_UPDATE", share_cache=False)  # fmt: skip
        attended = block.attend_decode("sdpa", q, cache, 24, config=chunks(0, 32, (11, 10)), cores=64, k_chunk=32)
        joined = block.moved("joined", "ReshapeView", attended, 4.1, shape=[1, 1, 32, OUT], cores=110)
        gated = block.binary("gated", "MUL", joined, gate, 4.5, rhs="SIGMOID")
        x = block.binary("sum_attention", "ADD", x, project("out", gated, HIDDEN), 3)
        normed = block.norm("norm_feed", x, 86, cores=1)
        first = block.unary("silu", "SILU", project("gate", normed, WIDE), 6)
        hidden = block.binary("glu", "MUL", first, project("up", normed, WIDE), 7)
        block.binary("sum_feed", "ADD", x, project("down", hidden, HIDDEN), 3)
        return block

    return build


def prefill() -> Block:
    """2048 tokens by minimal matmuls in BFLOAT4_B and LoFi: 8.2 ms."""
    block = Block("blackhole")
    rows = 2048
    work = {"qkvg": HIDDEN * QKVG, "out": OUT * HIDDEN, "gate": HIDDEN * WIDE, "up": HIDDEN * WIDE, "down": WIDE * HIDDEN}  # fmt: skip

    def project(role: str, x: Tensor, n: int) -> Tensor:
        return block.minimal(role, x, n, 6_300 * work[role] / sum(work.values()), dtype="BFLOAT4_B", fidelity="LoFi", config=minimal((4, 8, 16), (1, 4), (11, 10)), cores=110)  # fmt: skip

    x = block.tensor([1, 1, rows, HIDDEN])
    wide = project("qkvg", block.norm("norm_in", x, 150, cores=64), QKVG)
    qkv = block.slice("qkv_part", wide, (0, 0, 0, 0), (1, 1, rows, 8192), 120)
    gate = block.slice("gate_part", wide, (0, 0, 0, 8192), (1, 1, rows, QKVG), 90)
    q, k, v = block.split_heads("heads", qkv, 130, heads=24, kv=4, size=256, rows=rows)
    q, k = (block.norm(f"norm_{name}", one, us, cores=110) for name, one, us in (("q", q, 110), ("k", k, 25)))
    q, k = (block.rotary(f"rope_{name}", one, us, decode=False) for name, one, us in (("q", q, 130), ("k", k, 25)))
    attended = block.attend("sdpa", q, k, v, 560, config=chunks(128, 128, (11, 10)), cores=110)
    gated = block.binary("gated", "MUL", block.join_heads("joined", attended, 110), gate, 100, rhs="SIGMOID")
    x = block.binary("sum_attention", "ADD", x, project("out", gated, HIDDEN), 85)
    normed = block.norm("norm_feed", x, 150, cores=64)
    first = block.unary("silu", "SILU", project("gate", normed, WIDE), 130)
    hidden = block.binary("glu", "MUL", first, project("up", normed, WIDE), 150)
    block.binary("sum_feed", "ADD", x, project("down", hidden, HIDDEN), 85)
    return block


MATMULS = "qkvg out gate up down"
WALL = "wall time of a replayed trace"
TIMES = "how the matmuls' time splits over them (before any change: QKV, output and the others' sum are told), the small ops' times"  # fmt: skip

QWEN_38 = (
    laid(
        "qwen38-decode-bf16", LOG, "decode, BFLOAT16 in HiFi4, left to TTNN: 2262 us of wall time, 2223 us of device time",
        decode({"qkvg": 383, "out": 163, "gate": 460, "up": 458, "down": 462}, "BFLOAT16", "BFLOAT16", ("HiFi4", "HiFi4")),
        (
            gain("bfp8", "all projections in BFLOAT8_B and HiFi2", 735.5, MATMULS, BFP8, f"2262.5 -> 1527 us, {WALL}"),
            gain("norms", "both norms over many cores, width-sharded", None, "norm_in norm_feed", rf"{CORES}|{SHARDED}", "172 us of two; kept, with no figure of its own"),
        ),
        TIMES, 2_223,
    ),
    laid(
        "qwen38-decode-bfp8", LOG, "decode, BFLOAT8_B in HiFi2, left to TTNN: 1527 us of wall time",
        decode({"qkvg": 215, "out": 95, "gate": 295, "up": 290, "down": 296}, "BFLOAT8_B", "BFLOAT8_B", ("HiFi2", "HiFi2")),
        (gain("bfp4-feed", "the feed-forward in BFLOAT4_B and LoFi", 164, "gate up down", BFP4, f"1527 -> 1363 us, {WALL}"),),
        TIMES,
    ),
    laid(
        "qwen38-decode-bfp4", LOG, "decode, all projections in BFLOAT4_B and LoFi, left to TTNN",
        decode({"qkvg": 180, "out": 80, "gate": 240, "up": 236, "down": 245}, "BFLOAT4_B", "BFLOAT4_B", ("LoFi", "LoFi")),
        (gain("banks", "weights DRAM-sharded, norms width-sharded", 418.5, f"{MATMULS} norm_in norm_feed", rf"{DRAM_SHARDED}|{SHARDED}", f"1363 -> 944.5 us, {WALL}"),),
        f"that 1363 us hold for attention in BFLOAT4_B too; {TIMES}",
    ),
    laid(
        "qwen38-prefill", README, "2048 tokens, minimal matmuls in BFLOAT4_B: 8.23 ms of wall time",
        prefill,
        (dead("inputs", "the matmuls' inputs in L1", f"norm_in norm_feed gated glu {MATMULS}", IN_L1, "8.225 -> 8.675 ms of wall time; 11.306 -> 11.605 with linear attention"),),
        "how the time splits over the ops",
    ),
)  # fmt: skip
