"""Chronos-2 (forecasts of time series) on one Blackhole chip: a block of its encoder's twelve, 133 patches a series.

768 channels, 12 heads of 64, a feed-forward of 3072, no biases. Each block attends over a series' patches, then over the
series of a group at each patch: alone in its group, a series passes values on. The paper's batch of 1024 series runs
from DRAM, or in pieces of 64 series from L1. The files tell single ops' times where the code chose between two ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.frozen.build import DRAM, L1, PLAIN_NORM, Block, chunks, one_d, two_d
from tests.frozen.layer import TT_METAL, dead, gain, laid
from tests.frozen.names import BLOCK_W, CONFIG, INTERLEAVED_1D, SDPA_CHUNKS, SHARDED, TWO_D

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.profiles import Placement, Tensor

HOME = "models/experimental/chronos_forecast"
FIRST = f"{TT_METAL}/a02811a16734b4f5ba1d2d75d61ed0bf1b7ab3b2/{HOME}/tt/mha_core.py"
CONFIGS = f"{TT_METAL}/edd357c6f605bbcd1c7c10da4e88bf3524d18ec3/{HOME}/tt/program_configs.py"
ATTENTION = f"{TT_METAL}/0b755e48966458249fa642c3dc26273f8ce5ce13/{HOME}/tt/mha_core.py"
LATER = f"{TT_METAL}/0b755e48966458249fa642c3dc26273f8ce5ce13/{HOME}/tt/program_configs.py"
SWAPS = f"{TT_METAL}/0b755e48966458249fa642c3dc26273f8ce5ce13/{HOME}/tt/encoder_block.py"
NOTES = f"{TT_METAL}/1176efc5e94e5292b1db9948a7c3621d74f41da8/{HOME}/optimizations.md"
SWEEP = f"{TT_METAL}/ee91a216939584e28a50e460812a261097ca5ceb/{HOME}/sweeps/sweep_matmul_l1.py"
SUMS = f"{TT_METAL}/30b872081e94937752564cdc5553eae4c5ac26df/{HOME}/ops/add_rms_norm/op.py"
GRID, CORES = (11, 10), 110
HIDDEN, WIDE, HEADS, SIZE, PATCHES, PADDED, ALL, FEW = 768, 3072, 12, 64, 133, 160, 1024, 64
BF16, BF8 = "BFLOAT16", "BFLOAT8_B"


def blocks(block_w: int, columns: int, per_n: int, *, act: str | None = None) -> str:
    """A 2D config in L1 for a piece's 320 tiles of rows: two blocks of 16 on a core."""
    config = two_d((columns, 10), block_w, (32, per_n), subblock=(8, 1), act=act)
    return config.replace("out_block_h=32", "out_block_h=16")


def whole(block_w: int, columns: int, per_n: int, *, act: str | None = None) -> str:
    """A 2D config for the tiles of rows of the whole batch."""
    config = two_d((columns, 10), block_w, (512, per_n), subblock=(8, 1), act=act)
    return config.replace("out_block_h=512", "out_block_h=16")


def normed(block: Block, role: str, x: Tensor, us: float, place: Placement) -> Tensor:
    return block.norm(role, x, us, cores=CORES, config=PLAIN_NORM, place=place)


def turned(block: Block, name: str, x: Tensor, us: float) -> Tensor:
    """Rotary embedding as slices, products and a sum."""
    shape, half = [*x.shape], SIZE // 2
    start, end = (0, 0, 0, 0), tuple(shape)
    one = block.slice(f"turn_{name}_first", x, start, (*end[:3], half), us)
    two = block.slice(f"turn_{name}_second", x, (0, 0, 0, half), end, us)
    two = block.op(f"turn_{name}_minus", "BinaryNg", (two,), block.tensor(two.shape), us, cores=CORES, fidelity="HiFi4", binary_op_type="BinaryOpType::MUL", scalar=-1.0)  # fmt: skip
    rest = block.concat(f"turn_{name}_joined", (two, one), shape, 3, 2 * us)
    table = block.tensor([1, 1, PADDED, SIZE])
    kept = block.binary(f"turn_{name}_cos", "MUL", x, table, 1.5 * us, cores=CORES)
    rest = block.binary(f"turn_{name}_sin", "MUL", rest, table, 1.5 * us, cores=CORES)
    return block.binary(f"turn_{name}_sum", "ADD", kept, rest, 2 * us, cores=CORES)


def rotated(block: Block, role: str, x: Tensor, us: float) -> Tensor:
    tables = [block.tensor([1, 1, PADDED, SIZE]) for _ in range(2)]
    return block.rotary(role, x, us, decode=False, cores=CORES, tables=tables)


def first() -> Block:
    """The first version from DRAM, each series in a group of its own."""
    block = Block("blackhole", grid=GRID, gap_us=1.0)
    shape = [1, ALL, PATCHES, HIDDEN]

    def linear(role: str, x: Tensor, n: int, us: float, act: str | None = None) -> Tensor:
        return block.linear(role, x, n, us, cores=48, fidelity="HiFi2", act=act)

    x = block.tensor(shape)
    y = linear("qkv", normed(block, "norm_time", x, 1_000, DRAM), 3 * HIDDEN, 58_000)
    q, k, v = block.split_heads("heads", block.view(y, [ALL, 1, PATCHES, 3 * HIDDEN]), 4_300, heads=HEADS, kv=HEADS, size=SIZE, rows=PATCHES, batch=ALL, cores=CORES)  # fmt: skip
    q, k = turned(block, "q", q, 1_400), turned(block, "k", k, 1_400)
    y = block.attend("attend", q, k, v, 8_000, config=chunks(32, 32, GRID), cores=CORES, causal=False)
    y = block.join_heads("joined", y, 1_500, cores=CORES)
    x = block.binary("add_time", "ADD", x, linear("wo", block.view(y, shape), HIDDEN, 20_000), 1_400, cores=CORES)
    y = linear("value", normed(block, "norm_group", x, 1_000, DRAM), HIDDEN, 20_000)
    x = block.binary("add_group", "ADD", x, linear("group_out", y, HIDDEN, 20_000), 1_400, cores=CORES)
    y = linear("up", normed(block, "norm_feed", x, 1_000, DRAM), WIDE, 46_000, act="RELU")
    block.binary("add_feed", "ADD", x, linear("down", y, HIDDEN, 30_000), 1_400, cores=CORES)
    return block


def grouped(*, packed: bool) -> Callable[[], Block]:
    """From DRAM, series in groups of four; `packed`: in blocks of 128 series."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        shape, swapped = [1, ALL, PATCHES, HIDDEN], [1, PATCHES, ALL, HIDDEN]

        def linear(role: str, x: Tensor, n: int, us: float, config: str) -> Tensor:
            return block.linear(role, x, n, us, cores=CORES if n > HIDDEN else 80, fidelity="HiFi2", config=config)

        def swap(role: str, x: Tensor, out: list[int]) -> Tensor:
            if not packed:
                return block.turned(role, x, 6_200, dims="CH", cores=CORES)
            rows = block.moved(f"{role}_rows", "Untilize", x, 1_000, layout="ROW_MAJOR", cores=CORES)
            rows = block.turned(f"{role}_turned", rows, 1_200, dims="CH", cores=CORES)
            return block.moved(f"{role}_tiles", "TilizeWithValPadding", rows, 1_000, shape=out, layout="TILE", cores=CORES)  # fmt: skip

        x = block.tensor(shape)
        y = linear("qkv", normed(block, "norm_time", x, 1_000, DRAM), 3 * HIDDEN, 4_600, whole(8, 11, 7))
        q, k, v = block.split_heads("heads", block.view(y, [ALL, 1, PATCHES, 3 * HIDDEN]), 4_300, heads=HEADS, kv=HEADS, size=SIZE, rows=PATCHES, batch=ALL, cores=CORES)  # fmt: skip
        q, k = rotated(block, "rotary_q", q, 1_400), rotated(block, "rotary_k", k, 1_400)
        y = block.attend("attend", q, k, v, 2_300, config=chunks(160, 160, GRID), cores=CORES, causal=False)
        y = block.join_heads("joined", y, 1_500, cores=CORES)
        y = linear("wo", block.view(y, shape), HIDDEN, 1_900, whole(12, 8, 3))
        x = block.binary("add_time", "ADD", x, y, 1_400, cores=CORES)
        y = normed(block, "norm_group", swap("swap", x, swapped), 900, DRAM)
        y = linear("group_qkv", y, 3 * HIDDEN, 4_000, whole(8, 11, 7))
        count, rows = (PATCHES * ALL // 128, 128) if packed else (PATCHES, ALL)
        y = block.view(y, [count, 1, rows, 3 * HIDDEN])
        q, k, v = block.split_heads("group_heads", y, 3_800, heads=HEADS, kv=HEADS, size=SIZE, rows=rows, batch=count, cores=CORES)  # fmt: skip
        chunk = 128 if packed else 256
        y = block.attend("group_attend", q, k, v, 3_750 if packed else 12_920, config=chunks(chunk, chunk, GRID), cores=CORES, causal=False)  # fmt: skip
        y = block.join_heads("group_joined", y, 1_300, cores=CORES)
        y = linear("group_out", block.view(y, swapped), HIDDEN, 1_700, whole(12, 8, 3))
        x = block.binary("add_group", "ADD", x, swap("back", y, shape), 1_400, cores=CORES)
        y = linear("up", normed(block, "norm_feed", x, 1_000, DRAM), WIDE, 6_200, whole(8, 11, 9, act="RELU"))
        block.binary("add_feed", "ADD", x, linear("down", y, HIDDEN, 5_600, whole(12, 8, 3)), 1_400, cores=CORES)
        return block

    return build


def piece(*, in_groups: bool = False, later: bool = False) -> Callable[[], Block]:
    """64 series from L1, in low precision; `later`: 1D configs where columns stayed idle, other blocks, own small ops."""

    def build() -> Block:
        block = Block("blackhole", grid=GRID, gap_us=1.0)
        shape = [1, FEW, PATCHES, HIDDEN]

        def linear(role: str, x: Tensor, n: int, us: float, config: str, *, fidelity: str = "HiFi2") -> Tensor:
            cores = 80 if n == HIDDEN and not later else CORES
            return block.linear(role, x, n, us, dtype=BF8, cores=cores, fidelity=fidelity, config=config, place=L1, out=BF8)  # fmt: skip

        def narrow(depth: int) -> str:
            wide = one_d(GRID, depth, (3, 24), subblock=(1, 4), in0=False)
            return wide if later else blocks(6, 8, 3)

        def norm(role: str, x: Tensor) -> Tensor:
            return normed(block, role, x, 62, L1)

        def added(role: str, x: Tensor, y: Tensor) -> Tensor:
            if later:
                return block.op(role, "GenericOp", (x, y), block.tensor(x.shape, BF16, L1), 22, cores=CORES)
            return block.binary(role, "ADD", x, y, 42, cores=CORES)

        x = block.tensor(shape, BF16, L1)
        y = linear("qkv", norm("norm_time", x), 3 * HIDDEN, 190, blocks(4, 11, 7))
        y = block.view(y, [FEW, 1, PATCHES, 3 * HIDDEN])
        if later:
            parts = tuple(block.tensor([FEW, HEADS, PATCHES, SIZE], BF8, L1) for _ in range(3))
            block.op("heads", "GenericOp", (y, *(block.tensor([1, 1, PADDED, SIZE]) for _ in range(2))), parts, 62, cores=CORES)  # fmt: skip
            q, k, v = parts
        else:
            q, k, v = block.split_heads("heads", y, 60, heads=HEADS, kv=HEADS, size=SIZE, rows=PATCHES, batch=FEW, place=L1, cores=CORES)  # fmt: skip
            q, k = rotated(block, "rotary_q", q, 65), rotated(block, "rotary_k", k, 65)
        y = block.attend("attend", q, k, v, 144, config=chunks(160, 160, GRID), cores=CORES, causal=False)
        y = block.view(block.join_heads("joined", y, 32, cores=CORES), shape)
        x = added("add_time", x, linear("wo", y, HIDDEN, 58.4 if later else 74.1, narrow(4)))
        if in_groups:
            y = norm("norm_group", block.turned("swap", x, 95, dims="CH", cores=CORES))
            y = linear("group_qkv", y, 3 * HIDDEN, 165, blocks(4, 11, 7))
            y = block.view(y, [2 * PATCHES, 1, 32, 3 * HIDDEN])
            q, k, v = block.split_heads("group_heads", y, 52, heads=HEADS, kv=HEADS, size=SIZE, rows=32, batch=2 * PATCHES, place=L1, cores=CORES)  # fmt: skip
            y = block.attend("group_attend", q, k, v, 110, config=chunks(32, 32, GRID), cores=CORES, causal=False)
            y = block.view(block.join_heads("group_joined", y, 28, cores=CORES), [1, PATCHES, FEW, HIDDEN])
            y = linear("group_out", y, HIDDEN, 62, narrow(4))
            y = block.turned("back", y, 80, dims="CH", cores=CORES)
        else:
            y = linear("vo", norm("norm_group", x), HIDDEN, 58.4 if later else 74.1, narrow(4))
        x = added("add_group", x, y)
        config = two_d(GRID, 6, (32, 9), subblock=(2, 3), act="RELU").replace("out_block_h=32", "out_block_h=8")
        config = config if later else blocks(3, 11, 9, act="RELU")
        y = linear("up", norm("norm_feed", x), WIDE, 126.4 if later else 143.7, config, fidelity="LoFi")
        y = linear("down", y, HIDDEN, 132.2 if later else 165.6, narrow(8), fidelity="LoFi")
        added("add_feed", x, y)
        return block

    return build


A_2D = rf"{TWO_D}|{CONFIG}|{BLOCK_W}|fuse_batch"
OUT_BLOCKS = r"out_block_h|out_subblock|subblock|in0_block_w"
ROPE = r"rotary_embedding|rope|one (op|kernel)"
FOLDED = r"fold|premultipl|pre-multipl|one (matmul|linear|projection)|(merge|fuse|join).{0,40}(projections|weights|matmuls|linears)"
PACKED = r"block.?diagonal|pack.{0,40}(groups|series|blocks)|blocks? of (32|64|128)|smaller (mask|blocks)"
ROWS = r"row.major|untilize"
SUMMED = r"fus.{0,40}(add|sum|residual|norm)|add_rms_norm|residual_input_tensor"
MADE_UP = "times of ops whose time is not named here; core counts; gaps"
CHRONOS = (
    laid(
        "chronos-first", FIRST, "1024 series from DRAM, each alone in its group: about 2.7 s a pass, 225 ms a block", first,
        (
            gain("chunks", "attention takes a series' 160 rows in one chunk, not 32 by 32", 5_700, "attend", SDPA_CHUNKS, "8.0 -> 2.3 ms for the op alone", CONFIGS),
            gain("2d", "2D configs that take all series as rows, for all matmuls", None, "qkv wo value group_out up down", A_2D, "TTNN ran a small matmul for each series on a part of the cores; a pass of 2.7 s took 0.26 s with this and more: no figure for it alone", CONFIGS),
            gain("rope", "rotary_embedding for the slices, products and sums", None, "turn_*", ROPE, "taken in the later file: no figure for it alone", ATTENTION),
            gain("values", "one matmul by the product of the value's and the output's weights", None, "value group_out", FOLDED, "taken in the later file: no figure for it alone", ATTENTION),
        ),
        f"{MADE_UP}; how the matmuls share their time",
    ),
    laid(
        "chronos-groups", NOTES, "1024 series from DRAM in groups of four: 155 ms of group attention in twelve blocks", grouped(packed=False),
        (
            gain("blocks", "group attention over blocks of sorted series, not over all 1024 with a mask", 9_170, "group_attend", PACKED, "155 -> 45 ms for a pass of twelve blocks"),
            gain("rows", "axes swap through row-major rows, not tiles", 6_000, "swap back", ROWS, "3.2 ms each for 6.2 to 7.9 ms; 6.2 is taken here", SWAPS),
        ),
        f"{MADE_UP}; attention's chunks over groups; that the 155 and 45 ms are its time alone",
    ),
    laid(
        "chronos-packed", NOTES, "1024 series from DRAM in blocks of 128: 45 ms of group attention in twelve blocks", grouped(packed=True),
        (
            dead("each", "a block for each group of four", "group_attend", r"(block|attention|call) (for|per) (each |one )?group|one per group", "blocks of several sizes were timed, and hold 32 to 128 series, not one group: no figure told"),
        ),
        f"{MADE_UP}; how a swap's 3.2 ms share; attention's chunks over groups",
    ),
    laid(
        "chronos-piece", LATER, "64 series from L1, each alone in its group", piece(),
        (
            gain("narrow", "1D configs over all cores, weights sent to all, for two projections to 768 columns, which leave cores idle", 31.4, "wo vo", INTERLEAVED_1D, "74.1 -> 58.4 us each"),
            gain("down", "a 1D config over all cores, weights sent to all, for down", 33.4, "down", INTERLEAVED_1D, "165.6 -> 132.2 us"),
            gain("up", "for up blocks of 8 tiles of rows, which leave room for a longer in0 block, and the widest subblock", 17.3, "up", OUT_BLOCKS, "143.7 -> 126.4 us"),
            dead("shards", "block shards on 8 x 10 cores for norms, sums and Q, K and V", "norm_* add_* qkv", SHARDED, "tried beside interleaved tensors on 11 x 10, and not taken: no figure told", NOTES),
        ),
        MADE_UP,
    ),
    laid(
        "chronos-later", LATER, "64 series from L1 with 1D configs and own small ops", piece(later=True),
        (
            dead("depth", "in0_block_w 8 for the two projections in HiFi2", "wo vo", BLOCK_W, "4 is the fastest in HiFi2; only LoFi gains at 8"),
            dead("addcmul", "the sum within minimal_matmul", "wo add_time vo add_group down add_feed", r"addcmul", "refused: it wants the stream in the weights' format", SWEEP),
            dead("sum-norm", "a sum and the norm after it in one own op", "add_time norm_group add_group norm_feed", SUMMED, "slower than own ops for each: a row's tiles lie in many banks", SUMS),
        ),
        f"{MADE_UP}; that the own small ops and these configs came together",
    ),
    laid(
        "chronos-piece-groups", SWAPS, "64 series from L1 in blocks of 32", piece(in_groups=True),
        (dead("rows", "axes swap through row-major rows, not tiles", "swap back", ROWS, "faster from DRAM, but not from L1: not taken"),),
        MADE_UP,
    ),
)  # fmt: skip
