"""A norm runs on few cores: an interleaved LayerNorm or RMSNorm uses one core per row of tiles.

A row is normalised as a whole, so the default program distributes rows of tiles: at M <= 32 (decode, short prompts)
one core does everything. Shards over the width split the row instead: 108 us on one core became about 10 times as fast
in GPT-OSS (tt-mlir #7717, #7965). A CLIP encoder spends 11 % of its time in such norms. GroupNorm takes the grid it is
given, and its default can be small.

The line: a norm of 5 us and more on under 50 % of the grid, together 1 % of the window (domain practice). The
bound for a layer norm is its tiles over all cores, at best 10 times as fast (what was measured: 17 us on one core
and 2 on 32 for 1024 values); for a group norm its work over the whole grid. The launch stays. A layer norm on shards
takes and gives shards, so a move out of shards that it alone reads, or into shards that alone reads it, counts whole.
Sums beside it save more once they stay in shards too: nothing measured bounds that.

Where the host cannot send ops fast enough, interleaved norms are a trial: the two moves that shards ask for are two
more ops to send (Mistral Small 24B untraced on four chips and ModernBERT lost 17 to 41 us and 5 us a norm).

So are layer norms that are in shards already: in ledgers of six models more cores took 67, 25, 19 and 6 % less, and
brought nothing five times; Phi 3.5's were as quick on 8, 16 and 32.

So are those over more than 128 rows: shards lost over 256 rows and were refused over 512, 16 rows of tiles (ports of
ModernBERT and of Kokoro's ALBERT in tt-metal).

Shards that do not divide the width are right from tt-metal #48856 on: builds before it divide the sums by the width of
whole shards, which scales the result by a percent or so, and PCC sees no scale; builds before #44527 refuse them.

Silent if the rows already fill half of the grid (then sharding helps little), about norms of one tile, and on Wormhole
about layer norms under 12 us: those of Qwen3-TTS's heads took 9 to 10 us on 8 cores and on 16.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.host_gaps import DEVICE_BOUND
from ttnn_mcp.analyses.laws.descriptions import Described
from ttnn_mcp.analyses.op_kinds.few_cores import on_few_cores
from ttnn_mcp.analyses.programs.convs import divisors
from ttnn_mcp.analyses.programs.grids import Grid, most_cores_dividing, worker_grid
from ttnn_mcp.analyses.programs.norms import ShardedNorm, blocks_on
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.arrays import Floats, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import NORM_CONFIG
from ttnn_mcp.checks.needs import CORES, OPERANDS
from ttnn_mcp.checks.shared.changed_ops import changed
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import DEFAULT_GRID
from ttnn_mcp.checks.shared.group_norm_call import group_norm_call
from ttnn_mcp.checks.wording import took
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

SHORT_NS = (
    12_000.0  # of a layer norm on Wormhole: 9 to 10 us stayed on 8 and 16 cores (tt-metal, Qwen3-TTS's notes)
)
TALL = 128  # rows: the most of which interleaved norms were measured to gain (CLM-8B, Muse-Glimmer 30B)
FASTER_AT_MOST = 10.0  # measured: 108 us on one core, tt-mlir #7717, #7965


@check(
    title="norms on few cores",
    lever=NORM_CONFIG,
    of=ops_of_family("no norm ops", "norm"),
    needs=(OPERANDS, CORES),
    worth=Worth(time=USUAL),
    compiled=optimized("shards norms"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all norms on few cores, with the moves beside them."""
    cores = facts.chip.cores or 0
    short = (facts.chip.arch == "wormhole_b0") & ~facts.named("GroupNorm") & (facts.kernel_ns < SHORT_NS)
    able = facts.of_family("norm") & ~short & ~facts.roofline.impossible & facts.ops.inputs[0].present
    rows = np.flatnonzero(able & on_few_cores(facts.ops, cores))
    at_most = _at_most(facts, rows, cores)
    rows, at_most = rows[at_most > 0], at_most[at_most > 0]
    by_rows, sharded = ~facts.named("GroupNorm"), facts.ops.inputs[0].sharded
    tall, cut = by_rows & (facts.ops.inputs[0].height > TALL) & ~sharded, by_rows & sharded
    for kind, unsure in ((~tall & ~cut, False), (tall, True), (cut, True)):
        these, most = rows[kind[rows]], at_most[kind[rows]]
        moves = _moves(facts, these)
        trial = unsure or (not len(moves) and _adds_launches(facts, these))
        yield Problem(
            np.concatenate([these, moves]),
            np.concatenate([most, facts.kernel_ns[moves]]),
            tell=partial(_tell, len(moves)),
            becomes=None if trial else partial(_in_shards, facts),
            about=these,
            is_trial=trial,
        )


def _tell(moves: int, ops: Affected) -> Words:
    facts, used = ops.facts, ops.facts.ops.numbers("cores")[ops.rows].astype(int)
    beside = f"; moves beside them: {moves}" if moves else ""
    grouped = ops.facts.named("GroupNorm")[ops.row]
    cut = bool(facts.ops.inputs[0].sharded[ops.row])
    faster = "in step with the cores" if grouped else "up to 10x (measured)"
    some = f"{used.min()}" if used.min() == used.max() else f"{used.min()} to {used.max()}"
    return Words(
        claim=(
            f"{ops.many('norm')} on {some} of {facts.chip.cores} cores ({ops.time}): {ops.name} {ops.example}, "
            f"{took(float(facts.kernel_ns[ops.row]))}{beside}"
        ),
        assumption=f"{faster}; the launch stays; sums in shards: no bound",
        columns=("cores",),
        cited=3,
        fix=_fix(facts, ops.row),
        verify=f"re-profile; sharding_summary.low_core_ops lists no {ops.name}; PCC >= 0.99",
        caveat=None
        if grouped
        else _uneven(facts, ops.row)
        or (
            "its neighbours' shards change with it; most tries brought nothing"
            if cut
            else "moving the row into shards and back costs two small ops: keep neighbours sharded"
        ),
    )


def _uneven(facts: WindowFacts, row: int) -> str:
    """That older builds divide by the width of whole shards; empty where the shards divide it."""
    norm = _sharded(facts, row, worker_grid(facts.chip) or DEFAULT_GRID)
    if norm.columns % norm.block_w == 0:
        return ""
    even = max((divisor for divisor in divisors(norm.columns) if divisor <= norm.shards[0]), default=1)
    return (
        "builds before tt-metal #48856 (0.81.1 has it) take the mean over the padded last shard, which PCC hides: "
        f"there {even} columns of cores, which divide the width"
    )


def _at_most(facts: WindowFacts, rows: Rows, cores: int) -> Floats:
    took, used = facts.kernel_ns[rows], facts.ops.numbers("cores")[rows]
    tiles = facts.ops.inputs[0].padded.prod(axis=1)[rows] / TILE_SIDE**2
    wide = np.maximum(np.minimum(cores, tiles), used)
    by_rows = ~facts.named("GroupNorm")[rows]
    best = np.where(by_rows, np.maximum(took * used / wide, took / FASTER_AT_MOST), took * used / cores)
    return np.maximum(took - np.maximum(best, LAUNCH_FLOOR_NS), 0)


def _adds_launches(facts: WindowFacts, rows: Rows) -> bool:
    """Whether most of it is norms that need moves in and out of shards, while the host cannot send ops fast enough."""
    moved = rows[~facts.named("GroupNorm")[rows]]  # that one takes a grid, no shards
    return bool(facts.timeline.busy < DEVICE_BOUND and facts.share(moved) > facts.share(rows) / 2)


def _moves(facts: WindowFacts, rows: Rows) -> Rows:
    """Moves between shards and these layer norms alone, which need none once they run on shards."""
    norms = np.zeros(len(facts), dtype=np.bool_)
    norms[rows] = True
    norms &= ~facts.named("GroupNorm")
    before = facts.named("ShardedToInterleaved") & facts.joins.read_only_by(norms)
    makers = facts.joins.makers
    alone = facts.joins.reader_counts[makers] == 1  # NOBODY is the last op, which no op reads
    return np.flatnonzero(before | (facts.named("InterleavedToSharded") & norms[makers] & alone))


def _in_shards(facts: WindowFacts, row: int) -> Described | None:
    """The norm at `row` as the fix has it, for the laws of time, which know neither moves nor GroupNorm in blocks."""
    norm = _sharded(facts, row, worker_grid(facts.chip) or DEFAULT_GRID)
    place = "L1_WIDTH_SHARDED" if norm.rows == 1 else "L1_BLOCK_SHARDED"
    (x, y), fits = norm.shards, _fits(facts, row, norm)
    sizes = {"cores": x * y, "block_h": norm.block_h, "block_w": norm.block_w}
    return changed(facts, row, in_place=place, out_place=place, **sizes) if fits else None


def _fix(facts: WindowFacts, row: int) -> str:
    grid = worker_grid(facts.chip) or DEFAULT_GRID
    if facts.named("GroupNorm")[row]:
        return group_norm_call(facts, row)
    norm = _sharded(facts, row, grid)
    if not _fits(facts, row, norm):
        return "no grid holds its shards and their buffers in L1: norm fewer rows per call, or leave it interleaved"
    (x, y), shards = norm.shards, "WIDTH_SHARDED" if norm.rows == 1 else "BLOCK_SHARDED"
    gamma = "TILE [1,1,1,C]" if facts.ops.inputs[0].logical[row, 3] % TILE_SIDE else "ROW_MAJOR [1,1,C/32,32]"
    config = facts.attributes(row).struct("program_config")
    welford = ", use_welford=True" if config and config.number("use_welford") else ""
    held = "x, residual and y" if _adds(facts, row) else "x and y"
    return (
        f"{held} L1 {shards} on {x}x{y} cores; program_config=ttnn.LayerNormShardedMultiCoreProgramConfig("
        f"compute_with_storage_grid_size=({x}, {y}), subblock_w=1, block_h={norm.block_h}, block_w={norm.block_w}, "
        f"inplace=False{welford}); gamma {gamma}"
    )


def _adds(facts: WindowFacts, row: int) -> bool:
    """Whether it adds a residual, which TTNN 0.81.1 wants in shards too, as it wants the result."""
    x, *others = facts.ops.inputs
    one_row = x.elements[row] == x.logical[row, 3]  # as a weight has
    return not one_row and any((other.logical[row] == x.logical[row]).all() for other in others)


def _sharded(facts: WindowFacts, row: int, grid: Grid) -> ShardedNorm:
    """The norm in blocks over as much of the grid as takes part; the last shards may be smaller (TTNN 0.81.1)."""
    x = facts.ops.inputs[0]
    columns = max(int(x.padded[row, 3]) // TILE_SIDE, 1)
    rows = -(-int(x.height[row]) // TILE_SIDE)
    if rows == 1:
        cores = most_cores_dividing(columns, grid) or (1, 1)
    else:
        high, wide = blocks_on(rows, columns, grid)
        cores = -(-columns // wide), -(-rows // high)
    return ShardedNorm(rows, columns, cores, cores, *blocks_on(rows, columns, cores), 1)


def _fits(facts: WindowFacts, row: int, norm: ShardedNorm) -> bool:
    """Whether a core holds its shards of input and output beside the norm's buffers; unknown counts as yes.

    A norm without a compute config of its own accumulates in float32 (TTNN 0.81.1), which takes the most.
    """
    limit = facts.l1_limit
    tile = TILE_BYTES.get(facts.ops.inputs[0].dtype[row], max(TILE_BYTES.values()))
    buffers = sum(replace(norm, fp32=True, bias_bytes=norm.weight_bytes).buffers.values())
    return limit is None or buffers + 2 * norm.block_h * norm.block_w * tile <= limit.safe_bytes
