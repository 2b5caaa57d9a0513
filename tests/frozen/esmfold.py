"""ESMFold2 (it folds proteins) on one Blackhole chip (p300c): the transition of its pairs, and attention in FLOAT32.

512 residues, pairs of 256 channels, 1024 inside: BFLOAT16, interleaved in DRAM, HiFi4 with sums in FLOAT32. The ledger
timed each op and each form of the whole transition; later forms start from the best one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, Block, one_d
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import ACTIVATION_IN_BINARY, ACTIVATION_IN_MATMUL, BLOCKS, CONFIG, IN_L1

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

HOME = "https://github.com/moritztng/tt-bio/blob"
WHOLE = f"{HOME}/d4e9316502368a48707c6f4c4d4e4883660d15eb/perf/esm512/screen_512_c2.json"
WHOLE_README = f"{HOME}/d4e9316502368a48707c6f4c4d4e4883660d15eb/perf/esm512/README.md"
CONFIGS = f"{HOME}/bdd3774e4b47c0dfeb25514a6353f862b78bdc6a/perf/esm512/screen_armc_c0.json"
PARTS = f"{HOME}/f3ac0e7cbd2d25ec01f8b95aa083a8c3044b7a3b/perf/esm3p4/screen_a_c2.json"
GATES = f"{HOME}/6e37e196ee3d6c9c3490500de8fbf7b06a2f160b/perf/esm3p4/screen_b_c2.json"
BLOCKS_AT = f"{HOME}/e11013faaab95c517e68ad1ec07ec92be8828c47/perf/esm3p4/screen_d_c0.json"
ATTENTION = f"{HOME}/a0666e5723ec3a0f94ef15ce95a85574be2e86f8/perf/attn_sites/rfd3_esm_qb2c0.json"
GRID, CORES = (11, 10), 110
L, PAIR, INNER = 512, 256, 1024
EXACT = {"fidelity": "HiFi4", "fp32": True, "cores": CORES}


@dataclass(frozen=True)
class How:
    """The transition at a step of its tuning; times in ms of all 512 rows."""

    rows: int = L
    place: Placement = DRAM
    config: str | None = None
    norm: float = 0.9428
    half: float = 5.7471
    gated: float = 4.2315
    last: float = 4.6343


def whole() -> Block:
    """Both halves of the feed-forward as one matmul."""
    block = Block("blackhole", grid=GRID, gap_us=2.0)
    x = block.norm("norm", block.tensor([1, L, L, PAIR]), 942.8, cores=CORES, kind="LAYERNORM")
    both = block.linear("first", x, 2 * INNER, 11322.9, grid=GRID, **EXACT)
    one, two = (block.slice(f"half_{at}", both, (0, 0, 0, INNER * at), (1, L, L, INNER * (at + 1)), 2795.5) for at in range(2))  # fmt: skip
    one = block.unary("silu", "SILU", one, 3448.6, cores=CORES)
    wide = block.binary("gated", "MUL", one, two, 3671.6, cores=CORES)
    block.linear("last", wide, PAIR, 4634.3, grid=GRID, **EXACT)
    return block


def halves(how: How) -> Callable[[], Block]:
    """Two matmuls, the SILU in their product; `rows` of the pairs."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=2.0)
        part = 1e3 * how.rows / L
        x = block.norm("norm", block.tensor([1, how.rows, L, PAIR]), how.norm * part, cores=CORES, kind="LAYERNORM", place=how.place)  # fmt: skip

        def half(role: str) -> Tensor:
            grid = None if how.config else GRID
            return block.linear(
                role, x, INNER, how.half * part, grid=grid, config=how.config, place=how.place, **EXACT
            )

        one, two = (half(f"half_{name}") for name in ("gate", "up"))
        wide = block.binary("gated", "MUL", one, two, how.gated * part, cores=CORES, lhs="SILU", place=how.place)
        block.linear("last", wide, PAIR, how.last * part, grid=GRID, **EXACT)
        return block

    return build


def attention() -> Block:
    """The products of 16 heads of 64 over 320 residues, a softmax between them."""
    block = Block("blackhole", grid=GRID, gap_us=2.0)
    q, v = (block.tensor([1, 16, 320, 64], "FLOAT32") for _ in range(2))
    logits = block.product("scores", q, block.tensor([1, 16, 64, 320], "FLOAT32"), 47.98, cores=100)
    block.product("context", block.softmax("softmax", logits, 60.0, cores=CORES), v, 111.34, cores=10)
    return block


TUNED = one_d(GRID, 1, (ceil(L / CORES), INNER // 32), in0=False).replace("out_block_w=32", "out_block_w=16")
ESMFOLD = (
    laid(
        "esmfold-whole", WHOLE, "the transition of 512 by 512 pairs: 29.4 ms",
        whole,
        (
            gain("halves", "the first matmul as two of half the width, SILU in their product", 8258, "first half_* silu gated", r"two matmuls|split|separate|half|slice|chunk|activation", "29.405 -> 21.147 ms, the same bits"),
            gain("silu", "SILU in the product", 2888.7, "silu gated", ACTIVATION_IN_BINARY, "7.120 -> 4.232 ms, the same bits"),
            dead("swiglu", "the gate by one op of TTNN", "half_* silu gated", r"swiglu", "29.405 -> 29.863 ms", WHOLE_README),
        ),
        "cores; gaps", pass_us=29612,
    ),
    laid(
        "esmfold-halves", PARTS, "the transition as two matmuls: 21.3 ms",
        halves(How()),
        (
            gain("rows_l1", "32 rows at a time, results in L1", 2859, "*", rf"{IN_L1}|chunk|rows at a time|blocks of rows", "21.257 -> 18.398 ms, the same bits; 16 rows 15.785 and 8 rows 18.277, with other bits"),
            dead("silu", "SILU in the first of the matmuls", "half_gate gated", ACTIVATION_IN_MATMUL, "5.747 -> 8.621 ms, the product 4.232 -> 3.672", GATES),
            dead("rows32", "32 rows at a time, results in DRAM", "*", r"chunk|rows at a time|blocks of rows", "21.257 -> 21.321 ms"),
            dead("rows128", "128 rows at a time, results in DRAM", "*", r"128 rows", "21.257 -> 24.094 ms; 64: 22.646, 256: 22.902"),
            dead("rows_l1_64", "64 or more rows at a time, results in L1", "*", r"\b(64|128|256) rows.{0,40}L1|all.{0,20}in L1", "refused: no room"),
        ),
        "cores; gaps", pass_us=21257,
    ),
    laid(
        "esmfold-rows", CONFIGS, "32 of 512 rows of the pairs, results in L1: a 16th of 17.9 ms",
        halves(How(rows=32, place=L1, norm=0.9, half=5.0, gated=2.6, last=4.4184)),
        (
            gain("blocks", "a 1D config for both halves, blocks of 5 by 16 tiles, in0_block_w 1", 203.5, "half_*", BLOCKS, "17.918 -> 14.662 ms of 16 such blocks; a half 312 -> 164 us"),
            dead("narrow", "the same in blocks four tiles wide", "half_*", r"out_block_w.{0,5}4\b|per_core_N.{0,5}4\b", "17.918 -> 25.112 ms"),
            dead("broad", "the same in blocks 32 tiles wide", "half_*", r"out_block_w.{0,5}32\b|per_core_N.{0,5}32\b", "refused: L1 was taken"),
        ),
        "times but of both halves and of all; cores; gaps", pass_us=1119.9,
    ),
    laid(
        "esmfold-tuned", CONFIGS, "the same with its config: a 16th of 14.7 ms",
        halves(How(rows=32, place=L1, config=TUNED, norm=0.9, half=2.63, gated=3.0, last=5.5)),
        (
            dead("gated_dram", "the gated result in DRAM", "gated", r"DRAM", "14.662 -> 14.680 ms"),
            dead("rows64", "64 rows at a time", "*", r"larger|more rows|64 rows|fewer", "refused with each of 24 blocks: L1 was taken", BLOCKS_AT),
        ),
        "times but of all; the config's other fields; cores; gaps", pass_us=916.4,
    ),
    laid(
        "esmfold-attention", ATTENTION, "products of 16 heads of 64 over 320 residues in FLOAT32",
        attention,
        (
            gain("scores", "five rows of tiles to a core, 32 cores", 3.9, "scores", r"program_config|ProgramConfig|per_core", "47.98 -> 44.06 us, the same bits"),
            gain("context", "five rows of tiles to a core, in0_block_w 2, 32 cores", 82.2, "context", CONFIG, "111.34 -> 29.16 us; by a core grid 43.0"),
            dead("grid", "the scores by a core grid", "scores", r"core_grid", "47.98 -> 58.85 us"),
            dead("two", "the scores with two rows of tiles to a core, 80 cores", "scores", r"per_core_M.{0,3}2\b|80 cores", "47.98 -> 52.05 us"),
        ),
        "the softmax between them; cores, as the ledger works them out; fidelity; gaps",
    ),
)  # fmt: skip
