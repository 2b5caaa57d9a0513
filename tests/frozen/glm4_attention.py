"""GLM 4 (96 heads, eight of keys and values, rotated in part) on a Wormhole mesh: attention in decode, as a compiler writes it.

A chip has 12 heads with one of keys and values, for 16 users. The compiler keeps [users, heads, 1, columns], so that a
tile holds one row: norms, slices and rotations work on 192 rows of tiles where 16 would do.
Another ledger of a model that is in an earlier set; it measures one chip, alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, Block
from tests.frozen.layer import dead, gain, laid

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

REPOSITORY = "https://github.com/tenstorrent/tt-xla/blob"
LOG = f"{REPOSITORY}/61e2f82c2981355d29e708564763b61c96592006/perf/optimization_log.md"
SPLIT = f"{REPOSITORY}/a77d16b2e4b5d4f49c581dca13e63e4b1b7365cc/perf/split_qkv/comparison_general_vs_decode.md"
USERS, HEADS, SIZE, TURNED = 16, 12, 128, 64


def rotated(block: Block, name: str, x: Tensor, us: tuple[float, float, float, float]) -> Tensor:
    """The norm, then the rotation of the first half."""
    norm, cut, turn, join = us
    users, heads, rows, _ = x.shape
    x = block.norm(f"norm_{name}", x, norm, cores=64 if heads > 1 else users)
    first = block.slice(f"turned_{name}", x, (0, 0, 0, 0), (users, heads, rows, TURNED), cut)
    rest = block.slice(f"kept_{name}", x, (0, 0, 0, TURNED), (users, heads, rows, SIZE), cut)
    tables = [block.tensor([1, 1, 1, TURNED]) for _ in range(2)]
    first = block.op(f"rotary_{name}", "RotaryEmbedding", (first, *tables), block.tensor(first.shape), turn, cores=64 if heads > 1 else users, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), output_mem_config=DRAM, token_idx=None)  # fmt: skip
    return block.concat(f"whole_{name}", (first, rest), [users, heads, rows, SIZE], 3, join)


def attention(*, copies: bool) -> Callable[[], Block]:
    """`copies`: the reshapes around the heads move bytes."""

    def build() -> Block:
        block = Block("wormhole_b0", gap_us=1)
        x = block.tensor([USERS, (HEADS + 2) * SIZE])
        shape = [USERS, 1, 1, (HEADS + 2) * SIZE]
        x = block.moved("spread", "ReshapeView", x, 32.2, shape=shape, cores=72) if copies else block.view(x, shape)
        q, k, v = block.split_heads(
            "split", x, 37.7, heads=HEADS, kv=1, size=SIZE, rows=1, batch=USERS, cores=USERS
        )
        q, k = rotated(block, "q", q, (36, 17.1, 57, 15)), rotated(block, "k", k, (5.3, 3, 5.4, 2.3))
        shape = [1, USERS, HEADS, SIZE]
        q = (
            block.moved("q_shaped", "ReshapeView", q, 12.3, shape=shape, cores=64)
            if copies
            else block.view(q, shape)
        )
        cache = block.tensor([USERS, 1, 128, SIZE])
        for name, one in (("k", k), ("v", v)):
            placed = block.to_shards(f"placed_{name}", block.view(one, [1, USERS, 1, SIZE]), block.along(32, SIZE, USERS), 1.3)  # fmt: skip
            block.update_cache(f"cache_{name}", cache, placed, 4)
        out = block.attend_decode("attend", q, cache, 15.8, config=None, cores=64)
        block.moved("joined", "ReshapeView", out, 14.7, shape=[USERS, HEADS * SIZE], cores=64)
        return block

    return build


HEADS_OP = r"create_qkv_heads_decode"
ROWS = rf"{HEADS_OP}|decode (layout|mode|shape)|heads.{{0,60}}(rows|tile|dim(ension)? 2|second.to.last)|pad.{{0,80}}(heads|1 (row|to 32)|users)"
MADE_UP = (
    "how the times of an op's kind are shared out between queries and keys, cores but for the heads' ops, gaps"
)

GLM4_ATTENTION = (
    laid(
        "glm4-attention", LOG, "attention in decode for 16 users on one chip: 285 us in kernels",
        attention(copies=True),
        (
            gain("heads", "nlp_create_qkv_heads_decode instead of a split between two reshapes", 74.7, "spread split q_shaped", HEADS_OP, "82.195 -> 7.505 us in kernels, median of 200", SPLIT),
            gain("rows", "all of it with heads as the rows of a tile", 187.1, "spread split q_shaped norm_* turned_* kept_* rotary_* whole_* placed_*", ROWS, "8533.9 -> 2920.4 us in kernels of 30 passes; takes in the change of the heads' op"),
        ),
        MADE_UP, 284.5,
    ),
    laid(
        "glm4-attention-views", LOG, "the same in the compiled model, where the reshapes around the heads are views",
        attention(copies=False),
        (dead("heads", "nlp_create_qkv_heads_decode instead of the split, norms and rotations as they were", "split", HEADS_OP, "some 7 -> 6.07 samples a second: its shards have to be moved before the norms"),),
        f"times of ops, from the ledger's trial on one chip; {MADE_UP}",
    ),
)  # fmt: skip
