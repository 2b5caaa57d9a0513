"""Llama 3.1 8B on one Wormhole chip: one layer, one user, BFLOAT4_B weights unless told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, ROW_MAJOR, Block, banked, chunks, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BLOCK_W, BLOCKS, IN_L1, PACKED, SHARDED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = f"{TT_METAL}/1b0c85ed0a73089e88a1ff5eb4911df503caca63/models/autoports/meta_llama_llama_3_1_8b_instruct/doc/optimized_decoder"  # fmt: skip
LOG = f"{FOLDER}/work_log.md"
NORMS = f"{FOLDER}/sharded_residual_norm_trials.md"
GATE_UP = f"{FOLDER}/gate_up_geometry_trials.csv"
DOWN = f"{FOLDER}/down_geometry_trials.csv"
HIDDEN, WIDE, QKV = 4096, 14_336, 6144
TIMES = {"qkv": 102, "out": 58, "up1": 258, "up2": 270, "down": 134}


def _attention(block: Block, normed: Tensor, times: dict[str, float], dtype: str) -> Tensor:
    config = one_d((8, 8), 2, (1, 3), subblock=(1, 3))
    qkv = block.linear("qkv", normed, QKV, times["qkv"], dtype=dtype, fidelity="LoFi", config=config, cores=64, place=L1)  # fmt: skip
    q, k, v = block.heads_of_decode("heads", qkv, 20, heads=32, kv=8, size=128, users=1)
    tables = []
    for name in ("cos", "sin"):
        rows = block.tensor([1, 1, 128, 128], layout=ROW_MAJOR)
        picked = block.op(f"{name}_rows", "Embeddings", (block.tensor([1, 1], "UINT32", layout=ROW_MAJOR), rows), block.tensor([1, 1, 1, 128], layout=ROW_MAJOR), 5, cores=1, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=False)  # fmt: skip
        tables.append(block.moved(f"{name}_tilized", "TilizeWithValPadding", picked, 13, cores=1, layout="TILE", fidelity="HiFi4", use_multicore=True))  # fmt: skip
    place = block.along(32, 128, 1)
    for name, one in (("q", q), ("k", k)):
        flat = block.from_shards(f"{name}_flat", one, 3)
        turned = block.rotary(f"rope_{name}", flat, 14, decode=False, tables=tables)
        placed = block.to_shards(f"{name}_placed", turned, place, 3)
        q, k = (placed, k) if name == "q" else (q, placed)
    cache = block.tensor([4, 8, 32, 128], "BFLOAT8_B")
    block.update_cache("cache_k", cache, k, 9)
    block.update_cache("cache_v", cache, v, 9)
    attended = block.attend_decode("sdpa", q, cache, 12, config=chunks(32, 32, (8, 8)), cores=64, k_chunk=32)
    placed = block.to_shards("attended_placed", attended, place, 3)
    joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 5, shape=[1, 1, 32, HIDDEN], place=block.across(32, HIDDEN, 32), cores=32, num_heads=32, on_subcoregrids=False)  # fmt: skip
    flat = block.from_shards("joined_flat", joined, 3)
    return block.linear("out", flat, HIDDEN, times["out"], dtype=dtype, fidelity="LoFi", config=one_d((8, 8), 2, (1, 2), subblock=(1, 2)), cores=64)  # fmt: skip


def _down(block: Block, hidden: Tensor, us: float, dtype: str, block_w: int = 14) -> Tensor:
    placed = block.to_shards("down_placed", hidden, block.across(32, WIDE, 8), 8)
    place = block.across(32, HIDDEN, 8)
    return block.linear("down", placed, HIDDEN, us, dtype=dtype, fidelity="LoFi", config=banked(block_w, 16), cores=12, place=place, banks=True)  # fmt: skip


def interleaved(
    times: dict[str, float] = TIMES, attention: str = "BFLOAT4_B", feed: str = "BFLOAT4_B", block_w: int = 14
) -> Block:
    """The residual in DRAM, norms on one core: 1229 us, 37 ops."""
    block = Block("wormhole_b0")
    x = block.tensor([1, 1, 32, HIDDEN])
    out = _attention(block, block.norm("norm_in", x, 94, cores=1), times, attention)
    x = block.binary("sum_attention", "ADD", x, out, 8)
    normed = block.norm("norm_feed", x, 94, cores=1)
    config = one_d((8, 8), 2, (1, 7), subblock=(1, 7))
    halves = [block.linear(role, normed, WIDE, times[role], dtype=feed, fidelity="LoFi", config=config, cores=64) for role in ("up1", "up2")]  # fmt: skip
    hidden = block.binary("swiglu", "MUL", block.unary("silu", "SILU", halves[0], 15), halves[1], 18)
    down = block.from_shards("down_flat", _down(block, hidden, times["down"], feed, block_w), 4)
    block.binary("sum_feed", "ADD", x, down, 8)
    return block


def sharded() -> Block:
    """The residual on 32 cores: 1074 us, 38 ops."""
    block = Block("wormhole_b0")
    times = {**TIMES, "up1": 228, "up2": 229}
    residual = block.across(32, HIDDEN, 32)
    x = block.tensor([1, 1, 32, HIDDEN])
    out = _attention(block, block.norm("norm_in", x, 94, cores=1), times, "BFLOAT4_B")
    x, out = block.to_shards("x_placed", x, residual, 3), block.to_shards("out_placed", out, residual, 3)
    x = block.binary("sum_attention", "ADD", x, out, 2, cores=32)
    normed = block.norm("norm_feed", x, 10, cores=32, config=norm_shards((8, 4), 4))
    config = one_d((8, 8), 2, (1, 7), subblock=(1, 7))
    halves = [block.linear(role, normed, WIDE, times[role], dtype="BFLOAT4_B", fidelity="LoFi", config=config, cores=64) for role in ("up1", "up2")]  # fmt: skip
    hidden = block.binary("swiglu", "MUL", block.unary("silu", "SILU", halves[0], 15), halves[1], 18)
    down = block.reshard("down_moved", _down(block, hidden, times["down"], "BFLOAT4_B"), residual, 2)
    block.from_shards("exit", block.binary("sum_feed", "ADD", x, down, 8, cores=32), 3)
    return block


def first() -> Block:
    """Weights in BFLOAT8_B: 1845 us of wall time."""
    times = {"qkv": 142, "out": 104, "up1": 454, "up2": 466, "down": 214}
    return interleaved(times, "BFLOAT8_B", "BFLOAT8_B")


def shallow_down() -> Block:
    return interleaved({**TIMES, "down": 146.4}, block_w=4)


def prefill(*, packed: bool, narrow_us: float = 61) -> Callable[[], Block]:
    """16 tokens in one row of tiles: 26 ops."""

    def build() -> Block:
        block = Block("wormhole_b0")
        x = block.tensor([1, 1, 32, HIDDEN])
        normed = block.norm("norm_in", x, 94, cores=1)

        def project(role: str, given: Tensor, n: int, us: float, per_n: int, subblock: int, cores: int) -> Tensor:  # noqa: PLR0917
            grid = (8, max(1, cores // 8))
            config = one_d(grid, 2, (1, per_n), subblock=(1, subblock))
            return block.linear(role, given, n, us, dtype="BFLOAT4_B", fidelity="LoFi", config=config, cores=cores)

        if packed:
            qkv = project("qkv", normed, QKV, 358, 3, 1, 64)
            q, k, v = block.split_heads("heads", qkv, 18, heads=32, kv=8, size=128, rows=32, cores=1)
        else:
            q = project("q", normed, HIDDEN, 97, 2, 2, 64)
            tuned = narrow_us < 100
            k, v = (project(role, normed, 1024, narrow_us, 2 if tuned else 1, 2 if tuned else 1, 16 if tuned else 32) for role in ("k", "v"))  # fmt: skip
            q, k, v = (block.moved(f"heads_{role}", "ReshapeView", one, 9, shape=[1, heads, 32, 128]) for role, one, heads in (("q", q, 32), ("k", k, 8), ("v", v, 8)))  # fmt: skip
        q, k = (block.rotary(f"rope_{name}", one, 9, decode=False) for name, one in (("q", q), ("k", k)))
        cache = block.tensor([4, 8, 32, 128], "BFLOAT8_B")
        for name, one in (("k", k), ("v", v)):
            narrow = block.typecast(f"cast_{name}", one, "BFLOAT8_B", 4)
            block.op(f"fill_{name}", "PagedFillCache", (cache, narrow, block.tensor([1, 4], "INT32", layout=ROW_MAJOR)), cache, 6, cores=8, batch_idx_fallback=0, block_size_override=None, mesh_coords=None, noop=False)  # fmt: skip
        attended = block.attend("sdpa", q, k, v, 16, config=chunks(32, 32, (8, 8)), cores=32)
        out = project("out", block.join_heads("joined", attended, 8, cores=1), HIDDEN, 96, 2, 2, 64)
        x = block.binary("sum_attention", "ADD", x, out, 8)
        normed = block.norm("norm_feed", x, 94, cores=1)
        first = block.unary("silu", "SILU", project("up1", normed, WIDE, 267, 7, 7, 64), 15)
        hidden = block.binary("swiglu", "MUL", first, project("up2", normed, WIDE, 262, 7, 7, 64), 18)
        block.binary("sum_feed", "ADD", x, project("down", hidden, HIDDEN, 323, 2, 2, 64), 8)
        return block

    return build


SMALL = "times and kinds of the small ops (their sum is told)"
PRINTED = "configs as printed where TTNN chose"

LLAMA_8B = (
    laid(
        "llama-8b-decode", NORMS, "decode after 16 tokens, the residual interleaved in DRAM: 1229 us, 37 ops",
        interleaved,
        (
            gain("norm", "residual and norm after attention width-sharded on 8 to 32 cores, the MLP fed from DRAM still", 70, "sum_attention norm_feed", SHARDED, "1284.9 -> 1213.2 us (8 cores) and 1215.6 us (32) of wall time"),
            gain("feed-from-l1", "gate and up read the sharded norm", 85, "up1 up2", unbanked(f"{IN_L1}|{SHARDED}"), "1215.6 -> 1130.6 us of wall time, on top of the norm"),
            dead("pack-feed", "gate and up as one matmul", "up1 up2", PACKED, "1288.5 -> 1333.3 us", LOG),
            dead("deeper-down", "in0_block_w 28 for down", "down", BLOCK_W, "1285.5 -> 1310.2 us; 56 does not fit", DOWN),
        ),
        f"{SMALL}; {PRINTED}",
        1229,
    ),
    laid(
        "llama-8b-decode-sharded", GATE_UP, "decode, the residual on 32 cores, gate and up on TTNN's own choice: 1074 us, 38 ops",
        sharded,
        (
            gain("blocks", "64 cores, in0_block_w 4, subblock 1x7 for gate and up", 54, "up1 up2", unbanked(BLOCKS), "1074 -> 1020 us of device time; 1133 -> 1059 us of wall time"),
            dead("fewer-cores", "32 cores (8x4), in0_block_w 4 for gate and up", "up1 up2", r"8x4|\(8, ?4\)|x=8, ?y=4|32 cores", "1127 to 1137 -> 1127 to 1130 us"),
            dead("deeper", "in0_block_w 8 or 16 for gate and up", "up1 up2", r"in0_block_w\W{0,4}(8|16)\b", "refused: a shard holds four tiles of K"),
            dead("unpack-attention", "Q, K and V as three matmuls", "qkv", r"separate|three (matmuls|linears|projections)|split the weight", "1293.6 -> 1413.0 us", LOG),
        ),
        f"gate's and up's own times (their gain is told); {SMALL}; {PRINTED}",
        1074,
    ),
    laid(
        "llama-8b-decode-bfp8", LOG, "decode, all weights in BFLOAT8_B, LoFi: 1845 us of wall time",
        first,
        (
            gain("feed", "MLP weights in BFLOAT4_B", 472.4, "up1 up2 down", BFP4, "1845.0 -> 1372.6 us of wall time"),
            gain("attention", "attention weights in BFLOAT4_B", 26.0, "qkv out", BFP4, "1845.0 -> 1819.0 us of wall time; 86 us once the MLP has it"),
        ),
        f"how the differences split over the matmuls; {SMALL}; {PRINTED}",
    ),
    laid(
        "llama-8b-prefill-packed", LOG, "16 tokens, Q, K and V as one matmul: 1428 us of wall time",
        prefill(packed=True),
        (gain("unpack", "three matmuls", 139.4, "qkv heads", r"separate|three (matmuls|linears|projections)|split the weight", "1428.3 -> 1288.9 us of wall time"),),
        f"QKV's own time; {SMALL}; {PRINTED}",
    ),
    laid(
        "llama-8b-prefill", LOG, "16 tokens, K and V on TTNN's own choice, one-tile subblocks: 1406 us of wall time",
        prefill(packed=False, narrow_us=165.5),
        (
            gain("narrow", "K and V on 16 cores, two tiles of N each, subblock 1x2", 209.1, "k v", r"subblock|per_core_N|program_config|ProgramConfig|cores", "1406.4 -> 1197.3 us of wall time; 61 us each afterwards"),
            dead("in-l1", "inputs of attention's and of down's matmuls in L1", "q k v down", unbanked(IN_L1), "1411.8 -> 1765.1 us"),
            dead("pack-feed", "gate and up as one matmul", "up1 up2", PACKED, "1397.4 -> 1463.1 us"),
        ),
        f"K's and V's times before; {SMALL}; {PRINTED}",
    ),
    laid(
        "llama-8b-decode-shallow-down", DOWN, "decode, down with in0_block_w 4: 1298 us of wall time",
        shallow_down,
        (gain("blocks", "in0_block_w 14", 12.4, "down", BLOCK_W, "1297.9 -> 1285.5 us of wall time"),),
        f"{SMALL}; {PRINTED}",
    ),
)  # fmt: skip
