"""Falcon3 7B and 10B over four Blackhole chips (p300c) in a ring: one layer, decode of 32 users, tensor parallel.

The residual is whole on every chip; the weights are BFLOAT4_B at LoFi over the banks, the cache is BFLOAT8_B.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, banked, chunks, norm_shards
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP8, HIFI2, INTERLEAVED_1D, PACKED, TWO_D

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

FOLDER_7B = "models/autoports/tiiuae_falcon3_7b_base/doc/optimized_multichip_decoder"
FOLDER_10B = "models/autoports/tiiuae_falcon3_10b_base/doc/optimized_multichip_decoder"
LOG_7B = f"{TT_METAL}/02e6aa44db504c49e7a8a2ced9cfc577ac125176/{FOLDER_7B}/work_log.md"
LOG_10B = f"{TT_METAL}/588a3bb83efe9d8510dec32beada982198b73e7c/{FOLDER_10B}/work_log.md"
FIRST_10B = f"{TT_METAL}/3c69719127e668656ec77396bb042b024ff37659/{FOLDER_10B.replace('optimized_', '')}/README.md"
GRID, CORES_OF_ALL, USERS = (11, 10), 110, 32
HIDDEN, QKV, ATTENDED, WIDE, HEADS, KV, SIZE = 3072, 1280, 768, 6144, 3, 1, 256  # of one chip
SHARDS = {"qkv": 4, "out": 2, "gate": 24, "up": 24, "down": 8}
US = {"qkv": 10, "out": 8, "gate": 41, "up": 41, "down": 37}


@dataclass(frozen=True)
class How:
    """A layer of decode on four chips."""

    persistent: bool = False  # one all-reduce with buffers that stay, instead of reduce-scatter and all-gather
    dedicated: bool = False  # rotary embedding as one op each, instead of some twenty
    direct: bool = False  # out of the shards straight into DRAM
    stacked: bool = False  # the residual comes and goes in its shards
    payload: str = "BFLOAT16"
    collective: float = 38.5
    attend: float = 20


def decode(how: How) -> Callable[[], Block]:
    def build() -> Block:
        block = Block("blackhole", devices=4, grid=GRID, gap_us=1.25 if how.persistent else 1.2)
        residual, norm = block.across(32, HIDDEN, 32), norm_shards((8, 4), 3)

        def linear(role: str, x: Tensor, n: int) -> Tensor:
            shards = SHARDS[role]
            config = banked(x.shape[-1] // 32 // shards, n // 32 // shards)
            return block.linear(role, x, n, US[role], dtype="BFLOAT4_B", fidelity="LoFi", config=config, cores=80, place=block.across(32, n, shards), banks=True)  # fmt: skip

        def summed(name: str, x: Tensor) -> Tensor:
            if how.payload != x.dtype:
                x = block.typecast(f"narrow_{name}", x, how.payload, 2.5, cores=24)
            if how.persistent:
                x = block.collective(f"reduce_{name}", "AllReduceAsync", x, HIDDEN, how.collective, cores=32, place=residual, use_noc1_only=False)  # fmt: skip
            else:
                part = block.collective(f"scatter_{name}", "ReduceScatterMinimalAsync", x, HIDDEN // 4, how.collective * 0.56, place=DRAM)  # fmt: skip
                x = block.collective(f"gather_{name}", "AllGatherAsync", part, HIDDEN, how.collective * 0.44, place=residual)  # fmt: skip
            return block.typecast(f"wide_{name}", x, "BFLOAT16", 2.5, cores=32) if how.payload != "BFLOAT16" else x

        if how.stacked:
            x = block.tensor([1, 1, USERS, HIDDEN], place=residual)
        else:
            x = block.moved("entry_shape", "ReshapeView", block.tensor([1, USERS, 1, HIDDEN]), 33, shape=[1, 1, USERS, HIDDEN])  # fmt: skip
            x = block.to_shards("entry", x, residual, 3)
        normed = block.reshard("qkv_moved", block.norm("norm", x, 10, cores=32, config=norm), block.across(32, HIDDEN, 4), 3)  # fmt: skip
        qkv = block.from_shards("qkv_back", linear("qkv", normed, QKV), 3, L1)
        q, k, v = block.heads_of_decode("heads", qkv, 12, heads=HEADS, kv=KV, size=SIZE, users=USERS)
        q, k = (rotated(block, name, one, how) for name, one in (("q", q), ("k", k)))
        cache = block.tensor([USERS, KV, 128, SIZE], "BFLOAT8_B")
        block.update_cache("cache_k", cache, k, 8)
        block.update_cache("cache_v", cache, v, 8)
        attended = block.attend_decode(
            "attend", q, cache, how.attend, config=chunks(0, 0, GRID), cores=CORES_OF_ALL
        )
        placed = block.to_shards("attended_placed", attended, block.along(32, SIZE, USERS), 3)
        joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 5, shape=[1, 1, 32, ATTENDED], place=block.across(32, ATTENDED, 3), cores=3, num_heads=HEADS, on_subcoregrids=False)  # fmt: skip
        joined = block.reshard("joined_moved", joined, block.across(32, ATTENDED, 2), 2.5)
        x = block.binary(
            "attention_added", "ADD", x, summed("attention", linear("out", joined, HIDDEN)), 3, cores=32
        )
        fed = block.norm("norm_feed", x, 10, cores=32, config=norm)
        fed = block.reshard("feed_moved", fed, block.across(32, HIDDEN, 24), 3)
        gate, up = (linear(role, fed, WIDE) for role in ("gate", "up"))
        hidden = block.binary("gated", "MUL", gate, up, 7, cores=24, lhs="SILU")
        hidden = block.reshard("gated_moved", hidden, block.across(32, WIDE, 8), 4)
        x = block.binary("feed_added", "ADD", x, summed("fed", linear("down", hidden, HIDDEN)), 3, cores=32)
        if how.stacked:
            return block
        if how.direct:
            x = block.from_shards("exit", x, 3)
        else:
            x = block.moved("exit_copied", "Copy", block.from_shards("exit", x, 3, L1), 11.4, place=DRAM)
        block.moved("exit_shape", "ReshapeView", x, 33, shape=[1, USERS, 1, HIDDEN])
        return block

    return build


def rotated(block: Block, name: str, x: Tensor, how: How) -> Tensor:
    """Each user at a position of their own."""
    home = x.placement
    assert home is not None
    if how.dedicated:
        turned = block.rotary(f"rotary_{name}", block.from_shards(f"{name}_flat", x, 2.5, L1), 14.6, decode=False, cores=32)  # fmt: skip
        return block.to_shards(f"{name}_placed", turned, home, 2.5)
    return apart(block, name, x, home)


def apart(block: Block, name: str, x: Tensor, home: Placement) -> Tensor:
    def role(what: str) -> str:
        return f"rotate_{name}_{what}"

    flat = block.from_shards(f"{name}_flat", x, 2.5, L1)
    flat = block.turned(role("turned"), flat, 7, dims="CH", cores=32)
    table = block.tensor([1, 1, USERS, SIZE])
    tables = [block.moved(role(f"{wave}_repeated"), "Repeat", table, 5.5, shape=flat.shape, repetition_vector="Shape([1, 3, 1, 1])") for wave in ("cos", "sin")]  # fmt: skip
    batch, heads, rows, half = (*flat.shape[:3], SIZE // 2)
    first = block.slice(role("first"), flat, (0, 0, 0, 0), (batch, heads, rows, half), 4.5)
    second = block.slice(role("second"), flat, (0, 0, 0, half), (batch, heads, rows, SIZE), 4.5)
    second = block.unary(role("minus"), "NEG", second, 3.5, cores=32)
    swapped = block.concat(role("swapped"), (second, first), flat.shape, 3, 6)
    a = block.binary(role("by_cos"), "MUL", flat, tables[0], 4, cores=32)
    b = block.binary(role("by_sin"), "MUL", swapped, tables[1], 4, cores=32)
    x = block.binary(role("added"), "ADD", a, b, 4, cores=32)
    x = block.turned(role("back"), x, 7.4, dims="CH", cores=32)
    return block.to_shards(f"{name}_placed", x, home, 2.5)


PERSISTENT = r"all_reduce|persistent|one (op|call|collective)|AllReduce"
ROTARY = r"rotary"
FEWER_LINKS = r"num_links=1\b|one link|fewer links|a single link"
LINE = r"Linear\b|as a line"
NARROW_CCL = rf"(collective|reduce|gather|scatter|payload|CCL).{{0,80}}({BFP8})|({BFP8}).{{0,80}}(collective|reduce|gather|scatter|payload|CCL)"  # fmt: skip
OTHER_MATMUL = rf"{INTERLEAVED_1D}|{TWO_D}|\b(96|99) cores|more cores|all (the |of the )?cores"
SHARDS_OF = r"in0_block_w|(fewer|more) (cores|shards)|per_core_N"
STACKED = r"(keep|stay|hand|carr|pass|leave|hold|next layer).{0,80}(shard|L1)|(shard|L1).{0,80}(keep|stay|hand|carr|pass|next layer)|reshape|view|without (moving|conver)"
FRACTURED = r"distributed|pre_all_gather|(each|per) (chip|device)|before the (all.?)?gather|reduce.?scatter"
MATMULS = "qkv out gate up down"
MADE_UP = (
    "all single ops' times but the sums: the five matmuls, the collectives, the rotary part, the two views; gaps"
)

ENTRY, PERSISTED, TURNED = How(), How(persistent=True, collective=14.4), How(persistent=True, dedicated=True, collective=14.4)  # fmt: skip
LAST = How(persistent=True, dedicated=True, direct=True, collective=14)
PAYLOAD = How(persistent=True, payload="BFLOAT8_B", collective=8)

FALCON3_10B_MESH = (
    laid(
        "falcon3-10b-tp4-entry", LOG_10B, "decode on four chips as it was: 68 ops, 518 us in kernels, 576.6 us of wall time",
        decode(ENTRY),
        (
            gain("persistent", "one asynchronous all-reduce with buffers that stay", 48.2, "scatter_* gather_*", PERSISTENT, "576.6 -> 528.4 us of the layer; collectives 76.97 -> 27.99 us in kernels"),
            dead("matmuls", "all matmuls 1D on 44 or 99 cores", MATMULS, OTHER_MATMUL, "576.6 -> 641.2 us of the layer"),
            dead("out-matmul", "the output projection alone on 99 or 48 cores", "out", rf"{OTHER_MATMUL}|\b48 cores", "576.6 -> 580.7 and 577.3 us of the layer"),
            dead("qkv-shards", "QKV on 2 or 8 shards", "qkv", SHARDS_OF, "576.6 -> 577.4 and 576.9 us of the layer", FIRST_10B),
            dead("feed-shards", "gate and up on 8, 12, 16 or 48 shards", "gate up", SHARDS_OF, "576.6 -> 594.0, 585.5, 580.3 and 586.0 us of the layer", FIRST_10B),
            dead("down-shards", "down on 4 or 24 shards", "down", SHARDS_OF, "576.6 -> 578.9 and 579.2 us of the layer", FIRST_10B),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, "576.6 -> 578.9 us of the layer, 584.4 with its halves cut in L1"),
            dead("payload", "collectives in BFLOAT8_B", "scatter_* gather_*", NARROW_CCL, "576.6 -> 586.6 us of the layer", FIRST_10B),
            dead("link", "one link", "scatter_* gather_*", FEWER_LINKS, "576.6 -> 581.3 us of the layer", FIRST_10B),
            dead("line", "a line instead of a ring", "scatter_* gather_*", LINE, "576.6 -> 575.6 us of the layer: a tie", FIRST_10B),
            dead("fused-scatter", "matmul and reduce-scatter as one op", "out scatter_attention down scatter_fed", r"matmul_reduce_scatter|fus.{0,60}(reduce.scatter|collective)|reduce.scatter.{0,60}fus", "hangs"),
        ),
        MADE_UP, 518,
    ),
    laid(
        "falcon3-10b-tp4-persistent", LOG_10B, "decode on four chips, all-reduces that keep their buffers: 528.4 us of wall time",
        decode(PERSISTED),
        (gain("rotary", "rotary embedding as one op for Q and one for K", 82.6, "rotate_*", ROTARY, "528.4 -> 404.8 us of the layer, which is 41 us of the gaps of twenty ops as well; 514.6 -> 391.4 in the last state"),),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-tp4-rotary", LOG_10B, "decode on four chips, rotary embedding as one op: 404.8 us of wall time",
        decode(TURNED),
        (gain("direct", "the residual out of its shards straight into DRAM", 11.4, "exit exit_copied", r"direct|straight|DRAM_MEMORY_CONFIG|one (op|copy|move)|sharded_to_interleaved|(drop|remove|skip|without|unneeded|needless).{0,40}(copy|staging|move)|to_memory_config", "404.8 -> 391.5 us of the layer, one op less"),),
        MADE_UP,
    ),
    laid(
        "falcon3-10b-tp4-last", LOG_10B, "decode on four chips as chosen: 45 ops, 382 us in kernels, 391.4 us of wall time",
        decode(LAST),
        (
            gain("stacked", "the residual handed on in its shards", 34.5, "entry_shape entry exit exit_shape", STACKED, "two layers 779.0 -> 710.1 us"),
            dead("matmuls", "all matmuls 1D, the residual on 96 cores", MATMULS, OTHER_MATMUL, "391.4 -> 451.9 us of the layer"),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, "391.4 -> 392.7 us of the layer, 397.1 with its halves cut in L1"),
            dead("attention-hifi2", "HiFi2 for attention", "qkv out", HIFI2, "391.3 -> 400.5 us of the layer"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", "gate up down", HIFI2, "391.3 -> 478.4 us of the layer"),
            dead("payload", "collectives in BFLOAT8_B", "reduce_*", NARROW_CCL, "391.3 -> 449.6 us of the layer, without the buffers that stay"),
            dead("line", "a line instead of a ring", "reduce_*", LINE, "391.3 -> 397.3 us of the layer"),
            dead("link", "one link", "reduce_*", FEWER_LINKS, "391.3 -> 408.9 us of the layer"),
        ),
        MADE_UP, 381.8,
    ),
)  # fmt: skip
FALCON3_7B_MESH = (
    laid(
        "falcon3-7b-tp4-entry", LOG_7B, "decode on four chips as it was: 578.8 us of wall time",
        decode(ENTRY),
        (
            gain("persistent", "one asynchronous all-reduce with buffers that stay", 45.6, "scatter_* gather_*", PERSISTENT, "578.8 -> 533.2 us of the layer"),
            dead("matmuls", "all matmuls 1D on 44 or 99 cores", MATMULS, OTHER_MATMUL, "578.8 -> 644.8 us of the layer, 641.0 with the residual on 32 cores"),
            dead("packed", "gate and up as one matmul", "gate up gated", PACKED, "578.8 -> 631.9 us of the layer"),
            dead("fractured", "a residual in four parts, norms of a quarter with gathered statistics", "scatter_attention gather_attention norm_feed attention_added", FRACTURED, "97.5 -> 110.0 us of the way from the output projection to the next matmul"),
        ),
        f"that single ops take what those of the 10B model's equal layer do; {MADE_UP}",
    ),
    laid(
        "falcon3-7b-tp4-persistent", LOG_7B, "decode on four chips, all-reduces in BFLOAT16 that keep their buffers: 533.2 us of wall time",
        decode(PERSISTED),
        (
            gain("payload", "what they send in BFLOAT8_B", 3.35, "reduce_*", NARROW_CCL, "533.2 -> 529.8 us of the layer"),
            dead("link", "one link", "reduce_*", FEWER_LINKS, "533.2 -> 551.1 us of the layer"),
        ),
        f"that single ops take what those of the 10B model's equal layer do; {MADE_UP}",
    ),
    laid(
        "falcon3-7b-tp4-payload", LOG_7B, "decode on four chips, all-reduces in BFLOAT8_B: 529.8 us of wall time",
        decode(PAYLOAD),
        (
            gain("stacked", "the residual handed on in its shards", 25.0, "entry_shape entry exit exit_copied exit_shape", STACKED, "529.8 -> 504.8 us of the layer"),
            dead("fractured", "a residual in four parts, norms of a quarter with gathered statistics", "reduce_attention norm_feed attention_added", FRACTURED, "43.9 -> 108.1 us of the way from the output projection to the next matmul"),
            dead("gathered", "gathered input and a matmul of all its rows, fused", "out reduce_attention down reduce_fed", r"all_gather_matmul|all_gather_minimal_matmul|gather.{0,40}fus|fus.{0,40}gather", "89.6 -> 149.2 us of the two"),
        ),
        f"that single ops take what those of the 10B model's equal layer do; {MADE_UP}",
    ),
    laid(
        "falcon3-7b-tp4-stacked", LOG_7B, "decode on four chips, the residual in its shards: 503.4 us of wall time",
        decode(How(persistent=True, payload="BFLOAT8_B", collective=8, stacked=True)),
        (
            gain("activations", "what the matmuls write in BFLOAT8_B", 11.95, "qkv qkv_back out gate up gated gated_moved down narrow_* wide_*", rf"(output|dtype=|activation|write|result|hidden|typecast).{{0,80}}({BFP8})|({BFP8}).{{0,80}}(output|activation|write|result|hidden|typecast)", "503.4 -> 491.5 us of the layer"),
            dead("attention-hifi2", "HiFi2 for attention", "qkv out", HIFI2, "302.6 -> 308.2 us of the layer, for one user"),
            dead("feed-hifi2", "HiFi2 for the feed-forward", "gate up down", HIFI2, "302.6 -> 389.4 us of the layer, for one user"),
        ),
        f"that single ops take what those of the 10B model's equal layer do; {MADE_UP}",
    ),
)  # fmt: skip
