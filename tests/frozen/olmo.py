"""OLMo 3.1 (32B) on one, two and four Blackhole chips: a layer of its decode, for one user.

5120 channels, 40 heads with eight of keys, 27,648 channels of the feed-forward, 64 layers. The report tells tokens a second with
two sets of formats: BFLOAT8_B for all weights, and BFLOAT4_B for the feed-forward's. It takes the narrow ones where the
long prompts need the room, and elsewhere keeps the wide ones for their accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import L1, Block, banked, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

SOURCE = f"{TT_METAL}/f59e5a9165d61a94e4de269968e0cc63f02f024a/models/autoports/allenai_olmo_3_1_32b_instruct/doc/REPORT.md"
GRID, HIDDEN, HEADS, KV, SIZE, WIDE, USERS = (11, 10), 5120, 40, 8, 128, 27648, 32
SPREAD = 32


@dataclass(frozen=True)
class Chips:
    """How many share a layer, and us of its matmuls and of an exchange."""

    count: int
    feed_us: float
    qkv_us: float
    out_us: float
    exchange_us: float = 0.0


def exchanged(block: Block, role: str, x: Tensor, chips: Chips) -> Tensor:
    if chips.count == 1:
        return x
    return block.collective(
        role, "AllReduceAsync", x, HIDDEN, chips.exchange_us, ring=chips.count, links=2, cores=16
    )


def layer(chips: Chips) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=chips.count, grid=GRID, gap_us=2.0)
        place = block.across(32, HIDDEN, SPREAD)
        heads, kv, wide = HEADS // chips.count, KV // chips.count, WIDE // chips.count

        def banks(role: str, x: Tensor, n: int, us: float) -> Tensor:
            where = block.across(32, n, SPREAD)
            config = banked(max(1, x.shape[-1] // 32 // SPREAD), -(-n // 32 // SPREAD))
            return block.linear(role, x, n, us, dtype="BFLOAT8_B", config=config, cores=SPREAD, banks=True, place=where, fidelity="HiFi2")  # fmt: skip

        x = block.tensor([1, 1, 32, HIDDEN], place=place)
        qkv = block.from_shards("qkv_whole", banks("qkv", x, (heads + 2 * kv) * SIZE, chips.qkv_us), 4, L1)
        q, k, v = block.heads_of_decode("heads", qkv, 9, heads=heads, kv=kv, size=SIZE, users=USERS)
        q, k = (block.norm(f"{name}_norm", one, 12, cores=USERS) for name, one in (("q", q), ("k", k)))
        q, k = (
            block.rotary(f"{name}_rotary", one, 6, decode=True, cores=USERS) for name, one in (("q", q), ("k", k))
        )
        cache = block.tensor([64, kv, 64, SIZE], "BFLOAT8_B")
        block.update_cache("cached_k", cache, k, 8)
        block.update_cache("cached_v", cache, v, 8)
        y = block.attend_decode("sdpa", q, cache, 34, config=None, cores=64, place=L1)
        y = block.join_heads("joined", block.view(y, [1, heads, USERS, SIZE]), 7, place=block.across(32, heads * SIZE, SPREAD), cores=SPREAD)  # fmt: skip
        y = exchanged(block, "attended", banks("out", y, HIDDEN, chips.out_us), chips)
        config = norm_shards((8, 4), HIDDEN // 32 // SPREAD)
        x = block.binary("sum", "ADD", x, block.norm("norm", y, 10, cores=SPREAD, config=config), 4, cores=SPREAD)
        gate = banks("gate", x, wide, chips.feed_us)
        up = banks("up", x, wide, chips.feed_us)
        y = block.binary("gated", "MUL", gate, up, 12, cores=SPREAD, lhs="SILU")
        y = exchanged(block, "fed", banks("down", y, HIDDEN, chips.feed_us * 1.02), chips)
        block.binary(
            "feed_sum", "ADD", x, block.norm("feed_norm", y, 10, cores=SPREAD, config=config), 4, cores=SPREAD
        )
        return block

    return build


FEED = "gate up down"
MADE_UP = "all times: a layer's share of a token, by the bytes of the weights; configs, shards and core counts, as the shared code sets them elsewhere; the fidelity, which the narrow set may lower too; gaps"
OLMO = (
    laid(
        "olmo-one", SOURCE, "one chip, BFLOAT8_B for all: 10.41 tokens a second", layer(Chips(1, 350, 90, 66)),
        (gain("bfp4", "BFLOAT4_B weights of the feed-forward", 218.1, FEED, BFP4, "10.41 -> 12.18 tokens a second: 13.96 ms of 64 layers; 95.0 of 100 words for 96.8"),),
        MADE_UP,
    ),
    laid(
        "olmo-two", SOURCE, "two chips, BFLOAT8_B for all: 15.01 tokens a second", layer(Chips(2, 185, 50, 38, 60)),
        (dead("bfp4", "BFLOAT4_B weights of the feed-forward", FEED, BFP4, "15.01 -> 16.77 tokens a second, and refused: 95.8 of 100 words for 97.2", faster=True),),
        MADE_UP,
    ),
    laid(
        "olmo-four", SOURCE, "four chips, BFLOAT8_B for all: 23.1 tokens a second", layer(Chips(4, 98, 30, 24, 55)),
        (dead("bfp4", "BFLOAT4_B weights of the feed-forward", FEED, BFP4, "23.1 -> 25.17 tokens a second, and refused: 95.2 of 100 words for 97.2", faster=True),),
        MADE_UP,
    ),
)  # fmt: skip
