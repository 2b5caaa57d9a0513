"""Qwen-Image-Edit's transformer (it edits images) on one of 32 Wormhole chips of 64 cores: a block's exact products, 8 images.

Eight chips share the 24 heads, four each have 8 of 32 images: 512 tokens of the image and its noise, 110 of text, 3 heads of 128.
What is in FLOAT32 is multiplied as BFLOAT16 and its rest, HiFi4 with sums in FLOAT32. Scores are exact: three pairs of such parts,
each in 8 lanes of a mask, and all that by three masks, of which the middle value counts: 72 matmuls and 69 sums of scores. The
ledger is the comments of the code: seconds of a step of 60 blocks, and of three matmuls in other forms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import CONFIG, CORES, TWO_D

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

LEDGER = "https://github.com/apande-TT/tt-metal/blob/4f21c7c2c2b213e2b3c09ad534bae9ec177f2142/models/demos/qwen_image_edit/tt/pipeline.py"
GRID, FULL = (8, 8), 64
IMAGES, HEADS, SIZE, TEXT, PIXELS, WIDE = 8, 3, 128, 110, 512, 3072
F32, BF16 = "FLOAT32", "BFLOAT16"


def parts(block: Block, name: str, x: Tensor, us: float) -> tuple[Tensor, Tensor]:
    """FLOAT32 as BFLOAT16 and its rest, by four ops."""
    high = block.typecast(f"{name}_high", x, BF16, us, cores=FULL)
    back = block.typecast(f"{name}_back", high, F32, us, cores=FULL)
    rest = block.binary(f"{name}_rest", "SUB", x, back, 1.5 * us, cores=FULL)
    return high, block.typecast(f"{name}_low", rest, BF16, us, cores=FULL)


def scores(block: Block, name: str, rows: int, share: float) -> Tensor:
    """Of `rows` queries over all keys; `share` of the times of the queries of the image."""
    keys = TEXT + PIXELS
    q = block.tensor([IMAGES, HEADS, rows, SIZE], F32)
    k = block.tensor([IMAGES, HEADS, SIZE, keys], F32)
    q_high, q_low = parts(block, f"{name}_q", q, 60 * share)
    k_high, k_low = parts(block, f"{name}_k", k, 75)
    found: list[Tensor] = []
    for mask in range(3):
        total: Tensor | None = None
        for lane in range(8):
            for pair, (a, b) in enumerate(((q_high, k_high), (q_high, k_low), (q_low, k_high))):
                role = f"{name}_{mask}{lane}{pair}"
                masked = block.binary(
                    f"masked_{role}", "MUL", a, block.tensor([1, 1, 1, SIZE]), 55 * share, cores=FULL
                )
                out = block.tensor([IMAGES, HEADS, rows, keys], F32)
                made = block.op(
                    f"product_{role}", "Matmul", (masked, b), out, 1600 * share, cores=36, fidelity="HiFi4",
                    bcast_batch=False, compute_kernel_config=block.kernel("HiFi4", fp32=True, packer=False),
                    output_dtype="DataType::FLOAT32", output_mem_config=out.placement, program_config=None,
                    transpose_a=False, transpose_b=True, user_core_coord=None, user_fused_activation=None,
                )  # fmt: skip
                total = block.binary(f"sum_{role}", "ADD", total, made, 780 * share, cores=FULL) if total else made
        if total:
            found.append(total)
    a, b, c = found
    low = block.binary(f"{name}_low_of", "MINIMUM", a, b, 780 * share, cores=FULL)
    high = block.binary(f"{name}_high_of", "MAXIMUM", a, b, 780 * share, cores=FULL)
    high = block.binary(f"{name}_less", "MINIMUM", high, c, 780 * share, cores=FULL)
    return block.binary(f"{name}_middle", "MAXIMUM", low, high, 780 * share, cores=FULL)


def exact_scores() -> Block:
    block = Block("wormhole_b0", grid=GRID, gap_us=2.0)
    scores(block, "image", PIXELS, 1.0)
    scores(block, "text", TEXT, 0.25)
    return block


def projection(
    rows: int, us: float, move_us: float, *, cores: int, config: str | None = None
) -> Callable[[], Block]:
    """The queries of a stream: a matmul of BFLOAT16, one of the rest, their sum and a bias."""

    def build() -> Block:
        block = Block("wormhole_b0", grid=GRID, gap_us=2.0)
        x = block.tensor([IMAGES, rows, WIDE], F32)
        weight = block.weight(WIDE, HEADS * SIZE, BF16)
        made = [
            block.linear(f"product_{n}", part, HEADS * SIZE, us, fidelity="HiFi4", fp32=True, packer=False, out=F32, weight=weight, cores=cores, config=config)
            for n, part in enumerate(parts(block, "x", x, move_us))
        ]  # fmt: skip
        y = block.binary("sum", "ADD", made[0], made[1], move_us / 4, cores=FULL)
        block.binary("bias", "ADD", y, block.tensor([1, 1, 1, HEADS * SIZE], F32), move_us / 6, cores=FULL)
        return block

    return build


PRODUCTS = "product_0 product_1"
MADE_UP = "cores that TTNN chose; times but those of the matmuls, which the comments give for a shape, here each of two; gaps"
QWEN_IMAGE_EDIT = (
    laid(
        "qie-scores", LEDGER, "scores of a block's attention, exact by 72 matmuls and 69 sums for each stream; a step takes 25.7 s",
        exact_scores,
        (gain("folded", "lanes and pairs side by side along the inner dimension: three matmuls of 24 times its length", 163_300, "masked_* product_* sum_*", r"concat|stack|fold|one (longer |larger |wider |single )?(matmul|product)|(fewer|merge|join|batch).{0,40}(matmul|product)", "25.7 -> 15.9 s of a step of 60 blocks"),),
        "all times; cores that TTNN chose; gaps",
    ),
    laid(
        "qie-text", LEDGER, "queries of the text: matmuls of 128 x 3072 x 384 as TTNN chooses, 6.8 ms",
        projection(128, 6800, 90, cores=12),
        (gain("grid", "all cores by a core grid", 6600, PRODUCTS, rf"{CONFIG}|{CORES}", "6.8 -> 3.5 ms each"),),
        MADE_UP,
    ),
    laid(
        "qie-image", LEDGER, "queries of the image: matmuls of 512 x 3072 x 384 as TTNN chooses, 23.1 ms",
        projection(PIXELS, 23_100, 350, cores=12),
        (
            dead("grid", "all cores by a core grid", PRODUCTS, r"core_grid", "23.1 -> 30.9 ms each"),
            dead("two-d", "a 2D config of all cores", PRODUCTS, TWO_D, "23.1 -> 41.8 ms each"),
        ),
        MADE_UP,
    ),
)  # fmt: skip
