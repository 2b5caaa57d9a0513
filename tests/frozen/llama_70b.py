"""Llama 3.1 70B on one Blackhole chip (p300c): a decode step of 32 users through one layer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, banked, norm_shards, one_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BFP4, BFP8, BLOCK_W, INTERLEAVED_1D, LOFI, PACKED, SHARDED, unbanked

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Tensor

LOG = f"{TT_METAL}/35ccb90250cab6c538413f239245212335840c63/models/autoports/meta_llama_llama_3_1_70b_instruct/doc/optimized_decoder/work_log.md"  # fmt: skip
HIDDEN, WIDE, QKV, USERS = 8192, 28_672, 10_240, 32
FINAL = (("qkv", 194.0), ("out", 169.0), ("up1", 427.0), ("up2", 426.0), ("down", 423.0))
ALL = "qkv out up1 up2 down"


@dataclass(frozen=True)
class Step:
    """The defaults are the all-BFLOAT4_B step with the tuned down projection."""

    times: tuple[tuple[str, float], ...] = FINAL
    attention: tuple[str, str] = ("BFLOAT4_B", "LoFi")
    feed: str = "BFLOAT4_B"
    down: tuple[str, str] = ("BFLOAT4_B", "LoFi")
    down_config: tuple[tuple[int, int], int, int, int] = ((11, 8), 4, 3, 86)  # grid, in0_block_w, per_core_N, cores
    banks: bool = False
    blocks: tuple[int, int, int] = (8, 4, 7)
    cache: str = "BFLOAT16"


def _project(block: Block, step: Step, role: str, x: Tensor, n: int) -> Tensor:
    us = dict(step.times)[role]
    dtype, fidelity = {"down": step.down, "up1": (step.feed, "LoFi"), "up2": (step.feed, "LoFi")}.get(role, step.attention)  # fmt: skip
    if step.banks:
        size = step.blocks[0 if role in {"qkv", "out"} else 2 if role == "down" else 1]
        return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=banked(size, -(-n // 32 // 32)), cores=12, place=block.across(32, n, 32), banks=True)  # fmt: skip
    grid, size, per_n, cores = {
        "qkv": ((11, 10), 2, 3, 107), "out": ((11, 8), 2, 3, 86), "down": step.down_config,
    }.get(role, ((11, 10), 2, 9, 100))  # fmt: skip
    config = one_d(grid, size, (1, per_n), subblock=(1, 3 if per_n % 3 == 0 else per_n))
    return block.linear(role, x, n, us, dtype=dtype, fidelity=fidelity, config=config, cores=cores, place=block.across(32, n, cores))  # fmt: skip


def step(settings: Step = Step()) -> Block:
    """What the matmuls leave of 2083 us: 444 us."""
    block = Block("blackhole")
    residual, norm = block.across(USERS, HIDDEN, 32), norm_shards((8, 4), 8)
    x = block.to_shards("entry", block.tensor([1, 1, USERS, HIDDEN]), residual, 4)
    normed = block.norm("norm_in", x, 9, cores=32, config=norm)
    qkv = _project(block, settings, "qkv", normed, QKV)
    flat = block.from_shards("qkv_flat", qkv, 5, L1)
    q, k, v = block.heads_of_decode("heads", flat, 24, heads=64, kv=8, size=128, users=USERS)
    tables = [block.tensor([1, 1, 32, 128]) for _ in range(2)]
    q, k = (block.rotary(f"rope_{name}", one, us, decode=True, cores=USERS, tables=tables) for name, one, us in (("q", q, 9), ("k", k, 6)))  # fmt: skip
    cache = block.tensor([128, 8, 32, 128], settings.cache)
    block.update_cache("cache_k", cache, k, 22)
    block.update_cache("cache_v", cache, v, 22)
    q = block.from_shards("q_flat", q, 6)
    sdpa_us = 150 if settings.cache == "BFLOAT16" else 115
    attended = block.attend_decode("sdpa", q, cache, sdpa_us, config=None, cores=110)
    placed = block.to_shards("attended_placed", attended, block.along(64, 128, USERS), 7)
    joined = block.moved("joined", "NLPConcatHeadsDecode", placed, 14, shape=[1, 1, USERS, HIDDEN], place=block.across(USERS, HIDDEN, 64), cores=64, num_heads=64, on_subcoregrids=False)  # fmt: skip
    joined = block.reshard("joined_placed", joined, residual, 6)
    out = block.reshard("out_placed", _project(block, settings, "out", joined, HIDDEN), residual, 5)
    x = block.binary("sum_attention", "ADD", x, out, 8, cores=32)
    normed = block.norm("norm_feed", x, 9, cores=32, config=norm)
    halves = [_project(block, settings, role, normed, WIDE) for role in ("up1", "up2")]
    hidden = block.binary("swiglu", "MUL", *halves, 80, cores=100, lhs="SILU")
    hidden = block.reshard("hidden_placed", hidden, block.across(USERS, WIDE, 32), 24)
    down = block.reshard("down_placed", _project(block, settings, "down", hidden, HIDDEN), residual, 5)
    x = block.binary("sum_feed", "ADD", x, down, 8, cores=32)
    block.from_shards("exit", x, 4, DRAM)
    return block


def changed(**change: object) -> Callable[[], Block]:
    settings = replace(Step(), **change)
    return lambda: step(settings)


def times(**own: float) -> tuple[tuple[str, float], ...]:
    return tuple((dict(FINAL) | own).items())


SMALL = "times of the small ops"
BFP8_ATTENTION = {"qkv": 232.0, "out": 206.0}

LLAMA_70B = (
    laid(
        "llama-70b-decode-banks", LOG, "decode of 32 users, DRAM-sharded on 32 cores, attention and down in BFLOAT8_B: 2600 us of wall time",
        changed(banks=True, attention=("BFLOAT8_B", "LoFi"), down=("BFLOAT8_B", "LoFi"), times=times(qkv=262, out=232, up1=478, up2=478, down=732)),
        (
            gain("one-d", "interleaved weights and 1D configs on 86 to 107 cores", 146, ALL, rf"{INTERLEAVED_1D}|interleaved weights|weights.{{0,30}}interleaved|more cores", "2.600 -> 2.454 ms of wall time"),
            dead("attention-blocks", "in0_block_w 4 or 2 for QKV and out", "qkv out", r"in0_block_w\W{0,4}(4|2)\b", "2.600 -> 2.608 and 2.63 ms"),
            dead("feed-blocks", "in0_block_w 8 for gate and up", "up1 up2", r"in0_block_w\W{0,4}(8|16|32)\b|larger in0_block_w|increase in0_block_w", "refused: 1.92 MB of circular buffers"),
            dead("down-blocks", "in0_block_w 14 for down", "down", r"in0_block_w\W{0,4}(14|28|56)\b|larger in0_block_w|increase in0_block_w", "refused: 1.70 MB of circular buffers"),
            dead("sdpa", "a program config for attention, 8x8 to 11x10 cores", "sdpa", r"SDPAProgramConfig|program_config|chunk|grid|cores", "2.600 -> 2.602 ms"),
        ),
        f"how the matmuls' time splits; {SMALL}",
    ),
    laid(
        "llama-70b-decode-bfp8", LOG, "decode of 32 users, 1D configs, attention and down in BFLOAT8_B: 2454 us of wall time",
        changed(attention=("BFLOAT8_B", "LoFi"), down=("BFLOAT8_B", "LoFi"), down_config=((11, 8), 2, 3, 86), times=times(**BFP8_ATTENTION, down=683)),
        (
            gain("down", "down's weights in BFLOAT4_B", 94, "down", BFP4, "2.454 -> 2.360 ms of wall time"),
            gain("attention", "QKV's and out's weights in BFLOAT4_B", 76, "qkv out", BFP4, "2.450 -> 2.374 ms of wall time"),
            dead("norms", "norms block-sharded over 11 cores, the residual over 86", "norm_in norm_feed sum_attention sum_feed", SHARDED, "2.454 -> 2.545 ms: more reshards"),
        ),
        f"how the matmuls' time splits; {SMALL}",
    ),
    laid(
        "llama-70b-decode-hifi2", LOG, "decode of 32 users, BFLOAT4_B, attention and down in HiFi2: 2.37 ms of wall time",
        changed(attention=("BFLOAT4_B", "HiFi2"), down=("BFLOAT4_B", "HiFi2"), down_config=((11, 8), 2, 3, 86), times=times(down=589)),
        (
            dead("attention", "LoFi for QKV and out", "qkv out", LOFI, "2.375 -> 2.374 ms"),
            dead("down", "LoFi for down", "down", LOFI, "2.360 -> 2.360 ms"),
        ),
        f"that both were HiFi2 at once; {SMALL}",
    ),
    laid(
        "llama-70b-decode-seed", LOG, "decode of 32 users, all BFLOAT4_B and LoFi, down with in0_block_w 2: 2281 us of wall time",
        changed(down_config=((11, 8), 2, 3, 86), times=times(down=589)),
        (
            gain("down-blocks", "in0_block_w 4 for down", 161, "down", unbanked(BLOCK_W), "2.281 -> 2.120 ms of wall time; down 589 -> about 423 us"),
            dead("sdpa", "a program config for attention", "sdpa", r"SDPAProgramConfig|program_config|chunk|grid|cores", "2.281 -> 2.285 ms"),
        ),
        SMALL,
    ),
    laid(
        "llama-70b-decode-tuned", LOG, "decode of 32 users, all BFLOAT4_B and LoFi, down with in0_block_w 4: 2120 us of wall time",
        changed(),
        (
            gain("cache", "the cache in BFLOAT8_B", 35, "sdpa cache_k cache_v", BFP8, "2.114 -> 2.079 ms of wall time"),
            dead("feed-blocks", "in0_block_w 4, 8 or 16 for gate and up", "up1 up2", unbanked(BLOCK_W), "2.123 to 2.451 ms against 2.114"),
            dead("feed-grid", "gate and up on 11x9 or 11x8 cores", "up1 up2", r"11x[89]|\(11, ?[89]\)|x=11, ?y=[89]", "2.123 ms or more against 2.114"),
            dead("down-deeper", "in0_block_w 7, 8, 14 or 16 for down", "down", unbanked(BLOCK_W), "2.120 -> 2.135 to 2.171 ms"),
            dead("down-grid", "down on 11x5 cores", "down", r"11x5|\(11, ?5\)|55 cores|52 cores", "2.120 -> 2.169 ms"),
            dead("pack-feed", "gate and up as one matmul", "up1 up2", PACKED, "2.1201 -> 2.1220 ms"),
            dead("fused-cache", "one fused update of the cache", "cache_k cache_v", r"paged_fused_update_cache|fused.{0,20}update|one.{0,30}update", "refused by the validator, then by the watcher"),
        ),
        SMALL,
        2083,
    ),
)  # fmt: skip
