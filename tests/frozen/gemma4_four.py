"""Gemma 4 12B on four Blackhole chips (P150), one engineer's port for one user: a sliding layer of decode, and the words' scores.

Hidden 3840, and on each chip four heads of 256 with two of keys and values, and 3840 of 15,360 of the feed-forward; seven norms a
layer, and a factor at its end. All weights are BFLOAT16, interleaved, at HiFi4 with sums in 32 bits; each head of keys and values has
its own cache. The log tells ms of a token from a trace of all 48 layers, three runs each: 0.1 to 0.3 ms is noise. A saving of a token
is divided by 48 layers; times of ops are made up, after the mean matmul of a profile (56.7 us) and the bytes that each reads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import ACTIVATION_IN_BINARY, ACTIVATION_IN_MATMUL, BFP8, HIFI2

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/aweditya/tt-model-bringup/blob"
LOG = f"{HOME}/da3a5f18daee32c7e567529a12c5fecce128d063/research/gemma4_perf_qb2_2026-06-05/log.md"
AUDIT = f"{HOME}/1e1d5e17e177fd38cada662e41303df4e395f37f/research/audit_gemma4_opts_us_vs_tt_metal_44962.md"
CHIPS, GRID, CORES = 4, (11, 10), 110
HIDDEN, HEADS, KV, SIZE, WORDS = 3840, 4, 2, 256, 262_144


@dataclass(frozen=True)
class How:
    """Which changes are there."""

    both_updates: bool = False  # keys and values written to the cache by one op
    short_shards: bool = False  # for the cache, without rows and padding between
    tables_once: bool = False  # cosines and sines looked up before the layers


FIRST = How()
SECOND = How(both_updates=True)
FOURTH = replace(SECOND, short_shards=True, tables_once=True)


def linear(block: Block, role: str, x: Tensor, n: int, us: float) -> Tensor:
    return block.linear(role, x, n, us, fidelity="HiFi4", fp32=True)


def summed(block: Block, name: str, x: Tensor) -> Tensor:
    part = block.collective(f"{name}_scatter", "ReduceScatter", x, HIDDEN // CHIPS, 20, topology="Linear")
    return block.collective(f"{name}_gather", "AllGather", part, HIDDEN, 15, topology="Linear")


def in_tiles(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    return block.moved(role, "TilizeWithValPadding", x, us, layout="TILE", fidelity="HiFi4", use_multicore=True)


def looked_up(block: Block, how: How) -> tuple[Tensor, Tensor]:
    if how.tables_once:
        return block.tensor([1, 1, 1, SIZE]), block.tensor([1, 1, 1, SIZE])
    rows: list[Tensor] = []
    for name in ("cos", "sin"):
        index = block.tensor([1, 1], "UINT32", layout=ROW_MAJOR)
        table = block.tensor([1, 1, 4096, SIZE], layout=ROW_MAJOR)
        row = block.op(f"{name}_pick", "Embeddings", (index, table), block.tensor([1, 1, 1, SIZE], layout=ROW_MAJOR), 6.2, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=False)  # fmt: skip
        rows.append(in_tiles(block, f"{name}_tiles", row, 7.6))
    return rows[0], rows[1]


def rotated(block: Block, name: str, x: Tensor, tables: tuple[Tensor, Tensor]) -> Tensor:
    """By halves: the second negated before the first, times sines, added to the whole times cosines."""
    heads, half = x.shape[-2], SIZE // 2
    first = block.slice(f"{name}_first", x, (0, 0, 0, 0), (1, 1, heads, half), 3)
    second = block.slice(f"{name}_second", x, (0, 0, 0, half), (1, 1, heads, SIZE), 3)
    turned = block.concat(f"{name}_turned", (block.unary(f"{name}_neg", "NEG", second, 4.5, cores=1), first), x.shape, 3, 6)  # fmt: skip
    y = block.binary(f"{name}_cos", "MUL", x, tables[0], 5, cores=8)
    turned = block.binary(f"{name}_sin", "MUL", turned, tables[1], 5, cores=8)
    return block.binary(f"{name}_sum", "ADD", y, turned, 4.5, cores=8)


def sharded(block: Block, how: How, name: str, x: Tensor) -> Tensor:
    """One row of one head, on one core."""
    if how.short_shards:
        return block.to_shards(f"{name}_shards", block.view(x, [1, 1, 1, SIZE]), block.along(32, SIZE, 1), 4)
    x = block.moved(f"{name}_rows", "UntilizeWithUnpadding", x, 3.4, layout=ROW_MAJOR, cores=1, fidelity="HiFi4")
    x = block.moved(f"{name}_pad", "Pad", x, 2.8, shape=[1, 1, 32, SIZE], cores=1)
    x = block.moved(f"{name}_tiles", "Tilize", x, 3.2, layout="TILE", cores=1, fidelity="HiFi4")
    return block.to_shards(f"{name}_shards", x, block.along(32, SIZE, 1), 4)


def attended(block: Block, how: How, x: Tensor) -> Tensor:
    q, k, v = (linear(block, role, x, n, us) for role, n, us in (("q", HEADS * SIZE, 48), ("k", KV * SIZE, 28), ("v", KV * SIZE, 28)))  # fmt: skip
    q, k, v = (block.norm(f"{name}_norm", block.view(one, [1, 1, heads, SIZE]), 6, cores=1) for name, one, heads in (("q", q, HEADS), ("k", k, KV), ("v", v, KV)))  # fmt: skip
    tables = looked_up(block, how)
    q, k = rotated(block, "q", q, tables), rotated(block, "k", k, tables)
    parts: list[Tensor] = []
    where, pages = block.tensor([1], "INT32", layout=ROW_MAJOR), block.tensor([1, 128], "INT32", layout=ROW_MAJOR)
    for head in range(KV):
        caches = [block.tensor([128, 1, 32, SIZE]) for _ in range(2)]
        rows = [sharded(block, how, f"head{head}_{name}", block.slice(f"head{head}_{name}_cut", one, (0, 0, head, 0), (1, 1, head + 1, SIZE), 3)) for name, one in (("k", k), ("v", v))]  # fmt: skip
        if how.both_updates:
            block.op(f"head{head}_update", "PagedFusedUpdateCache", (caches[0], rows[0], caches[1], rows[1], where, pages), (caches[0], caches[1]), 5, cores=2, batch_offset=0, op_type="PagedUpdateCacheOpType::FUSED_UPDATE", share_cache=False, update_idxs="{}")  # fmt: skip
        else:
            for name, cache, row in zip("kv", caches, rows, strict=True):
                block.update_cache(f"head{head}_update_{name}", cache, row, 4)
        part = block.slice(f"head{head}_q_cut", q, (0, 0, 2 * head, 0), (1, 1, 2 * head + 2, SIZE), 3)
        parts.append(block.attend_decode(f"head{head}_attend", part, caches[0], 14, config=None, cores=16, fidelity="HiFi2", fp32=False))  # fmt: skip
    y = block.concat("heads", parts, [1, 1, HEADS, SIZE], 2, 5)
    return summed(block, "out", linear(block, "out", block.view(y, [1, 1, 1, HEADS * SIZE]), HIDDEN, 45))


def sliding(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=2.5)
        x = block.tensor([1, 1, 1, HIDDEN])
        kept = block.op("kept", "Clone", (x,), block.tensor(x.shape), 5, cores=CORES, dtype="DataType::BFLOAT16", memory_config=DRAM)  # fmt: skip
        y = attended(block, how, block.norm("norm", x, 25, cores=1))
        x = block.binary("attention_added", "ADD", kept, block.norm("norm_out", y, 25, cores=1), 5, cores=CORES)
        y = block.norm("norm_feed", x, 25, cores=1)
        gate = block.unary("gelu", "GELU", linear(block, "gate", y, HIDDEN, 82), 5, cores=CORES)
        up = linear(block, "up", y, HIDDEN, 82)
        y = linear(block, "down", block.binary("gated", "MUL", gate, up, 5, cores=CORES), HIDDEN, 82)
        y = block.norm("norm_down", summed(block, "down", y), 25, cores=1)
        y = block.binary("feed_added", "ADD", x, y, 5, cores=CORES)
        block.unary("scaled", "MUL_UNARY_SFPU", y, 4.5, cores=CORES)
        return block

    return build


def chosen(block: Block, x: Tensor, us: float) -> None:
    rows = block.moved("rows", "UntilizeWithUnpadding", x, us, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")
    block.op("token", "ArgMax", (rows,), block.tensor([1, 1, 1, 1], "UINT32", layout=ROW_MAJOR), 3 * us, cores=1, dim=3, keepdim=True, output_dtype="DataType::UINT32", output_mem_config=DRAM, sub_core_grids=None, use_multicore=False)  # fmt: skip


def head(*, apart: bool) -> Callable[[], Block]:
    """The scores of all words on each chip, or of a quarter of them."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=2.5)
        y = block.norm("norm", block.tensor([1, 1, 1, HIDDEN]), 25, cores=1)
        if apart:
            y = linear(block, "scores", y, WORDS // CHIPS, 1400)
            y = block.collective("scores_gather", "AllGather", y, WORDS, 60, topology="Linear")
        else:
            y = linear(block, "scores", y, WORDS, 5200)
            y = block.unary("less", "MUL_UNARY_SFPU", y, 12, cores=CORES)
            y = block.unary("bent", "TANH", y, 16, cores=CORES)
            y = block.unary("more", "MUL_UNARY_SFPU", y, 12, cores=CORES)
        chosen(block, y, 120)
        return block

    return build


CHAIN = "head?_?_rows head?_?_pad head?_?_tiles"
TABLES = "cos_pick cos_tiles sin_pick sin_tiles"
MLP = "gate up down"
EVERY = "q k v out gate up down"
FEWER = r"to_memory_config|reshard|interleaved_to_sharded|without.{0,60}(untiliz|tiliz|row.major|pad)|(untiliz|tiliz|row.major|pad).{0,80}(drop|remove|needless|redundant|again|back|skip|round)"
ONCE = r"once|hoist|before the (layers|loop)|outside|precomput|share|reuse|cache"
ADDCMUL = r"addcmul|fus.{0,60}(mul|add|sum|product)|(mul|product).{0,30}add.{0,40}(one|single)"
ROLL = r"roll|sign|rotary_embedding|fus"
KEPT = r"clone|copy|activations|fus.{0,60}(scal|mul|add|sum)|in.?place"
MADE_UP = "times of all ops, after the mean matmul and what each reads, so that they and gaps make a token; core counts; configs of attention"

GEMMA4_FOUR = (
    laid(
        "gemma4-four-first", LOG, "a sliding layer before any change: 51.4 ms a token", sliding(FIRST),
        (
            dead("update", "one op to write keys and values to the cache", "head?_update_?", r"fused_update|paged_fused|(one|single).{0,40}(update|write|op)|both", "51.4 -> 51.13 ms a token: noise, where a run without a trace took half as long"),
            gain("shards", "a row of the cache to its shard at once, without rows, padding and tiles", 35.4, CHAIN, FEWER, "51.27 -> 49.57 ms a token, bit for bit"),
            gain("tables", "cosines and sines looked up once a token, for each layer", 27.1, TABLES, ONCE, "49.27 -> 47.97 ms a token"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-four-fourth", LOG, "a sliding layer with short ways to the cache and tables looked up once: 48.2 ms a token", sliding(FOURTH),
        (
            gain("addcmul", "addcmul for the product with sines and the sum, of queries and keys", 17.3, "q_sin q_sum k_sin k_sum", ADDCMUL, "48.23 -> 47.40 ms a token"),
            gain("roll", "a roll by half a head, and signs in the table of sines, for the negated half and the concat", 11, "?_neg ?_turned ?_first ?_second", ROLL, "47.73 -> 47.20 ms a token, bit for bit"),
            gain("kept", "the residual without a clone, and the last factor in the sum", 11, "kept feed_added scaled", KEPT, "47.30 -> 46.77 ms a token; the factor alone 47.2"),
            gain("bfp8", "BFLOAT8_B for the feed-forward's weights", 9.8, MLP, BFP8, "46.87 -> 46.40 ms a token; later switched off for a suspicion that the next round refuted"),
            dead("gelu", "GELU in the matmul", "gate gelu", ACTIVATION_IN_MATMUL, "47.40 -> 47.33 ms a token: noise, kept for its shortness"),
            dead("factor", "the last factor in the sum, alone", "feed_added scaled", ACTIVATION_IN_BINARY, "47.30 -> 47.2 ms a token: noise, kept"),
            dead("hifi2", "HiFi2 for all matmuls", EVERY, HIFI2, "46.67 -> 46.60 ms a token: noise"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-four-words", AUDIT, "the words' scores, all of them on each chip: 51.3 ms a token", head(apart=False),
        (
            gain("apart", "a quarter of the words on each chip, gathered before the choice", 3800, "scores less bent more", r"shard.{0,60}(vocab|words|columns|chips|devices|mesh)|(vocab|words|columns).{0,60}(shard|split|apart)|column.parallel|each (chip|device)", "51.3 -> 47.5 ms a token"),
        ),
        MADE_UP,
    ),
    laid(
        "gemma4-four-words-apart", LOG, "the words' scores, a quarter on each chip: 46.4 ms a token", head(apart=True),
        (
            gain("bfp8", "BFLOAT8_B for the words' weights", 400, "scores", BFP8, "46.40 -> 46.00 ms a token; later switched off for a suspicion that the next round refuted"),
            dead("hifi2", "HiFi2 for all matmuls, this one too", "scores", HIFI2, "46.67 -> 46.60 ms a token: noise"),
        ),
        MADE_UP,
    ),
)  # fmt: skip
