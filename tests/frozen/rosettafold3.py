"""RoseTTAFold 3 (it folds proteins) on one Blackhole chip (p300c, 110 cores): its trunk of 48 blocks, 256 to 1088 residues.

Pairs are tokens x tokens x 128, in BFLOAT16 and DRAM; HiFi4 with sums in FLOAT32. Triangle attention (four heads of 32) was
written out, its softmax in FLOAT32: some rows of pairs at a time, put into shards in L1 where an 8 x 8 grid divides them, else
all at once in DRAM. The ledger times each part of a block by wall clock between waits for the chip, and the chain of the
attention alone in other shapes; the chain with what stands around it gives the time of the whole part. What a fold or a pass of
the trunk saves is shared among its 1088 or 108 attentions where a note says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, ROW_MAJOR, Block, chunks
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import IN_L1, SDPA_CHUNKS, SHARDED
from tests.profiles import height_sharded

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.frozen.layer import Layer
    from tests.profiles import Tensor

HOME = "https://github.com/moritztng/tt-bio/blob"
FIXED = f"{HOME}/14ad821974eda9052b2828d80177f93fe409510b/perf/rf3/results/bisect_dec_fix_512.json"
BEFORE = f"{HOME}/16c6c8e6273f2239fc7c0f20efe5bd7d5e91bdb1/perf/rf3/results/bisect_dec_pre_512.json"
FIXED_768 = f"{HOME}/16c6c8e6273f2239fc7c0f20efe5bd7d5e91bdb1/perf/rf3/results/bisect_dec_fix_768.json"
FIXED_1024 = f"{HOME}/14ad821974eda9052b2828d80177f93fe409510b/perf/rf3/results/bisect_dec_fix_1024.json"
SPLIT = f"{HOME}/e6a5201ed1d1f7660bb9aca57a6f95aa8aa14a02/perf/rf3/msa_depth/split_512_{{}}.json"
TALLER = f"{HOME}/7bc28a97eb697674b4fcba44e266bbac52e7f64a/perf/fp32softmax/results/s2_op_ab.json"
WALKED = f"{HOME}/c66baa635f2fd498ad86ba364cf9925d1ea352d5/perf/fp32softmax/results/s2_op_ab_p7leash.json"
DARK = f"{HOME}/c03bc641aec4e4d3df29eae74bfac82d02fea3b4/perf/fp32softmax/results/s1_op_bitexact.json"
BACK_OFF = f"{HOME}/d5443d9a46b75392bce30a41842a949035ff4e42/tests/test_fp32_softmax_l1_backoff.py"
FLAGS = f"{HOME}/30801d7cae8e8f472bce08deba2735133b978e2f/tt_bio/rf3/remap.py"
TUNING = f"{HOME}/002a7f439430d6d61a62f1e1c3fe8fb857bde2f8/docs/tuning-flags.md"
LONG = f"{HOME}/f307756fcfcf8823f42d9e7e655823aaa968c0e7/perf/land_standing/NARROWQ_1088.md"
TURNS = f"{HOME}/41112855d3ae39edfbbd8a334405cf9b351950fc/perf/rf3/pair_transpose_bench.py"
ENDING = f"{HOME}/c89b1bab8ca0f65f215c4cd181c087f474ac3d86/perf/rf3/triatt_end_split.py"
SOFTMAX = f"{HOME}/a3b51cfd88305226f9a25df908cf9fcd75df0386/perf/rf3/results/sm_mech.json"
TRUNK_SOFTMAX = f"{HOME}/e5e041842f3ce26d0b2a4345f22fec93f97c0729/perf/rf3/results/softmax_trunk_ab_512.json"
FIDELITY = f"{HOME}/f0f157d828e29f7e0552af186fe47e5a12263e60/perf/rf3/results/hifi_ckc_512.json"
GRID, CORES = (11, 10), 110
PAIR, HEADS, SIZE, SHARDS = 128, 4, 32, 64
F32 = "FLOAT32"
EXACT = {"fidelity": "HiFi4", "fp32": True, "cores": CORES}
SDPA = r"scaled_dot_product_attention|SDPA|flash"
LARGER = (
    r"more cores|\d+ cores|grid|(taller|larger|bigger|more|fewer).{0,40}(rows|blocks|parts|chunks)|rows at a time"
)
AROUND_512, AROUND_768, AROUND_1024 = 3745, 9544, 21713


def joined(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    tokens = x.shape[0]
    return block.view(block.join_heads(role, x, us, cores=CORES), [1, tokens, tokens, PAIR])


def opened(block: Block, x: Tensor, us: float) -> tuple[Tensor, ...]:
    """What comes before the attention: q, k, v, their bias and the gate; 0.71 of `us`."""
    tokens = x.shape[1]
    x = block.norm("norm", x, 0.1 * us, cores=CORES, kind="LAYERNORM")
    qkv = block.linear("qkv", x, 3 * PAIR, 0.22 * us, **EXACT)
    q, k, v = block.split_heads("heads", block.view(qkv, [tokens, 1, tokens, 3 * PAIR]), 0.2 * us, heads=HEADS, kv=HEADS, size=SIZE, rows=tokens, batch=tokens, cores=CORES)  # fmt: skip
    bias = block.permute("bias_turn", block.linear("bias", x, HEADS, 0.05 * us, **EXACT), (0, 3, 1, 2), 0.04 * us)
    return q, k, v, bias, block.linear("gate", x, PAIR, 0.1 * us, **EXACT)


def closed(block: Block, x: Tensor, gate: Tensor, us: float) -> Tensor:
    """And what comes behind it: 0.29 of `us`."""
    x = joined(block, "heads_joined", x, 0.1 * us)
    x = block.binary("gated", "MUL", x, gate, 0.09 * us, cores=CORES, rhs="SIGMOID")
    return block.linear("out", x, PAIR, 0.1 * us, **EXACT)


def chain(block: Block, name: str, given: tuple[Tensor, ...], us: float, shards: int) -> Tensor:
    """Scores of some rows, their softmax in FLOAT32 and what it chooses; in shards if there are any."""
    q, k, v, bias = given
    heads, tokens = q.shape[0] * q.shape[1], q.shape[2]
    x = block.product(f"scores{name}", q, k, 0.276 * us, cores=min(CORES, 2 * heads))
    cores = shards or CORES
    if shards:
        place = height_sharded(heads * tokens // shards, tokens, shards, width=8 if shards == SHARDS else GRID[0])
        x = block.to_shards(f"near{name}", x, place, 0.048 * us)
    else:
        place = DRAM
    x = block.typecast(f"widened{name}", x, F32, (0.068 if shards else 0.1) * us, cores=cores)
    x = block.binary(f"biased{name}", "ADD", x, bias, (0.156 if shards else 0.2) * us, cores=cores, place=place)
    x = block.op(
        f"softmax{name}", "Softmax", (x,), x, (0.096 if shards else 0.13) * us, cores=cores, fidelity="HiFi4",
        compute_kernel_config=block.kernel("HiFi4", fp32=True), dim=3, inplace=True, is_causal_mask=False,
        numeric_stable=False, program_config="SoftmaxDefaultProgramConfig()", scale=None,
    )  # fmt: skip
    x = block.typecast(f"narrowed{name}", x, "BFLOAT16", (0.063 if shards else 0.07) * us, cores=cores)
    if shards:
        x = block.from_shards(f"far{name}", x, 0.069 * us)
    return block.product(f"context{name}", x, v, 0.224 * us, cores=min(CORES, 2 * heads))


def written_out(tokens: int, us: float, *, rows: int = 0, of: int = 0, around: float = 0) -> Callable[[], Block]:
    """The attention of `of` rows of pairs (of all), `rows` at a time or none in shards; `around`: us of the rest of the part."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        count, gate = of or tokens, None
        if around:
            q, k, v, bias, gate = opened(block, block.tensor([1, tokens, tokens, PAIR]), around)
        else:
            q, k, v = (block.tensor([count, HEADS, tokens, SIZE]) for _ in range(3))
            bias = block.tensor([1, HEADS, tokens, tokens])
        bias = block.typecast("bias_wide", bias, F32, 0.001 * us, cores=CORES)
        k = block.turned("k_turned", k, 0.009 * us, cores=CORES)
        if not rows:
            x = chain(block, "", (q, k, v, bias), 0.99 * us, 0)
        else:
            made: list[Tensor] = []
            for at in range(0, count, rows):
                some = min(rows, count - at)
                mine = some / count * us
                shards = SHARDS if some * HEADS * tokens % (SHARDS * 32) == 0 else 0
                parts = [block.slice(f"{name}_{at}", x, (at, 0, 0, 0), (at + some, *x.shape[1:]), 0.025 * mine, DRAM) for name, x in zip("qkv", (q, k, v), strict=True)]  # fmt: skip
                made.append(chain(block, f"_{at}", (*parts, bias), 0.908 * mine, shards))
            x = block.concat("joined", made, [count, HEADS, tokens, SIZE], 0, 0.007 * us)
        if gate:
            closed(block, x, gate, around)
        return block

    return build


def attend(block: Block, given: tuple[Tensor, ...], us: float, chunk: tuple[int, int] | None) -> Tensor:
    """By TTNN's op in these chunks, or by the engineers' copy of it which holds the mask."""
    out = block.tensor(given[0].shape)
    if chunk is None:
        return block.op("attention", "GenericOp", given, out, us, cores=CORES, fidelity="HiFi2")
    return block.op(
        "attention", "SDPAOperation", given, out, us, cores=CORES, fidelity="HiFi2",
        compute_kernel_config=block.kernel("HiFi2", packer=False, approximate=True), is_causal=False,
        output_mem_config=DRAM, program_config=chunks(*chunk, GRID), scale="0.1767766953", sliding_window_size=None,
        use_mla=False,
    )  # fmt: skip


def fused(
    tokens: int, around: float, us: float, *, chunk: tuple[int, int] | None = None, turn: float = 0
) -> Callable[[], Block]:
    """Triangle attention by one op; `turn`: us of each of the two turns of pairs where it looks along columns."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        x = block.tensor([tokens, tokens, PAIR])
        if turn:
            x = block.permute("turn", x, (1, 0, 2), turn, DRAM)
        q, k, v, bias, gate = opened(block, block.view(x, [1, tokens, tokens, PAIR]), around)
        x = closed(block, attend(block, (q, k, v, bias), us, chunk), gate, around)
        if turn:
            block.permute("turn_back", block.view(x, [tokens, tokens, PAIR]), (1, 0, 2), turn, DRAM)
        return block

    return build


def multiplied() -> Block:
    """Triangle multiplication of 512 residues: four quarters of one projection, two of them gates."""
    block, tokens = Block("blackhole", grid=GRID, gap_us=1.0), 512
    pairs = [1, tokens, tokens, PAIR]
    x = block.norm("norm", block.tensor(pairs), 380, cores=CORES, kind="LAYERNORM")
    both = block.op("in", "GenericOp", (x, block.weight(PAIR, 4 * PAIR, "BFLOAT16")), block.tensor([1, tokens, tokens, 4 * PAIR]), 1180, fidelity="HiFi4")  # fmt: skip
    quarters = [block.slice(f"quarter{n}", both, (0, 0, 0, n * PAIR), (1, tokens, tokens, (n + 1) * PAIR), 420) for n in range(4)]  # fmt: skip
    moved: list[Tensor] = []
    for name, gate, value in zip("ab", quarters[:2], quarters[2:], strict=True):
        y = block.binary(f"gated_{name}", "MUL", value, gate, 480, cores=CORES, rhs="SIGMOID")
        moved.append(block.op(f"moved_{name}", "GenericOp", (y,), block.tensor([1, PAIR, tokens, tokens]), 950))
    y = block.product("product", block.turned("turned", moved[0], 345, cores=CORES), moved[1], 820, cores=SHARDS)
    y = block.op("back", "GenericOp", (y,), block.tensor(pairs), 530, fidelity="HiFi2")
    y = block.norm("norm_out", y, 380, cores=CORES, kind="LAYERNORM")
    y = block.linear("out", y, PAIR, 295, **EXACT)
    gate = block.linear("gate", x, PAIR, 295, **EXACT)
    block.binary("gated", "MUL", y, gate, 782, cores=CORES, rhs="SIGMOID")
    return block


def outer(depth: int, us: float) -> Callable[[], Block]:
    """The outer product mean of `depth` rows of the alignment, 512 residues: all 32 x 32 products, then a projection."""

    def build() -> Block:
        block, tokens, hidden = Block("blackhole", grid=GRID, gap_us=1.0), 512, 32
        flat = tokens * hidden
        x = block.norm("norm", block.tensor([1, depth, tokens, 64]), 0.001 * us, cores=CORES, kind="LAYERNORM")
        a, b = (block.linear(name, x, hidden, 0.001 * us, **EXACT) for name in "ab")
        a = block.permute("a_turned", a, (0, 2, 3, 1), 0.002 * us)
        b = block.permute("b_turned", b, (0, 3, 2, 1), 0.002 * us)
        b = block.turned("b_flat", block.view(b, [1, 1, flat, depth]), 0.002 * us, cores=CORES)
        z = block.product("product", block.view(a, [1, 1, flat, depth]), b, 0.09 * us, cores=CORES)
        z = block.moved("rows", "Untilize", z, 0.095 * us, layout=ROW_MAJOR, cores=CORES)
        z = block.moved(
            "shaped", "ReshapeView", z, 0.22 * us, shape=[1, tokens, hidden * hidden, tokens], cores=CORES
        )
        z = block.moved("tiles", "Tilize", z, 0.105 * us, layout="TILE", cores=CORES)
        z = block.turned("turned", z, 0.21 * us, cores=CORES)
        z = block.unary("mean", "MUL_UNARY_SFPU", z, 0.095 * us, cores=CORES, parameter=str(1 / depth))
        block.linear("projected", z, PAIR, 0.176 * us, bias=True, grid=GRID, **EXACT)
        return block

    return build


def token_attention() -> Block:
    """Attention of the tokens biased by pairs, 16 heads of 24 in 32: a softmax of five ops, as TTNN's is not exact."""
    block, tokens, heads = Block("blackhole", grid=GRID, gap_us=1.0), 512, 16
    s = block.norm("norm", block.tensor([1, 1, tokens, 384]), 12, cores=16, kind="LAYERNORM")
    qkv = block.linear("qkv", s, 3 * heads * 32, 40, bias=True, grid=GRID, **EXACT)
    q, k, v = block.split_heads("heads", qkv, 15, heads=heads, kv=heads, size=32, rows=tokens, cores=16)
    z = block.norm("norm_z", block.tensor([1, tokens, tokens, PAIR]), 300, cores=CORES, kind="LAYERNORM")
    bias = block.permute("bias_turn", block.linear("bias", z, heads, 180, **EXACT), (0, 3, 1, 2), 130)
    x = block.product("scores", q, block.turned("k_turned", k, 10, cores=16), 70, cores=100)
    x = block.unary("scaled", "MUL_UNARY_SFPU", x, 25, cores=CORES, parameter="0.2041241452")
    x = block.binary("biased", "ADD", x, bias, 40, cores=CORES)

    def of_rows(role: str, kind: str, us: float) -> Tensor:
        out = block.tensor([1, heads, tokens, 32])
        return block.op(role, "Reduce", (x,), out, us, cores=CORES, fidelity="HiFi4", dim="ReduceOpDim::W", math_op=f"ReduceOpMath::{kind}", scaler=1.0)  # fmt: skip

    x = block.binary("less", "SUB", x, of_rows("most", "MAX", 95), 100, cores=CORES)
    x = block.unary("exp", "EXP", x, 90, cores=CORES)
    x = block.binary("over", "DIV", x, of_rows("total", "SUM", 95), 100, cores=CORES)
    x = block.join_heads("heads_joined", block.product("context", x, v, 80, cores=100), 10, cores=16)
    gate = block.linear("gate", s, heads * 32, 20, **EXACT)
    x = block.binary("gated", "MUL", x, gate, 10, cores=CORES, rhs="SIGMOID")
    block.linear("out", x, 384, 30, **EXACT)
    return block


def in_dark(tokens: int, was: float, now: float, how: str) -> Layer:
    return laid(
        f"rf3-dark-{tokens}", DARK, f"the attention of 64 rows of pairs, {tokens} tokens: no block of rows divides over 64 cores, so all at once in DRAM, {was / 1000:.2f} ms",
        written_out(tokens, was, of=64),
        (gain("shards", f"shards in L1, {how}", was - now, "scores widened biased softmax narrowed context", SHARDED, f"{was} -> {now} us with the cuts and moves"),),
        MADE_UP, pass_us=was,
    )  # fmt: skip


def in_rows(tokens: int, rows: int, was: float, now: float, how: str) -> Layer:
    return laid(
        f"rf3-rows-{tokens}", TALLER, f"the attention of {tokens} residues, {rows} rows at a time in 64 shards: {was / 1000:.2f} ms",
        written_out(tokens, was, rows=rows),
        (gain("cores", how, was - now, CHAIN, LARGER, f"{was} -> {now} us"),),
        MADE_UP, pass_us=was,
    )  # fmt: skip


CHAIN = "q_* k_* v_* scores_* near_* widened_* biased_* softmax_* narrowed_* far_* context_*"
MADE_UP = "how times are shared; configs of the products; gaps"
ATTENTION = "bias_wide k_turned joined " + CHAIN
ROSETTAFOLD3 = (
    laid(
        "rf3-start", SPLIT.format("d1_def"), "triangle attention of 512 residues, 12 rows at a time in 64 shards: 40.87 ms",
        written_out(512, 40_870 - AROUND_512, rows=12, around=AROUND_512),
        (
            gain("sdpa", "one op of attention, the engineers' copy of TTNN's, at HiFi4 with sums in FLOAT32", 34_943, ATTENTION, SDPA, "40.870 -> 5.927 ms of the part", SPLIT.format("d1_lev")),
            gain("cores", "13 rows at a time over 104 cores", 3154, CHAIN, LARGER, "37.125 -> 33.971 ms of the chain; folds scatter by more", WALKED),
            dead("taller", "18 rows at a time over 96 cores", CHAIN, r"96 cores|\b18 rows|rows\D{0,20}\b18\b", "37.125 -> 37.455 ms: no config for products of 72 heads", WALKED),
        ),
        MADE_UP, pass_us=40_870,
    ),
    laid(
        "rf3-start-short", BEFORE, "triangle attention of 512 residues, 6 rows at a time: 70.52 ms",
        written_out(512, 70_516 - AROUND_512, rows=6, around=AROUND_512),
        (gain("rows", "12 rows at a time, as L1 holds", 29_577, CHAIN, LARGER, "70.516 -> 40.939 ms of the part", FIXED),),
        MADE_UP, pass_us=70_516,
    ),
    laid(
        "rf3-start-768", FIXED_768, "triangle attention of 768 residues, 4 rows at a time in 64 shards: 137.1 ms",
        written_out(768, 137_091 - AROUND_768, rows=4, around=AROUND_768),
        (
            gain("sdpa", "one op of attention, the engineers' copy of TTNN's, its ragged keys masked", 97_730, ATTENTION, SDPA, "207.28 -> 100.95 s of a fold, over its 1088 attentions", FLAGS),
            gain("cores", "6 rows at a time over 96 cores", 12_192, CHAIN, LARGER, "127.547 -> 115.355 ms of the chain", WALKED),
            dead("nine", "9 rows at a time over 108 cores", CHAIN, r"108 cores|\b9 rows|rows\D{0,20}\b9\b", "refused: the softmax's circular buffers do not fit", BACK_OFF),
            dead("whole", "all rows at once", CHAIN, r"(all|every).{0,20}rows at once|without (cutting|blocks|parts)|in one (piece|go|part)", "127.4 -> 170.9 ms of the chain", TALLER),
        ),
        MADE_UP, pass_us=137_091,
    ),
    laid(
        "rf3-start-1024", FIXED_1024, "triangle attention of 1024 residues all in DRAM, as 3 rows on 64 cores were refused",
        written_out(1024, 419_460 - AROUND_1024, around=AROUND_1024),
        (
            gain("shards", "shards in L1, 2 rows on 64 cores", 101_480, "scores widened biased softmax narrowed context", SHARDED, "52.468 -> 41.508 s of a pass of the trunk, over its 108 attentions; 318.0 ms after", BACK_OFF),
            gain("shards-96", "shards in L1, 3 rows on 96 cores", 123_935, "scores widened biased softmax narrowed context", r"(?s)(?=.*shard)(?=.*(96 cores|grid|cores))", "those, and 296.262 -> 273.807 ms of the chain", WALKED),
            dead("shards-64", "3 rows on 64 cores", "softmax", r"\b64 cores|8 x 8", "refused: the softmax's circular buffers do not fit", BACK_OFF),
        ),
        f"{MADE_UP}; how many rows at once in DRAM", pass_us=419_460,
    ),
    in_rows(256, 48, 4851.0, 4448.0, "81 rows at a time over 108 cores"),
    laid(
        "rf3-rows-576", TALLER, "the attention of 576 residues, 8 rows at a time in 64 shards: 52.34 ms",
        written_out(576, 52_335, rows=8),
        (
            gain("cores", "15 rows at a time over 108 cores", 8020, CHAIN, LARGER, "52.335 -> 44.315 ms, though some products find no config"),
            gain("cores-config", "13 rows at a time over 104 cores, which keep the config of the products", 5890, CHAIN, LARGER, "52.335 -> 46.445 ms"),
        ),
        MADE_UP, pass_us=52_335,
    ),
    in_rows(640, 4, 75_371.0, 60_367.0, "11 rows at a time over 110 cores"),
    in_dark(544, 7150.0, 5010.0, "15 rows at a time on 102 cores"),
    in_dark(704, 11_882.0, 7749.0, "10 rows at a time on 110 cores"),
    in_dark(832, 16_374.0, 10_810.0, "up to 7 rows at a time on 104 cores"),
    in_dark(960, 21_855.0, 15_205.0, "up to 5 rows at a time on 96 or 100 cores"),
    laid(
        "rf3-dark-515", DARK, "the attention of 64 rows of pairs, 515 tokens, which are no whole tiles: 7.27 ms",
        written_out(515, 7273, of=64),
        (
            dead("blocks", "16 rows at a time, without shards", "scores widened biased softmax narrowed context", r"(16|fewer) rows|rows at a time|in (blocks|chunks|parts)", "7.273 -> 7.837 ms"),
            dead("shards", "shards in L1", "widened biased softmax narrowed", SHARDED, "refused: a width of no whole tiles has no shards", BACK_OFF),
        ),
        MADE_UP, pass_us=7273,
    ),
    laid(
        "rf3-sdpa", SPLIT.format("d1_lev"), "triangle attention of 512 residues by the engineers' copy of TTNN's attention: 5.93 ms",
        fused(512, AROUND_512, 5927 - AROUND_512),
        (
            dead("hifi4", "HiFi4", "attention", r"HiFi4", "48.01 -> 48.57 s of a fold", FIDELITY),
            dead("fp32", "sums in FLOAT32", "attention", r"fp32_dest_acc_en|FLOAT32", "48.01 -> 48.48 s of a fold", FIDELITY),
            dead("exact", "the exact exponential", "attention", r"math_approx_mode|exp_approx_mode", "48.01 -> 48.40 s of a fold", FIDELITY),
        ),
        f"{MADE_UP}; HiFi2 as TTNN chooses, though the part was timed at HiFi4: within the scatter", pass_us=5927,
    ),
    laid(
        "rf3-end-768", ENDING, "triangle attention along the columns of 768 residues, by the engineers' copy of TTNN's attention: 25.2 ms",
        fused(768, AROUND_768, 6812, turn=4424),
        (gain("l1", "the two turns of the pairs go to L1, which holds the 144 MB", 5448, "turn turn_back", IN_L1, "4.424 -> 1.7 ms each; 2.6 of 61 s of a fold", FLAGS),),
        "all but the turns: the part takes 1.54 times the one along the rows, and the turns are what is more; how its times are shared; gaps",
    ),
    laid(
        "rf3-end-1024", TURNS, "triangle attention along the columns of 1024 residues, by the engineers' copy of TTNN's attention: 49.0 ms",
        fused(1024, AROUND_1024, 11_650, turn=7840),
        (dead("l1", "the two turns of the pairs go to L1", "turn turn_back", IN_L1, "refused: 268 MB, and L1 holds 168"),),
        "all but the turns: the part takes 1.47 times the one along the rows, and the turns are what is more; how its times are shared; gaps",
    ),
    laid(
        "rf3-chunks-896", TUNING, "triangle attention of 896 residues by TTNN's attention, in chunks of 256 queries that do not divide them",
        fused(896, 14_400, 18_000, chunk=(256, 256)),
        (gain("chunks", "a chunk of queries that divides 896", 8730, "attention", SDPA_CHUNKS, "104.00 -> 94.50 s of a fold, over its 1088 attentions: such chunks keep the engineers' own kernel, which holds the mask"),),
        "all times; gaps",
    ),
    laid(
        "rf3-chunks-1088", LONG, "triangle attention of 1088 residues by TTNN's attention, in chunks of 256 queries that do not divide them",
        fused(1088, 24_000, 33_000, chunk=(256, 256)),
        (dead("chunks", "a chunk of queries that divides 1088", "attention", SDPA_CHUNKS, "161.15 -> 160.90 s of a fold, while equal folds differ by 0.12 %"),),
        "all times; gaps",
    ),
    laid(
        "rf3-multiplied", SPLIT.format("d1_def"), "triangle multiplication of 512 residues, its projection cut in four: 9.55 ms",
        multiplied,
        (gain("gated", "a kernel of its own gates and moves from the projection", 2603, "quarter* gated_a gated_b moved_a moved_b", r"(fus|one|single|custom).{0,80}(kernel|op\b|gate|slice|chunk)|generic_op", "9.547 ms here, 6.944 in the blocks of the trunk which have it; a pass of the trunk 1.044 times as fast", FIXED),),
        MADE_UP, pass_us=9547,
    ),
    laid(
        "rf3-outer", SPLIT.format("d1_def"), "the outer product mean of one row of the alignment, 512 residues: 27.21 ms",
        outer(1, 27_210),
        (gain("order", "a times the weight first, so 512 x 512 x 1024 never is", 24_181, "product rows shaped tiles turned mean projected", r"(re-?associat|re-?order|weight first|project.{0,40}(first|before)|contract.{0,60}(first|before))", "27.210 -> 3.029 ms", SPLIT.format("d1_lev")),),
        f"{MADE_UP}; the ops are those of the port's first form", pass_us=27_210,
    ),
    laid(
        "rf3-outer-35", SPLIT.format("d35_def"), "the outer product mean of 35 rows of the alignment, 512 residues: 27.43 ms",
        outer(35, 27_426),
        (dead("order", "a times the weight first", "product rows shaped tiles turned mean projected", r"(re-?associat|re-?order|weight first|project.{0,40}(first|before)|contract.{0,60}(first|before))", "declined above 8 rows: a pass for each, and the sum of them loses above 32; 27.426 -> 27.430 ms with the flag", SPLIT.format("d35_lev")),),
        f"{MADE_UP}; the ops are those of the port's first form", pass_us=27_426,
    ),
    laid(
        "rf3-tokens", FIXED, "attention of 512 tokens biased by pairs: 1.45 ms",
        token_attention,
        (
            dead("softmax", "TTNN's softmax in place of five ops", "most less exp total over", r"ttnn\.softmax|one softmax|fused softmax", "0.480 -> 0.132 ms, and refused: its rows sum to 0.977", SOFTMAX, faster=True),
            dead("softmax-trunk", "and in the whole trunk", "most less exp total over", r"ttnn\.softmax|one softmax|fused softmax", "5.954 -> 5.929 s of a pass, and refused: its rows sum to 0.977", TRUNK_SOFTMAX, faster=True),
        ),
        MADE_UP, pass_us=1452,
    ),
)  # fmt: skip
