"""pi0.5 (it moves a robot) on one Blackhole chip (p150): a layer of its eyes, of its language model and of its actions.

SigLIP: hidden 1152, 16 heads of 72 padded to 96, feed-forward of 4304, 256 rows for each camera. Gemma: hidden 2048
or 1024, eight heads of 256 with one of keys and values, feed-forward of 16384 or 4096. The ledger has the time of
each matmul as TTNN sets it alone and as the best of a sweep, and what steps of the eyes' three layers on a Galaxy
brought to a pass of 27 layers and three pictures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, chunks, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import CONFIG, LOFI, SDPA_CHUNKS, SHARDED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.profiles import Placement, Tensor

FOLDER = f"{TT_METAL}/6d047ecda850038c186d2620213f5705df3a7e4c/models/experimental/pi0_5"
TABLE = f"{FOLDER}/docs/mmdecode/all_runs_comprehensive.md"
PIECES = f"{TT_METAL}/cced4f1e4e1873c1f14c269ec4a3a54323ec1093/models/experimental/pi0_5/docs/mmdecode/chunked_prefill_sweep_nopatch.md"
EYES = f"{TT_METAL}/785ad56dd550d8d1615dce389080b58c2c226ed0/models/experimental/pi0_5/SIGLIP_OPTIMIZATION.md"
README = f"{TT_METAL}/0390148ffb553dff419b69408c7c4f6d0763283d/models/experimental/pi0_5/README.md"
GRID, CORES = (13, 10), 130


@dataclass(frozen=True)
class Eyes:
    """A layer of SigLIP; times of its four matmuls in us."""

    rows: int
    us: Mapping[str, float]
    attend: float = 24
    other: float = 1.0  # times of the ops around, against those of one picture
    fp32: bool = False
    q_chunk: int | None = None
    place: Placement = DRAM
    narrow: bool = False


def eyes(how: Eyes) -> Callable[[], Block]:
    def build() -> Block:
        block, rows = Block("blackhole", grid=GRID, gap_us=1.0), how.rows
        place, batch = how.place, how.rows // 256

        def linear(role: str, x: Tensor, n: int, *, act: str | None = None) -> Tensor:
            dtype = "BFLOAT8_B" if how.narrow or role in {"fc1", "fc2"} else "BFLOAT16"
            config = two_d((12, 8), 3, (rows // 256, -(-n // 384)), act=act) if how.narrow else None
            return block.linear(role, x, n, how.us[role], dtype=dtype, config=config, cores=96 if how.narrow else None, place=place, fp32=how.fp32, bias=True, act=None if how.narrow else act)  # fmt: skip

        def normed(role: str, x: Tensor) -> Tensor:
            return block.norm(role, x, 11 * how.other, cores=rows // 32, kind="LAYERNORM", place=place)

        def added(role: str, x: Tensor, y: Tensor) -> Tensor:
            return block.binary(role, "ADD", x, y, 4 * how.other, cores=CORES, place=place)

        x = block.tensor([1, 1, rows, 1152], place=place)
        qkv = block.view(linear("qkv", normed("norm", x), 4608), [batch, 1, 256, 4608])
        q, k, v = block.split_heads("heads", qkv, 8 * how.other, heads=16, kv=16, size=96, rows=256, batch=batch, place=place, cores=rows // 32)  # fmt: skip
        config = chunks(how.q_chunk, 256, GRID) if how.q_chunk else None
        out = block.attend("attend", q, k, v, how.attend, config=config, cores=CORES, causal=False, fp32=how.fp32)
        out = block.view(block.join_heads("joined", out, 5 * how.other, cores=rows // 32), [1, 1, rows, 1536])
        x = added("attention_added", x, linear("out", out, 1152))
        wide = linear("fc1", normed("norm_feed", x), 4320, act="GELU")
        added("feed_added", x, linear("fc2", wide, 1152))
        return block

    return build


def language(us: Mapping[str, float], place: Placement = DRAM) -> Callable[[], Block]:
    """A layer of Gemma 2B on 288 rows."""

    def build() -> Block:
        block, rows, hidden = Block("blackhole", grid=GRID, gap_us=1.0), 288, 2048

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            dtype = "BFLOAT8_B" if role == "down" else "BFLOAT16"
            return block.linear(role, x, n, us[role], dtype=dtype, place=place)

        x = block.tensor([1, 1, rows, hidden], place=place)
        qkv = linear("qkv", block.norm("norm", x, 16, cores=9, place=place), 2560)
        q, k, v = block.split_heads("heads", qkv, 9, heads=8, kv=1, size=256, rows=rows, place=place, cores=9)
        q, k = (block.rotary(f"rotary_{name}", one, took, decode=False, cores=9 if name == "k" else 72) for name, one, took in (("q", q, 9), ("k", k, 4)))  # fmt: skip
        out = block.attend("attend", q, k, v, 30, config=chunks(32, 96, GRID), cores=72, causal=False)
        out = linear("out", block.join_heads("joined", out, 6, cores=9), hidden)
        x = block.binary("attention_added", "ADD", x, out, 5, cores=CORES, place=place)
        fed = block.norm("norm_feed", x, 16, cores=9, place=place)
        gate, up = (linear(role, fed, 16384) for role in ("gate", "up"))
        wide = block.binary("gated", "MUL", gate, up, 28, cores=CORES, lhs="GELU", place=place)
        block.binary("feed_added", "ADD", x, linear("down", wide, hidden), 5, cores=CORES, place=place)
        return block

    return build


def actions(us: Mapping[str, float], rows: int = 64) -> Callable[[], Block]:
    """A layer of the expert for actions, which sees 1056 rows of keys."""

    def build() -> Block:
        block, hidden = Block("blackhole", grid=GRID, gap_us=1.0), 1024

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            dtype = "BFLOAT8_B" if role == "down" else "BFLOAT16"
            return block.linear(role, x, n, us[role], dtype=dtype, place=L1)

        def normed(role: str, x: Tensor) -> Tensor:
            made = block.norm(role, x, 9, cores=rows // 32, place=L1)
            made = block.binary(f"{role}_scaled", "MUL", made, block.tensor([1, 1, 1, hidden]), 2, cores=64)
            return block.binary(f"{role}_shifted", "ADD", made, block.tensor([1, 1, 1, hidden]), 2, cores=64)

        def added(role: str, x: Tensor, y: Tensor) -> Tensor:
            y = block.binary(f"{role}_gated", "MUL", y, block.tensor([1, 1, 1, hidden]), 2, cores=64)
            return block.binary(role, "ADD", x, y, 2, cores=64)

        x = block.tensor([1, 1, rows, hidden], place=L1)
        qkv = linear("qkv", normed("norm", x), 2560)
        q, k, v = block.split_heads("heads", qkv, 11.8, heads=8, kv=1, size=256, rows=rows, place=L1, cores=1)
        q, k = (
            block.rotary(f"rotary_{name}", one, 3.5, decode=False, cores=8) for name, one in (("q", q), ("k", k))
        )
        past = block.tensor([1, 1, 992, 256], "BFLOAT8_B", L1)
        keys, values = (block.concat(f"{name}_all", (past, one), [1, 1, 1056, 256], 2, 5) for name, one in (("k", k), ("v", v)))  # fmt: skip
        out = block.attend(
            "attend", q, keys, values, 31, config=chunks(32, 64, GRID), cores=16, causal=False, place=L1
        )
        x = added("attention_added", x, linear("out", block.join_heads("joined", out, 4, cores=2), hidden))
        fed = normed("norm_feed", x)
        gate, up = (linear(role, fed, 4096) for role in ("gate", "up"))
        wide = block.binary("gated", "MUL", gate, up, 4, cores=CORES, lhs="GELU")
        added("feed_added", x, linear("down", wide, hidden))
        return block

    return build


SEEN = {"qkv": 55.0, "out": 47.7, "fc1": 54.5, "fc2": 173.0}
SEEN_THRICE = {"qkv": 49, "out": 21, "fc1": 40, "fc2": 43}  # 58 of a hundred of a layer
READ = {"qkv": 73.0, "out": 63.9, "gate": 259.4, "up": 259.4, "down": 415.7}
MOVED = {"qkv": 16, "out": 14, "gate": 24.7, "up": 24.7, "down": 66.1}
IN_PIECES = r"(chunk|split|slice|cut|divide).{0,40}\brows|rows at a time|\b(32|64|96) rows"
WEIGHTS_NEAR = r"weights?.{0,60}\b(in|into|to) L1|L1.{0,40}weights?"
MADE_UP = "how TTNN set the matmuls; the ops around them and their times; gaps; the fidelity"

PI05 = (
    laid(
        "pi05-eyes", TABLE, "a layer of SigLIP, one picture, matmuls as TTNN sets them", eyes(Eyes(256, SEEN)),
        (
            gain("out", "the best config of a sweep for the attention's projection", 27.3, "out", CONFIG, "47.7 -> 20.43 us"),
            gain("fc1", "the best config of a sweep for the first of the feed-forward", 13.1, "fc1", CONFIG, "54.5 -> 41.37 us"),
            gain("fc2", "the best config of a sweep for the second of the feed-forward", 130.9, "fc2", CONFIG, "173.0 -> 42.09 us"),
            dead("qkv", "the best config of a sweep for QKV", "qkv", CONFIG, "55.0 -> 55.44 us"),
            dead("pieces", "32 or 64 rows at a time", "qkv out fc1 fc2", IN_PIECES, "2.0 to 5.6 times as long", PIECES),
        ),
        MADE_UP,
    ),
    laid(
        "pi05-eyes-galaxy", EYES, "a layer of SigLIP, three pictures, interleaved, HiFi2: some 260 us", eyes(Eyes(768, SEEN_THRICE, attend=34, other=1.35, fp32=True, q_chunk=64, place=L1, narrow=True)),
        (
            gain("lofi", "LoFi with sums in 16 bits", 29.6, "qkv out fc1 fc2", rf"{LOFI}|fp32_dest_acc_en", "some 0.8 ms of a pass of 8.06 ms"),
            gain("shards", "block-sharded from the first of nine layers to the last", 33.3, "norm norm_feed qkv out fc1 fc2 attend attention_added feed_added", unbanked(SHARDED), "some 0.9 ms of a pass of 8.06 ms"),
            gain("chunks", "256 queries at a time instead of 64", None, "attend", SDPA_CHUNKS, "of attention alone no figure is told"),
            dead("weights", "weights in L1", "qkv out fc1 fc2", WEIGHTS_NEAR, "1.00 times as fast; fc1's do not fit beside shards"),
        ),
        "times of single ops, but for the shares of their kinds; what is shared by all layers; gaps",
    ),
    laid(
        "pi05-language", TABLE, "a layer of Gemma 2B, 288 rows, matmuls as TTNN sets them", language(READ),
        (
            gain("qkv", "the best config of a sweep for QKV", 34.6, "qkv", CONFIG, "73.0 -> 38.38 us"),
            gain("out", "the best config of a sweep for the attention's projection", 26.6, "out", CONFIG, "63.9 -> 37.35 us"),
            gain("down", "the best config of a sweep for the last of the feed-forward", 179.0, "down", CONFIG, "415.7 -> 236.72 us"),
            dead("pieces", "32 or 96 rows at a time", "qkv out gate up down", IN_PIECES, "2.1 to 6.2 times as long", PIECES),
            dead("weights", "weights in L1", "gate up down", WEIGHTS_NEAR, "1.00 times as fast: each is read once, and the arithmetic binds", EYES),
        ),
        MADE_UP,
    ),
    laid(
        "pi05-actions", TABLE, "a layer of the expert for actions, 64 rows, matmuls as TTNN sets them", actions(MOVED),
        (
            gain("down", "the best config of a sweep for the last of the feed-forward", 30.9, "down", CONFIG, "66.1 -> 35.19 us"),
            gain("chunks", "96 keys at a time instead of 64", 2.8, "attend", SDPA_CHUNKS, "some 0.5 ms of an inference of ten steps and 18 layers", README),
            dead("gate", "the best config of a sweep for gate and up", "gate up", CONFIG, "24.7 -> 34.64 and 34.63 us"),
            dead("pieces", "32 rows at a time", "gate up down", IN_PIECES, "1.8 times as long", PIECES),
        ),
        MADE_UP,
    ),
)  # fmt: skip
