"""ALLaM 7B on one Wormhole chip and on eight (2 x 4): a layer of its decode, for one user.

4096 channels, 32 heads of keys as of queries, 11,008 channels of the feed-forward, BFLOAT8_B weights, TTNN's own configs. The
ledgers tell tokens a second of a traced run, so times here are shares of a layer (32 layers; the rest is the head). Three
small models of the same engineers follow the same shape: see `arcee` and `qwen_small`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import HIFI2, IN_L1, LOFI

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

FROM = "https://github.com/yieldthought/ttnn_models/blob"
ONE = f"{FROM}/d81da07543944b780bdf37142d2d2f12215c35d0/models/humain-ai/ALLaM-7B-Instruct-preview/n300/optimized/MODEL_BRINGUP.md"
EIGHT = f"{FROM}/97900bf3de0b5d6f13a89e2f56e0bc806108d720/models/humain-ai/ALLaM-7B-Instruct-preview/t3000/optimized/MODEL_BRINGUP.md"
GRID, CORES, SIZE, USERS = (8, 8), 64, 128, 32


@dataclass(frozen=True)
class Model:
    """Sizes on each of `across` chips, formats of the weights, and us of the ops with weights."""

    hidden: int
    heads: int
    kv: int
    wide: int
    us: dict[str, float]
    across: int = 1
    devices: int = 1
    gated: bool = True
    attention: str = "BFLOAT8_B"
    feed: str = "BFLOAT8_B"
    norm_us: float = 62.0
    exchange_us: float = 0.0
    config: str | None = None


def exchanged(block: Block, role: str, x: Tensor, model: Model) -> Tensor:
    if model.across == 1:
        return x
    return block.collective(role, "AllReduce", x, model.hidden, model.exchange_us, ring=model.across, links=1, cores=8, topology="Linear")  # fmt: skip


def linear(block: Block, role: str, x: Tensor, n: int, model: Model, *, place: Placement = DRAM) -> Tensor:
    return block.linear(
        role,
        x,
        n,
        model.us[role],
        dtype=model.attention if role in {"qkv", "out"} else model.feed,
        cores=CORES,
        place=place,
        packer=False,
    )


def attended(block: Block, x: Tensor, model: Model, place: Placement, joined: Placement) -> Tensor:
    """Q, K and V of 32 rows, one of them a user's; `place`: of what stands between, `joined`: of the heads' join."""
    qkv = linear(block, "qkv", x, (model.heads + 2 * model.kv) * SIZE, model, place=place)
    q, k, v = block.heads_of_decode(
        "heads", qkv, 14 if place is L1 else 22, heads=model.heads, kv=model.kv, size=SIZE, users=USERS
    )
    q, k = (
        block.op(f"rotary_{name}", "RotaryEmbedding", (one, *(block.tensor([1, 1, USERS * count, SIZE], place=L1) for _ in range(2))), block.tensor(one.shape, place=one.placement or L1), us, cores=min(CORES, count), fidelity="HiFi4", output_mem_config=one.placement, token_idx=None)
        for name, one, count, us in (("q", q, model.heads, 1.2 * model.heads), ("k", k, model.kv, 1.2 * model.kv))
    )  # fmt: skip
    cache = block.tensor([64, model.kv, 64, SIZE])
    block.update_cache("cached_k", cache, k, 9)
    block.update_cache("cached_v", cache, v, 9)
    y = block.attend_decode(
        "sdpa", q, cache, 40 if place is L1 else 50, config=model.config, cores=CORES, place=place
    )
    y = block.turned("turned", block.view(y, y.shape), 12 if place is L1 else 19, dims="CH", cores=CORES)
    y = block.join_heads(
        "joined", block.view(y, [1, model.heads, USERS, SIZE]), 8 if joined is L1 else 14, place=joined, cores=32
    )
    return exchanged(block, "attended", linear(block, "out", y, model.hidden, model), model)


def fed(block: Block, x: Tensor, model: Model) -> Tensor:
    y = linear(block, "up", x, model.wide, model)
    if model.gated:
        gate = block.unary("silu", "SILU", linear(block, "gate", x, model.wide, model), 14, cores=CORES)
        y = block.binary("gated", "MUL", gate, y, 16, cores=CORES)
    else:
        y = block.unary("squared", "RELU", y, 14, cores=CORES)
        y = block.binary("gated", "MUL", y, y, 16, cores=CORES)
    return exchanged(block, "fed", linear(block, "down", y, model.hidden, model), model)


def layer(model: Model, place: Placement = L1, joined: Placement = L1) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("wormhole_b0", devices=model.devices, grid=GRID, gap_us=5.0)
        x = block.tensor([1, 1, USERS, model.hidden])
        y = block.norm("norm", x, model.norm_us, cores=1)
        x = block.binary("sum", "ADD", x, attended(block, y, model, place, joined), 12, cores=CORES)
        y = block.norm("feed_norm", x, model.norm_us, cores=1)
        block.binary("feed_sum", "ADD", x, fed(block, y, model), 12, cores=CORES)
        return block

    return build


ALLAM_ONE = Model(4096, 32, 32, 11008, {"qkv": 355, "out": 122, "gate": 322, "up": 322, "down": 325})
ALLAM_EIGHT = Model(4096, 4, 4, 1376, {"qkv": 78, "out": 40, "gate": 72, "up": 72, "down": 70}, across=8, devices=8, exchange_us=265)  # fmt: skip
BETWEEN = "qkv heads sdpa turned joined"
MADE_UP = "all times of ops: a layer's share of a token, split by the bytes of the weights; that the kernels take most of it; fidelity, HiFi2, TTNN's own choice for these; the depth of the cache; gaps"
ALLAM = (
    laid(
        "allam-one-far", ONE, "one chip, attention's tensors in DRAM: 15.5 tokens a second", layer(ALLAM_ONE, DRAM, DRAM),
        (gain("l1", "what stands between the attention's ops in L1", 50.7, BETWEEN, IN_L1, "15.5 -> 15.9 tokens a second: 1.62 ms of 32 layers"),),
        MADE_UP,
    ),
    laid(
        "allam-one", ONE, "one chip: 15.9 tokens a second", layer(ALLAM_ONE),
        (
            dead("lofi", "LoFi for the attention's matmuls", "qkv out", LOFI, "16.5 -> 16.5 tokens a second of a short run"),
            dead("grid", "2 x 8 cores for the attention's matmuls", "qkv out", r"core_grid\D{0,40}2\D{1,6}8\b|\b16 cores", "16.5 -> 16.2 tokens a second of a short run"),
            dead("bf16", "weights in BFLOAT16", "qkv out gate up down", r"weights?.{0,40}(BFLOAT16|bfloat16|bf16)\b", "refused: out of memory"),
        ),
        MADE_UP,
    ),
    laid(
        "allam-eight-far", EIGHT, "eight chips, attention's tensors in DRAM: 23.7 tokens a second", layer(ALLAM_EIGHT, DRAM, DRAM),
        (gain("l1", "what stands between the attention's ops in L1", 32.6, BETWEEN, IN_L1, "23.7 -> 24.3 tokens a second: 1.04 ms of 32 layers"),),
        MADE_UP,
    ),
    laid(
        "allam-eight", EIGHT, "eight chips: 24.3 tokens a second", layer(ALLAM_EIGHT),
        (
            dead("lofi", "LoFi for the attention's matmuls", "qkv out", LOFI, "24.3 -> 24.2 tokens a second"),
            dead("hifi2", "HiFi2 with sums in 32 bits for the attention's matmuls", "qkv out", rf"{HIFI2}.{{0,80}}fp32_dest_acc_en", "24.3 -> 24.1 tokens a second"),
            dead("grid", "4 x 8 cores for the attention's matmuls", "qkv out", r"core_grid\D{0,40}4\D{1,6}8\b|\b32 cores", "24.3 -> 24.9 tokens a second, and refused: 96 of 100 words for 97", faster=True),
        ),
        MADE_UP,
    ),
)  # fmt: skip
