"""A drafter of five layers beside Qwen3.6, each chip alone (Wormhole): one layer of 16 new rows, at steps of its tuning.

Hidden 5120, 32 heads over 8 KV heads of 128, SwiGLU of 17408; weights interleaved in BFLOAT8_B, HiFi2, not traced.
The ledger's savings are of a step of five layers: a fifth here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, chunks, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BLOCK_W, CONFIG, DRAM_SHARDED, IN_L1, INTERLEAVED_1D, LOFI, PACKED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = f"{TT_METAL}/87adf1185fb33e2b19fdfe64419dd0d23d8bc9da/models/demos/blackhole/qwen36"
MAPPING = f"{FOLDER}/DFLASH_DRAFTER_OP_MAPPING.md"
SWEEPS = f"{FOLDER}/tests/perf"
CROSS = f"{SWEEPS}/test_dflash_fidelity_sharding_sweep.py"
HIDDEN, WIDE = 5120, 17408


def _tables(block: Block, *, sliced: bool) -> list[Tensor]:
    """Cosines and sines of the new rows, or their slices off the whole tables in tiles."""
    if sliced:
        return [block.tensor([1, 1, 16, 128]) for _ in range(2)]
    made: list[Tensor] = []
    for name in ("cos", "sin"):
        whole = block.moved(f"{name}_untilized", "Untilize", block.tensor([1, 1, 4096, 128]), 6.0, layout=ROW_MAJOR, cores=64, fidelity="HiFi4", use_multicore=True, use_pack_untilize=True)  # fmt: skip
        part = block.slice(f"{name}_part", whole, (0, 0, 64, 0), (1, 1, 80, 128), 2.0)
        made.append(block.moved(f"{name}_tilized", "TilizeWithValPadding", part, 5.0, layout="TILE", cores=1, fidelity="HiFi4", use_multicore=True))  # fmt: skip
    return made


def _attended(block: Block, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Attention to the rows before these and to these, with heads joined."""
    past = [block.tensor([1, 8, 64, 128]) for _ in range(2)]
    k, v = (block.concat(f"{name}_past", (old, new), [1, 8, 96, 128], 2, 4.0) for name, old, new in (("k", past[0], k), ("v", past[1], v)))  # fmt: skip
    attended = block.attend("sdpa", q, k, v, 23.0, config=chunks(32, 32, (8, 8)), cores=64, causal=False)
    joined = block.moved("joined", "Transpose", attended, 4.0, shape=[1, 16, 32, 128], fidelity="HiFi4", dim="TransposeOpDim::HC", pad_value=0)  # fmt: skip
    return block.moved("joined_shaped", "ReshapeView", joined, 38.0, shape=[1, 1, 16, 4096], cores=64)


def layer(*, fused: bool, configured: bool, narrow: bool, sliced: bool) -> Callable[[], Block]:
    """`fused` keys and values, `configured` q and kv, `narrow` gate and up, `sliced` tables once a step."""

    def build() -> Block:
        block = Block("wormhole_b0", gap_us=20.0)
        x = block.tensor([1, 1, 16, HIDDEN])
        taps = block.tensor([1, 1, 16, 5 * HIDDEN])
        context = block.linear("fc", taps, HIDDEN, 652.6, dtype="BFLOAT8_B", config=None, cores=54, fp32=True)
        context = block.norm("norm_context", context, 125.0, cores=1)
        normed = block.norm("norm_in", x, 125.0, cores=1)
        parts = [block.moved(f"{name}_untilized", "UntilizeWithUnpadding", one, 10.5, layout=ROW_MAJOR, cores=54) for name, one in (("context", context), ("block", normed))]  # fmt: skip
        rows = block.concat("source", parts, [1, 1, 32, HIDDEN], 2, 7.0)
        source = block.moved("source_tilized", "Tilize", rows, 18.0, layout="TILE", cores=1, fidelity="HiFi4", use_multicore=True, use_low_perf=False)  # fmt: skip
        spread = one_d((8, 8), 8, (1, 2), subblock=(1, 2)), one_d((8, 8), 8, (1, 1))
        if configured:
            q = block.linear("q", normed, 4096, 112.0, dtype="BFLOAT8_B", config=spread[0], cores=64, place=L1, fp32=True)  # fmt: skip
        else:
            q = block.linear("q", normed, 4096, 121.0, dtype="BFLOAT8_B", config=None, cores=64, fp32=True)
        if not fused:
            k, v = (block.linear(role, source, 1024, 88.0, dtype="BFLOAT8_B", config=None, cores=32, fp32=True) for role in ("k", "v"))  # fmt: skip
            both = block.concat("kv_joined", (k, v), [1, 1, 32, 2048], 3, 6.0)
        elif configured:
            both = block.linear("kv", source, 2048, 55.0, dtype="BFLOAT8_B", config=spread[1], cores=64, place=L1, fp32=True)  # fmt: skip
        else:
            both = block.linear("kv", source, 2048, 116.0, dtype="BFLOAT8_B", config=None, cores=64, fp32=True)
        q = block.moved(
            "q_shaped", "ReshapeView", q, 25.0 if configured else 29.0, shape=[1, 16, 32, 128], cores=64
        )
        q = block.moved("q_turned", "Transpose", q, 5.0, shape=[1, 32, 16, 128], place=DRAM, fidelity="HiFi4", dim="TransposeOpDim::HC", pad_value=0)  # fmt: skip
        k = block.tensor([1, 8, 32, 128])
        v = block.tensor([1, 8, 32, 128])
        block.op("heads", "NlpCreateHeads", (both,), (k, v), 50.0, cores=1, head_dim=128, num_kv_heads=8, num_q_heads=8, output_mem_config=DRAM, transpose_k_heads=False)  # fmt: skip
        q, k = (block.norm(f"norm_{name}", one, 11.0, cores=32) for name, one in (("q", q), ("k", k)))
        tables = _tables(block, sliced=sliced)
        q = block.rotary("rope_q", q, 15.0, decode=False, cores=32, tables=tables)
        k = block.rotary("rope_k", k, 15.0, decode=False, cores=32)
        joined = _attended(block, q, k, v)
        out = block.linear("o", joined, HIDDEN, 113.0, dtype="BFLOAT8_B", config=None, cores=54, fp32=True)
        x = block.binary("sum_attention", "ADD", x, out, 9.0, cores=64)
        normed = block.norm("norm_feed", x, 125.0, cores=1)
        kind, times = ("BFLOAT4_B", (260.0, 260.4)) if narrow else ("BFLOAT8_B", (486.0, 480.0))
        gate = block.linear("gate", normed, WIDE, times[0], dtype=kind, config=None, cores=61, fp32=True)
        gate = block.unary("silu", "SILU", gate, 18.0, cores=64)
        up = block.linear("up", normed, WIDE, times[1], dtype=kind, config=None, cores=61, fp32=True)
        hidden = block.binary("product", "MUL", gate, up, 22.0, cores=64)
        down = block.linear("down", hidden, HIDDEN, 447.0 if narrow else 458.0, dtype="BFLOAT8_B", config=None, cores=54, fp32=True)  # fmt: skip
        block.binary("sum_feed", "ADD", x, down, 9.0, cores=64)
        return block

    return build


FIFTH = "a fifth of a step of five layers"
EXPLICIT = unbanked(rf"{INTERLEAVED_1D}|{CONFIG}|{BLOCK_W}")
MADE = "norms of heads, moves between attention's ops, and gaps"

QWEN_DRAFTER = (
    laid(
        "drafter-first", MAPPING, "one layer, keys and values apart, all matmuls left to TTNN",
        layer(fused=False, configured=False, narrow=False, sliced=False),
        (gain("pack-kv", "keys and values as one matmul", 58.6, "k v kv_joined heads", PACKED, f"13.52 -> 13.23 ms, {FIFTH}"),),
        MADE,
    ),
    laid(
        "drafter-auto", MAPPING, "one layer, keys and values as one, all matmuls left to TTNN",
        layer(fused=True, configured=False, narrow=False, sliced=False),
        (
            gain("kv", "1D config on 8x8 cores, result in L1", 61, "kv", unbanked(rf"{INTERLEAVED_1D}|{CONFIG}|{BLOCK_W}"), "116 -> 55 us"),
            gain("q", "1D config on 8x8 cores, result in L1", 9, "q", unbanked(rf"{INTERLEAVED_1D}|{CONFIG}|{BLOCK_W}"), "121 -> 112 us"),
            gain("bfp4", "gate and up in BFLOAT4_B", 440, "gate up", BFP4, f"4840 -> 2640 us, {FIFTH}"),
            gain("tables", "cosines and sines sliced once a step in row-major rows, not in each layer", 22, "cos_* sin_*", r"untilize|row.major|ROW_MAJOR|once|round.?trip", f"130 -> 20 us, {FIFTH}"),
            dead("feed-configs", "1D configs for gate, up and down", "gate up down", EXPLICIT, "the best of 14 loses by 1.7 to 5.5 %", f"{SWEEPS}/test_dflash_mlp_matmul_sweep.py"),
            dead("pack-feed", "gate and up as one matmul", "gate up", PACKED, "959 -> 975 us, the split not counted"),
            dead("out-config", "1D config for the output projection", "o", EXPLICIT, "113 us left to TTNN is the best", f"{SWEEPS}/test_dflash_attn_matmul_sweep.py"),
        ),
        MADE,
    ),
    laid(
        "drafter-tuned", CROSS, "one layer, tuned, and the projection of taps before it",
        layer(fused=True, configured=True, narrow=True, sliced=True),
        (
            dead("lofi", "LoFi for every matmul", "fc q kv o gate up down", LOFI, "none gains more than 0.9 %"),
            dead("q-banks", "q DRAM-sharded", "q", DRAM_SHARDED, "112.1 -> 133.5 us"),
            dead("kv-banks", "keys and values DRAM-sharded", "kv", DRAM_SHARDED, "55.8 -> 71.4 us"),
            dead("out-banks", "the output projection DRAM-sharded", "o", DRAM_SHARDED, "112.0 -> 136.0 us"),
            dead("up-banks", "up DRAM-sharded", "up gate", DRAM_SHARDED, "260.4 -> 426.6 us; refused for gate"),
            dead("down-banks", "down DRAM-sharded", "down", DRAM_SHARDED, "447.0 -> 1366.2 us"),
            dead("fc-banks", "the projection of taps DRAM-sharded", "fc", DRAM_SHARDED, "654.3 -> 791.4 us"),
            dead("fc-config", "1D configs for the projection of taps", "fc", EXPLICIT, "652.6 -> 663.2 us at best", f"{SWEEPS}/test_dflash_fc_matmul_sweep.py"),
            dead("inputs", "inputs of gate and up in L1", "norm_feed gate up", IN_L1, "260 -> 1334 us"),
        ),
        MADE,
    ),
)  # fmt: skip
