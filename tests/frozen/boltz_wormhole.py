"""Boltz-2 (it folds proteins) on one Wormhole chip of 72 cores: parts of the trunk and the diffusion, 512 residues.

All in BFLOAT16 and interleaved in DRAM, HiFi4 with sums in FLOAT32. The ledger tells times of ops and of calls replayed
from a trace; each arm was measured beside the same call unchanged, which tells the noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.boltz import HEADS, HOME, LENGTHS, PAIR, SIZE, Chip, L, attended, lengths, tokens
from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP4, BFP8, HIFI2, IN_L1, LOFI, PACKER, SDPA_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

TOKENS = f"{HOME}/0f46f8a051e8249bdf946bb4a930e48540185e76/perf/b2z2_adaln_sdpa/FINDINGS.md"
FUSED = f"{HOME}/060b60d1c530f8043e150686d32aa882f01650d4/perf/b2z2_step_fusion/FINDINGS.md"
ATOMS = f"{HOME}/6d575f829605188a9e8cef9479403bd06c535dc5/perf/b2z2_atom_next/FINDINGS.md"
NORMS = f"{HOME}/163aa6669c96ac3c2af7d06e04c54e171bb80c46/perf/b2z2_step_ln/README.md"
BEST = f"{HOME}/8575a3288abf291bd6c16f4d68886118005d4581/perf/b2z_op_knobs/BEST-CONFIG-TABLE.md"
OPS = f"{HOME}/1ac11c3c7234d628b56ab8d901214cdf9310bcd3/perf/b2z_op_knobs/OP-INSTANCE-TABLE.md"
STEP = f"{HOME}/0bbafa2d701cd36f05a9092f7c405514a8f09507/perf/b2z_diffusion_util/FINDINGS.md"
GRID, CORES = (8, 9), 72
EXACT = {"fidelity": "HiFi4", "fp32": True}
NARROW_SUMS = r"fp32_dest_acc_en|FLOAT32 (sums|accum)|dest(ination)? (acc|regist)"
WORMHOLE = Chip(
    "wormhole_b0", GRID, {"same": 64, "double": 72, "half": 64, "qkv": 72, "attend": 32},
    {
        "same": 33.0, "norm": 27.88, "norm_s": 31.94, "gate": 20.0, "plain": 17.5, "double": 53.4, "wide": 24.0, "half": 44.9,
        "qkv": 113.5, "heads": 67.0, "attend": 125.4, "cut": 11.37, "turned": 11.18, "joined": 41.66, "back": 9.07,
    },
)  # fmt: skip


@dataclass(frozen=True)
class Atoms:
    """How the keys around each block of 32 atoms are found: 140 blocks, 128 keys each."""

    window: bool = True  # by a matmul with ones and noughts; without it they are there already


def scores() -> Block:
    """Attention of 16 heads with a bias, op by op."""
    block = Block("wormhole_b0", grid=GRID, gap_us=2.0)
    q, v = (block.tensor([1, HEADS, L, SIZE]) for _ in range(2))
    logits = block.product("scores", q, block.tensor([1, HEADS, SIZE, L]), 149.8, cores=CORES)
    logits = block.binary("biased", "ADD", logits, block.tensor(logits.shape), 112.73, cores=CORES)
    logits = block.binary("masked", "ADD", logits, block.tensor([1, 1, L, L]), 155.25, cores=CORES)
    block.product("context", block.softmax("softmax", logits, 226.85, cores=CORES), v, 143.8, cores=CORES)
    return block


def triangle() -> Block:
    """A triangle multiplication, with its four projections side by side."""
    block = Block("wormhole_b0", grid=GRID, gap_us=2.0)
    x = block.tensor([1, L, L, PAIR])
    normed = block.norm("norm", x, 936.05, cores=CORES, kind="LAYERNORM")
    both = block.linear("in", normed, 4 * PAIR, 3184.22, cores=CORES, grid=GRID, **EXACT)
    times = (874.72, 727.98, 658.47, 650.0)
    parts = [block.slice(f"part_{at}", both, (0, 0, 0, PAIR * at), (1, L, L, PAIR * (at + 1)), us) for at, us in enumerate(times)]  # fmt: skip
    a, b = (block.binary(f"gated_{name}", "MUL", one, two, 847.66, cores=CORES, rhs="SIGMOID") for name, one, two in (("a", *parts[:2]), ("b", *parts[2:])))  # fmt: skip
    a = block.binary("masked", "MUL", a, block.tensor([1, L, L, 1]), 1581.09, cores=CORES)
    a = block.turned("turned", a, 1515.61, dims="CH", cores=CORES)
    firsts = [block.view(one, [1, PAIR, L, L]) for one in (a, b)]
    second = block.turned("turned_product", firsts[1], 748.48, cores=CORES)
    made = block.product("product", firsts[0], second, 2335.42, cores=64)
    block.binary("sum", "ADD", block.view(made, x.shape), x, 851.48, cores=CORES)
    return block


def feed() -> Block:
    """16 rows of the pairs' gated feed-forward."""
    block = Block("wormhole_b0", grid=GRID, gap_us=2.0)
    normed = block.norm("norm", block.tensor([1, 16, L, PAIR]), 47.71, cores=CORES, kind="LAYERNORM")
    one = block.linear("first", normed, L, 76.6, cores=CORES, grid=GRID, **EXACT)
    two = block.linear("second", normed, L, 76.1, cores=CORES, grid=GRID, **EXACT)
    gated = block.binary("gated", "MUL", one, two, 63.46, cores=CORES)
    block.linear("third", gated, PAIR, 271.0, cores=CORES, grid=GRID, **EXACT)
    return block


def projections() -> Block:
    """Two linears of the diffusion: of tokens, and of blocks of atoms."""
    block = Block("wormhole_b0", grid=GRID, gap_us=2.0)
    block.linear("tokens", block.tensor([1, L, 768]), 1536, 53.4, cores=CORES, grid=GRID, **EXACT)
    block.linear("atoms", block.tensor([1, 224, 32, PAIR]), PAIR, 69.6, cores=CORES, grid=GRID, **EXACT)
    return block


def atoms(how: Atoms) -> Callable[[], Block]:
    """A layer over atoms: 4480 of them in 140 blocks, four heads of 32."""

    def build() -> Block:
        block = Block("wormhole_b0", grid=GRID, gap_us=2.0)
        x = block.tensor([1, 140, 32, PAIR])

        def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
            return block.linear(role, x, n, us, cores=CORES, grid=GRID, **EXACT)

        def adaptive(name: str, x: Tensor) -> Tensor:
            normed = block.norm(f"{name}_norm", x, 25.0, cores=CORES, kind="LAYERNORM")
            scaled = block.binary(f"{name}_scaled", "MUL", normed, block.tensor(x.shape), 20.0, cores=CORES)
            return block.binary(f"{name}_shifted", "ADD", scaled, block.tensor(x.shape), 19.65, cores=CORES)

        normed = adaptive("attention", x)
        if how.window:
            halves = block.moved("window_halves", "ReshapeView", normed, 65.65, shape=[1, 280, 16, PAIR])
            last = block.permute("window_last", halves, (0, 2, 3, 1), 69.13)
            chosen = block.linear("window_chosen", block.view(last, [1, 1, 2048, 280]), 1120, 98.42, dtype="BFLOAT4_B", cores=CORES, **EXACT)  # fmt: skip
            first = block.permute("window_first", block.view(chosen, [1, 16, PAIR, 1120]), (0, 3, 1, 2), 192.93)
            keys = block.moved("window_keys", "ReshapeView", first, 206.66, shape=[1, 140, 128, PAIR])
        else:
            keys = block.concat("window_joined", [block.slice(f"window_{at}", block.tensor([1, 143, 32, PAIR]), (0, at, 0, 0), (1, at + 140, 32, PAIR), 21.0) for at in range(4)], [1, 140, 128, PAIR], 2, 86.0)  # fmt: skip
        kv = linear("kv", keys, 2 * PAIR, 254.1)
        q = linear("q", normed, PAIR, 40.6)
        padded = block.moved("pad", "Pad", q, 60.0, shape=[1, 140, 128, PAIR], cores=CORES)
        heads = block.split_heads("heads", block.view(padded, [140, 1, 128, PAIR]), 130.0, heads=4, kv=4, size=32, rows=128, batch=140, cores=CORES)  # fmt: skip
        own = block.slice("heads_cut", heads[0], (0, 0, 0, 0), (140, 4, 32, 32), 61.5)
        k, v = (block.view(kv, [140, 4, 128, 32]) for _ in range(2))
        out = attended(block, "attend", (own, k, v), 85.0, CORES)
        out = block.binary("gated", "MUL", block.view(out, x.shape), linear("gate", normed, PAIR, 40.6), 30.0, cores=CORES)  # fmt: skip
        x = block.binary("sum", "ADD", x, linear("out", out, PAIR, 40.7), 30.0, cores=CORES)
        normed = adaptive("feed", x)
        one, two = (linear(f"feed_{name}", normed, 2 * PAIR, 80.0) for name in ("first", "second"))
        wide = block.binary("feed_wide", "MUL", one, two, 60.0, cores=CORES, lhs="SILU")
        wide = block.binary(
            "feed_gated", "MUL", wide, linear("feed_third", normed, 2 * PAIR, 68.0), 40.0, cores=CORES
        )
        x = block.binary("feed_sum", "ADD", x, linear("feed_half", wide, PAIR, 60.0), 30.0, cores=CORES)
        block.binary("scaled", "MUL", x, block.tensor(x.shape), 30.0, cores=CORES)
        return block

    return build


OFF, NONE = "no FLOAT32 sums in the registers", "1.000 to 1.003 times as fast, as far as equal calls differ"
BOLTZ_WORMHOLE = (
    laid(
        "boltz-wormhole-tokens", STEP, "one of 24 layers over tokens, 34 ops: 1.16 ms",
        tokens(WORMHOLE),
        (
            gain("chunk", "128 queries to a core instead of 256", 29.8, "attend", r"128|more (work|chunks)|smaller.{0,20}chunk|q_chunk", "125.4 -> 95.6 us, the same bits; 64: 106.0", TOKENS),
            gain("bias8", "the bias in BFLOAT8_B", 8.2, "attend", BFP8, "1.070 times as fast; not taken: the result moves", TOKENS),
            gain("bias4", "the bias in BFLOAT4_B", 14.5, "attend", BFP4, "1.131 times as fast; not taken: the result moves", TOKENS),
            gain("norm", "the norm of the second stream once for all layers", 65.5, "*_norm_s *_s_scale *_s_shift", r"once|same input|repeat|\breuse|shared|hoist|twice", "41.58 -> 40.00 ms a step, a 24th of it", NORMS),
            dead("chunk512", "512 queries to a core", "attend", r"larger.{0,20}chunk|q_chunk_size=512", "125.4 -> 182.7 us", TOKENS),
            dead("chunk32", "32 queries to a core", "attend", r"q_chunk_size=32\b", "125.4 -> 140.4 us", TOKENS),
            dead("l1", "a norm and its scale and shift in L1", "attention_norm attention_scaled attention_shifted feed_norm feed_scaled feed_shifted", IN_L1, "91.8 -> 113.5 us", TOKENS),
            dead("mac", "scale and shift as one op", "attention_scaled attention_shifted feed_scaled feed_shifted", r"\bmac\b|addcmul|one op", "a step takes 1.007 times as long", FUSED),
            dead("joined", "the heads joined by one op", "cut turned joined back", r"concat_heads|nlp_concat", "wrong values: heads of 64 where 48 are wanted", STEP),
            dead("permute", "the heads joined by a permute and a reshape", "cut turned joined back", r"permute", "73.74 -> 308.17 us", STEP),
        ),
        "times of the elementwise ops, but their sum; cores but of the norms and attention; the k chunk; gaps", pass_us=1162,
    ),
    laid(
        "boltz-wormhole-scores", OPS, "the attention of residues, op by op, replayed from a trace",
        scores,
        (
            gain("sums", f"softmax with {OFF}", 93.6, "softmax", NARROW_SUMS, "1.702 times as fast", BEST),
            gain("l1", "softmax's output in L1", 5.1, "softmax", IN_L1, "1.023 times as fast, equal calls differ by 0.7 %", BEST),
            dead("lofi", "softmax at LoFi", "softmax", LOFI, "1.005 times as fast, equal calls differ by 0.7 %", BEST),
            dead("hifi2", "softmax at HiFi2", "softmax", HIFI2, "1.008 times as fast, equal calls differ by 0.7 %", BEST),
            dead("packer", "softmax without the packer's sums in L1", "softmax", PACKER, "takes 1.002 times as long", BEST),
            dead("sync", "softmax with the whole register file at once", "softmax", r"dst_full_sync", "as fast as before", BEST),
            dead("mask_l1", "the mask's sum in L1", "masked", IN_L1, "1.007 times as fast, as far as equal calls differ", BEST),
        ),
        "cores; gaps", pass_us=788.4,
    ),
    laid(
        "boltz-wormhole-triangle", OPS, "a triangle multiplication, replayed from a trace on a machine with other users",
        triangle,
        (
            gain("sums", f"the norm with {OFF}", 198.4, "norm", NARROW_SUMS, "1.269 times as fast", BEST),
            gain("lofi", "the norm at LoFi", 60.4, "norm", LOFI, "1.069 times as fast, equal calls differ by 0.3 %", BEST),
            gain("hifi2", "the norm at HiFi2", 43.7, "norm", HIFI2, "1.049 times as fast, equal calls differ by 0.3 %", BEST),
            gain("hifi3", "the norm at HiFi3", 21.9, "norm", r"HiFi3", "1.024 times as fast, equal calls differ by 0.3 %", BEST),
            dead("packer", "the norm without the packer's sums in L1", "norm", PACKER, NONE, BEST),
            dead("sync", "the norm with the whole register file at once", "norm", r"dst_full_sync", NONE, BEST),
            dead("norm_l1", "the norm's output in L1", "norm", IN_L1, "1.007 times as fast", BEST),
            dead("gate_l1", "the gates' output in L1", "gated_a gated_b", IN_L1, NONE, BEST),
            dead("mask_l1", "the mask's product in L1", "masked", IN_L1, NONE, BEST),
            dead("turned_l1", "the transpose's output in L1", "turned", IN_L1, NONE, BEST),
            dead("sum_l1", "the last sum in L1", "sum", IN_L1, NONE, BEST),
        ),
        "which op feeds which; cores; gaps",
    ),
    laid(
        "boltz-wormhole-feed", OPS, "16 rows of the pairs' feed-forward, replayed from a trace",
        feed,
        (
            gain("sums", f"both wide matmuls with {OFF}", 16.5, "first second", NARROW_SUMS, "1.119 and 1.123 times as fast, equal calls differ by 2.3 and 3 %", BEST),
            dead("hifi2", "both wide matmuls at HiFi2", "first second", HIFI2, "1.007 and 1.011 times as fast, equal calls differ by 2.3 and 3 %", BEST),
            dead("square", "both wide matmuls on 64 cores", "first second", r"8.?[x*].?8|64 cores|fewer cores", "1.002 and 0.998 times as fast", BEST),
            dead("half", "both wide matmuls on 32 cores", "first second", r"8.?[x*].?4|32 cores|fewer cores", "take 1.58 times as long", BEST),
            dead("sync", "both wide matmuls with the whole register file at once", "first second", r"dst_full_sync", "0.994 and 1.003 times as fast", BEST),
            dead("packer", "both wide matmuls without the packer's sums in L1", "first second", PACKER, "take 1.09 times as long", BEST),
        ),
        "cores; gaps", pass_us=534.9,
    ),
    laid(
        "boltz-wormhole-projections", OPS, "two linears of the diffusion, replayed from a trace",
        projections,
        (
            dead("hifi2", "the tokens' at HiFi2", "tokens", HIFI2, "0.987 times as fast, equal calls differ by 3.8 %", BEST),
            dead("sums", f"the tokens' with {OFF}", "tokens", NARROW_SUMS, "1.003 times as fast, equal calls differ by 3.8 %", BEST),
            dead("square", "the tokens' on 64 cores", "tokens", r"8.?[x*].?8|64 cores|fewer cores", "1.024 times as fast, equal calls differ by 3.8 %", BEST),
            dead("atoms_hifi2", "the atoms' at HiFi2", "atoms", HIFI2, "1.007 times as fast, equal calls differ by 1.6 %", BEST),
            dead("atoms_square", "the atoms' on 64 cores", "atoms", r"8.?[x*].?8|64 cores|fewer cores", "1.002 times as fast, equal calls differ by 1.6 %", BEST),
            dead("atoms_lofi", f"the atoms' at LoFi with {OFF}", "atoms", LOFI, "0.968 times as fast", BEST),
        ),
        "that they follow each other; cores; gaps", pass_us=123.0,
    ),
    laid(
        "boltz-wormhole-atoms", ATOMS, "one of six layers over atoms, 36 ops: 2.01 ms",
        atoms(Atoms()),
        (
            gain("window", "each block's keys by four slices and a concat instead of a matmul with ones and noughts", 480, "window_*", r"slice|concat|permute|reshape|transpose", "41.60 -> 38.72 ms a step, a sixth of it"),
            dead("ones", "the ones and noughts in BFLOAT16", "window_chosen", r"bfloat16|BFLOAT16", "934.5 -> 940.0 us of the window's ops"),
            dead("heads", "heads split by hand instead of padding the queries", "pad heads heads_cut", r"reshape|permute|by hand", "263.4 -> 3203.5 us"),
        ),
        "how times are shared in the norms, the feed-forward and the heads, where seven small ops are left out; cores; gaps", pass_us=2012,
    ),
    laid(
        "boltz-wormhole-window", ATOMS, "the layer over atoms after its keys are found by slices",
        atoms(Atoms(window=False)),
        (
            gain("before", "keys and values projected before the slices", 96.9, "window_* kv", r"before|smaller|fewer rows|redundant|once|twice|repeat", "424.6 -> 327.7 us of these ops; the matmul 254.1 -> 67.1"),
        ),
        "times of the slices and the concat, but their sum; how others are shared; cores; gaps",
    ),
    laid(
        "boltz-wormhole-lengths", LENGTHS, "the same attention at other lengths and heads, one call after the other",
        lengths("wormhole_b0", GRID, ((320, 8, 365.9), (768, 16, 255.5), (1536, 8, 462.2), (1024, 16, 257.6))),
        (
            gain("320", "160 queries to a core at 320 tokens of eight heads", 212.4, "attend_320_8", SDPA_CHUNKS, "365.9 -> 153.5 us"),
            gain("768", "192 queries to a core at 768 tokens", 58.6, "attend_768_16", SDPA_CHUNKS, "255.5 -> 196.9 us"),
            gain("1536", "192 queries to a core at 1536 tokens of eight heads", 136.2, "attend_1536_8", SDPA_CHUNKS, "462.2 -> 326.0 us"),
            dead("1024", "another chunk at 1024 tokens", "attend_1024_16", SDPA_CHUNKS, "none of those tried took less than 257.6 us"),
        ),
        "the k chunk; that the calls follow each other; gaps", pass_us=1341.2,
    ),
)  # fmt: skip
