"""pplx-embed 0.6B (texts to vectors, attention both ways) on one Blackhole chip (P150): a layer of its 28, texts of 512 words.

Hidden 1024, 16 heads of 128 for 8 of keys, feed-forward of 3072: weights in BFLOAT4_B, activations in BFLOAT8_B, LoFi. One text
keeps all in L1, 16 and 32 go through DRAM. The notes tell the whole model, replayed from a trace: a 28th of it here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, chunks, minimal
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import HIFI2, IN_L1, LOFI, SDPA_CHUNKS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

FOLDER = "models/demos/blackhole/pplx_embed_0_6b"
NOTES = f"{TT_METAL}/62a63c1f1d9c6dca826448d6850cf61beed33d7b/{FOLDER}/README2.md"
README = f"{TT_METAL}/0c28bfcaffccbed4a583a5ad7a06a1940ad69455/{FOLDER}/README.md"
GRID, WORDS, HIDDEN, HEADS, KEYS, SIZE, WIDE = (12, 10), 512, 1024, 16, 8, 128, 3072
BFP, WEIGHTS = "BFLOAT8_B", "BFLOAT4_B"
ONE = {"norm": 8, "qkv": 26, "heads": 16, "q_norm": 8, "k_norm": 6, "q_rotary": 17, "k_rotary": 11, "sdpa": 40, "joined": 9, "out": 16, "sum": 4, "feed_norm": 8, "gate": 21, "up": 21, "act": 10, "down": 34, "feed_sum": 4}  # fmt: skip
MANY = {"norm": 180, "qkv": 850, "heads": 420, "q_norm": 260, "k_norm": 140, "q_rotary": 330, "k_rotary": 190, "sdpa": 900, "joined": 330, "out": 480, "sum": 260, "feed_norm": 180, "gate": 525, "up": 525, "act": 520, "down": 650, "feed_sum": 260}  # fmt: skip


@dataclass(frozen=True)
class How:
    """`texts` at once; `mask`: an additive one for padding; `spread`: heads split by more cores than rows."""

    texts: int = 1
    mask: bool = True
    spread: bool = True
    turned: str = "LoFi"


def layer(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        rows, place = how.texts * WORDS, L1 if how.texts == 1 else DRAM
        part = 1.0 if how.texts == 1 else how.texts / 32
        times = {role: us * part for role, us in (ONE if how.texts == 1 else MANY).items()}
        if not how.mask:
            times["sdpa"] -= 14
        if not how.spread:
            times |= {"heads": 52, "joined": 21}
        if how.turned == "LoFi":
            times |= {"q_rotary": 0.5 * times["q_rotary"], "k_rotary": 0.5 * times["k_rotary"]}
        cores = 96 if how.texts == 1 else 80

        def projected(role: str, x: Tensor, n: int) -> Tensor:
            config = minimal((8, 8, 8), (2, 4), (12, 8) if how.texts == 1 else (10, 8))
            return block.minimal(role, x, n, times[role], dtype=WEIGHTS, fidelity="LoFi", config=config, cores=cores, place=place, out=BFP)  # fmt: skip

        def rotated(role: str, x: Tensor) -> Tensor:
            tables = [block.tensor([1, 1, WORDS, SIZE]) for _ in range(2)]
            return block.op(
                role, "RotaryEmbeddingLlama", (x, *tables, block.tensor([1, 1, 32, 32])), block.tensor(x.shape, BFP, place), times[role],
                cores=120, fidelity=how.turned, compute_kernel_config=block.kernel(how.turned), is_decode_mode=False, output_mem_config=place,
            )  # fmt: skip

        x = block.tensor([1, 1, rows, HIDDEN], "BFLOAT16", place)
        y = block.norm("norm", x, times["norm"], cores=64)
        qkv = block.view(projected("qkv", y, (HEADS + 2 * KEYS) * SIZE), [how.texts, 1, WORDS, (HEADS + 2 * KEYS) * SIZE])  # fmt: skip
        q, k, v = block.split_heads("heads", qkv, times["heads"], heads=HEADS, kv=KEYS, size=SIZE, rows=WORDS, batch=how.texts, place=place, cores=120 if how.spread else 16)  # fmt: skip
        q, k = (
            block.norm(f"{name}_norm", one, times[f"{name}_norm"], cores=120) for name, one in (("q", q), ("k", k))
        )
        q, k = (rotated(f"{name}_rotary", one) for name, one in (("q", q), ("k", k)))
        given = (q, k, v, block.tensor([1, 1, WORDS, WORDS], BFP)) if how.mask else (q, k, v)
        made = block.op(
            "sdpa", "SDPAOperation", given, block.tensor(q.shape, BFP, place), times["sdpa"], cores=64, fidelity="LoFi",
            compute_kernel_config=block.kernel("LoFi"), is_causal=False, output_mem_config=place, program_config=_chunks(),
            scale="0.08838834764", sliding_window_size=None, use_mla=False,
        )  # fmt: skip
        y = block.view(block.join_heads("joined", made, times["joined"], cores=120 if how.spread else 16), [1, 1, rows, HEADS * SIZE])  # fmt: skip
        x = block.binary("sum", "ADD", x, projected("out", y, HIDDEN), times["sum"], cores=120)
        normed = block.norm("feed_norm", x, times["feed_norm"], cores=64)
        halves = (projected(role, normed, WIDE) for role in ("gate", "up"))
        y = projected("down", block.binary("act", "MUL", *halves, times["act"], cores=120, place=place, lhs="SILU"), HIDDEN)  # fmt: skip
        block.binary("feed_sum", "ADD", x, y, times["feed_sum"], cores=120)
        return block

    return build


def _chunks() -> str:
    return chunks(128, 128, (8, 8)).replace("exp_approx_mode=0", "exp_approx_mode=1")


MADE_UP = "how a 28th is shared among ops; blocks, cores of all but the attention; gaps"
PPLX_SMALL = (
    laid(
        "pplxsmall-heads", NOTES, "one text with a mask, heads split and joined by few cores: 9.2 ms", layer(How(spread=False, turned="HiFi4")),
        (gain("heads", "the variants that split and join heads by head, too", 46.4, "heads joined", r"head.?split|nlp_create_qkv_heads|nlp_concat_heads|cores", "9.2 -> 7.9 ms of 28 layers; both by switches of the environment"),),
        MADE_UP,
    ),
    laid(
        "pplxsmall-masked", NOTES, "one text with a mask: 7.9 ms", layer(How(turned="HiFi4")),
        (
            gain("rope-lofi", "rotations at LoFi", 14.3, "*_rotary", LOFI, "7.9 -> about 7.5 ms of 28 layers (7.7 -> 7.3 without a mask), as good"),
            dead("chunks", "32 queries and 512 keys at a time, an exact exponential", "sdpa", SDPA_CHUNKS, "7.9 -> 8.0 to 9.3 ms"),
        ),
        MADE_UP,
    ),
    laid(
        "pplxsmall-plain", NOTES, "one text without a mask: 7.7 ms", layer(How(mask=False, turned="HiFi4")),
        (
            gain("rope-hifi2", "rotations at HiFi2", 7.1, "*_rotary", HIFI2, "7.7 -> 7.5 ms of 28 layers, as good"),
            gain("rope-lofi", "rotations at LoFi", 14.3, "*_rotary", LOFI, "7.7 -> 7.3 ms of 28 layers, as good"),
        ),
        MADE_UP,
    ),
    laid(
        "pplxsmall-lofi", README, "one text without a mask, rotations at LoFi: 7.3 ms", layer(How(mask=False)),
        (dead("norms", "no norms of queries and keys", "q_norm k_norm", r"(drop|skip|without|no) .{0,40}norm", "0.5 ms of 28 layers less, but 0.236 for 0.848: wrong vectors", faster=True),),
        MADE_UP,
    ),
    laid(
        "pplxsmall-16", NOTES, "16 texts, all in DRAM: 101.5 ms (95.0 and 6.8 %)", layer(How(texts=16)),
        (gain("l1", "what the matmuls, the heads and the attention make in L1", 230.7, "qkv heads sdpa joined gate up down", IN_L1, "95.0 ms after, 6.8 % more: 6.46 ms of 28 layers"),),
        MADE_UP,
    ),
    laid(
        "pplxsmall-32", NOTES, "32 texts, all in DRAM: 196.6 ms (192.4 and 2.2 %)", layer(How(texts=32)),
        (
            gain("l1", "what the attention, the joined heads and the last matmul make in L1", 151.2, "sdpa joined down", IN_L1, "192.4 ms after, 2.2 % more: 4.23 ms of 28 layers"),
            dead("l1-wide", "what the wide matmuls make in L1, too", "qkv gate up", IN_L1, "refused: no room beside their buffers, on more cores either"),
        ),
        MADE_UP,
    ),
)  # fmt: skip
