"""dots.ocr's language model (Qwen2) on four Blackhole chips (p300c in a line): a prompt of 128 in FLOAT32, and decode.

Hidden 1536, 12 heads of 128 with two of keys and values, an MLP of 8960, 151,936 words: on a chip three heads, 2240 of the MLP
and 37,984 words. Decode has one user and a cache of 3200; its times are of position 1500 but where a note says steps. The ledger
tells kernel times of a replayed trace by kind of op and of many single ops, and of each change what it was measured against.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, ROW_MAJOR, Block, banked, chunks, norm_shards
from tests.frozen.dots_ocr_mesh import (
    ALL_CORES,
    BFP,
    CHIPS,
    F32,
    FIRST,
    FOUR_LINKS,
    GRID,
    HIDDEN,
    LATER,
    NOTES,
    SIZE,
)
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import (
    ACTIVATION_IN_BINARY,
    ACTIVATION_IN_MATMUL,
    BFP4,
    BFP8,
    COLLECTIVE,
    CONFIG,
    CORES,
    DRAM_SHARDED,
    HIFI2,
    IN_L1,
    SHARDED,
    TWO_D,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

ROWS, MINE, WIDE, WORDS, SLOTS = 128, 3, 2240, 37984, 3200
ATTENDED = MINE * SIZE
FOUR_TO_ONE = 4 * HIDDEN


def started(gap_us: float = 1.1) -> Block:
    return Block("blackhole", devices=CHIPS, grid=GRID, gap_us=gap_us)


def gathered(block: Block, role: str, x: Tensor, columns: int, us: float, links: int, place: Placement | None = None) -> Tensor:  # noqa: PLR0917  # fmt: skip
    return block.collective(
        role, "AllGather", x, columns, us, links=links, cores=9 * links, topology="Linear", place=place
    )


@dataclass(frozen=True)
class Prompt:
    """A layer for 128 tokens in FLOAT32; times in us."""

    shards: bool = False  # of the norms
    attention: tuple[
        float, ...
    ] = ()  # reduce-scatter and gather; none: a gather of all parts, then slices and adds
    mlp: tuple[float, ...] = ()
    links: int = 1
    added: float = 5.3
    qkv: float = 36
    out: float = 30


def norm_of_prompt(block: Block, number: int, x: Tensor, how: Prompt) -> Tensor:
    if not how.shards:
        return block.norm(f"norm_{number}", x, 21.1, cores=4, config=PLAIN_NORM)
    x = block.to_shards(f"norm_{number}_in", x, block.across(ROWS, HIDDEN, 12), 3.8)
    x = block.norm(f"norm_{number}", x, 8.2, cores=12, config=norm_shards((4, 3), 4, block_h=4))
    return block.from_shards(f"norm_{number}_out", x, 4.5)


def summed(block: Block, name: str, x: Tensor, times: tuple[float, ...], links: int, plain: tuple[float, float, float, int]) -> Tensor:  # noqa: PLR0917  # fmt: skip
    """The sum over the chips; `plain`: us of a gather, of all slices, of all adds, and how many slices."""
    if times:
        x = block.collective(f"{name}_scatter", "ReduceScatter", x, HIDDEN // CHIPS, times[0], links=links, cores=10 * links, topology="Linear")  # fmt: skip
        return gathered(block, f"{name}_gather", x, HIDDEN, times[1], links)
    x = gathered(block, f"{name}_gather", x, FOUR_TO_ONE, plain[0], links)
    parts = [block.slice(f"{name}_part{at}", x, (0, 0, 0, at * HIDDEN), (1, 1, ROWS, (at + 1) * HIDDEN), plain[1] / plain[3]) for at in range(plain[3])]  # fmt: skip
    parts += [block.tensor([1, 1, ROWS, HIDDEN], F32) for _ in range(CHIPS - plain[3])]
    total = parts[0]
    for number, one in enumerate(parts[1:]):
        total = block.binary(f"{name}_add{number}", "ADD", total, one, plain[2] / 3, cores=ALL_CORES)
    return total


def attended_prompt(block: Block, x: Tensor, how: Prompt) -> Tensor:
    """Explicit attention of three heads, keys and values of each there for all of them; its result before the sum."""
    kinds = {"dtype": F32, "out": F32, "fidelity": "HiFi4", "fp32": True}
    qkv = block.linear("qkv", x, 3 * ATTENDED, how.qkv, cores=36, bias=True, **kinds)
    q, k, v = block.split_heads("heads", qkv, 10, heads=MINE, kv=MINE, size=SIZE, rows=ROWS, cores=4)
    tables = [block.tensor([1, 1, ROWS, SIZE], F32) for _ in range(2)]
    turned = []
    for name, one in (("q", q), ("k", k)):
        halves = [
            block.slice(f"half_{name}{at}", one, (0, 0, 0, at), (1, MINE, ROWS, at + 64), 1.7) for at in (0, 64)
        ]
        minus = block.unary(f"negated_{name}", "NEG", halves[1], 1.6, cores=24)
        swapped = block.concat(f"swapped_{name}", (minus, halves[0]), one.shape, 3, 3)
        parts = [block.binary(f"{word}_{name}", "MUL", a, table, 2.4, cores=48) for word, a, table in zip(("cos", "sin"), (one, swapped), tables, strict=True)]  # fmt: skip
        turned.append(block.binary(f"rotated_{name}", "ADD", *parts, 2.4, cores=48))
    keys = block.turned("turn_keys", turned[1], 3.3, cores=48)
    scores = block.product("scores", turned[0], keys, 10, cores=16)
    scores = block.binary("scaled", "MUL", scores, block.tensor([1, 1, 1, 1], F32), 4.9, cores=48)
    scores = block.binary("masked", "ADD", scores, block.tensor([1, 1, ROWS, ROWS], F32), 4.9, cores=48)
    made = block.product("values", block.softmax("softmax", scores, 12, cores=12), v, 9.5, cores=16)
    made = block.join_heads("joined", made, 5, cores=4)
    if how.qkv > 40:
        return block.linear("out", gathered(block, "attention_gather", made, HIDDEN, 22, 2), HIDDEN, how.out, cores=48, **kinds)  # fmt: skip
    made = block.linear("out", made, HIDDEN, how.out, cores=48, **kinds)
    return summed(block, "attention", made, how.attention, how.links, (127.3, 18.7, 25.4, 3))


def prompt(how: Prompt, *, embeddings: bool = False) -> Callable[[], Block]:
    def build() -> Block:
        block = started()
        if embeddings:
            ids = block.tensor([1, ROWS], "UINT32", layout=ROW_MAJOR)
            table = block.tensor([1, 1, 151936, HIDDEN // CHIPS], layout=ROW_MAJOR)
            found = block.op("embeddings", "Embeddings", (ids, table), block.tensor([1, 1, ROWS, HIDDEN // CHIPS]), 4, cores=4, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=True)  # fmt: skip
            gathered(block, "embeddings_gather", found, HIDDEN, 29, 1)
        kinds = {"dtype": F32, "out": F32, "fidelity": "HiFi4", "fp32": True}
        x = block.tensor([1, 1, ROWS, HIDDEN], F32)
        made = attended_prompt(block, norm_of_prompt(block, 1, x, how), how)
        x = block.binary("added_1", "ADD", x, made, how.added, cores=ALL_CORES, place=DRAM)
        fed = norm_of_prompt(block, 2, x, how)
        gate, up = (
            block.linear(role, fed, WIDE, us, cores=70, **kinds) for role, us in (("gate", 55.1), ("up", 55.4))
        )
        gate = block.unary("silu", "SILU", gate, 9.2, cores=ALL_CORES)
        made = block.linear("down", block.binary("product", "MUL", gate, up, 9.3, cores=ALL_CORES), HIDDEN, 69.5, cores=48, **kinds)  # fmt: skip
        made = summed(block, "mlp", made, how.mlp, how.links, (127.4, 19, 25.5, 4))
        block.binary("added_2", "ADD", x, made, 5.3, cores=ALL_CORES)
        return block

    return build


def attention_of_prompt() -> Block:
    block = started()
    attended_prompt(block, block.tensor([1, 1, ROWS, HIDDEN], F32), Prompt(qkv=41.7, out=47.5))
    return block


def embedded(gather_us: float, lookup_us: float) -> Callable[[], Block]:
    """Embeddings of 2816 tokens, a quarter of the columns on each chip."""

    def build() -> Block:
        block = started()
        ids = block.tensor([1, 2816], "UINT32", layout=ROW_MAJOR)
        table = block.tensor([1, 1, 151936, HIDDEN // CHIPS], layout=ROW_MAJOR)
        found = block.op("embeddings", "Embeddings", (ids, table), block.tensor([1, 1, 2816, HIDDEN // CHIPS]), lookup_us, cores=88, embeddings_type="EmbeddingsType::GENERIC", output_mem_config=DRAM, pad_token=None, tilized=True)  # fmt: skip
        gathered(block, "gather", found, HIDDEN, gather_us, 1 if gather_us > 200 else 2)
        return block

    return build


def head(rows: int, us: float, dtype: str, norm_us: float) -> Callable[[], Block]:
    """The last norm and the words of a chip."""

    def build() -> Block:
        block = started()
        x = block.norm("norm", block.tensor([1, 1, rows, HIDDEN]), norm_us, cores=1 if rows == 1 else 4)
        block.linear("head", x, WORDS, us, dtype=dtype, fidelity="HiFi4", fp32=True, cores=108)
        return block

    return build


def explicit(mlp: tuple[float, float, float], dtype: str) -> Callable[[], Block]:
    """A layer of decode in FLOAT32 with explicit attention, keys and values there for each head."""

    def build() -> Block:
        block = started()
        kinds = {"out": F32, "fidelity": "HiFi4", "fp32": True}
        x = block.tensor([1, 1, 1, HIDDEN], F32)
        qkv = block.linear("qkv", block.norm("norm_1", x, 20, cores=1), 3 * ATTENDED, 40, dtype=F32, cores=36, bias=True, **kinds)  # fmt: skip
        q, k, v = block.split_heads("heads", qkv, 16.5, heads=MINE, kv=MINE, size=SIZE, rows=1, cores=1)
        tables = [block.tensor([1, 1, 1, SIZE], F32) for _ in range(2)]
        turned = []
        for name, one in (("q", q), ("k", k)):
            halves = [
                block.slice(f"half_{name}{at}", one, (0, 0, 0, at), (1, MINE, 1, at + 64), 1.6) for at in (0, 64)
            ]
            minus = block.unary(f"negated_{name}", "NEG", halves[1], 2, cores=2)
            swapped = block.concat(f"swapped_{name}", (minus, halves[0]), one.shape, 3, 3)
            parts = [block.binary(f"{word}_{name}", "MUL", a, table, 3.2, cores=4) for word, a, table in zip(("cos", "sin"), (one, swapped), tables, strict=True)]  # fmt: skip
            turned.append(block.binary(f"rotated_{name}", "ADD", *parts, 3.2, cores=4))
        cache = block.tensor([1, MINE, SLOTS, SIZE], F32)
        for name, one in (("k", turned[1]), ("v", v)):
            row = block.turned(f"turn_{name}", one, 9.4, dims="CH", cores=3)
            block.update_cache(f"cache_{name}", cache, block.to_shards(f"placed_{name}", row, block.along(32, SIZE, 1), 2), 4.9)  # fmt: skip
        keys = block.turned("turn_keys", block.view(cache, [1, MINE, SLOTS, SIZE]), 9.4, cores=ALL_CORES)
        scores = block.product("scores", turned[0], keys, 10, cores=100)
        scores = block.binary("scaled", "MUL", scores, block.tensor([1, 1, 1, 1], F32), 3.2, cores=ALL_CORES)
        scores = block.binary("masked", "ADD", scores, block.tensor([1, 1, 1, SLOTS], F32), 3.2, cores=ALL_CORES)
        made = block.product("values", block.softmax("softmax", scores, 30.7, cores=3), cache, 10, cores=12)
        made = block.linear("out", block.join_heads("joined", made, 4, cores=1), HIDDEN, 20, dtype=F32, cores=48, **kinds)  # fmt: skip
        x = block.binary("added_1", "ADD", x, over_chips(block, "attention", made, (17.8, 22)), 3.2, cores=48)
        fed = block.norm("norm_2", x, 20, cores=1)
        gate, up = (block.linear(role, fed, WIDE, us, dtype=dtype, cores=70, **kinds) for role, us in zip(("gate", "up"), mlp[:2], strict=True))  # fmt: skip
        gate = block.unary("silu", "SILU", gate, 2.1, cores=70)
        made = block.linear("down", block.binary("product", "MUL", gate, up, 3.2, cores=70), HIDDEN, mlp[2], dtype=dtype, cores=48, **kinds)  # fmt: skip
        block.binary("added_2", "ADD", x, over_chips(block, "mlp", made, (17.8, 22)), 3.2, cores=48)
        return block

    return build


def over_chips(block: Block, name: str, x: Tensor, times: tuple[float, float], place: Placement | None = None) -> Tensor:  # fmt: skip
    x = block.collective(
        f"{name}_scatter", "ReduceScatter", x, HIDDEN // CHIPS, times[0], cores=10, topology="Linear"
    )
    return gathered(block, f"{name}_gather", x, HIDDEN, times[1], 2, place)


@dataclass(frozen=True)
class How:
    """A layer of decode in BFLOAT16 with the op for attention; times in us."""

    norm: tuple[float, ...] = (0.94, 5.04, 0.94)  # into shards, the norm, out of them; one: on one core
    qkv: float = 10.7
    rope: float = 8.2
    out: float = 18.9
    attention: str = BFP
    fidelity: str = "HiFi4"  # of attention's matmuls
    banks: bool = True
    wide: int = 8  # cores of the rows of QKV
    mlp: tuple[float, float] = (16.9, 16.9)  # gate and up each, down
    down: str = BFP
    banks_mlp: bool = True
    silu: float = 0  # 0: in the product
    product: float = 11.2
    near: bool = False  # the residual in shards on 12 cores


class Step:
    """The ops of a layer of decode."""

    def __init__(self, how: How) -> None:
        self.block, self.how = started(), how
        self.rows = self.block.across(32, HIDDEN, 12)

    def normed(self, number: int, x: Tensor) -> Tensor:
        block, how, role = self.block, self.how, f"norm_{number}"
        if len(how.norm) == 1:
            gamma = block.tensor([1, 1, 1, HIDDEN], F32)
            return block.op(role, "LayerNorm", (x, gamma), block.tensor(x.shape), how.norm[0], cores=1, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), distributed_norm_stage="DistributedLayerNormStage::NOT_DISTRIBUTED", dtype=None, eps="1e-06", fused_activation=None, norm_type="LayerNormType::RMSNORM", output_mem_config=DRAM, program_config=PLAIN_NORM)  # fmt: skip
        if not how.near:
            x = block.to_shards(f"{role}_in", x, self.rows, how.norm[0])
        x = block.norm(role, x, how.norm[1], cores=12, config=norm_shards((4, 3), 4))
        return x if how.near else block.from_shards(f"{role}_out", x, how.norm[2])

    def linear(self, role: str, x: Tensor, n: int, us: float, *, shards: int, dtype: str, fidelity: str, banks: bool) -> Tensor:  # fmt: skip
        block, k = self.block, x.shape[-1]
        if not banks:
            return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, fp32=True, cores=min(70, n // 32))
        placed = block.across(32, k, shards)
        if x.placement and x.placement.memory_layout == "INTERLEAVED":
            x = block.to_shards(f"{role}_placed", x, placed, 0.9)
        elif x.placement != placed:
            x = block.reshard(f"{role}_moved", x, placed, 0.73)
        return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, fp32=True, config=banked(k // 32 // shards, -(-n // 32 // shards)), cores=shards, place=block.across(32, n, shards), banks=True)  # fmt: skip

    def turned(self, x: Tensor) -> Tensor:
        """Queries, keys and values in one row, rotated by a matmul with a matrix of zeros and ones."""
        block, how = self.block, self.how
        width = (6 if how.banks else 5) * SIZE  # over the banks it is padded
        kinds = {"dtype": how.attention, "fidelity": how.fidelity, "banks": how.banks, "shards": how.wide}
        qkv = self.linear("qkv", x, width, how.qkv, **kinds)
        place, cores = qkv.placement or DRAM, how.wide if how.banks else 20
        if how.banks:
            qkv = block.binary("qkv_bias", "ADD", qkv, block.tensor([1, 1, 1, width], F32, place), 2.5, cores=cores)
        crossed = self.linear("rope", qkv, width, how.rope, **kinds)
        tables = [block.tensor([1, 1, 1, width], place=place) for _ in range(2)]
        parts = [block.binary(word, "MUL", one, table, 2.5, cores=cores) for word, one, table in zip(("cos", "sin"), (qkv, crossed), tables, strict=True)]  # fmt: skip
        if not how.banks:
            return block.binary("rotated", "ADD", *parts, 2.5, cores=cores, place=L1)
        flat = block.from_shards("rotated_flat", block.binary("rotated", "ADD", *parts, 2.5, cores=cores), 1, L1)
        return block.slice("rotated_part", flat, (0, 0, 0, 0), (1, 1, 1, 5 * SIZE), 1.5)

    def attended(self, x: Tensor) -> Tensor:
        block, how = self.block, self.how
        q, k, v = block.heads_of_decode("heads", self.turned(x), 2, heads=MINE, kv=1, size=SIZE, users=1)
        cache = block.tensor([1, 1, SLOTS, SIZE])
        block.update_cache("cache_k", cache, k, 2.8)
        block.update_cache("cache_v", cache, v, 2.8)
        made = block.attend_decode("sdpa", q, cache, 18.8, config=chunks(32, 128, (8, 8)), cores=64, k_chunk=128, fidelity="HiFi2", place=block.along(32, SIZE, 1))  # fmt: skip
        made = block.moved("joined", "NLPConcatHeadsDecode", made, 2, shape=[1, 1, 1, ATTENDED], place=block.across(32, ATTENDED, 3), cores=3, num_heads=MINE, on_subcoregrids=False)  # fmt: skip
        made = gathered(block, "attention_gather", made, HIDDEN, 14.4 if how.banks else 21.9, 2, block.across(32, HIDDEN, 8) if how.banks else DRAM)  # fmt: skip
        made = self.linear("out", made, HIDDEN, how.out, shards=8, dtype=how.attention, fidelity=how.fidelity, banks=how.banks)  # fmt: skip
        if how.near:
            return block.reshard("out_back", made, self.rows, 0.73)
        return block.from_shards("out_flat", made, 1) if how.banks else made

    def fed(self, x: Tensor) -> Tensor:
        block, how, banks = self.block, self.how, self.how.banks_mlp
        kinds = {"shards": 12, "fidelity": "HiFi2" if banks else "HiFi4", "banks": banks}
        gate, up = (self.linear(role, x, 2304 if banks else WIDE, how.mlp[0], dtype=BFP, **kinds) for role in ("gate", "up"))  # fmt: skip
        if how.silu:
            gate = block.unary("silu", "SILU", gate, how.silu, cores=70)
        hidden = block.binary("product", "MUL", gate, up, how.product, cores=12 if banks else 70, lhs=None if how.silu else "SILU")  # fmt: skip
        made = self.linear("down", hidden, HIDDEN, how.mlp[1], dtype=how.down, **kinds)
        if banks:
            made = block.from_shards("down_flat", made, 1.1)
        return over_chips(block, "mlp", made, (15.8, 14.4 if banks else 21.9), self.rows if how.near else DRAM)


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        step = Step(how)
        block, cores = step.block, 12 if how.near else 48
        x = block.tensor([1, 1, 1, HIDDEN], place=step.rows if how.near else DRAM)
        x = block.binary("added_1", "ADD", x, step.attended(step.normed(1, x)), 2.5, cores=cores)
        block.binary("added_2", "ADD", x, step.fed(step.normed(2, x)), 2.5, cores=cores)
        return block

    return build


LAST = How(qkv=8.5, rope=8.7, out=12.3, fidelity="HiFi2", product=5, near=True)
TWELVE = replace(LAST, qkv=11.1, rope=11.3, wide=12)
BANKED = How()
ONE_CORE = How(norm=(18.57,), qkv=21.6, rope=9.7, out=26, banks=False, mlp=(32.3, 32.3), banks_mlp=False, silu=2.9, product=2.5)  # fmt: skip
OPEN = replace(ONE_CORE, attention="BFLOAT16", down="BFLOAT16")

SCATTER = r"reduce.?scatter"
REDUCED = r"fast_reduce_nc|gather.{0,60}(sum|reduc|add)"
TRACE = "of kernels on a chip"
STEPS = "a step of 28 layers and the head, 200 replays"
MADE_UP = "how the time of a kind of op is shared out among its ops, times of the smallest ops, cores where not told, gaps"
OF_STATE = f"which ops move rows into and out of shards; {MADE_UP}"

DOTS_OCR_TEXT = (
    laid(
        "dots4-prompt", FIRST, "embeddings and a layer for 128 tokens in FLOAT32 as first written: 21 + 328 + 21 + 369 us of norms, attention, MLP",
        prompt(Prompt(), embeddings=True),
        (
            gain("norms", "both norms in width shards on 12 cores", 9.2, "norm_1 norm_2", rf"{SHARDED}|{CORES}", f"21.1 -> 16.5 us {TRACE} each, with the way there and back; 24.4 -> 21.1 a replay"),
            gain("attention-scatter", "a reduce-scatter and a gather for attention's sum over the chips", 80, "attention_*", SCATTER, f"327.8 -> 247.8 us {TRACE}: the gather of 127.3, slices and adds -> 48.9 + 42.9"),
            gain("mlp-scatter", "a reduce-scatter and a gather for the MLP's sum over the chips", 81, "mlp_*", SCATTER, f"368.5 -> 287.5 us {TRACE}: 171.9 -> 50.6 + 40.0"),
            dead("norms-48", "norms in shards on 48 cores, or on six", "norm_1 norm_2", r"\b(48|6) cores|8 ?x ?6|2 ?x ?3|x=8,y=6|x=2,y=3", "24.4 us a replay on 48 cores, as without shards, and 26.0 on six"),
            dead("embeddings-l1", "embeddings and their gather in L1", "embeddings embeddings_gather", IN_L1, "57.7 -> 57.0 us a replay: noise"),
            dead("embeddings-links", "two links for the gather of the embeddings", "embeddings_gather", COLLECTIVE, "57.7 -> 58.0 us a replay"),
        ),
        f"ops of attention that are no matmul; {MADE_UP}",
    ),
    laid(
        "dots4-prompt-scattered", FIRST, "a layer for 128 tokens in FLOAT32 with norms in shards and reduce-scatters: 585 us in kernels",
        prompt(Prompt(shards=True, attention=(48.9, 42.9), mlp=(50.6, 40))),
        (
            gain("links", "two links", 61.1, "*_scatter *_gather", COLLECTIVE, "91.4 -> 57.4 us of both reduce-scatters, 86.2 -> 59.1 of both gathers"),
            gain("sum-l1", "the sum after attention in L1", 4.7, "added_1 norm_2_in added_2", IN_L1, "51.9 -> 47.2 us of all elementwise ops"),
            dead("down", "core_grid 10x10 for down", "down", rf"core_grid|{CORES}", "69.5 -> 98.4 us, still on 48 cores"),
        ),
        f"ops of attention that are no matmul; {MADE_UP}", 584.9,
    ),
    laid(
        "dots4-prompt-attention", LATER, "attention for 128 tokens in FLOAT32, heads gathered before the output projection: 207 us in kernels",
        attention_of_prompt,
        (
            gain("qkv", "a 2D config for QKV", 29.5, "qkv", rf"{TWO_D}|{CONFIG}", "41.7 -> 12.2 us, on 40 cores; 206.8 -> 149.0 of all"),
            gain("out", "a 2D config for the output projection", 24.7, "out", rf"{TWO_D}|{CONFIG}", "47.5 -> 22.8 us, on 32 cores"),
            dead("links-4", "four links for the gather", "attention_gather", FOUR_LINKS, "refused: two channels lead to the next chip"),
        ),
        f"ops that are no projection; {MADE_UP}", 206.8,
    ),
    laid(
        "dots4-embeddings", LATER, "embeddings of 2816 tokens, a quarter of the columns on each chip, one link",
        embedded(331, 13.9),
        (gain("links", "two links for the gather", 164, "gather", COLLECTIVE, "331 -> 167 us on a chip"),),
        MADE_UP,
    ),
    laid(
        "dots4-embeddings-links", LATER, "embeddings of 2816 tokens, a quarter of the columns on each chip, two links: 181 us in kernels",
        embedded(167, 13.9),
        (gain("whole", "the whole table on each chip, no gather", 135.7, "embeddings gather", r"replicat|whole table|each (chip|device) (has|holds|keeps)", "180.9 -> 45.2 us on a chip"),),
        MADE_UP, 180.9,
    ),
    laid(
        "dots4-head-open", FIRST, "the last norm and the head for 128 tokens, its weight in BFLOAT16",
        head(ROWS, 358, "BFLOAT16", 21.1),
        (gain("bfp8", "BFLOAT8_B for the head's weight", 109, "head", BFP8, "348-368 -> 245-253 us on the chips"),),
        MADE_UP,
    ),
    laid(
        "dots4-head", LATER, "the last norm and the head of a step, its weight in BFLOAT8_B: 188 us",
        head(1, 188.3, BFP, 18.57),
        (
            dead("banks", "the head over the DRAM banks on 48 cores", "head", DRAM_SHARDED, "188.3 -> 466.7 us: 419.7, a slice of 24.9, and 16.6 out of the shards; on 24 cores refused"),
            dead("bfp4", "BFLOAT4_B for the head's weight", "head", BFP4, "refused: PCC 0.9884 for a bar of 0.99, another word in 6 of 16 rows; its time is not told"),
        ),
        MADE_UP,
    ),
    laid(
        "dots4-decode-explicit-open", NOTES, "a layer of decode in FLOAT32, attention written out, all weights in FLOAT32: a step 18.45 ms",
        explicit((43, 43, 126), F32),
        (gain("mlp", "BFLOAT16 for the MLP's weights", 8.9, "gate up down", r"bfloat16|BF16|bfloat8_b|BFP8", "12.17 -> 11.92 ms of kernels of a step as far as the profile kept them, 18.45 -> 18.08 ms of wall time; 28 layers"),),
        f"how the matmuls' time is shared out; {MADE_UP}",
    ),
    laid(
        "dots4-decode-explicit", NOTES, "a layer of decode in FLOAT32, attention written out: a step 18.07 ms, 576 us of kernels a layer",
        explicit((40, 40, 123), "BFLOAT16"),
        (
            gain("sdpa", "the op for attention in decode, with a cache in BFLOAT16", None, "turn_* scores scaled masked softmax values cache_* qkv", r"scaled_dot_product_attention_decode|SdpaDecode|sdpa_decode", "17.57 -> 10.76 ms a step, with fewer keys and values and a copy less from the host"),
            gain("rotary", "the rotation as one matmul before the heads are split", None, "half_* negated_* swapped_* cos_* sin_* rotated_* heads", r"rotary|rope", "with the op that splits heads for decode: 18.17 -> 17.57 ms a step"),
            dead("weights", "BFLOAT16 for QKV and the output projection, BFLOAT8_B for gate and up", "qkv out gate up", r"bfloat16|BF16|bfloat8_b|BFP8", f"18.03 -> 18.07 ms {STEPS}"),
        ),
        f"how the matmuls' time is shared out; {MADE_UP}",
    ),
    laid(
        "dots4-decode-open", NOTES, "a layer of decode in BFLOAT16, norms on one core, attention's and down's weights in BFLOAT16: a step 9.41 ms",
        decode(OPEN),
        (
            dead("down", "BFLOAT8_B for down's weight", "down", BFP8, f"flat, 9.41 ms {STEPS}"),
            dead("attention", "BFLOAT8_B for the weights of QKV and the output projection", "qkv out", BFP8, f"flat, 9.41 ms {STEPS}"),
            dead("gammas", "BFLOAT16 for the norms' weights", "norm_1 norm_2", r"(gamma|norm).{0,60}(bfloat16|BF16)|(bfloat16|BF16).{0,60}(gamma|norm)", f"9.41 -> 9.78 ms {STEPS}"),
        ),
        f"times of a step, of a short context; {MADE_UP}",
    ),
    laid(
        "dots4-decode", LATER, "a layer of decode in BFLOAT16, norms on one core, weights in BFLOAT8_B: attention 111 us, the MLP 132 us",
        decode(ONE_CORE),
        (
            gain("norms", "both norms in width shards on 12 cores", 23.3, "norm_1 norm_2", rf"{SHARDED}|{CORES}", f"18.57 -> 6.92 us {TRACE} each, with the way there and back"),
            gain("banks", "attention's matmuls over the DRAM banks on eight cores", 13.8, "qkv rope out attention_gather cos sin rotated", DRAM_SHARDED, f"111.2 -> 97.4 us {TRACE}: 21.6 -> 10.7, 9.7 -> 8.2 and 26.0 -> 19.9, and a bias of its own"),
            gain("mlp-banks", "the MLP's matmuls over the DRAM banks on 12 cores", None, "gate up down", DRAM_SHARDED, f"with HiFi2 and SILU in the product: 131.9 -> 94.3 us {TRACE}"),
            gain("mlp-hifi2", "HiFi2 for the MLP", None, "gate up down", HIFI2, f"with the banks and SILU in the product: 131.9 -> 94.3 us {TRACE}"),
            gain("silu", "SILU in the product", None, "silu product", ACTIVATION_IN_BINARY, f"with the banks and HiFi2: 131.9 -> 94.3 us {TRACE}"),
            dead("norm-cores", "norms in shards on 6, 8, 16, 24 or 48 cores", "norm_1 norm_2", r"\b(6|8|16|24|48) cores", "each slower than on 12 cores, without figures"),
        ),
        OF_STATE,
    ),
    laid(
        "dots4-decode-banked", LATER, "a layer of decode, matmuls over the banks, the residual in DRAM: 214 to 218 us in kernels",
        decode(BANKED),
        (
            gain("residual", "the residual in shards on 12 cores all through the layer", 11.6, "norm_* added_* qkv_placed gate_placed up_placed out_flat down_flat mlp_gather product", rf"{SHARDED}|in place|to_memory_config", f"11.6 us {TRACE}: ten moves -> four"),
            gain("hifi2", "HiFi2 for attention's matmuls", 9.2, "qkv rope out", HIFI2, f"9.2 us {TRACE}; the output projection 18.9 -> 12.3"),
            dead("silu-matmul", "SILU in gate's matmul", "gate product", ACTIVATION_IN_MATMUL, "16.9 -> 34.6 us for gate"),
            dead("silu-apart", "SILU as an op of its own", "gate product", r"(silu|activation).{0,60}(separate|own op|alone|apart|before)|ttnn\.silu", "11.2 -> 12.0 us"),
            dead("all-reduce", "all_reduce", "mlp_scatter mlp_gather", r"all_reduce", "the same reduce-scatter and gather"),
            dead("mlp-cores", "24 or 8 cores for the MLP's matmuls", "gate up down", r"\b(24|8) cores|in0_block_w", "slower than 12, without figures"),
            dead("attention-cores", "48 cores for attention's matmuls", "qkv rope out", r"\b48 cores|more cores|all (the |of the )?cores|in0_block_w", "24.5 -> 34.6 us for one of them; 4, 12, 16 and 24 slower, too"),
            dead("bias", "QKV's bias in its matmul", "qkv qkv_bias", r"bias=|bias.{0,60}(linear|matmul|fold|fus)|(fold|fus|linear|matmul).{0,60}bias", "wrong numbers without a word: PCC 0.01"),
        ),
        OF_STATE, 216.2,
    ),
    laid(
        "dots4-decode-twelve", LATER, "a layer of decode, the residual in shards, QKV and the rotation on 12 cores",
        decode(TWELVE),
        (gain("eight", "QKV and the rotation on eight cores, by a reshard", 3.7, "qkv rope", r"\b(8|eight) cores|fewer cores|reshard|in0_block_w|per_core_N", f"11.1 -> 8.5 and 11.3 -> 8.7 us, and 0.73 for the reshard; 3.7 {TRACE}"),),
        OF_STATE,
    ),
    laid(
        "dots4-decode-last", LATER, "a layer of decode as its stage left it: 189 to 195 us in kernels",
        decode(LAST),
        (
            gain("reduce", "a gather of all parts and fast_reduce_nc for the MLP's sum over the chips", 6.78, "mlp_scatter mlp_gather", REDUCED, "30.80 -> 24.02 us alone, replayed; 5.57 -> 5.37 ms of kernels of a step", NOTES),
            dead("rope-bfp8", "BFLOAT8_B for the rotation's matrix", "rope", BFP8, "no change: there is hardly a byte to read"),
            dead("keys-64", "chunks of 64 keys", "sdpa", r"(?<!\d)64(?!\d)", "18.8 -> 22.1 us"),
            dead("keys-256", "chunks of 256 keys", "sdpa", r"(?<!\d)256(?!\d)|larger chunk|bigger chunk", "refused: 256 does not divide a cache of 3200"),
            dead("fused-update", "one update for keys and values", "cache_k cache_v", r"paged_fused_update_cache|one update|fus.{0,40}update", "refused: keys and values lie on the same core"),
        ),
        OF_STATE, 191.8,
    ),
)  # fmt: skip
