"""VibeVoice 1.5B (it reads dialogues aloud) on one Blackhole chip (P150).

One frame of speech is two streams of a language model of 28 layers, ten steps of a diffusion head with four layers, and
a decoder and an encoder of sound. The ledgers tell times in kernels by kind of op, of a frame, and of single ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, CONFIG, HIFI2, IN_L1, PACKED, SHARDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/experimental/vibevoice"
FRAME_LOG = f"{TT_METAL}/1a49b6a037b94bab23cf5b7d374e5e8908b65dac/{FOLDER}/lm/SPEECH_FRAME_PERF_PLAN.md"
LEVERS_LOG = f"{TT_METAL}/a2790d7ffd053f74e256c69e5792095a473f1a2a/{FOLDER}/DEFERRED_PERF_LEVERS.md"
DECODE_LOG = f"{TT_METAL}/3e169050d33e6ab8c08338f91da057951f93a23d/{FOLDER}/PERF_OPTIMIZATION_NOTES.md"
PREFILL_LOG = f"{TT_METAL}/b838587356252d9ebeff3d65dcef6fbc125aaad0/{FOLDER}/lm/PERF_OPTIMIZATION_NOTES.md"
GRID, CORES = (11, 10), 110
HIDDEN, WIDE, HEADS, KV, SIZE = 1536, 8960, 12, 2, 128
KEYS = 13_280  # 13,249 of the prompt and the first of the speech


def turned(block: Block, name: str, x: Tensor, us: float) -> Tensor:
    """Rotary embedding by hand: seven ops of `us` each."""
    half = SIZE // 2
    *rest, _ = x.shape
    table = block.tensor([1, 1, x.shape[-2], SIZE])
    first = block.slice(f"{name}_first", x, (0, 0, 0, 0), (*rest, half), us)
    second = block.slice(f"{name}_second", x, (0, 0, 0, half), (*rest, SIZE), us)
    swapped = block.concat(
        f"{name}_swapped", (block.unary(f"{name}_minus", "NEG", second, us), first), x.shape, 3, us
    )
    a = block.binary(f"{name}_cos", "MUL", x, table, us)
    return block.binary(f"{name}_added", "ADD", a, block.binary(f"{name}_sin", "MUL", swapped, table, us), us)


def stream(block: Block, name: str) -> None:
    """One layer for one row."""
    x = block.tensor([1, 1, 32, HIDDEN])

    def linear(role: str, given: Tensor, n: int, us: float, dtype: str, cores: int) -> Tensor:  # noqa: PLR0917
        return block.linear(f"{name}_{role}", given, n, us, dtype=dtype, fidelity="HiFi2", cores=cores, fp32=True)

    qkv = linear("qkv", block.norm(f"{name}_norm", x, 24, cores=1), 2048, 15, "BFLOAT8_B", 64)
    q, k, v = block.split_heads(f"{name}_heads", qkv, 23, heads=HEADS, kv=KV, size=SIZE, rows=32, cores=1)
    q, k = (turned(block, f"{name}_{part}", one, 1.5) for part, one in (("q", q), ("k", k)))
    cache = block.tensor([1, KV, 1024, SIZE])
    for part, one in (("k", k), ("v", v)):
        block.op(f"{name}_cache_{part}", "UpdateKVCache", (cache, one), cache, 3, cores=2)
    out = block.attend_decode(f"{name}_attend", q, cache, 17, config=None, cores=CORES)
    out = block.join_heads(f"{name}_joined", out, 23, cores=1)
    out = linear("out", block.view(out, x.shape), HIDDEN, 12, "BFLOAT8_B", 48)
    x = block.binary(f"{name}_attention_added", "ADD", x, out, 2, cores=48)
    fed = block.norm(f"{name}_norm_feed", x, 24, cores=1)
    gate, up = (linear(role, fed, WIDE, 40, "BFLOAT8_B", 94) for role in ("gate", "up"))
    wide = block.binary(f"{name}_gated", "MUL", gate, up, 4, cores=CORES, lhs="SILU")
    block.binary(f"{name}_feed_added", "ADD", x, linear("down", wide, HIDDEN, 65, "BFLOAT16", 48), 2, cores=48)


def streams() -> Block:
    """A layer of the language model for the row of guidance, then for the row of speech."""
    block = Block("blackhole", grid=GRID, gap_us=1)
    for name in ("other", "speech"):
        stream(block, name)
    block.norm("last", block.tensor([1, 1, 32, HIDDEN]), 24, cores=1)  # or two equal halves pass for two passes
    return block


def step() -> Block:
    """One of ten steps of the diffusion head: two rows, four layers."""
    block = Block("blackhole", grid=GRID, gap_us=1)
    rows = [1, 1, 32, HIDDEN]

    def linear(role: str, x: Tensor, n: int, us: float, *, wide: bool = False) -> Tensor:
        out = "FLOAT32" if wide else "BFLOAT16"
        return block.linear(role, x, n, us, fidelity="HiFi4", cores=min(CORES, n // 32), fp32=True, out=out)

    when = block.tensor([1, 1, 32, 128])
    halves = [block.unary(f"time_{wave}", wave.upper(), when, 3, cores=4) for wave in ("cos", "sin")]
    time = block.concat("time_joined", halves, [1, 1, 32, 256], 3, 2.5)
    time = block.unary("time_silu", "SILU", linear("time_in", time, HIDDEN, 9.5), 3.4, cores=48)
    time = linear("time_out", time, HIDDEN, 15)
    x = linear("noise_in", block.tensor([1, 1, 32, 64]), HIDDEN, 8)
    condition = block.tensor(rows, "FLOAT32")
    condition = block.binary("condition", "ADD", linear("condition_in", condition, HIDDEN, 36.8, wide=True), time, 3, cores=48)  # fmt: skip
    for n in range(4):
        shaped = block.unary(f"silu_{n}", "SILU", condition, 3.4, cores=48)
        shaped = linear(f"shape_{n}", shaped, 3 * HIDDEN, 36.8, wide=True)
        shift, scale, gate = (block.slice(f"cut_{n}_{part}", shaped, (0, 0, 0, HIDDEN * part), (1, 1, 32, HIDDEN * (part + 1)), 2.4) for part in range(3))  # fmt: skip
        normed = block.norm(f"norm_{n}", x, 25, cores=1)
        ones = block.binary(f"ones_{n}", "ADD", scale, block.tensor([1, 1, 1, 1], "FLOAT32"), 5, cores=48)
        normed = block.binary(f"scaled_{n}", "MUL", normed, ones, 5, cores=48)
        normed = block.binary(f"shifted_{n}", "ADD", normed, shift, 5, cores=48)
        wide = block.unary(f"gate_silu_{n}", "SILU", linear(f"gate_{n}", normed, 3 * HIDDEN, 29), 3.4, cores=CORES)
        wide = block.binary(f"gated_{n}", "MUL", wide, linear(f"up_{n}", normed, 3 * HIDDEN, 29), 5, cores=CORES)
        wide = block.binary(f"chosen_{n}", "MUL", linear(f"down_{n}", wide, HIDDEN, 32), gate, 5, cores=48)
        x = block.binary(f"added_{n}", "ADD", x, wide, 5, cores=48)
    shaped = linear("shape_last", block.unary("silu_last", "SILU", condition, 3.4, cores=48), 2 * HIDDEN, 36.8, wide=True)  # fmt: skip
    shift, scale = (block.slice(f"cut_last_{part}", shaped, (0, 0, 0, HIDDEN * part), (1, 1, 32, HIDDEN * (part + 1)), 2.4) for part in range(2))  # fmt: skip
    x = block.binary("scaled_last", "MUL", block.norm("norm_last", x, 25, cores=1), scale, 5, cores=48)
    linear("noise_out", block.binary("shifted_last", "ADD", x, shift, 5, cores=48), 64, 9)
    return block


def sound() -> Block:
    """One of 16 blocks of sound that are 2048 wide: a depthwise convolution of seven columns to one, a feed-forward."""
    block = Block("blackhole", grid=GRID, gap_us=1)
    width = 2048
    x = block.tensor([1, 1, 32, width])
    normed = block.norm("norm", x, 33.4, cores=1)
    rows = block.moved("rows", "UntilizeWithUnpadding", normed, 6, layout=ROW_MAJOR, shape=[1, 1, 1, width])
    rows = block.concat("grown", (block.tensor([1, 1, 6, width], layout=ROW_MAJOR), rows), [1, 1, 7, width], 2, 5)
    block.slice("kept", rows, (0, 0, 1, 0), (1, 1, 7, width), 4)
    placed = block.to_shards("placed", rows, block.across(32, width, 64), 6)
    out = block.tensor([1, 1, 32, width], place=block.across(32, width, 64))
    weight = block.tensor([1, 1, 7 * width, width])
    out = block.op("conv", "Conv2d", (placed, weight), out, 187.8, cores=64, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), groups=width, has_bias=True, output_channels=width, memory_config=out.placement, sliding_window_config="SlidingWindowConfig(batch_size=1, input_hw=(1,7), window_hw=(1,7), stride_hw=(1,1), padding=((0, 0), (0, 0)), output_padding = (0, 0), dilation_hw=(1,1))")  # fmt: skip
    out = block.from_shards("back", out, 5)
    x = block.binary("added", "ADD", x, block.binary("layer_scaled", "MUL", out, x, 4, cores=64), 4, cores=64)
    fed = block.linear("up", block.norm("norm_feed", x, 33.4, cores=1), 4 * width, 62, cores=CORES, act="GELU")
    fed = block.linear("down", fed, width, 68, cores=64)
    block.binary("feed_added", "ADD", x, block.binary("feed_scaled", "MUL", fed, x, 4, cores=64), 4, cores=64)
    return block


def grown() -> Block:
    """Attention of a layer after 13,249 rows: keys and values appended, repeated for twelve heads, made FLOAT32."""
    block = Block("blackhole", grid=GRID, gap_us=30)
    q = block.tensor([1, HEADS, 32, SIZE], "FLOAT32")
    repeated: list[Tensor] = []
    for name in ("k", "v"):
        cache, row = block.tensor([1, KV, KEYS - 32, SIZE]), block.tensor([1, KV, 32, SIZE])
        cache = block.concat(f"{name}_grown", (cache, row), [1, KV, KEYS, SIZE], 2, 110)
        heads = [
            block.slice(f"{name}_head_{n}", cache, (0, n, 0, 0), (1, n + 1, KEYS, SIZE), 45) for n in range(KV)
        ]
        every = [head for head in heads for _ in range(HEADS // KV)]
        whole = block.concat(f"{name}_repeated", every, [1, HEADS, KEYS, SIZE], 1, 520)
        repeated.append(block.typecast(f"{name}_wide", whole, "FLOAT32", 640, cores=CORES))
    scores = block.product("scores", q, block.turned("k_turned", repeated[0], 760, cores=CORES), 820, cores=CORES)
    scores = block.binary("scaled", "MUL", scores, block.tensor([1, 1, 1, 1], "FLOAT32"), 35, cores=CORES)
    scores = block.binary("masked", "ADD", scores, block.tensor([1, 1, 32, KEYS], "FLOAT32"), 45, cores=CORES)
    out = block.product("out", block.softmax("softmax", scores, 160, cores=12), repeated[1], 760, cores=CORES)
    block.typecast("narrow", out, "BFLOAT16", 3, cores=48)
    return block


def prefill(*, first: bool) -> Callable[[], Block]:
    """A layer for a chunk of 256 rows, attention in FLOAT32 by matmuls."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=30 if first else 20)
        rows = 256
        x = block.tensor([1, 1, rows, HIDDEN])

        def linear(role: str, given: Tensor, n: int, us: float) -> Tensor:
            return block.linear(role, given, n, us, fidelity="HiFi4", cores=CORES if n > HIDDEN else 96, fp32=True)

        normed = block.norm("norm", x, 27, cores=8)
        parts: list[Tensor] = []
        if first:
            for name, heads, us in (("q", HEADS, 44), ("k", KV, 24), ("v", KV, 24)):
                part = linear(f"{name}_project", normed, heads * SIZE, us)
                part = block.binary(f"{name}_biased", "ADD", part, block.tensor([1, 1, 32, heads * SIZE]), 6, cores=CORES)  # fmt: skip
                part = block.moved(f"{name}_rows", "Untilize", part, 12, layout=ROW_MAJOR, use_multicore=True)
                part = block.moved(f"{name}_shaped", "Tilize", block.view(part, [1, rows, heads, SIZE]), 14, layout="TILE", use_multicore=True)  # fmt: skip
                parts.append(block.permute(f"{name}_turned", part, (0, 2, 1, 3), 22 if name == "q" else 9))
            parts[:2] = [turned(block, f"rotate_{name}", one, us) for name, one, us in (("q", parts[0], 15), ("k", parts[1], 9))]  # fmt: skip
        else:
            qkv = linear("qkv", normed, 2048, 57)
            parts = list(block.split_heads("heads", qkv, 21, heads=HEADS, kv=KV, size=SIZE, rows=rows, cores=8))
            parts[:2] = [block.rotary(f"rotary_{name}", one, us, decode=False, cores=CORES) for name, one, us in (("q", parts[0], 14), ("k", parts[1], 7))]  # fmt: skip
        q = block.typecast("q_wide", parts[0], "FLOAT32", 8, cores=CORES)
        wide: list[Tensor] = []
        for name, one in (("k", parts[1]), ("v", parts[2])):
            heads = [
                block.slice(f"{name}_head_{n}", one, (0, n, 0, 0), (1, n + 1, rows, SIZE), 4) for n in range(KV)
            ]
            every = [head for head in heads for _ in range(HEADS // KV)]
            whole = block.concat(f"{name}_repeated", every, [1, HEADS, rows, SIZE], 1, 18)
            wide.append(block.typecast(f"{name}_wide", whole, "FLOAT32", 9, cores=CORES))
        scores = block.product("scores", q, block.turned("k_turned", wide[0], 17, cores=CORES), 84, cores=96)
        scores = block.binary("scaled", "MUL", scores, block.tensor([1, 1, 1, 1], "FLOAT32"), 24, cores=CORES)
        scores = block.binary("masked", "ADD", scores, block.tensor([1, 1, rows, rows], "FLOAT32"), 30, cores=CORES)
        out = block.product("out", block.softmax("softmax", scores, 88, cores=96), wide[1], 70, cores=96)
        out = block.typecast("narrow", out, "BFLOAT16", 8, cores=CORES)
        if first:
            out = block.permute("out_turned", out, (0, 2, 1, 3), 14)
            out = block.view(
                block.moved("out_rows", "Untilize", out, 8, layout=ROW_MAJOR, use_multicore=True), x.shape
            )
            out = block.moved("out_shaped", "Tilize", out, 10, layout="TILE", use_multicore=True)
        else:
            out = block.view(block.join_heads("joined", out, 18, cores=8), x.shape)
        x = block.binary("attention_added", "ADD", x, linear("project", out, HIDDEN, 55), 8, cores=CORES)
        fed = block.norm("norm_feed", x, 27, cores=8)
        gate, up = (linear(role, fed, WIDE, 80) for role in ("gate", "up"))
        fed = block.binary("gated", "MUL", gate, up, 44, cores=CORES, lhs="SILU")
        block.binary("feed_added", "ADD", x, linear("down", fed, HIDDEN, 255), 8, cores=CORES)
        return block

    return build


TOGETHER = r"\bbatch|both (streams|rows|passes)|(one|single) (pass|forward|batch)|together|stack|read (the )?(same )?weights once|twice"
ONCE = r"once|reuse|precomput|constant|same (at|in|for) (each|every|all)|outside|cach(ed|ing)|hoist|shared?\b"
SHARDED_NORM = r"shard|more cores|\b(6|8) cores"
MATMULS = "qkv project gate up down"
MADE_UP = "ops of less than 20 us and their times; what TTNN chose for the matmuls; gaps"

VIBEVOICE = (
    laid(
        "vibevoice-streams", FRAME_LOG, "a layer of the language model, for two streams one after the other: 645 us",
        streams,
        (
            gain("together", "both streams as one pass of two rows", 240, "other_* speech_*", TOGETHER, "a frame 40.88 -> 34.14 ms, of 28 layers"),
            gain("norms", "norms sharded over six cores", 73.6, "*_norm *_norm_feed", SHARDED_NORM, "25.4 -> 7.0 us each, the moves included; not kept, as long recordings lost words", LEVERS_LOG),
            dead("norm-cores", "norms on as many cores as the row has tiles", "*_norm *_norm_feed", r"\b48 cores|as many cores|(one|a) tile (per|on each|a) core|width_tiles\b", "50 -> 68 to 120 us of wall time, 140 to 216 with the moves"),
        ),
        MADE_UP,
    ),
    laid(
        "vibevoice-step", FRAME_LOG, "one of ten steps of the diffusion head: 0.96 ms",
        step,
        (
            gain("silu", "SiLU of the condition once, that of the gate in the multiplication", 27, "silu_* gate_silu_*", rf"{ONCE}|activation|fus", "unary ops of a frame 0.27 ms less, of ten steps"),
            gain("time", "the embeddings of the ten times made before", 36, "time_*", ONCE, "a frame 40.88 -> 40.52 ms, of ten steps"),
            dead("merged", "the five matmuls of the condition as one", "shape_*", PACKED, "a frame 40.52 -> 42.29 ms"),
        ),
        MADE_UP, 960,
    ),
    laid(
        "vibevoice-sound", LEVERS_LOG, "a block of sound 2048 wide, which makes one column of seven",
        sound,
        (
            gain("depthwise", "a multiplication and a sum instead of the depthwise convolution", 171.6, "conv", r"\bmultipl(y|ication)|element.?wise|ttnn\.(sum|mul)|\breduction|depthwise|groups|dense weight|zeros", "187.8 -> 16.2 us; not kept, as long recordings lost words"),
            gain("norms", "norms sharded over eight cores", 51.9, "norm norm_feed", SHARDED_NORM, "33.4 -> 7.45 us each, the moves included; not kept"),
        ),
        MADE_UP,
    ),
    laid(
        "vibevoice-grown", DECODE_LOG, "attention of a layer for one row after 13,249 others, of 7.2 ms of wall time a layer",
        grown,
        (
            gain("fused", "SDPA for decode over a cache of fixed size", 5_232, "k_* v_* scores scaled masked softmax out", r"scaled_dot_product|sdpa|flash|update_cache|fill_cache", "201.7 -> 55.2 ms of wall time of 28 layers"),
            dead("grouped", "heads of one key grouped, not repeated, still in FLOAT32", "k_repeated v_repeated scores out", r"\bgroup(ed|s)?\b|without (repeating|expanding)|no repeat", "202 -> 358 ms of wall time of 28 layers"),
        ),
        "all single ops' times; their sum follows from the growth with the number of rows",
    ),
    laid(
        "vibevoice-prefill-first", PREFILL_LOG, "a layer for 256 rows as it was: 39.6 ms of 28 layers",
        prefill(first=True),
        (
            gain("packed", "Q, K and V as one matmul, heads split by one op", None, "q_* k_project k_biased k_rows k_shaped v_project v_biased v_rows v_shaped", rf"{PACKED}|create_qkv_heads|split_query", "with three more changes 112.4 -> 82.6 ms of wall time"),
            gain("shape", "heads shaped without leaving tiles", None, "*_rows *_shaped", r"\breshape|(stay|keep|without leaving|remain).{0,40}til|untiliz|transpose|create_qkv_heads|concat_heads", "with three more changes 112.4 -> 82.6 ms of wall time"),
            gain("rotary", "rotary embedding as one op each", None, "rotate_*", r"rotary", "82.6 -> 52.0 ms of wall time; in kernels all changes together 39.6 -> 31 ms"),
            dead("repeat", "keys and values repeated by repeat_interleave", "k_head_* k_repeated v_head_* v_repeated", r"repeat_interleave", "slower than the slices and the concat"),
        ),
        MADE_UP, 1414,
    ),
    laid(
        "vibevoice-prefill", PREFILL_LOG, "a layer for 256 rows as chosen: 31 ms of 28 layers",
        prefill(first=False),
        (
            dead("eight", "weights in BFLOAT8_B", MATMULS, BFP8, "1.0 times as fast"),
            dead("hifi2", "HiFi2", MATMULS, HIFI2, "1.3 % of the kernels' time, and the correlation falls"),
            dead("shards", "what QKV, the projection and down read in block shards", "qkv project down", rf"(?<!MultiCast)(?<!DRAM){SHARDED}", "52.0 -> 58.3 ms of wall time of 28 layers: down 255 -> 132 us alone, but the moves take more; 52.3 -> 55.5 with down alone"),
            dead("configs", "configs of their own", MATMULS, rf"{CONFIG}|in0_block_w|subblock", "TTNN's own choice is fastest at each of the five"),
            dead("l1", "what gate and up write in L1", "gate up gated", IN_L1, "82.6 -> 83.2 ms of wall time; 16 % faster alone"),
        ),
        MADE_UP, 1107,
    ),
)  # fmt: skip
