"""ACE-Step v1.5 (it makes music) on one Blackhole chip (P150): a layer of the 24 of its transformer, two times 32 places.

Hidden 2048, 16 heads of 128 for 8 of keys, feed-forward of 6144, an attention to itself and one to the text; weights in BFLOAT8_B,
LoFi, activations in L1. The notes tell sums for each kind of op of a step (48 layers) and which kinds of layouts were put back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import L1, Block, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import PACKED

if TYPE_CHECKING:
    from tests.profiles import Tensor

SOURCE = f"{TT_METAL}/6aea887216e5096b4728358cb83b7ffd2058be1d/models/experimental/ace_step_v1_5/out/PERF_MATMUL_TUNING.md"
GRID, CORES, BOTH, ROWS, TEXT = (12, 10), 120, 2, 32, 256
HIDDEN, HEADS, KEYS, SIZE, WIDE = 2048, 16, 8, 128, 6144


def layer() -> Block:
    block = Block("blackhole", grid=GRID, gap_us=1.0)

    def linear(role: str, x: Tensor, n: int, us: float) -> Tensor:
        config = one_d((8, 8), 2, (x.shape[-2] * x.shape[0] // 32, -(-n // 32 // 64)))
        return block.linear(role, x, n, us, dtype="BFLOAT8_B", fidelity="LoFi", config=config, cores=min(64, n // 32), place=L1, packer=False)  # fmt: skip

    def norm(role: str, x: Tensor) -> Tensor:
        return block.norm(role, x, 9.2, cores=2 if x.shape[1] == 1 else min(CORES, x.shape[1] * BOTH))

    def heads(role: str, x: Tensor, count: int, rows: int) -> Tensor:
        flat = block.moved(f"{role}_shape", "ReshapeView", x, 20.1, shape=[BOTH, rows, count, SIZE], cores=CORES)
        return block.turned(f"{role}_turned", flat, 6.5, dims="CH", cores=CORES)

    def attended(name: str, x: Tensor, given: Tensor) -> Tensor:
        rows = given.shape[-2]
        q = linear(f"{name}_q", x, HIDDEN, 54)
        kv = linear(f"{name}_kv", given, 2 * KEYS * SIZE, 54)
        k, v = (block.slice(f"{name}_{letter}_part", kv, [0, 0, 0, n * KEYS * SIZE], [BOTH, 1, rows, (n + 1) * KEYS * SIZE], 3.0) for n, letter in enumerate("kv"))  # fmt: skip
        q, k, v = heads(f"{name}_q", q, HEADS, ROWS), heads(f"{name}_k", k, KEYS, rows), heads(f"{name}_v", v, KEYS, rows)  # fmt: skip
        q, k = norm(f"{name}_q_norm", q), norm(f"{name}_k_norm", k)
        if name == "self":
            q, k = (block.rotary(f"self_{letter}_rotary", one, 6.0, decode=False, cores=32) for letter, one in (("q", q), ("k", k)))  # fmt: skip
        y = block.attend(f"{name}_sdpa", q, k, v, 16, config=None, cores=32, causal=False, fidelity="HiFi2")
        return linear(f"{name}_out", block.join_heads(f"{name}_joined", y, 19.8, cores=2), HIDDEN, 54)

    def shifted(role: str, x: Tensor) -> Tensor:
        one = block.tensor([BOTH, 1, 1, HIDDEN], place=L1)
        return block.binary(f"{role}_shift", "ADD", block.binary(f"{role}_scale", "MUL", x, one, 3.5, cores=64), one, 3.5, cores=64)  # fmt: skip

    x, text = block.tensor([BOTH, 1, ROWS, HIDDEN], place=L1), block.tensor([BOTH, 1, TEXT, HIDDEN], place=L1)
    y = shifted("first", norm("norm", x))
    y = block.binary("self_gate", "MUL", attended("self", y, y), block.tensor([BOTH, 1, 1, HIDDEN], place=L1), 3.5, cores=64)  # fmt: skip
    x = block.binary("self_sum", "ADD", x, y, 3.5, cores=64)
    x = block.binary("cross_sum", "ADD", x, attended("cross", norm("cross_norm", x), text), 3.5, cores=64)
    y = shifted("second", norm("feed_norm", x))
    act = block.binary(
        "act", "MUL", linear("gate", y, WIDE, 57), linear("up", y, WIDE, 57), 5.5, cores=64, lhs="SILU"
    )
    y = block.binary("feed_gate", "MUL", linear("down", act, HIDDEN, 60), block.tensor([BOTH, 1, 1, HIDDEN], place=L1), 3.5, cores=64)  # fmt: skip
    block.binary("feed_sum", "ADD", x, y, 3.5, cores=64)
    return block


SPLIT = "*_shape *_turned *_part"
ACE_STEP = (
    laid(
        "acestep", SOURCE, "a step of two times 24 layers: 24 ms of matmuls, 5.8 of reshapes, 3.1 of norms, 1.9 of joined heads", layer,
        (
            gain("packed", "queries, keys and values of its own attention from one matmul", None, "self_q self_kv", PACKED, "24 matmuls of a forward pass less; kept, no time told"),
            gain("gates", "gate and up of the feed-forward from one matmul", None, "gate up", PACKED, "24 matmuls of a forward pass less; kept, no time told"),
            dead("heads", "nlp_create_qkv_heads for the split of the heads", SPLIT, r"nlp_create_qkv_heads|split_query_key_value|NlpCreateHeads", "put back: the new op costs more"),
            dead("hand", "heads joined by hand, without nlp_concat_heads", "*_joined", r"(reshape|permute|transpose).{0,60}(instead|in place|without)|without.{0,40}nlp_concat_heads", "put back: more reshapes and transposes"),
            dead("all-hand", "all of queries, keys and values reshaped by hand", "self_q self_kv self_*_shape self_*_turned", r"by hand|manual", "put back: the most reshapes and transposes of all"),
        ),
        "how the sums are shared, all other ops (16 ms of a step), the words of the text, that the layer is not told for which chip (233 GB/s are 45 %); gaps",
    ),
)  # fmt: skip
