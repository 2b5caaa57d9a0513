"""OpenFold3 (it folds proteins) on one Blackhole chip (p150a of 130 cores, p300c of 110): the products of its attentions.

All attentions are written out: scores, a softmax and what it chooses, head by head. The ledger timed each product as TTNN
chose it (multicast, a core for each tile of one head at a time), by a core grid, and by a config that gives a head to a core;
then the triangle attention of 512 residues, 12 rows of pairs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, Block
from tests.frozen.layer import dead, gain, laid
from tests.frozen.names import BLOCK_W, CONFIG, CORES
from tests.profiles import height_sharded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.profiles import Tensor

PERF = "https://github.com/moritztng/tt-bio/blob/{}/perf/{}"
FORMS = PERF.format("d8073b6b1eee8a493f9c2c8c251d69847369e965", "of3_mm/bitexact_c1.json")
SHIPPED = PERF.format("5d02ca83edac9467ba9b855706cbff9093feae8c", "of3_mm/shipped_c1.json")
PROBES = PERF.format("c70e9940047dce75aa04af29fdb887f22d658b56", "of3_mm/probe_{}.json")
WHOLE = PERF.format("877c2f911fd1cf812304dffea63afc11266295b7", "of3_4x/s2_bias_scale.json")
STOCK = PERF.format("877c2f911fd1cf812304dffea63afc11266295b7", "of3_4x/s1_fp32_cb_sdpa.json")
SLICES = PERF.format("a6acaffd61a559fc5800fe00b99dbeb76b4e9130", "of3_4xpd/screen_r_qb1c1.json")
P150A, P300C = (13, 10), (11, 10)
RESIDUES, HEADS, SIZE, ROWS, SHARDS = 512, 4, 32, 12, 64
F32 = "FLOAT32"


def reuse(block: int, subblock: tuple[int, int], per_core: tuple[int, int], grid: tuple[int, int] = P150A) -> str:
    return (
        f"MatmulMultiCoreReuseProgramConfig(compute_with_storage_grid_size=(x={grid[0]},y={grid[1]}),"
        f"in0_block_w={block},out_subblock_h={subblock[0]},out_subblock_w={subblock[1]},per_core_M={per_core[0]},"
        f"per_core_N={per_core[1]})"
    )


@dataclass(frozen=True)
class Product:
    """One of the two products: its time, cores, and what the call gave."""

    us: float
    cores: int
    config: str | None = None
    grid: tuple[int, int] | None = None


def product(block: Block, role: str, a: Tensor, b: Tensor, how: Product) -> Tensor:
    out = block.tensor([*a.shape[:-1], b.shape[-1]])
    return block.op(
        role, "Matmul", (a, b), out, how.us, cores=how.cores, fidelity="HiFi4", bcast_batch=False,
        compute_kernel_config=block.kernel("HiFi4", fp32=True), global_cb=None, output_dtype="DataType::BFLOAT16",
        output_mem_config=DRAM, program_config=how.config, sub_device_id=None, transpose_a=False, transpose_b=False,
        untilize_out=False, user_core_coord=f"(x={how.grid[0]},y={how.grid[1]})" if how.grid else None,
        user_fused_activation=None, user_run_batched=False,
    )  # fmt: skip


def attention(batch: Sequence[int], sizes: tuple[int, int, int], scores: Product, context: Product, between: tuple[float, ...]) -> Callable[[], Block]:  # fmt: skip
    """Of (rows, keys, size of a head); `between`: us of what stands between the products, four with a softmax in FLOAT32."""

    def build() -> Block:
        block = Block("blackhole", grid=P150A, gap_us=2.0)
        rows, keys, size = sizes
        wide = len(between) == 4
        x = product(block, "scores", block.tensor([*batch, rows, size]), block.tensor([*batch, size, keys]), scores)
        if wide:
            x = block.typecast("widened", x, F32, between[0], cores=130)
        else:
            x = block.unary("scaled", "MUL_UNARY_SFPU", x, between[0], cores=130, parameter="0.1443375673")
        bias = block.tensor([1 if wide else batch[0], batch[1], rows, keys], x.dtype)
        x = block.binary("biased", "ADD", x, bias, between[1], cores=130)
        x = block.softmax("softmax", x, between[2], cores=130)
        if wide:
            x = block.typecast("narrowed", x, "BFLOAT16", between[3], cores=130)
        product(block, "context", x, block.tensor([*batch, keys, size]), context)
        return block

    return build


def by_rows() -> Block:
    """The triangle attention of 512 residues: 43 times some rows, their softmax in FLOAT32 in shards in L1."""
    block = Block("blackhole", grid=P300C, gap_us=1.0)
    whole = [RESIDUES, HEADS, RESIDUES, SIZE]
    q, k, v = (block.tensor(whole) for _ in range(3))
    k = block.turned("k_turned", k, 380, cores=110)
    bias = block.typecast("bias", block.tensor([1, HEADS, RESIDUES, RESIDUES]), F32, 20, cores=110)
    parts = []
    for at in range(0, RESIDUES, ROWS):
        rows = min(ROWS, RESIDUES - at)
        share = rows / ROWS
        one = [block.slice(f"{name}_{at}", x, (at, 0, 0, 0), (at + rows, *x.shape[1:]), 36.3 * share, DRAM) for name, x in zip("qkv", (q, k, v), strict=True)]  # fmt: skip
        heads = rows * HEADS
        config = reuse(1, (2, 2), (8, 16), P300C)
        x = product(block, f"scores_{at}", one[0], one[1], Product(370 * share, min(110, 2 * heads), config))
        place = height_sharded(heads * RESIDUES // SHARDS, RESIDUES, SHARDS, width=8)
        x = block.to_shards(f"near_{at}", x, place, 65 * share)
        x = block.typecast(f"widened_{at}", x, F32, 90.8 * share, cores=SHARDS)
        x = block.binary(f"biased_{at}", "ADD", x, bias, 210 * share, cores=SHARDS, place=place)
        x = block.op(f"softmax_{at}", "Softmax", (x,), x, 129.1 * share, cores=SHARDS, fidelity="HiFi4", compute_kernel_config=block.kernel("HiFi4", fp32=True), dim=3, inplace=True, is_causal_mask=False, numeric_stable=False, program_config="SoftmaxDefaultProgramConfig()", scale=None)  # fmt: skip
        x = block.typecast(f"narrowed_{at}", x, "BFLOAT16", 85 * share, cores=SHARDS)
        x = block.from_shards(f"far_{at}", x, 92.4 * share)
        config = reuse(2, (4, 1), (8, 1), P300C)
        parts.append(product(block, f"context_{at}", x, one[2], Product(300 * share, min(110, 2 * heads), config)))
    block.concat("joined", parts, whole, 0, 356)
    return block


def slices() -> Block:
    """The rows of the queries, 12 at a time, and into shards each; behind a norm, or equal parts count as passes."""
    block = Block("blackhole", grid=P150A, gap_us=1.0)
    block.norm("norm", block.tensor([1, 1, 32, SIZE]), 2.0, cores=1)
    q = block.tensor([RESIDUES, HEADS, RESIDUES, SIZE])
    place = height_sharded(ROWS * HEADS * RESIDUES // SHARDS, SIZE, SHARDS, width=8)
    for at in range(0, RESIDUES - ROWS + 1, ROWS):
        part = block.slice(f"part_{at}", q, (at, 0, 0, 0), (at + ROWS, *q.shape[1:]), 36.3, DRAM)
        block.to_shards(f"shards_{at}", part, place, 36.336)
    return block


TRIANGLE, ATOMS, TOKENS = (298, 4), (75, 4), (1, 16)
WIDE = (2000.0, 2700.0, 2900.0, 1900.0)
MADE_UP = "what stands between the products, its times; how many cores TTNN's choice took; gaps"
SMALL = f"{MADE_UP}; atoms by windows are a fifth axis, drawn as the first of four"
OPENFOLD3 = (
    laid(
        "of3-triangle", FORMS, "triangle attention of 298 residues, padded to 320: 1192 times one head of 32",
        attention(TRIANGLE, (320, 320, 32), Product(1628.5, 100), Product(5145.3, 10), WIDE),
        (
            gain("scores", "a config or a core grid for the scores", 737.3, "scores", CONFIG, "1628.5 -> 891.2 us a head to a core; 890.5 by a core grid"),
            gain("context", "a config or a core grid for what they choose", 4495.5, "context", CONFIG, "5145.3 -> 649.8 us a head to a core; 667.2 by a core grid"),
        ),
        MADE_UP,
    ),
    laid(
        "of3-triangle-set", FORMS, "the same with a head to a core",
        attention(TRIANGLE, (320, 320, 32), Product(891.2, 130, reuse(1, (2, 2), (10, 10))), Product(649.8, 130, reuse(2, (2, 1), (10, 1))), WIDE),
        (
            dead("scores-grid", "a core grid in place of the config", "scores", r"core_grid", "891.2 -> 890.5 us"),
            dead("context-grid", "a core grid in place of the config", "context", r"core_grid", "649.8 -> 667.2 us"),
            dead("context-short", "in0_block_w of 1 for 2", "context", r"in0_block_w\D{0,20}1\b", "649.8 -> 670.3 us"),
            dead("context-long", "a longer in0_block_w", "context", r"in0_block_w\D{0,20}(5|10)\b|(longer|larger|higher|raise).{0,40}in0_block_w", "649.8 -> 658.3 us with 5 and 658.2 with all 10"),
        ),
        MADE_UP,
    ),
    laid(
        "of3-triangle-grid", PROBES.format("triatt_qk"), "triangle attention of 320 residues by a core grid of 11 x 10",
        attention((320, 4), (320, 320, 32), Product(986.9, 110, grid=P300C), Product(764.2, 110, grid=P300C), WIDE),
        (
            dead("scores-cores", "all 130 cores for the scores", "scores", CORES, "986.9 -> 985.3 us"),
            dead("context-cores", "all 130 cores for what they choose", "context", CORES, "764.2 -> 757.6 us", PROBES.format("triatt_av")),
        ),
        MADE_UP,
    ),
    laid(
        "of3-atoms", FORMS, "attention of atoms: 75 windows, four heads of 32, 32 rows over 128 keys",
        attention(ATOMS, (32, 128, 32), Product(304.7, 4), Product(511.4, 1), (12.0, 12.0, 14.0)),
        (
            gain("scores", "a config or a core grid for the scores", 270.5, "scores", CONFIG, "304.7 -> 34.2 us a head to a core; 43.5 by a core grid"),
            gain("context", "a config or a core grid for what they choose", 477.5, "context", CONFIG, "511.4 -> 33.9 us a head to a core; 45.8 by a core grid"),
        ),
        SMALL,
    ),
    laid(
        "of3-atoms-set", FORMS, "the same with a head to a core",
        attention(ATOMS, (32, 128, 32), Product(34.2, 130, reuse(1, (1, 4), (1, 4))), Product(33.9, 130, reuse(2, (1, 1), (1, 1))), (12.0, 12.0, 14.0)),
        (
            dead("scores-grid", "a core grid in place of the config", "scores", r"core_grid", "34.2 -> 43.5 us"),
            dead("context-grid", "a core grid in place of the config", "context", r"core_grid", "33.9 -> 45.8 us"),
            dead("context-short", "in0_block_w of 1 for 2", "context", r"in0_block_w\D{0,20}1\b", "33.9 -> 37.1 us"),
            dead("context-long", "in0_block_w of all 4", "context", r"in0_block_w\D{0,20}4\b|(longer|larger|higher|raise).{0,40}in0_block_w", "33.9 -> 37.8 us"),
        ),
        SMALL,
    ),
    laid(
        "of3-tokens", SHIPPED, "attention of the diffusion over 298 tokens, padded to 320: 16 heads of 48 in 64",
        attention(TOKENS, (320, 320, 64), Product(39.2, 100), Product(93.8, 20), (16.0, 16.0, 20.0)),
        (
            gain("scores", "a config for the scores: two tiles of rows to a core, 80 cores", 4.5, "scores", r"program_config|ProgramConfig|per_core", "39.25 -> 34.71 us; 39.45 -> 32.43 in another run"),
            gain("context", "a config or a core grid for what they choose", 58.2, "context", CONFIG, "93.81 -> 35.58 us on 80 cores; 32.2 by a core grid in another run"),
        ),
        MADE_UP,
    ),
    laid(
        "of3-tokens-set", FORMS, "the same with two tiles of rows to a core",
        attention(TOKENS, (320, 320, 64), Product(32.4, 80, reuse(1, (2, 2), (2, 10))), Product(32.8, 80, reuse(2, (2, 2), (2, 2))), (16.0, 16.0, 20.0)),
        (
            dead("scores-grid", "a core grid in place of the config", "scores", r"core_grid", "32.4 -> 37.3 us"),
            dead("context-grid", "a core grid in place of the config", "context", r"core_grid", "32.8 -> 32.2 us"),
            dead("context-short", "in0_block_w of 1 for 2", "context", r"in0_block_w\D{0,20}1\b", "32.8 -> 32.3 us"),
            dead("context-middle", "in0_block_w of 5 for 2", "context", r"in0_block_w\D{0,20}5\b", "32.8 -> 33.7 us"),
        ),
        MADE_UP,
    ),
    laid(
        "of3-trunk", PROBES.format("tokatt_av"), "attention of the trunk over 298 tokens, padded to 320: 16 heads of 24 in 32",
        attention(TOKENS, (320, 320, 32), Product(37.9, 100), Product(82.1, 10), (16.0, 16.0, 20.0)),
        (
            gain("context", "a config or a core grid for what they choose", 49.0, "context", CONFIG, "82.1 -> 33.1 us a head to a core; 31.0 by a core grid of 13 x 10, 57.2 by 11 x 10"),
            dead("scores-grid", "a core grid for the scores", "scores", r"core_grid", "37.9 -> 44.3 us by 11 x 10, 58.7 by 13 x 10", PROBES.format("tokatt_qk")),
        ),
        MADE_UP,
    ),
    laid(
        "of3-trunk-set", PROBES.format("tokatt_av"), "the same with a head to a core for what they choose",
        attention(TOKENS, (320, 320, 32), Product(37.9, 100), Product(33.1, 16, reuse(1, (2, 1), (10, 1))), (16.0, 16.0, 20.0)),
        (
            dead("context-long", "in0_block_w of all 10", "context", BLOCK_W, "33.1 -> 47.7 us"),
            dead("context-split", "half a head to a core, 32 cores", "context", r"per_core_M\D{0,20}5\b|32 cores", "33.1 -> 55.9 us"),
        ),
        MADE_UP,
    ),
    laid(
        "of3-rows", WHOLE, "triangle attention of 512 residues, 12 rows of pairs at a time: 62.70 ms",
        by_rows,
        (
            gain("sdpa", "one attention op of TTNN, its mask multiplied by the root of the size of a head", 59_411.0, "*", r"scaled_dot_product_attention|SDPA|flash", "62.678 -> 3.267 ms. It scales the mask with the scores: unscaled the fold comes out wrong, scaled the error is that of the chain", STOCK),
        ),
        "how times are shared, but the chain from near to far (672 us of 12 rows); configs of the products; gaps",
        pass_us=62704.4,
    ),
    laid(
        "of3-slices", SLICES, "the queries of 512 residues cut into 42 parts of 12 rows and put into shards: 3.05 ms",
        slices,
        (
            gain("shards", "the cut writes the shards itself", 1484.6, "part_* shards_*", r"(?s)slice.{0,200}(shard|memory_config)|(shard|memory_config).{0,200}slice", "3050.7 -> 1566.1 us"),
        ),
        "how times are shared; gaps", pass_us=3050.7,
    ),
)  # fmt: skip
