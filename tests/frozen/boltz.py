"""Boltz-2 (it folds proteins) on one Blackhole chip (p300c): the trunk and the diffusion over tokens, 512 residues.

One layer of the pair trunk (272 ops), the transition of the alignment's rows, and one of 24 layers over tokens: all in
BFLOAT16 and interleaved in DRAM, HiFi4 with sums in FLOAT32. Some ops of the trunk are kernels of the project's own.
The ledger tells the device time of each kind of op; arms were measured as calls replayed from a trace, or as folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP8, IN_L1, PACKED, SDPA_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/moritztng/tt-bio/blob"
SITES = f"{HOME}/60870aaa0f4b68d782bca8adb9f0f94806ab17b4/perf/b2z2_layout/PER-SITE-TABLE.md"
TRUNK = f"{HOME}/5d4471004b4b9fd338dfff75b1d0d5cdd777e81c/perf/b2x_pairtrack/FINDINGS.md"
FIDELITY = f"{HOME}/85a759bfe3d42dcfe3fb35e28dc8294e252ee411/perf/b2x-hifi3/FINDINGS.md"
SHARES = f"{HOME}/6d8c1fa1a9e897caf892214015e3202296a49a2f/perf/b2x-baseline-attrib/FINDINGS.md"
IN_SHARDS = f"{HOME}/9602644101fdb30376624370aaccd8532400447e/perf/b2x_pair_l1/README.md"
CHUNKS = f"{HOME}/0cd6c4152bbe3c2fbcdde74c9c54ac16bb3c5e82/perf/b2z2_qchunk/FINDINGS.md"
LENGTHS = f"{HOME}/8758524e042f6a3c2be75be4ebe04a06e6edaebb/perf/b2z2_gridq/FINDINGS.md"
PACKED_AT = f"{HOME}/54969f0f7efc8a38dc93c58c1e8eafdee2a16327/docs/difftransformer-swiglu-scout.md"
GRID, CORES = (11, 10), 110
L, PAIR, SINGLE, TOKEN, HEADS, SIZE = 512, 128, 384, 768, 16, 64
PAIRS = [1, L, L, PAIR]
EXACT = {"fidelity": "HiFi4", "fp32": True}
LARGER, SMALLER = (r"larger|longer|fewer|bigger|taller|more rows", r"smaller|shorter|more chunks|fewer rows")


def products(block: Block, turned: bool) -> None:
    """A triangle multiplication: two gated projections, a product for each channel, norm, projection and gate."""
    x = block.tensor(PAIRS)
    normed = block.norm("tri_norm", x, 372.3, cores=CORES, kind="LAYERNORM")
    both = block.op("tri_in", "GenericOp", (normed, block.weight(PAIR, 4 * PAIR, "BFLOAT16")), block.tensor([1, L, L, 4 * PAIR]), 1171.2, fidelity="HiFi4")  # fmt: skip
    a, b = (block.op(f"tri_{name}", "GenericOp", (both,), block.tensor([1, PAIR, L, L]), 996.8) for name in "ab")
    a = block.binary("tri_gated", "MUL", a, b, 447.5, cores=CORES)
    b = block.turned("tri_turned", b, 344.7, cores=CORES)
    made = block.product("tri_product", *((b, a) if turned else (a, b)), 821.4, cores=64)
    last = block.op("tri_last", "GenericOp", (made,), block.tensor(PAIRS), 539.0, fidelity="HiFi2")
    last = block.norm("tri_norm_out", last, 372.3, cores=CORES, kind="LAYERNORM")
    out = block.linear("tri_out", last, PAIR, 289.8, cores=CORES, grid=GRID, **EXACT)
    gate = block.linear("tri_gate", normed, PAIR, 289.8, cores=CORES, grid=GRID, **EXACT)
    out = block.binary("tri_gated_out", "MUL", out, gate, 508.3, cores=CORES, rhs="SIGMOID")
    block.binary("tri_sum", "ADD", x, out, 382.9, cores=CORES)


def triangle_attention(block: Block, turned: bool) -> None:
    """Four heads of 32 over the rows of the pairs, or over their columns."""
    x = block.tensor(PAIRS)
    rows = block.turned("row_turned", x, 729.5, dims="CH", cores=CORES) if turned else x
    normed = block.norm("row_norm", rows, 372.3, cores=CORES, kind="LAYERNORM")
    heads = block.tensor([L, 4, L, 32])
    q, gate = (block.op(f"row_{name}", "GenericOp", (normed, block.weight(PAIR, PAIR, "BFLOAT16")), heads, 634.5, fidelity="HiFi4") for name in ("qkv", "gate"))  # fmt: skip
    bias = block.linear("row_bias", normed, 32, 227.9, cores=CORES, grid=GRID, **EXACT)
    bias = block.moved(
        "row_bias_shape", "ReshapeView", block.view(bias, [1, 1, L * L, 32]), 249.5, shape=[1, L, L, 32]
    )
    bias = block.permute("row_bias_first", bias, (0, 3, 1, 2), 72.6)
    bias = block.binary("row_bias_scaled", "ADD", block.view(bias, [1, 4, L, L]), block.tensor([1, 1, 1, L]), 15.6, cores=CORES)  # fmt: skip
    out = block.op("row_attend", "GenericOp", (q, q, q, bias), heads, 1309.1, cores=CORES, fidelity="HiFi2")
    out = block.binary("row_gated", "MUL", out, gate, 509.6, cores=CORES, rhs="SIGMOID")
    out = block.op("row_out", "GenericOp", (out, block.weight(PAIR, PAIR, "BFLOAT16")), block.tensor(PAIRS), 412.6, fidelity="HiFi4")  # fmt: skip
    if turned:
        out = block.turned("row_back", out, 729.5, dims="CH", cores=CORES)
    block.binary("row_sum", "ADD", x, out, 382.9, cores=CORES)


def transition(block: Block, count: int, shape: tuple[int, int], wide: int, us: dict[str, float]) -> None:
    """A gated feed-forward, some rows at a time."""
    rows, hidden = shape
    x = block.tensor([1, count * rows, L, hidden])
    parts: list[Tensor] = []
    for at in range(count):
        part = block.slice(
            f"part_{at}_slice", x, (0, rows * at, 0, 0), (1, rows * (at + 1), L, hidden), us["slice"]
        )
        normed = block.norm(f"part_{at}_norm", part, us["norm"], cores=CORES, kind="LAYERNORM")
        one = block.linear(f"part_{at}_first", normed, wide, us["first"], cores=86, grid=GRID, act="SILU", **EXACT)
        two = block.linear(f"part_{at}_second", normed, wide, us["second"], cores=86, grid=GRID, **EXACT)
        gated = block.binary(f"part_{at}_gated", "MUL", one, two, us["gated"], cores=CORES)
        parts.append(block.linear(f"part_{at}_third", gated, hidden, us["third"], cores=CORES, grid=GRID, **EXACT))
    out = block.concat("parts_joined", parts, x.shape, 1, us["joined"])
    block.binary("parts_sum", "ADD", x, out, us["sum"], cores=CORES)


def single(block: Block) -> None:
    """Attention over the residues with the pairs as a bias, and their feed-forward."""
    x = block.tensor([1, L, SINGLE])
    normed = block.norm("pair_norm", block.tensor(PAIRS), 372.3, cores=CORES, kind="LAYERNORM")
    bias = block.linear("pair_bias", normed, 32, 227.9, cores=CORES, grid=GRID, **EXACT)
    bias = block.view(block.permute("pair_bias_first", bias, (0, 3, 1, 2), 131.2), [1, HEADS, L, L])
    normed = block.norm("single_norm", x, 11.8, cores=16, kind="LAYERNORM")
    qkv = block.linear("single_qkv", normed, 1536, 19.8, cores=80, grid=GRID, **EXACT)
    q, k, v = block.split_heads("single_heads", block.view(qkv, [1, 1, L, 1536]), 22.1, heads=HEADS, kv=HEADS, size=32, rows=L, cores=16)  # fmt: skip
    scores = block.product("single_scores", q, block.turned("single_k", k, 3.3), 43.3, cores=32)
    scores = block.binary("single_scaled", "MUL", scores, block.tensor([1, 1, 1, 1]), 46.9, cores=CORES)
    scores = block.binary("single_biased", "ADD", scores, bias, 40.6, cores=CORES)
    scores = block.binary("single_masked", "ADD", scores, block.tensor([1, 1, 1, L]), 28.4, cores=CORES)
    out = block.product(
        "single_context", block.softmax("single_soft", scores, 117.5, cores=CORES), v, 36.9, cores=32
    )
    out = block.turned("single_turned", out, 3.3)
    out = block.slice("single_cut", out, (0, 0, 0, 0), (1, HEADS, 24, L), 3.5)
    out = block.turned("single_back", block.view(out, [1, 1, SINGLE, L]), 3.3)
    out = block.moved("single_joined", "ReshapeView", out, 12.0, shape=[1, L, SINGLE])
    gate = block.linear("single_gate", normed, SINGLE, 7.9, cores=48, grid=GRID, **EXACT)
    out = block.binary("single_gated", "MUL", out, gate, 6.4, cores=CORES, rhs="SIGMOID")
    out = block.linear("single_out", out, SINGLE, 7.9, cores=48, grid=GRID, **EXACT)
    x = block.binary("single_sum", "ADD", x, out, 4.9, cores=CORES)
    normed = block.norm("single_norm_feed", x, 11.8, cores=16, kind="LAYERNORM")
    one, two = (block.linear(f"single_{name}", normed, 1536, 19.8, cores=80, grid=GRID, **EXACT) for name in ("first", "second"))  # fmt: skip
    wide = block.binary("single_wide", "MUL", one, two, 6.8, cores=CORES, lhs="SILU")
    out = block.linear("single_third", wide, SINGLE, 17.3, cores=48, grid=GRID, **EXACT)
    block.binary("single_sum_feed", "ADD", x, out, 4.9, cores=CORES)


def pairformer() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    for turned in (False, True):
        products(block, turned)
    for turned in (False, True):
        triangle_attention(block, turned)
    transition(block, 32, (16, PAIR), L, {"slice": 12.0, "norm": 23.3, "first": 113.2, "second": 26.7, "gated": 26.0, "third": 35.7, "joined": 347.6, "sum": 382.9})  # fmt: skip
    single(block)
    return block


def alignment() -> Block:
    """1024 rows of the alignment, 64 channels, in 64 parts."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    transition(block, 64, (16, 64), 256, {"slice": 8.0, "norm": 14.0, "first": 51.0, "second": 15.0, "gated": 13.5, "third": 26.0, "joined": 350.0, "sum": 193.0})  # fmt: skip
    return block


@dataclass(frozen=True)
class Chip:
    """What one layer over tokens takes on a chip; times in us."""

    arch: str
    grid: tuple[int, int]
    cores: dict[str, int]
    us: dict[str, float]


BLACKHOLE = Chip(
    "blackhole", GRID, {"same": 64, "double": 80, "half": 64, "qkv": 88, "attend": 110},
    {
        "same": 20.08, "norm": 15.94, "norm_s": 15.94, "gate": 10.75, "plain": 8.81, "double": 22.17, "wide": 12.97,
        "half": 22.92, "qkv": 39.67, "heads": 42.56, "attend": 91.74, "cut": 6.07, "turned": 6.2, "joined": 21.75,
        "back": 4.72,
    },
)  # fmt: skip


def tokens(chip: Chip) -> Callable[[], Block]:
    """A layer of the diffusion over tokens: both norms are scaled and shifted by what a second stream tells."""

    def build() -> Block:
        block = Block(chip.arch, grid=chip.grid, gap_us=1.0)
        us, cores, every = chip.us, chip.cores, chip.grid[0] * chip.grid[1]
        x, s = (block.tensor([1, L, TOKEN]) for _ in range(2))

        def same(role: str, x: Tensor) -> Tensor:
            return block.linear(role, x, TOKEN, us["same"], cores=cores["same"], grid=chip.grid, **EXACT)

        def double(role: str, x: Tensor) -> Tensor:
            return block.linear(role, x, 2 * TOKEN, us["double"], cores=cores["double"], grid=chip.grid, **EXACT)

        def adaptive(name: str, x: Tensor) -> Tensor:
            normed = block.norm(f"{name}_norm", x, us["norm"], cores=16, kind="LAYERNORM")
            second = block.norm(f"{name}_norm_s", s, us["norm_s"], cores=16, kind="LAYERNORM")
            scale, shift = (same(f"{name}_s_{word}", second) for word in ("scale", "shift"))
            scaled = block.binary(f"{name}_scaled", "MUL", normed, scale, us["gate"], cores=every, rhs="SIGMOID")
            return block.binary(f"{name}_shifted", "ADD", scaled, shift, us["plain"], cores=every)

        def gated(name: str, out: Tensor, x: Tensor) -> Tensor:
            out = block.binary(f"{name}_gated_s", "MUL", out, same(f"{name}_gate_s", s), us["gate"], cores=every, lhs="SIGMOID")  # fmt: skip
            return block.binary(f"{name}_sum", "ADD", x, out, us["plain"], cores=every)

        normed = adaptive("attention", x)
        qkv = block.linear("qkv", normed, 3072, us["qkv"], cores=cores["qkv"], grid=chip.grid, **EXACT)
        q, k, v = block.split_heads("heads", block.view(qkv, [1, 1, L, 3072]), us["heads"], heads=HEADS, kv=HEADS, size=SIZE, rows=L, cores=16)  # fmt: skip
        out = attended(block, "attend", (q, k, v), us["attend"], cores["attend"])
        out = block.slice("cut", out, (0, 0, 0, 0), (1, HEADS, L, 48), us["cut"])
        out = block.turned("turned", out, us["turned"])
        out = block.moved("joined", "ReshapeView", out, us["joined"], shape=[1, TOKEN, L])
        out = block.turned("back", out, us["back"])
        out = block.binary("gated", "MUL", out, same("gate", normed), us["gate"], cores=every, rhs="SIGMOID")
        x = gated("attention", same("out", out), x)
        normed = adaptive("feed", x)
        swish, gates = double("swish", normed), double("gates", normed)
        wide = block.binary("feed_wide", "MUL", swish, gates, us["wide"], cores=every, lhs="SILU")
        wide = block.binary("feed_gated", "MUL", wide, double("third", normed), us["wide"], cores=every)
        out = block.linear("half", wide, TOKEN, us["half"], cores=cores["half"], grid=chip.grid, **EXACT)
        gated("feed", out, x)
        return block

    return build


def attended(block: Block, role: str, qkv: tuple[Tensor, Tensor, Tensor], us: float, cores: int) -> Tensor:
    """Attention with a bias for each head and pair of tokens, 256 queries to a core."""
    q, k, _ = qkv
    bias = block.tensor([1, q.shape[1], q.shape[2], k.shape[2]])
    return block.op(
        role, "SDPAOperation", (*qkv, bias), block.tensor(q.shape), us, cores=cores, fidelity="HiFi2",
        compute_kernel_config=block.kernel("HiFi2"), is_causal=False, output_mem_config=bias.placement,
        program_config=chunks(256, 256, block.grid), scale="0.1443375673", sliding_window_size=None, use_mla=False,
    )  # fmt: skip


def lengths(arch: str, grid: tuple[int, int], calls: tuple[tuple[int, int, float], ...]) -> Callable[[], Block]:
    """Such attention at (tokens, heads) one after the other."""

    def build() -> Block:
        block = Block(arch, grid=grid, gap_us=2.0)
        for length, heads, us in calls:
            q, k, v = (block.tensor([1, heads, length, SIZE]) for _ in range(3))
            units = heads * -(-length // 256)
            attended(block, f"attend_{length}_{heads}", (q, k, v), us, min(units, grid[0] * grid[1]))
        return block

    return build


BOLTZ = (
    laid(
        "boltz-pairformer", SITES, "a layer of the pair trunk, 272 ops: 35.7 ms",
        pairformer,
        (
            gain("silu", "SILU after the matmul instead of inside it", 1522.4, "part_*_first", r"fused_activation|activation", "114.5 -> 26.5 us of a matmul and 40.8 us of a SILU, 32 times; not the same bits", TRUNK),
            gain("rows", "32 rows of the pairs at a time instead of 16", 1370.5, "part_*", rf"chunk|slice|{LARGER}", "7945.0 -> 6574.5 us of the transition", TRUNK),
            dead("eight", "eight rows at a time", "part_*", SMALLER, "7945 -> 9646 us", TRUNK),
            dead("rows64", "64 rows at a time", "part_*", r"\b64\b.{0,10}rows|rows.{0,10}\b64\b", "refused: L1 was taken", TRUNK),
            dead("square", "the first matmul on 64 cores instead of 110", "part_*_first", r"8.?[x*].?8|64 cores|fewer cores", "28.2 -> 30.4 us, without its activation", TRUNK),
            dead("hifi3", "the trunk's matmuls at HiFi3", "tri_product tri_out tri_gate row_bias part_*_first part_*_second part_*_third single_qkv single_scores single_context single_gate single_out single_first single_second single_third", r"HiFi3", "23.77 -> 23.56 s of a fold, while equal folds differ by 4.1 %", FIDELITY),
            dead("weights", "weights in BFLOAT8_B", "tri_out tri_gate row_bias part_*_first part_*_second part_*_third single_qkv single_gate single_out single_first single_second single_third", BFP8, "23.84 -> 25.20 s of a fold", SHARES),
            dead("product_l1", "the triangle's product in L1", "tri_product", IN_L1, "takes 1.15 to 1.17 times as long", IN_SHARDS),
            dead("product_shards", "the triangle's operands in shards", "tri_product", r"shard", "refused", IN_SHARDS),
        ),
        "the order of ops in a part of the layer; what the project's own kernels take in; a transpose of 2.8 us is left out; gaps", pass_us=35714,
    ),
    laid(
        "boltz-alignment", TRUNK, "the transition of 1024 rows of the alignment: 8.7 ms",
        alignment,
        (
            gain("rows", "64 rows at a time instead of 16", 2329.1, "part_*", rf"chunk|slice|{LARGER}", "8707.8 -> 6378.7 us; 32 rows 6760.6"),
            dead("eight", "eight rows at a time", "part_*", SMALLER, "8707.8 -> 12206.8 us"),
            dead("rows128", "128 rows at a time", "part_*", r"\b128\b.{0,10}rows|rows.{0,10}\b128\b", "refused: L1 was taken"),
        ),
        "what each op takes; cores; gaps", pass_us=8704.6,
    ),
    laid(
        "boltz-tokens", SITES, "one of 24 layers over tokens: 641.5 us",
        tokens(BLACKHOLE),
        (
            gain("chunk", "128 queries to a core instead of 256", 13.58, "attend", SDPA_CHUNKS, "1.127 times as fast; 13.58 us of each call, and the fold gained it", CHUNKS),
            dead("packed", "both first matmuls of the feed-forward as one", "swish gates", PACKED, "3.361 -> 3.306 s, while equal runs reach 3.998 s", PACKED_AT),
        ),
        "the order of some ops; the k chunk; gaps", pass_us=641.5,
    ),
    laid(
        "boltz-lengths", LENGTHS, "the same attention at other lengths and heads, one call after the other",
        lengths("blackhole", GRID, ((320, 16, 305.9), (768, 8, 173.8), (1024, 16, 245.5), (1536, 16, 385.9))),
        (
            gain("320", "32 queries to a core at 320 tokens", 194.3, "attend_320_16", SDPA_CHUNKS, "305.9 -> 111.6 us"),
            gain("768", "32 queries to a core at 768 tokens of eight heads", 73.4, "attend_768_8", SDPA_CHUNKS, "173.8 -> 100.4 us"),
            gain("1024", "64 queries to a core at 1024 tokens", 22.7, "attend_1024_16", SDPA_CHUNKS, "245.5 -> 222.8 us"),
            dead("1536", "another chunk at 1536 tokens", "attend_1536_16", SDPA_CHUNKS, "none of those tried took less than 385.9 us"),
        ),
        "the k chunk; that the calls follow each other; gaps", pass_us=1111.1,
    ),
)  # fmt: skip
