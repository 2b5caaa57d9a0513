"""VGGT (cameras, depth and points of a scene from pictures) on one Blackhole chip: blocks of its transformers, and a head.

A picture of 518 x 518 is 1374 rows of 1024 channels, 16 heads of 64: 24 blocks of DINOv2, then 24 pairs that look at each
picture and at all of them. The stream is FLOAT32, matmuls take BFLOAT16, attention is by hand with scores in FLOAT32. Two heads
bring four layers' rows up to the picture. The log tells a run's time of one to four pictures, traced, per change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import ROW_MAJOR, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import MINIMAL
from tests.profiles.conv import Window, conv2d, halo

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

HOME = "https://github.com/changh95/tt-vggt/blob"
LOG = f"{HOME}/40b7bff184732182fb1b62a36bd9124db99bd733/DEVICE_VALIDATION.md"
TABLE = f"{HOME}/4ada32a9baa908436c95d6cb977f7e2f346a8fe4/results.tsv"
CODE = f"{HOME}/4ada32a9baa908436c95d6cb977f7e2f346a8fe4/models/demos/vggt/tt/ttnn_vggt_fused.py"
GRID, ALL, ROWS, HIDDEN, HEADS = (13, 10), 130, 1374, 1024, 16


def scored(block: Block, q: Tensor, k: Tensor, v: Tensor, size: float) -> Tensor:
    """Attention in FLOAT32; row by row from 4000 rows on, `size` times the work of one picture."""
    rows = q.shape[2]
    across = block.permute("k_across", k, (0, 1, 3, 2), 58 * size**0.5)
    shape = [1, HEADS, rows, rows]
    kernel = block.kernel("HiFi4", fp32=True)
    y = block.op("scores", "Matmul", (q, across), block.tensor(shape, "FLOAT32"), 430 * size, cores=ALL, fidelity="HiFi4", compute_kernel_config=kernel, output_dtype="DataType::FLOAT32", program_config=None)  # fmt: skip
    if rows < 4000:
        y = block.softmax("softmax", y, 1150 * size, cores=ALL)
    else:
        column = [1, HEADS, rows, 1]
        top = block.op("softmax_max", "Reduce", (y,), block.tensor(column, "FLOAT32"), 320 * size, cores=ALL, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::MAX")  # fmt: skip
        y = block.binary("softmax_less", "SUB", y, top, 530 * size, cores=ALL)
        y = block.unary("softmax_exp", "EXP", y, 530 * size, cores=ALL)
        total = block.op("softmax_sum", "Reduce", (y,), block.tensor(column, "FLOAT32"), 320 * size, cores=ALL, fidelity="HiFi4", dim="ReduceOpDim::W", math_op="ReduceOpMath::SUM")  # fmt: skip
        total = block.unary("softmax_over", "RECIP", total, 20, cores=ALL)
        y = block.binary("softmax_times", "MUL", y, total, 530 * size, cores=ALL)
    y = block.op("context", "Matmul", (y, v), block.tensor([1, HEADS, rows, 64], "FLOAT32"), 900 * size, cores=ALL, fidelity="HiFi4", compute_kernel_config=kernel, output_dtype="DataType::FLOAT32", program_config=None)  # fmt: skip
    return block.typecast("context_cast", block.join_heads("join", y, 40 * size**0.5, cores=ALL), "BFLOAT16", 25 * size**0.5, cores=ALL)  # fmt: skip


def transformer(pictures: int, *, turned: bool) -> Callable[[], Block]:
    """A block over all rows of `pictures`; `turned`: with norms and a rotation of queries and keys."""

    def build() -> Block:
        block, rows, more = Block("blackhole", grid=GRID, gap_us=1.0), ROWS * pictures, float(pictures)
        cores = min(ALL, 43 * pictures)

        def linear(role: str, x: Tensor, n: int, us: float, *, exact: bool = False) -> Tensor:
            return block.linear(role, x, n, us * more, cores=ALL, bias=True, fidelity="HiFi4" if exact else "HiFi2", fp32=exact, out="FLOAT32" if exact else "BFLOAT16")  # fmt: skip

        def normed(role: str, x: Tensor) -> Tensor:
            return block.norm(role, block.typecast(f"{role}_cast", x, "BFLOAT16", 20 * more, cores=ALL), 25 * more, cores=cores, kind="LAYERNORM")  # fmt: skip

        def joined(role: str, x: Tensor, y: Tensor) -> Tensor:
            y = block.binary(f"{role}_scale", "MUL", y, block.tensor([1, 1, 1, HIDDEN]), 25 * more, cores=ALL)
            return block.binary(f"{role}_add", "ADD", x, y, 30 * more, cores=ALL)

        x = block.tensor([1, 1, rows, HIDDEN], "FLOAT32")
        y = linear("qkv", normed("norm", x), 3 * HIDDEN, 95)
        q, k, v = block.split_heads("heads", y, 40 * more, heads=HEADS, kv=HEADS, size=64, rows=rows, cores=cores)
        if turned:
            tables = [block.tensor([1, 1, rows, 64]) for _ in range(2)]
            q, k = (block.norm(f"{name}_norm", one, 30 * more, cores=ALL, kind="LAYERNORM") for name, one in (("q", q), ("k", k)))  # fmt: skip
            q, k = (block.op(f"rope_{name}", "RotaryEmbedding", (one, *tables), block.tensor(one.shape), 38 * more, cores=ALL, fidelity="HiFi4") for name, one in (("q", q), ("k", k)))  # fmt: skip
        y = linear("proj", scored(block, q, k, v, more**2), HIDDEN, 95, exact=True)
        x = joined("proj", x, y)
        y = block.unary(
            "gelu", "GELU", linear("fc1", normed("norm_feed", x), 4 * HIDDEN, 130), 45 * more, cores=ALL
        )
        x = joined("fc2", x, linear("fc2", y, HIDDEN, 240, exact=True))
        if not turned:
            x = block.norm("norm_out", x, 55 * more, cores=cores, kind="LAYERNORM")
            x = block.binary(
                "tokens_mask", "MUL", x, block.tensor([1, 1, ROWS, 1], "FLOAT32"), 28 * more, cores=ALL
            )
            block.binary("tokens_add", "ADD", x, block.tensor(x.shape, "FLOAT32"), 36 * more, cores=ALL)
        return block

    return build


def convolved(block: Block, role: str, x: Tensor, side: int, shape: tuple[int, int, int], us: float, act: str | None = None) -> Tensor:  # noqa: PLR0917  # fmt: skip
    """A convolution of a square map, after its halo."""
    inside, outside, kernel = shape
    window = Window((side, side), (kernel, kernel), 1, kernel // 2)
    cores = min(ALL, -(-side * side // 32))
    rows = 32 * -(-side * side // 32 // cores)
    x = block.tensor([1, 1, side * side, inside], place=block.along(rows, inside, cores))
    if kernel > 1:
        spread = block.tensor(x.shape, place=block.along(rows + 2 * side, inside, cores), layout=ROW_MAJOR)
        block.put(f"{role}_halo", halo(x, spread, window, round(0.12e3 * us)))
        x = spread
    weight = block.tensor([1, 1, kernel**2 * inside, outside])
    out = block.tensor([1, 1, side * side, outside], place=block.along(rows, max(32, outside), cores))
    made = conv2d(x, weight, block.tensor([1, 1, 32, outside]), out, window=window, kernel_ns=round(0.88e3 * us), in_channels=inside, act_block_h=1, fidelity="HiFi4", activation=act)  # fmt: skip
    made.attributes = {**made.attributes, "compute_kernel_config": block.kernel("HiFi4", fp32=True)}
    block.put(role, made)
    return block.from_shards(f"{role}_whole", out, 0.1 * us)


def along_axis(block: Block, name: str, x: Tensor, out: int, us: float) -> Tensor:
    """Two rows for each new one, gathered by matmuls of both halves of the bits, weighed and added."""
    count, _, columns = x.shape[-3:]
    high = block.typecast(f"{name}_high", x, "BFLOAT16", 0.05 * us, cores=ALL)
    wide = block.typecast(f"{name}_high_wide", high, "FLOAT32", 0.05 * us, cores=ALL)
    low = block.typecast(f"{name}_low", block.binary(f"{name}_rest", "SUB", x, wide, 0.06 * us, cores=ALL), "BFLOAT16", 0.05 * us, cores=ALL)  # fmt: skip
    made: list[Tensor] = []
    for number in range(2):
        shape, chosen = [1, count, out, columns], block.tensor([1, count, out, x.shape[-2]])
        parts = [block.op(f"{name}_gather{number}_{part}", "Matmul", (chosen, one), block.tensor(shape, "FLOAT32"), 0.12 * us, cores=ALL, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", packer=False), output_dtype="DataType::FLOAT32", program_config=None) for part, one in (("high", high), ("low", low))]  # fmt: skip
        y = block.binary(f"{name}_both{number}", "ADD", *parts, 0.08 * us, cores=ALL)
        made.append(block.binary(f"{name}_weighed{number}", "MUL", y, block.tensor([1, 1, out, 1], "FLOAT32"), 0.06 * us, cores=ALL))  # fmt: skip
    return block.binary(f"{name}_sum", "ADD", *made, 0.03 * us, cores=ALL)


def raised(block: Block, name: str, side: int, out: int, channels: int, *, place: bool = False) -> Tensor:
    """A map of `side` brought to `out`, columns then rows, and each time laid out anew; by what 518 x 518 x 128 takes."""
    size = out * out * channels / (518 * 518 * 128)
    x = block.tensor([1, side, side, channels], "FLOAT32")
    x = along_axis(block, f"{name}_columns", x, out, 5600 * size * side / out)
    y = block.moved(f"{name}_relaid0", "ReshapeView", x, 6400 * size, shape=[1, 1, side, out * channels], cores=ALL)  # fmt: skip
    y = block.moved(f"{name}_filled0", "FillPad", y, 700 * size, cores=ALL)
    y = along_axis(block, f"{name}_rows", y, out, 8200 * size)
    if place:
        y = block.binary(f"{name}_place", "ADD", y, block.tensor(y.shape, "FLOAT32"), 750 * size, cores=ALL)
    y = block.typecast(f"{name}_cast", y, "BFLOAT16", 420 * size, cores=ALL)
    y = block.moved(f"{name}_relaid1", "ReshapeView", y, 6400 * size, shape=[1, 1, out * out, channels], cores=ALL)
    return block.moved(f"{name}_filled1", "FillPad", y, 700 * size, cores=ALL)


def head() -> Block:
    """A head: four layers' rows to maps, four rounds of convolutions and upsampling, and the picture."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    for number, (inside, side) in enumerate(((256, 148), (512, 74), (1024, 37), (1024, 19)), 1):
        y = block.typecast(f"layer{number}_cast", block.tensor([1, 1, ROWS, 2048], "FLOAT32"), "BFLOAT16", 40, cores=ALL)  # fmt: skip
        y = block.norm(f"layer{number}_norm", y, 48, cores=43, kind="LAYERNORM")
        y = block.linear(f"layer{number}_proj", y, inside, 60, cores=ALL, bias=True, fidelity="HiFi4", fp32=True)
        y = block.product(f"layer{number}_patches", block.tensor([1, 1, 1369, ROWS]), y, 55, cores=ALL, fp32=False)
        y = block.binary(f"layer{number}_place", "ADD", y, block.tensor(y.shape), 14, cores=ALL)
        convolved(block, f"layer{number}_map", y, side, (inside, 256, 3), 60 + 0.02 * side * side)
    for number, side, out in ((4, 19, 37), (3, 37, 74), (2, 74, 148), (1, 148, 296)):
        work = 50 + 0.05 * side * side
        for unit in range(1 if number == 4 else 2):
            x = block.unary(f"fine{number}_relu{unit}", "RELU", block.tensor([1, 1, side * side, 256], "FLOAT32"), 8 + 0.006 * side * side, cores=ALL)  # fmt: skip
            y = convolved(block, f"fine{number}_conv{unit}a", x, side, (256, 256, 3), work, "RELU")
            y = convolved(block, f"fine{number}_conv{unit}b", y, side, (256, 256, 3), work)
            block.binary(f"fine{number}_add{unit}", "ADD", x, y, 8 + 0.008 * side * side, cores=ALL)
        y = raised(block, f"fine{number}_up", side, out, 256)
        block.linear(f"fine{number}_out", y, 256, 20 + 0.006 * out * out, cores=ALL, bias=True, fidelity="HiFi4", fp32=True, out="FLOAT32")  # fmt: skip
    convolved(block, "last_conv1", block.tensor([1, 1, 296 * 296, 256], "FLOAT32"), 296, (256, 128, 3), 3600)
    y = raised(block, "last_up", 296, 518, 128, place=True)
    y = convolved(block, "last_conv2", y, 518, (128, 32, 3), 4200, "RELU")
    convolved(block, "last_conv3", y, 518, (32, 2, 1), 900)
    return block


SDPA = r"scaled_dot_product_attention|\bSDPA\b"
EXACT = r"fp32|float32|FLOAT32"
WORSE = "worse on real pictures (0.99793 of 0.99903): kept off"
VGGT = (
    laid(
        "vggt-frame", LOG, "a block that looks at one picture, one of 48: 406 ms for all", transformer(1, turned=True),
        (
            dead("sdpa", "SDPA", "k_across scores softmax context context_cast", SDPA, f"406 -> 243 ms of a run of one picture, 72 blocks; {WORSE}", faster=True),
            dead("minimal", "minimal_matmul for the four matmuls", "qkv proj fc1 fc2", MINIMAL, "371 -> 372 ms of a run, before heads were made exact", TABLE),
        ),
        "how the blocks and heads share a run's time, but for what SDPA would save; core counts; gaps",
    ),
    laid(
        "vggt-dino", LOG, "the last block of DINOv2, its norm in FLOAT32, and what pairs take, of one picture", transformer(1, turned=False),
        (
            dead("norm", "the norm in FLOAT32 by hand, in single ops", "norm_out", r"layer_norm.{0,80}(by hand|element|eltwise|decompos)|decompos|element.?wise", "371 -> 372 ms of a run, and hardly better", TABLE),
            dead("sdpa", "SDPA", "k_across scores softmax context context_cast", SDPA, f"406 -> 243 ms of a run of one picture, 72 blocks; {WORSE}", faster=True),
        ),
        "how the blocks and heads share a run's time, but for what SDPA would save; core counts; gaps",
    ),
    laid(
        "vggt-global-3", LOG, "a block that looks at three pictures, one of 24: 1945 ms for all", transformer(3, turned=True),
        (
            gain("softmax", "softmax as one op, in its place, of 4122 rows", 6900, "softmax_*", r"softmax_in_place|scale_mask_softmax|ttnn\.softmax|(fused|one|single).{0,20}softmax", "1719 -> 1553 ms of a run, a 24th of it; no hang, and as near to the reference"),
            dead("sdpa", "SDPA", "k_across scores softmax_* context context_cast", SDPA, f"1945 -> 723 ms of a run of three pictures; {WORSE}", faster=True),
        ),
        "how the blocks and heads share a run's time, but for what changes saved; core counts; gaps",
    ),
    laid(
        "vggt-head", LOG, "a head of one picture, one of two: 448 ms for all", head,
        (
            gain("rows", "what upsampling lays out anew by way of rows, where it is a view", 21_000, "*_relaid* *_filled*", r"ROW_MAJOR|row.major|untilize|to_layout", "448 -> 406 ms of a run, half of it; 6 to 7 -> 1.5 ms for one of 518 x 518"),
            dead("one-matmul", "one matmul in FLOAT32 for each axis of upsampling", "*_columns_* *_rows_*", r"(one|single).{0,30}matmul|(fp32|float32|FLOAT32).{0,40}matmul|interpolation", "406 -> 369 ms of a run, but too far from the reference: kept off", faster=True),
            dead("flat", "upsampling by plain matmuls, turned before and after", "*_columns_* *_rows_* *_relaid*", r"transpose|flat", "20.6 ms with a matmul for each axis, 49 ms so, from 296 to 518", CODE),
            dead("broadcast", "the constant of the matmuls with a batch of one", "*_gather*", r"broadcast|bcast|batch of (1|one)", "hangs"),
            dead("prelude", "what comes before the maps in FLOAT32", "layer*_norm layer*_proj layer*_patches layer*_place", EXACT, "371 -> 374 ms of a run, and worse", TABLE),
            dead("output", "the last convolutions in FLOAT32", "last_conv2 last_conv3", EXACT, "371 -> 388 ms of a run, and worse"),
        ),
        "all times, so that upsampling takes what the change leaves; shards of convolutions; core counts; gaps",
    ),
)  # fmt: skip
