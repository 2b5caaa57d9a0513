"""DeepSeek V3.2 on 32 Blackhole chips (a Galaxy, 8 x 4): its sparse attention in a prefill of 5120 tokens at a time.

Hidden 7168, 128 heads over a latent of 512 and 64 turned numbers, an indexer with 64 heads of 128 that chooses 2048 keys
of all. Eight chips share the tokens and the cache (640 tokens each), four the heads; so scores of the indexer are summed
over these four. The ledger tells times of the ops that grow with the cache, one pass at 50 and one at 512 thousand
tokens before and after each change, and in another file the gather of the cache alone on a ring of eight chips.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/demos/deepseek_v3_d_p/tests/sparse_mla"
FINDINGS = f"{TT_METAL}/1a2a0181fd7106e000a097215e7264a9a555595e/{FOLDER}/OVERLAP_FUSION_FINDINGS.md"
RING = f"{TT_METAL}/40f0a74d0060e912d68b807708ae99562fffc880/{FOLDER}/sparse_mla_all_gather_perf.md"
GRID, CORES, CHIPS, ROWS, CHOSEN = (12, 10), 120, 32, 640, 2048
LATENT, TURNED, HEADS = 512, 64, 32
KEY = LATENT + TURNED
LONG, WARM = 517_120, 56_320


def gathered(block: Block, role: str, x: Tensor, shape: list[int], us: float, *, dim: int, ring: int) -> Tensor:
    out = block.tensor(shape, x.dtype, layout=x.layout)
    return block.op(role, "AllGatherAsync", (x,), out, us, cores=18, cluster_axis=0 if ring == 8 else 1, dim=dim, num_links=2, num_workers_per_link=None, output_mem_config=DRAM, ring_size=ring, topology="Topology::Linear")  # fmt: skip


def scattered(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    """Sums over the four chips that share heads; each keeps a quarter of the columns."""
    return block.collective(role, "ReduceScatterMinimalAsync", x, x.shape[-1] // 4, us, ring=4, links=2, cores=34, topology="Linear", place=DRAM)  # fmt: skip


def linear(block: Block, role: str, x: Tensor, n: int, us: float) -> Tensor:
    return block.linear(role, x, n, us, dtype="BFLOAT8_B", cores=CORES)


def kept_whole(block: Block, cache: Tensor, all_keys: int, scale: float, *, native: bool) -> Tensor:
    """The latent cache of all chips on each."""
    shape = [1, 1, all_keys, KEY]
    copied = block.moved("copied", "Copy", cache, 400 * scale, cores=CORES)
    if native:
        tiles = block.moved("tiles", "TilizeWithValPadding", copied, 420 * scale, layout="TILE", cores=CORES, fidelity="HiFi4")  # fmt: skip
        whole = gathered(block, "keys", tiles, shape, 10_700 * scale, dim=2, ring=8)
        return block.moved(
            "rows", "Untilize", whole, 3_500 * scale, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4"
        )
    parts = [block.tensor(cache.shape, layout=ROW_MAJOR) for _ in range(8)]
    block.op("broadcast", "AllBroadcast", (copied,), parts, 22_360 * scale, cores=2, cluster_axis=0, num_links=2, output_mem_config=DRAM, ring_size=8, topology="Topology::Linear")  # fmt: skip
    return block.concat("concat", parts, shape, 2, 3_000 * scale)


def attention(all_keys: int, us: float, *, native: bool = False, local: bool = False) -> Callable[[], Block]:
    """`native` gathers the cache by one op, `local` chooses among a quarter of the keys on each chip; `us` of the stem."""

    def build() -> Block:
        block = Block("blackhole", devices=CHIPS, grid=GRID, gap_us=1.0)
        scale, own = all_keys / LONG, all_keys // 8
        x = block.tensor([1, 1, ROWS, 7168 // 4])
        q = scattered(block, "q_sum", linear(block, "q_a", x, 1536, us * 0.08), 117)
        q = gathered(block, "q_all", block.norm("q_norm", q, 20, cores=20), [1, 1, ROWS, 1536], 100, dim=3, ring=4)
        kv = scattered(block, "kv_sum", linear(block, "kv_a", x, KEY, us * 0.05), 80)
        kv = gathered(block, "kv_all", kv, [1, 1, ROWS, KEY], 60, dim=3, ring=4)
        block.slice("kv_latent", kv, (0, 0, 0, 0), (1, 1, ROWS, LATENT), 8)
        wide = linear(block, "q_b", q, HEADS * 192, us * 0.15)
        plain = block.slice("q_plain", wide, (0, 0, 0, 0), (1, 1, ROWS, HEADS * 128), 30)
        plain = block.moved("q_heads", "NlpCreateHeads", plain, 40, shape=[1, HEADS, ROWS, 128], cores=CORES)
        plain = block.product("q_latent", plain, block.tensor([1, HEADS, 128, LATENT]), us * 0.2, cores=CORES, fidelity="HiFi2")  # fmt: skip
        turned = block.rotary("q_turned", block.tensor([1, HEADS, ROWS, TURNED]), 35, decode=False, cores=CORES)
        query = block.concat("q_whole", (plain, turned), [1, HEADS, ROWS, KEY], 3, 110)
        asked = linear(block, "index_q", q, 16 * 128, us * 0.07)
        asked = block.moved("index_heads", "NlpCreateHeads", asked, 20, shape=[1, 16, ROWS, 128], cores=CORES)
        keys = block.tensor([1, 1, own, 128])
        keys = gathered(block, "index_keys", keys, [1, 1, all_keys, 128], 1_300 * scale, dim=2, ring=8)
        weights = block.tensor([1, 1, ROWS, 16])
        scores = block.op("scores", "IndexerScoreDsa", (asked, keys, weights), block.tensor([1, 1, ROWS, all_keys], layout=ROW_MAJOR), 5_190 * scale, cores=CORES, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"))  # fmt: skip
        scores = block.moved("score_tiles", "Tilize", scores, 3_550 * scale, layout="TILE", cores=CORES, fidelity="HiFi4")  # fmt: skip
        scores = scattered(block, "score_sum", scores, 11_450 * scale)
        if not local:
            scores = gathered(block, "score_all", scores, [1, 1, ROWS, all_keys], 11_800 * scale, dim=3, ring=4)
        scores = block.moved("score_rows", "Untilize", scores, (1_030 if local else 4_000) * scale, layout=ROW_MAJOR, cores=CORES, fidelity="HiFi4")  # fmt: skip
        best = block.op("best", "TopkLargeIndices", (scores,), block.tensor([1, 1, ROWS, CHOSEN], "UINT32", layout=ROW_MAJOR), (4_320 if local else 17_100) * scale, cores=CORES, fidelity="HiFi4", k=CHOSEN)  # fmt: skip
        cache = kept_whole(block, block.tensor([1, 1, own, KEY], layout=ROW_MAJOR), all_keys, scale, native=native)
        out = block.op("attend", "SparseSdpa", (query, cache, best), block.tensor([1, HEADS, ROWS, LATENT]), 4_840, cores=CORES, fidelity="HiFi2", compute_kernel_config=block.kernel("HiFi2"), scale="0.1352")  # fmt: skip
        out = block.product("values", out, block.tensor([1, HEADS, LATENT, 128]), us * 0.2, cores=CORES, fidelity="HiFi2")  # fmt: skip
        out = linear(block, "out", block.join_heads("joined", out, 45, cores=CORES), 7168, us * 0.25)
        scattered(block, "out_sum", out, 150)
        return block

    return build


def ring(us: tuple[float, ...]) -> Callable[[], Block]:
    """The gather of the cache alone on a ring of eight chips: a broadcast and a concat, or one op."""

    def build() -> Block:
        block = Block("blackhole", devices=8, grid=GRID, gap_us=1.0)
        own = block.tensor([1, 1, LONG // 8, KEY], layout=ROW_MAJOR)
        if len(us) == 1:
            block.op("keys", "AllGather", (own,), block.tensor([1, 1, LONG, KEY], layout=ROW_MAJOR), us[0], cores=16, cluster_axis=0, dim=2, num_links=2, output_mem_config=DRAM, ring_size=8, topology="Topology::Ring")  # fmt: skip
            return block
        parts = [block.tensor(own.shape, layout=ROW_MAJOR) for _ in range(8)]
        block.op("broadcast", "AllBroadcast", (own,), parts, us[0], cores=2, cluster_axis=0, num_links=2, output_mem_config=DRAM, ring_size=8, topology="Topology::Ring")  # fmt: skip
        block.concat("concat", parts, [1, 1, LONG, KEY], 2, us[1])
        return block

    return build


NATIVE = r"native|\bTILE\b|tilize|all_gather|one (op|gather)"
LOCAL = r"reduce.scatter|(local|each (chip|device)|shard|quarter|before).{0,80}(top.?k|choos|choice)|(top.?k|choos|choice).{0,80}(local|each (chip|device)|shard|quarter|before)|(without|no|drop|skip).{0,40}gather"  # fmt: skip
FP8 = r"FP8|\bfloat8|8.bit"
BROADCAST = "copied broadcast concat"
CHOICE = "score_all score_rows best"
AS_TILES = "the cache gathered as tiles, by one op, instead of as rows, by a broadcast and a concat"
QUARTERS = "each chip chooses among its quarter of the summed scores, without a gather of all"
PROBED = ": a trial that left out how the quarters' choices are merged, some 1.1 ms"
MADE_UP = "times of matmuls, of the stem's exchanges and moves; formats of the weights; workers; gaps"
DEEPSEEK_V32 = (
    laid(
        "dsv32-long", FINDINGS, "attention of a layer at 512,000 tokens: 87.53 ms", attention(LONG, 2_050),
        (
            gain("tiles", AS_TILES, 10_680, BROADCAST, NATIVE, "87.53 -> 76.85 ms: 25.4 ms of two ops for 10.7, 3.5 and 0.4 of a gather and two conversions"),
            gain("quarters", QUARTERS, 26_980, CHOICE, LOCAL, f"87.53 -> 60.55 ms: 17.10 -> 4.32, 4.09 -> 1.07 and 12.4 ms gone{PROBED}"),
            dead("fp8", "the latent cache in FP8", "copied broadcast concat", FP8, "refused: the copy takes no such numbers"),
            dead("tiled-choice", "a choice that reads tiles, so no untilize before it", "score_rows", r"untilize|to_layout|\bTILE\b", "refused: the op takes rows only"),
            dead("links", "four links", "index_keys score_sum score_all broadcast", r"num_links|links", "refused: this fabric has two"),
        ),
        MADE_UP, 87_530,
    ),
    laid(
        "dsv32-long-tiles", FINDINGS, "with the cache gathered as tiles: 76.85 ms", attention(LONG, 2_050, native=True),
        (
            gain("quarters", QUARTERS, 27_280, CHOICE, LOCAL, f"76.85 -> 49.57 ms{PROBED}"),
            dead("link", "one link", "index_keys score_sum score_all keys", r"num_links\D{0,8}1\b|one link|single link", "24.0 -> 46.7 ms of gathers and 11.7 -> 23.0 ms of reduce-scatters"),
        ),
        MADE_UP, 76_850,
    ),
    laid(
        "dsv32-long-quarters", FINDINGS, "with each chip's own choice: 60.55 ms", attention(LONG, 2_050, local=True),
        (gain("tiles", AS_TILES, 10_980, BROADCAST, NATIVE, "60.55 -> 49.57 ms"),),
        MADE_UP, 60_550,
    ),
    laid(
        "dsv32-warm", FINDINGS, "attention of a layer at 50,000 tokens: 16.48 ms", attention(WARM, 2_050),
        (gain("tiles", AS_TILES, 1_190, BROADCAST, NATIVE, "16.48 -> 15.29 ms"),),
        f"times of what grows with the cache, as much less as it is shorter; {MADE_UP}", 16_480,
    ),
    laid(
        "dsv32-warm-tiles", FINDINGS, "with the cache gathered as tiles: 15.29 ms", attention(WARM, 2_050, native=True),
        (gain("quarters", QUARTERS, 2_720, CHOICE, LOCAL, f"15.29 -> 12.57 ms{PROBED}"),),
        f"times of what grows with the cache, as much less as it is shorter; {MADE_UP}", 15_290,
    ),
    laid(
        "dsv32-cold", FINDINGS, "attention of a layer while its cache of 50,000 tokens fills: 15.34 ms each of eleven times", attention(WARM, 950),
        (gain("tiles", AS_TILES, 1_161, BROADCAST, NATIVE, "168.7 -> 155.93 ms of eleven"),),
        f"times of what grows with the cache; {MADE_UP}", 15_336,
    ),
    laid(
        "dsv32-cold-tiles", FINDINGS, "with the cache gathered as tiles: 14.18 ms each of eleven times", attention(WARM, 950, native=True),
        (gain("quarters", QUARTERS, 1_927, CHOICE, LOCAL, f"155.93 -> 134.73 ms of eleven{PROBED}"),),
        f"times of what grows with the cache; {MADE_UP}", 14_175,
    ),
    laid(
        "dsv32-ring", RING, "the gather of the cache alone on a ring of eight chips: 28.745 ms", ring((26_086, 2_658)),
        (gain("native", "one op that gathers rows into their places, to a tensor that stays", 20_145, "broadcast concat", NATIVE, "28.745 -> 8.600 ms"),),
        "core counts; gaps", 28_744,
    ),
    laid(
        "dsv32-ring-native", RING, "the same gather by one op: 8.600 ms", ring((8_600,)),
        (gain("fp8", "the cache in FP8 with its scales", 2_281, "keys", FP8, "8.600 -> 6.319 ms, then received in L1: 61 % of the bytes"),),
        "core counts; gaps", 8_600,
    ),
)  # fmt: skip
