"""X-VLA (a robot's actions from pictures and words) on one Blackhole chip: a block of its action transformer, and of its eyes.

24 blocks of 1024 channels over 244 rows, 16 heads of 64, run once for each step of denoising; DaViT's third stage for three
pictures, nine times: attention in windows of 144 rows, and among channels in groups of 32. The log tells a chunk's time of one
and of ten steps per change: a ninth of what ten take more is a step's. The README tells twelve tries before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block, chunks, minimal
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BFP4, BFP8, CORES, FUSED_SUM, IN_L1, LOFI, MINIMAL

if TYPE_CHECKING:
    from tests.profiles import Tensor

HOME = "https://github.com/changh95/tt-XVLA/blob"
LOG = f"{HOME}/25bf3f646c874b8922ed1e6259fa502667d22c99/DEVICE_VALIDATION.md"
README = f"{HOME}/06847f509bf731e91f968409fdb31c75c329b7d2/README.md"
GRID, ALL = (11, 10), 110
OF = {"cores": ALL, "bias": True}


def by_hand(block: Block, q: Tensor, k: Tensor, v: Tensor, us: tuple[float, float, float, float]) -> Tensor:
    """Keys come turned from the split of heads."""
    turned = block.view(k, [*k.shape[:2], k.shape[3], k.shape[2]])
    y = block.product("scores", q, turned, us[0], cores=ALL, fidelity="HiFi2", fp32=False)
    y = block.unary("scaled", "MUL_UNARY_SFPU", y, us[1], cores=ALL)
    y = block.softmax("softmax", y, us[2], cores=ALL, fp32=False)
    return block.product("context", y, v, us[3], cores=ALL, fidelity="HiFi2", fp32=False)


def actions() -> Block:
    """A block of the action transformer, as it was."""
    block, rows, hidden, heads = Block("blackhole", grid=GRID, gap_us=1.0), 244, 1024, 16
    x = block.tensor([1, 1, rows, hidden])
    y = block.linear("qkv", block.norm("norm", x, 20, cores=8, kind="LAYERNORM"), 3 * hidden, 75, **OF)
    q, k, v = block.split_heads("heads", y, 20, heads=heads, kv=heads, size=64, rows=rows, cores=8)
    y = block.join_heads("join", by_hand(block, q, k, v, (48, 22, 65, 50)), 12, cores=8)
    x = block.binary("add", "ADD", x, block.linear("proj", y, hidden, 36, **OF), 8, cores=ALL)
    y = block.norm("norm_feed", x, 20, cores=8, kind="LAYERNORM")
    y = block.linear("fc1", y, 4 * hidden, 70, dtype="BFLOAT8_B", act="GELU", **OF)
    block.binary("add_feed", "ADD", x, block.linear("fc2", y, hidden, 110, dtype="BFLOAT8_B", **OF), 8, cores=ALL)
    return block


def actions_after() -> Block:
    """The same with SDPA, minimal matmuls, and sums in two of them."""
    block, rows, hidden, heads = Block("blackhole", grid=GRID, gap_us=1.0), 244, 1024, 16
    wide, narrow = minimal((8, 4, 4), (2, 2), GRID), minimal((4, 4, 4), (2, 2), GRID)
    summed = {"config": narrow, "cores": ALL, "name": "DitMinimalMatmulAddcmulFused", "scalar": 1.0}
    x = block.tensor([1, 1, rows, hidden])
    y = block.norm("norm", x, 20, cores=8, kind="LAYERNORM")
    y = block.minimal("qkv", y, 3 * hidden, 48, config=wide, cores=ALL)
    q, k, v = block.split_heads("heads", y, 20, heads=heads, kv=heads, size=64, rows=rows, cores=8)
    y = block.attend("sdpa", q, k, v, 33, config=chunks(256, 256, GRID), cores=16, causal=False)
    x = block.minimal("proj", block.join_heads("join", y, 12, cores=8), hidden, 30, **summed)
    y = block.norm("norm_feed", x, 20, cores=8, kind="LAYERNORM")
    y = block.minimal("fc1", y, 4 * hidden, 58, dtype="BFLOAT8_B", config=wide, cores=ALL)
    y = block.unary("gelu", "GELU", y, 24, cores=ALL)
    block.minimal("fc2", y, hidden, 58, **summed)
    return block


def windows() -> Block:
    """Attention in windows: four for each picture of 14 x 14."""
    block, count, rows, hidden, heads = Block("blackhole", grid=GRID, gap_us=1.0), 12, 144, 1024, 32
    x = block.tensor([count, 1, rows, hidden])
    y = block.linear("qkv", block.norm("norm", x, 34, cores=60, kind="LAYERNORM"), 3 * hidden, 310, **OF)
    q, k, v = block.split_heads("heads", y, 110, heads=heads, kv=heads, size=32, rows=rows, batch=count, cores=60)
    y = block.join_heads("join", by_hand(block, q, k, v, (640, 160, 480, 760)), 60, cores=60)
    block.linear("proj", y, hidden, 150, **OF)
    return block


def channels() -> Block:
    """Attention among channels, in groups of 32, by views and turns of four axes."""
    block, count, rows, hidden, groups = Block("blackhole", grid=GRID, gap_us=1.0), 3, 196, 1024, 32
    x = block.tensor([count, 1, rows, hidden])
    qkv = block.linear("qkv", block.norm("norm", x, 28, cores=21, kind="LAYERNORM"), 3 * hidden, 170, **OF)
    made: list[Tensor] = []
    for number, name in enumerate("qkv"):
        start, end = (0, 0, 0, number * hidden), (count, 1, rows, (number + 1) * hidden)
        y = block.slice(f"split_{name}", qkv, start, end, 16)
        y = block.moved(f"group_{name}", "ReshapeView", y, 85, shape=[count, rows, groups, 32], cores=ALL)
        made.append(block.permute(f"turn_{name}", y, (0, 2, 1, 3), 60))
    q, k, v = made
    y = block.product("scores", block.turned("q_across", q, 34, cores=ALL), k, 70, cores=96, fidelity="HiFi2", fp32=False)  # fmt: skip
    y = block.unary("scaled", "MUL_UNARY_SFPU", y, 9, cores=96)
    y = block.softmax("softmax", y, 15, cores=96, fp32=False)
    y = block.product("context", y, block.turned("v_across", v, 34, cores=ALL), 75, cores=96, fidelity="HiFi2", fp32=False)  # fmt: skip
    y = block.permute("back", block.turned("context_across", y, 34, cores=ALL), (0, 2, 1, 3), 60)
    y = block.moved("ungroup", "ReshapeView", y, 85, shape=[count, 1, rows, hidden], cores=ALL)
    block.binary("add", "ADD", x, block.linear("proj", y, hidden, 80, **OF), 12, cores=ALL)
    return block


ATTENTION = "scores scaled softmax context"
SDPA = r"scaled_dot_product_attention|\bSDPA\b"
HEAD_OPS = r"split_query_key_value|concatenate_heads|create_(qkv_)?heads|nlp_create|head ops"
MANY = "frames of a chunk in a second"
XVLA = (
    laid(
        "xvla-actions", LOG, "a block of the action transformer: 13.5 ms for 24 of a step, with what goes in and out", actions,
        (
            gain("sdpa", "SDPA, which masks the rows that are padding", 152.5, ATTENTION, SDPA, "14.11 -> 10.45 ms of a step, a 24th of it"),
            gain("minimal", "minimal_matmul for the first matmuls of both halves", 56.7, "qkv fc1", MINIMAL, "10.45 -> 9.09 ms of a step, a 24th of it"),
            gain("fc2-sum", "the last weight in BFLOAT16, and the sum in its matmul", 78, "fc2 add_feed", FUSED_SUM, "10.45 -> 8.57 ms of a step, a 24th of it"),
            gain("proj-sum", "the sum in the matmul after attention", 16, "proj add", FUSED_SUM, "10.84 -> 10.45 ms of a step, a 24th of it"),
            dead("proj-bfp8", "the weight after attention in BFLOAT8_B", "proj", BFP8, f"118.40 -> 116.82 {MANY}", README),
            dead("bfp4", "the feed-forward's weights in BFLOAT4_B", "fc1 fc2", BFP4, f"118.40 -> 116.88 {MANY}: not bound by their bytes", README),
            dead("lofi", "LoFi for the matmuls", "qkv proj fc1 fc2", LOFI, f"118.40 -> 117.77 {MANY}: noise", README),
            dead("fc1-l1", "what fc1 makes in L1", "fc1 fc2", IN_L1, f"118.40 -> 114.24 {MANY}", README),
            dead("scale-q", "the scale on the queries, before the scores", "scaled", r"scale.{0,40}(q\b|quer|before)|fold", f"118.40 -> 113.51 {MANY}: called noise", README),
            dead("grid", "all cores for the feed-forward's matmuls, by core_grid", "fc1 fc2", CORES, f"118.40 -> 117.92 {MANY}: TTNN's own choice does as well", README),
        ),
        "how a block's ops share its time, but for what changes saved; core counts; default fidelity; gaps",
        pass_us=562,
    ),
    laid(
        "xvla-actions-after", LOG, "the same with all gains: 7.8 ms for 24 of a step, with what goes in and out", actions_after,
        (dead("fp32", "HiFi2 without sums in FLOAT32 for minimal matmuls", "qkv proj fc1 fc2", r"fp32_dest_acc_en", "88.74 -> 88.39 ms of a chunk in three rounds by turns: noise, and worse"),),
        "how a block's ops share its time; core counts; gaps",
        pass_us=325,
    ),
    laid(
        "xvla-windows", LOG, "attention in windows of DaViT's third stage, for three pictures", windows,
        (
            gain("sdpa", "SDPA, which masks the rows that are padding", 1850, ATTENTION, SDPA, "139.23 -> 112.35 ms of a chunk, less the action transformer's 3.66: shared by the stages' windows and heads"),
            gain("minimal", "minimal_matmul for both matmuls", None, "qkv proj", MINIMAL, "112.35 -> 95.88 ms of a chunk, not told apart"),
        ),
        "all times, so that the rest takes what the change leaves; core counts; default fidelity; gaps",
    ),
    laid(
        "xvla-channels", LOG, "attention among channels of DaViT's third stage, for three pictures", channels,
        (
            gain("heads", "the ops that split and join heads, for groups of channels", 630, f"split_* group_* turn_* q_across v_across context_across back ungroup {ATTENTION}", HEAD_OPS, "122.03 -> 112.35 ms of a chunk, shared by the stages' rows and channels"),
            gain("minimal", "minimal_matmul for the first matmul", None, "qkv", MINIMAL, "112.35 -> 95.88 ms of a chunk, not told apart"),
            gain("proj-sum", "the sum in the last matmul", None, "proj add", FUSED_SUM, "122.76 -> 112.35 ms of a chunk, mostly here, not told apart"),
        ),
        "all times; core counts; default fidelity; gaps",
    ),
)  # fmt: skip
