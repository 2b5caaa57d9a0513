"""CLM v0.1 8B, which makes vectors of texts, on one Blackhole chip (P150): one layer of Qwen3 8B at 128 to 2048 tokens.

Hidden 4096, 32 heads of 128 with eight of keys and values, each head's queries and keys normed, feed-forward 12288.
The ledger tells kernel times of all ops at 128 tokens, the sum at 1024, and the program configs as TTNN printed them; its
trials are wall times of one layer (medians of 10 or 20 calls, each synchronised), and of all 36 layers for the formats.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block, chunks, minimal, two_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BLOCK_W, CORES, HIFI2, LOFI, MINIMAL, SHARDED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

DOC = "https://github.com/housTT/tt-metal/blob/abd3e02365f884db01b7874fb85e32e6ade46a2c/models/autoports/contrastive_lm_clm_v0_1_8b/doc"
README, FORMATS = f"{DOC}/optimized_decoder/README.md", f"{DOC}/datatype_sweep/README.md"
TRIALS = f"{DOC}/optimized_decoder/program_config_experiment_{{}}.json"
GRID, ALL_CORES = (11, 10), 110
HIDDEN, HEADS, KV, SIZE, WIDE = 4096, 32, 8, 128, 12288
QKV = (HEADS + 2 * KV) * SIZE


@dataclass(frozen=True)
class Length:
    """Texts of one length; times in us. `us`: QKV, the output projection, each of gate and up, down."""

    tokens: int
    us: tuple[float, float, float, float]
    texts: int = 1
    heads: float = 81
    norm: float = 65
    joined: float = 52
    turns: tuple[float, float] = (47, 17)
    attend: float = 22
    small: float = 1.0  # factor of the other ops' times
    attention: tuple[str, str] = ("BFLOAT16", "HiFi4")

    @property
    def rows(self) -> int:
        return self.tokens * self.texts


def projected(block: Block, role: str, x: Tensor, n: int, us: float, how: Length) -> Tensor:  # noqa: PLR0917
    """As the stock configs have it: 2D ones, and minimal matmuls for QKV and down above 128 rows."""
    dtype, fidelity = how.attention if role in {"qkv", "out"} else ("BFLOAT8_B", "HiFi2")
    tall = how.rows // 32
    if role in {"qkv", "down"} and how.rows > 128:
        grid = (8, 10) if role == "qkv" else (8, 8)
        return block.minimal(role, x, n, us, dtype=dtype, fidelity=fidelity, config=minimal((8, 8, 8), (1, 1), grid), cores=grid[0] * grid[1])  # fmt: skip
    if role == "qkv":
        config = two_d((8, 10), 1, (1, n // 256), subblock=(1, 1))
    else:
        high = -(-x.shape[-2] // 32 // 8)
        config = two_d((8, 8), 8, (high, n // 256), subblock=(1, 4), batch=role == "out" and how.rows <= 1024)
    act = "SILU" if role == "gate" else None
    return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=config, cores=8 * min(8, tall), packer=True, act=act)  # fmt: skip


def layer(how: Length) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=2)
        qkv_us, out_us, wide_us, down_us = how.us
        rows, few, small = how.rows, min(ALL_CORES, how.rows // 32), how.small
        texts, tokens = how.texts, how.tokens
        x = block.tensor([1, 1, rows, HIDDEN])
        qkv = projected(block, "qkv", block.norm("norm", x, how.norm, cores=few), QKV, qkv_us, how)
        qkv = block.view(qkv, [texts, 1, tokens, QKV])
        q, k, v = block.split_heads("heads", qkv, how.heads, heads=HEADS, kv=KV, size=SIZE, rows=tokens, batch=texts, cores=few)  # fmt: skip
        q, k = (block.norm(f"norm_{name}", one, us * small, cores=ALL_CORES) for name, one, us in (("q", q, 12), ("k", k, 5)))  # fmt: skip
        tables = [block.tensor([1, 1, tokens, SIZE]) for _ in range(2)]
        turn = block.tensor([1, 1, 32, 32])
        q, k = (block.op(f"rotary_{name}", "RotaryEmbeddingLlama", (one, *tables, turn), block.tensor(one.shape), us, cores=ALL_CORES, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), is_decode_mode=False, output_mem_config=DRAM) for name, one, us in (("q", q, how.turns[0]), ("k", k, how.turns[1])))  # fmt: skip
        kept = "BFLOAT16" if how.attention[0] == "BFLOAT16" else "BFLOAT8_B"
        cache = block.tensor([64 * texts, KV, 32, SIZE], kept)
        table = block.tensor([texts, 64], "INT32", layout=ROW_MAJOR)
        for name, one in (("k", k), ("v", v)):
            part = block.typecast(f"cast_{name}", one, kept, 2 * small, cores=ALL_CORES)
            block.op(f"fill_{name}", "PagedFillCache", (cache, part, table), cache, 5 * small, cores=ALL_CORES, batch_idx_fallback=0, block_size_override=None, mesh_coords=None, noop=False)  # fmt: skip
        q = block.typecast("cast_q", q, "BFLOAT8_B", 5.9 * small, cores=ALL_CORES)
        chunk = 256 if tokens >= 2048 else 64
        out = block.attend("attend", q, k, v, how.attend, config=chunks(chunk, chunk, (8, 8)), cores=64, fidelity="HiFi4", fp32=True)  # fmt: skip
        out = block.view(block.join_heads("joined", out, how.joined, cores=few), [1, 1, rows, HIDDEN])
        if rows > 1024:
            out = block.view(out, [1, rows // 1024, 1024, HIDDEN])
        out = block.view(projected(block, "out", out, HIDDEN, out_us, how), [1, 1, rows, HIDDEN])
        x = block.binary("attention_added", "ADD", x, out, 9 * small, cores=ALL_CORES)
        fed = block.norm("norm_feed", x, how.norm, cores=few)
        if rows > 512:
            fed = block.view(fed, [1, rows // 512, 512, HIDDEN])
        gate, up = (projected(block, role, fed, WIDE, wide_us, how) for role in ("gate", "up"))
        hidden = block.binary("gated", "MUL", gate, up, 23 * small, cores=ALL_CORES, out="BFLOAT8_B")
        hidden = block.view(hidden, [1, 1, rows, WIDE])
        fed = projected(block, "down", hidden, HIDDEN, down_us, how)
        block.binary("feed_added", "ADD", x, fed, 9 * small, cores=ALL_CORES)
        return block

    return build


ONE = "of the layer alone, medians of 10 calls"
TWENTY = "of the layer alone, medians of 20 calls"
ALL = "of 36 layers"
NORMS, FEED = "norm norm_feed", "gate up down"
GRID_11 = rf"{CORES}|11x10|x=11"
UNEVEN = r"11 columns|x=11\b|11x\d|more cores|all (the |of the )?cores"
NORM_NAMES = rf"{SHARDED}|{CORES}"
DEEP = r"in0_block_w\D{0,4}16\b"
MADE_UP = "which small ops take how much of their sum, gaps"
SCALED = f"kernel times, which follow from those at 128 tokens and from rates of matmuls at 1024; {MADE_UP}"

SHORT = Length(128, (263, 142, 249, 228))
AT_256 = Length(256, (285, 158, 280, 350), heads=85, norm=67, joined=54, turns=(80, 26), attend=36, small=1.8)
AT_512 = Length(512, (352, 262, 345, 398), heads=88, norm=69, joined=56, turns=(150, 46), attend=85, small=3.2)
AT_1024 = Length(1024, (652, 488, 642, 680), heads=90, norm=71, joined=58, turns=(330, 100), attend=290, small=5.6)
AT_2048 = Length(
    2048, (1290, 970, 1270, 1350), heads=110, norm=80, joined=75, turns=(650, 200), attend=890, small=7.2
)
BFP8_ATTENTION = ("BFLOAT8_B", "HiFi2")


def narrow(length: Length, qkv: float, out: float) -> Length:
    """Attention's weights in BFLOAT8_B, its matmuls in HiFi2."""
    return replace(length, us=(qkv, out, *length.us[2:]), attention=BFP8_ATTENTION)


SHORT_DEAD = (
    dead("minimal", "minimal_matmul for QKV", "qkv", MINIMAL, f"1.609 -> 1.628 ms {TWENTY}; 1.633 with four rows of tiles a block", TRIALS.format(128)),
    dead("qkv-18", "18 columns a core on 11 columns of cores for QKV", "qkv", UNEVEN, f"1.609 -> 1.543 ms {TWENTY}, but the output is wrong: 192 columns are no multiple of 18", TRIALS.format(128)),
    dead("qkv-sharded", "a 1D config with a width-sharded output for QKV", "qkv", r"\b1D\b|MultiCast1D|width.?shard", "refused: its circular buffers are not valid"),
    dead("out-12", "12 columns a core on 11 columns of cores for the output projection", "out", UNEVEN, f"1.609 -> 1.607 ms {TWENTY}, and the output is wrong", TRIALS.format(128)),
    dead("out-deep", "in0_block_w 16 for the output projection", "out", DEEP, f"1.609 -> 1.617 ms {TWENTY}", TRIALS.format(128)),
    dead("wide-36", "36 columns a core on 11 columns of cores for gate and up", "gate up", UNEVEN, f"1.609 -> 1.614 ms {TWENTY}, and the output is wrong", TRIALS.format(128)),
    dead("wide-deep", "in0_block_w 16 for gate and up", "gate up", DEEP, "refused: no room in L1"),
    dead("down-12", "12 columns a core on 11 columns of cores for down", "down", UNEVEN, f"1.609 -> 1.595 ms with in0_block_w 8, 1.626 with 16, {TWENTY}; the output is wrong", TRIALS.format(128)),
    dead("down-deep", "in0_block_w 16 for down", "down", DEEP, f"1.609 -> 1.618 ms {TWENTY}", TRIALS.format(128)),
    dead("lofi", "LoFi for the feed-forward", FEED, LOFI, f"57.8 -> 58.5 ms {ALL}", FORMATS),
)  # fmt: skip

CLM = (
    laid(
        "clm-128", README, "a text of 128 tokens: 1557 us in kernels, 22 ops",
        layer(SHORT),
        (
            gain("qkv-block", "in0_block_w 4 and a subblock of four columns for QKV", 50.0, "qkv", unbanked(rf"{BLOCK_W}|subblock"), f"1.609 -> 1.559 ms {TWENTY}; 1.577 with 2 and 1x2, 1.576 with 8 and 1x4", TRIALS.format(128)),
            gain("norms", "both norms in blocks of shards on 8 x 4 cores", 37.0, NORMS, NORM_NAMES, f"1.609 -> 1.572 ms {TWENTY}, with the moves to shards and back", README),
            *SHORT_DEAD,
        ),
        MADE_UP, 1557,
    ),
    laid(
        "clm-128-bfp8", FORMATS, "a text of 128 tokens, attention's weights in BFLOAT8_B: 54.0 ms of 36 layers",
        layer(narrow(SHORT, 205, 100)),
        (
            dead("lofi", "LoFi for the feed-forward", FEED, LOFI, f"54.0 -> 54.7 ms {ALL}"),
            dead("attend", "HiFi2 for attention", "attend", HIFI2, f"54.0 -> 53.9 ms {ALL}: a tie, and less exact"),
        ),
        SCALED,
    ),
    laid(
        "clm-128x8", FORMATS, "eight texts of 128 tokens: 162 ms of 36 layers",
        layer(replace(AT_1024, tokens=128, texts=8, attend=125, turns=(310, 95))),
        (gain("lofi", "LoFi for the feed-forward", 502.8, FEED, LOFI, f"162.1 -> 144.0 ms {ALL}: 18.1 / 36"),),
        SCALED,
    ),
    laid(
        "clm-128x8-bfp8", FORMATS, "eight texts of 128 tokens, attention's weights in BFLOAT8_B: 142 ms of 36 layers",
        layer(narrow(replace(AT_1024, tokens=128, texts=8, attend=125, turns=(310, 95)), 340, 260)),
        (
            gain("lofi", "LoFi for the feed-forward", 522.2, FEED, LOFI, f"142.4 -> 123.6 ms {ALL}: 18.8 / 36"),
            dead("attend", "HiFi2 for attention", "attend", HIFI2, f"142.4 -> 142.1 ms {ALL}: a tie, and less exact"),
        ),
        SCALED,
    ),
    laid(
        "clm-256", README, "a text of 256 tokens: 1.98 ms of the layer alone",
        layer(AT_256),
        (
            gain("qkv-grid", "minimal_matmul of QKV on 11 x 10 cores", 28.0, "qkv", GRID_11, f"1.984 -> 1.956 ms {ONE}", TRIALS.format(256)),
            gain("down-grid", "minimal_matmul of down on 11 x 10 cores", 90.0, "down", GRID_11, f"1.984 -> 1.894 ms {ONE}", TRIALS.format(256)),
            gain("norms", "both norms in blocks of shards on 8 x 4 cores", None, NORMS, NORM_NAMES, f"1.984 -> 1.965 ms {ONE}; the stock layer took 2.007 when it was run again", TRIALS.format(256)),
        ),
        SCALED,
    ),
    laid(
        "clm-512", README, "a text of 512 tokens: 2.60 ms of the layer alone",
        layer(AT_512),
        (
            gain("qkv-grid", "minimal_matmul of QKV on 11 x 10 cores", 83.0, "qkv", GRID_11, f"2.600 -> 2.517 ms {ONE}", TRIALS.format(512)),
            gain("down-grid", "minimal_matmul of down on 11 x 10 cores", 101.0, "down", GRID_11, f"2.600 -> 2.499 ms {ONE}", TRIALS.format(512)),
            gain("norms", "both norms in blocks of shards on 8 x 4 cores", 47.0, NORMS, rf"{NORM_NAMES}", f"2.600 -> 2.553 ms {ONE}, with the moves to shards and back", TRIALS.format(512)),
            dead("norms-64", "both norms in blocks of shards on 8 x 8 cores", NORMS, r"64 cores|8x8|x=8,y=8|\b8 x 8\b", f"2.600 -> 2.603 ms {ONE}", TRIALS.format(512)),
        ),
        SCALED,
    ),
    laid(
        "clm-512x8", FORMATS, "eight texts of 512 tokens: 624 ms of 36 layers",
        layer(replace(AT_2048, tokens=512, texts=8, us=(2580, 1940, 2540, 2700), heads=170, norm=115, joined=120, turns=(1300, 410), attend=760, small=22)),
        (gain("lofi", "LoFi for the feed-forward", 1941.7, FEED, LOFI, f"624.5 -> 554.6 ms {ALL}: 69.9 / 36"),),
        SCALED,
    ),
    laid(
        "clm-1024", README, "a text of 1024 tokens: 4519 us in kernels",
        layer(AT_1024),
        (
            gain("qkv-grid", "minimal_matmul of QKV on 11 x 10 cores", 126.0, "qkv", GRID_11, f"4.703 -> 4.577 ms {ONE}", TRIALS.format(1024)),
            gain("down-grid", "minimal_matmul of down on 11 x 10 cores", 139.0, "down", GRID_11, f"4.703 -> 4.564 ms {ONE}", TRIALS.format(1024)),
            gain("lofi", "LoFi for the feed-forward", 511.1, FEED, LOFI, f"170.4 -> 152.0 ms {ALL}: 18.4 / 36", FORMATS),
            dead("norms", "both norms in blocks of shards", NORMS, SHARDED, f"4.703 -> 4.682 ms on 8 x 8 cores, {ONE}: a tie; refused on 8 x 4", TRIALS.format(1024)),
            dead("out-12", "12 columns a core on 11 columns of cores for the output projection", "out", UNEVEN, f"4.703 -> 4.516 ms {ONE}, but the output is wrong: 128 columns are no multiple of 12", TRIALS.format(1024)),
            dead("out-deep", "in0_block_w 16 for the output projection", "out", DEEP, "refused: no room in L1", TRIALS.format(1024)),
            dead("wide-36", "36 columns a core on 11 columns of cores for gate and up", "gate up", UNEVEN, f"4.703 -> 4.355 ms {ONE}, but the output is wrong: 384 columns are no multiple of 36", TRIALS.format(1024)),
            dead("wide-deep", "in0_block_w 16 for gate and up", "gate up", DEEP, "refused: no room in L1"),
        ),
        SCALED, 4519,
    ),
    laid(
        "clm-1024-bfp8", FORMATS, "a text of 1024 tokens, attention's weights in BFLOAT8_B: 148 ms of 36 layers",
        layer(narrow(AT_1024, 340, 255)),
        (
            gain("lofi", "LoFi for the feed-forward", 500.0, FEED, LOFI, f"148.1 -> 130.1 ms {ALL}: 18.0 / 36"),
            gain("attend", "HiFi2 for attention", 25.0, "attend", HIFI2, f"148.1 -> 147.2 ms {ALL}: 0.9 / 36; less exact"),
        ),
        SCALED,
    ),
    laid(
        "clm-2048", README, "a text of 2048 tokens: 8.82 ms of the layer alone",
        layer(AT_2048),
        (
            gain("qkv-grid", "minimal_matmul of QKV on 11 x 10 cores", 181.0, "qkv", GRID_11, f"8.822 -> 8.641 ms {ONE}", TRIALS.format(2048)),
            gain("down-grid", "minimal_matmul of down on 11 x 10 cores", 363.0, "down", GRID_11, f"8.822 -> 8.459 ms {ONE}", TRIALS.format(2048)),
            gain("lofi", "LoFi for the feed-forward", 1005.6, FEED, LOFI, f"321.7 -> 285.5 ms {ALL}: 36.2 / 36", FORMATS),
            dead("norms", "both norms in blocks of shards on 8 x 8 or 8 x 4 cores", NORMS, SHARDED, "refused: no room in L1 for the circular buffers", TRIALS.format(2048)),
        ),
        SCALED,
    ),
    laid(
        "clm-2048-bfp8", FORMATS, "a text of 2048 tokens, attention's weights in BFLOAT8_B: 286 ms of 36 layers",
        layer(narrow(AT_2048, 720, 545)),
        (
            gain("lofi", "LoFi for the feed-forward", 994.4, FEED, LOFI, f"286.2 -> 250.4 ms {ALL}: 35.8 / 36"),
            gain("attend", "HiFi2 for attention", 255.6, "attend", HIFI2, f"286.2 -> 277.0 ms {ALL}: 9.2 / 36; less exact"),
        ),
        SCALED,
    ),
)  # fmt: skip
