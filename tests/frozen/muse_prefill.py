"""Muse-Glimmer 30B on one Blackhole chip: a prompt through one layer with a sliding window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks, minimal, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.muse_decode import FUSED, GATE, HIDDEN, LATER, LOG, QKV, TABLES, WIDE
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    ACTIVATION_IN_MATMUL,
    BFP8,
    BLOCK_W,
    IN_L1,
    LOFI,
    MINIMAL,
    MINIMAL_BLOCKS,
    PACKED,
    SDPA_CHUNKS,
    SHARDED,
    TWO_D,
    unbanked,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

ROWS = 8192
WINDOW = 2048


def _attend(block: Block, qkv: Tensor, rows: int, us: float, chunk: int, rope_us: float) -> Tensor:  # noqa: PLR0917
    q, k, v = block.split_heads("heads", qkv, 0.05 * rows, heads=32, kv=2, size=128, rows=rows)
    q, k = (
        block.norm(f"norm_{n}", one, part * rows, cores=110) for n, one, part in (("q", q, 0.04), ("k", k, 0.007))
    )
    turned = [block.rotary(f"rope_{n}", one, us, decode=False) for n, one, us in (("q", q, 0.9 * rope_us), ("k", k, 0.1 * rope_us))]  # fmt: skip
    config = chunks(chunk, chunk, (11, 10))
    attended = block.attend("sdpa", turned[0], turned[1], v, us, config=config, cores=110, window=WINDOW, fidelity="HiFi4", fp32=True)  # fmt: skip
    return block.join_heads("joined", attended, 0.03 * rows)


def functional() -> Block:
    """`ttnn.linear` on its own choice, rotary spelled out, unary activations: 101.2 ms, 42 ops."""
    block = Block("blackhole")
    row = [1, 1, ROWS, HIDDEN]
    x = block.tensor(row)

    def project(role: str, given: Tensor, n: int, us: float) -> Tensor:
        config = two_d((11, 10), 1, (26, -(-n // 32 // 11)))
        return block.linear(role, given, n, us * 1e3, config=config, cores=110)

    normed = block.norm("norm_in", x, 980, cores=110)
    qkv = project("qkv", normed, QKV, 2.45)
    q, k, v = block.split_heads("heads", qkv, 330, heads=32, kv=2, size=128, rows=ROWS)
    q, k = (block.norm(f"norm_{n}", one, us, cores=110) for n, one, us in (("q", q, 160), ("k", k, 30)))
    tables = []
    for name in ("cos", "sin"):
        rows = block.tensor([1, 1, ROWS, 128], layout="ROW_MAJOR")
        tables.append(
            block.moved(f"turn_{name}", "Tilize", rows, 60, layout="TILE", fidelity="HiFi4", use_multicore=True)
        )
    turned = []
    for name, given, part in (("q", q, 2.12), ("k", k, 0.15)):
        heads = given.shape[1]
        halves = [block.slice(f"turn_{name}_half{n}", given, (0, 0, 0, 64 * n), (1, heads, ROWS, 64 * (n + 1)), 140 * part) for n in (0, 1)]  # fmt: skip
        minus = block.unary(f"turn_{name}_neg", "NEG", halves[1], 100 * part)
        rotated = block.concat(f"turn_{name}_joined", (minus, halves[0]), given.shape, 3, 170 * part)
        sine = block.binary(f"turn_{name}_sin", "MUL", rotated, tables[1], 150 * part)
        cosine = block.binary(f"turn_{name}_cos", "MUL", given, tables[0], 150 * part)
        turned.append(block.binary(f"turn_{name}_sum", "ADD", cosine, sine, 150 * part))
    cache = block.tensor([128, 2, 64, 128])
    for name, one in (("k", turned[1]), ("v", v)):
        block.op(f"fill_{name}", "PagedFillCache", (cache, one, block.tensor([1, 128], "INT32", layout="ROW_MAJOR")), cache, 45, cores=110, batch_idx_fallback=0, block_size_override=None, mesh_coords=None, noop=False)  # fmt: skip
    attended = block.attend("sdpa", turned[0], turned[1], v, 11_840, config=chunks(128, 128, (11, 10)), cores=110, window=WINDOW, fidelity="HiFi4", fp32=True)  # fmt: skip
    joined = block.join_heads("joined", attended, 260)
    gate = block.unary("sigmoid", "SIGMOID", project("gate", normed, GATE, 2.08), 400)
    out = project("out", block.binary("gated", "MUL", joined, gate, 610), HIDDEN, 4.67)
    x = block.binary("sum_attention", "ADD", x, block.norm("norm_attended", out, 980, cores=110), 685)
    normed = block.norm("norm_feed", x, 980, cores=110)
    first = block.unary("silu", "SILU", project("up1", normed, WIDE, 22.15), 2300)
    hidden = block.binary("swiglu", "MUL", first, project("up2", normed, WIDE, 22.15), 1950)
    down = block.norm("norm_fed", project("down", hidden, HIDDEN, 21.97), 980, cores=110)
    block.binary("sum_feed", "ADD", x, down, 685)
    return block


def fused() -> Block:
    """`minimal_matmul` at its own blocks, BFLOAT16, HiFi2: 49.9 ms, 24 ops."""
    block = Block("blackhole")
    x = block.tensor([1, 1, ROWS, HIDDEN])

    def project(role: str, given: Tensor, n: int, us: float) -> Tensor:
        return block.minimal(role, given, n, us, config=minimal((8, 8, 8), (2, 4), (11, 10)), cores=110)

    normed = block.norm("norm_in", x, 985, cores=110)
    joined = _attend(block, project("qkv", normed, QKV, 2_070), ROWS, 7_600, 256, 790)
    gated = block.binary("gated", "MUL", joined, project("gate", normed, GATE, 1_868), 600, rhs="SIGMOID")
    out = block.norm("norm_attended", project("out", gated, HIDDEN, 2_011.9), 985, cores=110)
    x = block.binary("sum_attention", "ADD", x, out, 685)
    normed = block.norm("norm_feed", x, 985, cores=110)
    hidden = block.binary("swiglu", "MUL", *(project(role, normed, WIDE, 9_052.9) for role in ("up1", "up2")), 2_290, lhs="SILU")  # fmt: skip
    down = block.norm("norm_fed", project("down", hidden, HIDDEN, 8_550), 985, cores=110)
    block.binary("sum_feed", "ADD", x, down, 685)
    return block


def two_sided(rows_of_cores: int, block_cap: int, factor: float = 1.0) -> Callable[[], Block]:
    """BFLOAT4_B weights, LoFi, explicit 2D configs eight cores wide, rows folded by 512."""

    def build() -> Block:
        block = Block("blackhole")
        x = block.tensor([1, 1, ROWS, HIDDEN])

        def project(role: str, given: Tensor, n: int, us: float, size: int) -> Tensor:
            config = two_d((8, rows_of_cores), min(size, block_cap), (16 // min(rows_of_cores, 8), n // 256), subblock=(1, 2 if n // 256 % 8 else 8), batch=False)  # fmt: skip
            y = block.view(given, [1, ROWS // 512, 512, given.shape[-1]])
            return block.linear(role, y, n, us * factor, dtype="BFLOAT4_B", fidelity="LoFi", config=config, cores=8 * rows_of_cores, banks=True)  # fmt: skip

        def unfold(y: Tensor) -> Tensor:
            return block.view(y, [1, 1, ROWS, y.shape[-1]])

        normed = block.norm("norm_in", x, 985, cores=110)
        joined = _attend(block, unfold(project("qkv", normed, QKV, 2_350, 26)), ROWS, 6_630, 256, 815)
        gate = unfold(project("gate", normed, GATE, 2_090, 26))
        out = unfold(
            project("out", block.binary("gated", "MUL", joined, gate, 610, rhs="SIGMOID"), HIDDEN, 2_090, 16)
        )
        x = block.binary("sum_attention", "ADD", x, block.norm("norm_attended", out, 985, cores=110), 685)
        normed = block.norm("norm_feed", x, 985, cores=110)
        halves = [unfold(project(role, normed, WIDE, 8_940, 8)) for role in ("up1", "up2")]
        down = unfold(project("down", block.binary("swiglu", "MUL", *halves, 2_300, lhs="SILU"), HIDDEN, 8_650, 26))
        block.binary("sum_feed", "ADD", x, block.norm("norm_fed", down, 985, cores=110), 685)
        return block

    return build


def short() -> Block:
    """128 tokens: 2D configs of BFLOAT8_B and BFLOAT4_B weights, norms on four cores, 2549 us."""
    block = Block("blackhole")
    rows = 128
    x = block.tensor([1, 1, rows, HIDDEN])

    def project(role: str, given: Tensor, n: int, us: float, dtype: str) -> Tensor:
        config = two_d((8, 4), 8, (1, n // 256), subblock=(1, 2))
        return block.linear(role, given, n, us, dtype=dtype, fidelity="LoFi", config=config, cores=32, banks=True)

    normed = block.norm("norm_in", x, 134, cores=4)
    q, k, v = block.split_heads("heads", project("qkv", normed, QKV, 195, "BFLOAT8_B"), 14, heads=32, kv=2, size=128, rows=rows, cores=4)  # fmt: skip
    q, k = (
        block.norm(f"norm_{n}", one, us, cores=cores) for n, one, us, cores in (("q", q, 6, 110), ("k", k, 4, 8))
    )
    turned = [block.rotary(f"rope_{n}", one, us, decode=False) for n, one, us in (("q", q, 8), ("k", k, 4))]
    attended = block.attend("sdpa", turned[0], turned[1], v, 22, config=chunks(128, 128, (11, 10)), cores=32, fidelity="HiFi4", fp32=True)  # fmt: skip
    joined = block.join_heads("joined", attended, 9, cores=4)
    gated = block.binary("gated", "MUL", joined, project("gate", normed, GATE, 180, "BFLOAT8_B"), 9, rhs="SIGMOID")
    out = block.norm("norm_attended", project("out", gated, HIDDEN, 185, "BFLOAT8_B"), 134, cores=4)
    x = block.binary("sum_attention", "ADD", x, out, 10)
    normed = block.norm("norm_feed", x, 134, cores=4)
    halves = [project(role, normed, WIDE, 425, "BFLOAT4_B") for role in ("up1", "up2")]
    hidden = block.binary("swiglu", "MUL", *halves, 28, lhs="SILU")
    down = block.norm("norm_fed", project("down", hidden, HIDDEN, 445, "BFLOAT4_B"), 134, cores=4)
    block.binary("sum_feed", "ADD", x, down, 10)
    return block


SMALL = "times of heads, per-head norms, cache and joins (their sum is told)"
UP = "up1 up2"
ALL = "qkv gate out up1 up2 down"

MUSE_PREFILL = (
    laid(
        "muse-prefill-functional", FUSED, "8192 tokens, BFLOAT16, ttnn.linear on its own choice: 101.2 ms, 42 ops",
        functional,
        (
            gain("minimal-feed", "minimal_matmul for gate, up and down", 40_249, "up1 up2 down", MINIMAL, "23.657 -> 10.024 ms twice and 22.617 -> 9.634, each alone at the same fidelity"),
            gain("minimal-out", "minimal_matmul for the output projection", 2_699, "out", MINIMAL, "4.876 -> 2.177 ms alone"),
            gain("minimal-attention", "minimal_matmul for QKV and the gate", 565, "qkv gate", MINIMAL, "2.668 -> 2.331 and 2.273 -> 2.045 ms alone"),
            gain("chunks", "q and k chunks of 256", 4_213, "sdpa", SDPA_CHUNKS, "12.368 -> 8.155 ms alone"),
            gain("rotary", "slices, negation, concat, products and sum -> rotary_embedding_hf, tables stored as tiles", 1_600, "turn_*", r"rotary_embedding|rotary", "2.39 -> 0.79 ms, the two tilizes of the tables with them"),
            gain("silu", "SiLU inside the product", 1_919, "silu swiglu", ACTIVATION_IN_BINARY, "4.458 -> 2.539 ms alone"),
            gain("sigmoid", "sigmoid inside the gate's product", 400, "sigmoid gated", ACTIVATION_IN_BINARY, "the unary op's 0.40 ms are gone"),
            dead("two-sided", "explicit 2D configs", ALL, TWO_D, "28 tried, 8 to 11 wide and 1 to 8 tall: none fits L1"),
            dead("matmul-activation", "SiLU or sigmoid as the linear's activation", "up1 gate silu sigmoid", ACTIVATION_IN_MATMUL, "23.96 -> 26.46 ms, and the unary op is still there"),
            dead("larger-chunks", "q and k chunks of 384 or 512", "sdpa", r"chunk\D{0,30}(384|512)", "beyond L1 at every length"),
        ),
        f"how the MLP's 66.3 ms and QKV's and the gate's 4.5 ms split; 2D config as printed; {SMALL}",
        101_230,
    ),
    laid(
        "muse-prefill-fused", FUSED, "8192 tokens after graph rewrites: minimal_matmul, BFLOAT16, HiFi2: 49.9 ms, 24 ops",
        fused,
        (
            gain("blocks-feed", "blocks of 8x4x16 tiles for gate and up", 514.4, UP, MINIMAL_BLOCKS, "9052.9 -> 8795.7 us each, device time"),
            gain("blocks-out", "blocks of 16x4x8 tiles for the output projection", 54.8, "out", MINIMAL_BLOCKS, "2011.9 -> 1957.1 us, device time"),
            gain("dtype", "BFLOAT8_B weights", None, ALL, BFP8, "63.8 -> 45.8 ms of wall time together with LoFi", LATER),
            gain("lofi", "LoFi", None, ALL, LOFI, "HiFi2 is 35 % slower on the narrower weights; on BFLOAT16 it is not told", LATER),
            dead("blocks-else", "other blocks for QKV, the gate and down", "qkv gate down", MINIMAL_BLOCKS, "the best are 2.6, 0.01 and 0.1 % slower than the op's own"),
            dead("pack-attention", "QKV and the gate as one matmul", "qkv gate", PACKED, "64.8 -> 65.8 ms of wall time, within its 2 %"),
            dead("pack-feed", "gate and up as one matmul", UP, PACKED, "64.8 -> 67.1 ms of wall time"),
            dead("swiglu", "ttnn.swiglu on a packed projection", "up1 up2 swiglu", r"swiglu|\bglu\b", "64.8 -> 68.3 ms of wall time"),
            dead("matmul-activation", "SiLU as fused_activation of minimal_matmul", "up1 swiglu", ACTIVATION_IN_MATMUL, "10.283 -> 12.101 ms alone"),
            dead("chunks", "q and k chunks of 320", "sdpa", r"chunk\D{0,30}320", "8.155 -> 8.600 ms alone"),
        ),
        f"QKV's and down's part of what the matmuls took; {SMALL}",
        49_890,
    ),
    laid(
        "muse-prefill-blocks-of-8", LOG, "8192 tokens, BFLOAT4_B and LoFi, 2D on 8x8 cores, in0_block_w at most 8: 53.9 ms of wall time",
        two_sided(8, 8),
        (
            gain("blocks", "in0_block_w up to 26 where it divides and fits", 1_075, "qkv gate out down", unbanked(BLOCK_W), "53.94 and 53.86 -> 52.55 and 53.10 ms of wall time"),
            dead("taller", "ten rows of cores instead of eight", ALL, r"more cores|all (of )?the cores|80 cores|110 cores|8x10|y=10|\(8, ?10\)", "54.2 -> 80.4 ms", TABLES),
            dead("wider", "nine or ten columns of cores", ALL, r"more cores|all (of )?the cores|110 cores|11x10|\(11, ?10\)|72 cores", "wrong values: the weights lie over eight banks"),
            dead("higher-blocks", "rows folded by 1024 instead of 512", ALL, r"per_core_M|out_block|larger blocks|1024", "54.2 -> 57.8 ms", TABLES),
        ),
        f"how the wall time beyond the device's splits; {SMALL}",
        51_041,
    ),
    laid(
        "muse-prefill-32-cores", TABLES, "8192 tokens, BFLOAT4_B and LoFi, 2D on 8x4 cores: 78.9 ms of wall time",
        two_sided(4, 8, 1.765),
        (gain("cores", "eight rows of cores", 24_680, ALL, r"cores|grid", "78.91 -> 54.23 ms of wall time"),),
        f"all of the difference is given to the matmuls, in proportion; {SMALL}",
    ),
    laid(
        "muse-prefill-128", LATER, "128 tokens: norms on four cores, 2549 us",
        short,
        (
            gain("norms", "the four norms of 6656 width-sharded over 16 cores", 409, "norm_in norm_attended norm_feed norm_fed", SHARDED, "2549 -> 2140 us, device time; 135.8 -> 33.0 us each, moves apart"),
            dead("input-in-l1", "the matmuls' input sharded in L1", "qkv up1 up2 down", unbanked(rf"{IN_L1}|block.?shard"), "0.92, 0.97 and 0.97 of the speed, the move included"),
        ),
        f"the matmuls' times (their sum follows), grids and blocks; {SMALL}",
        2549,
    ),
)  # fmt: skip
