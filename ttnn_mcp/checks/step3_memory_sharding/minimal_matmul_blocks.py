"""minimal_matmul works in blocks larger than what a core has to do.

It deals rows of tiles over one side of its grid and columns over the other (rows over x where there are more of them),
and each core goes through its share in blocks of M_block_size x N_block_size: 8 x 8 where nothing is said. A share of
2 x 3 tiles in such a block leaves nothing to overlap, and builds that pad to whole blocks compute most of it in vain.
Blocks that fit the shares took 451 us in place of 870, 392 for 710 and 170 for 305 in a FLUX.2 block on Galaxy
(tt-metal); on a fourth shape they saved 18 of 375, so it is a try.

The line: MinimalMatmul of 5 us and more under 60 % of its roofline, whose block is higher or wider than its cores'
shares, and 1 % of the window to save. The bound is the roofline. The fix is for all cores (grid-left-idle).

Silent about forms fused with a collective, whose blocks follow its chunks, and about one row of tiles
(minimal-matmul-on-few-rows).
"""

from __future__ import annotations

from math import prod

import numpy as np

from ttnn_mcp.analyses.op_kinds.config_grids import able_grid, tiles_of
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.programs.grids import grid_in, worker_grid
from ttnn_mcp.analyses.programs.minimal_matmul import DEFAULT_BLOCK, dealt
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import MATMUL_CONFIG
from ttnn_mcp.checks.needs import ARCHITECTURE, ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.op_config import COMPUTE_AS_NOW, sets_program
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.shared.dram_sharding import DEFAULT_GRID
from ttnn_mcp.checks.shared.floors import WELL_USED, achievable_ns
from ttnn_mcp.checks.shared.minimal_call import beside_minimal, deepest_k, even_k, multiplies_alone
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE  # unmoved: rows are padded to whole tiles
from ttnn_mcp.records import dataclass

MINIMAL = ops_named("no minimal_matmul ops", "MinimalMatmul")
SHALLOWEST = DEFAULT_BLOCK // 2  # tiles of K; below it narrower blocks come first (ours)
WIDEST = 12  # tiles: the largest side of a block that won (measured: FLUX.2)


@dataclass(frozen=True)
class Dealt:
    """Rows and columns of tiles of a core, and of the blocks that it takes them in; the grid, x by y."""

    share: tuple[int, int]
    block: tuple[int, int]
    grid: tuple[int, int]


@check(
    title="minimal_matmul in blocks larger than its shares",
    lever=MATMUL_CONFIG,
    of=MINIMAL,
    needs=(TWO_OPERANDS, ATTRIBUTES, ARCHITECTURE),
    worth=Worth(saving=USUAL),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all of them."""
    best = achievable_ns(facts)
    slow = (
        (best < WELL_USED * facts.kernel_ns) & (facts.kernel_ns >= SMALL_NS) & ~np.isnan(facts.roofline.compute_ns)
    )
    rows = np.flatnonzero(MINIMAL.mask(facts) & slow & (facts.ops.inputs[0].height > TILE_SIDE))
    rows = np.array([row for row in rows if _is_too_large(_shares(facts, int(row)))], dtype=np.int64)
    yield Problem(rows, (facts.kernel_ns - best)[rows], sets=SETS, tell=_tell)


def _is_too_large(shares: Dealt) -> bool:
    return any(block > share for block, share in zip(shares.block, shares.share, strict=True))


def _shares(facts: WindowFacts, row: int) -> Dealt:
    config = facts.attributes(row).struct("config")
    numbers = [config.number(f"{side}_block_size") if config else None for side in "MN"]
    high, wide = (DEFAULT_BLOCK if number is None else number for number in numbers)
    grid = grid_in(config) or worker_grid(facts.chip) or DEFAULT_GRID
    return Dealt(dealt(*tiles_of(facts.ops, row), grid), (high, wide), grid)


def _call(facts: WindowFacts, row: int) -> str:
    now = _shares(facts, row).grid
    x, y = grid = max(now, able_grid(facts.chip) or now, key=prod)
    shares = dealt(*tiles_of(facts.ops, row), grid)
    widest, depth, high, wide = WIDEST + 1, 0, 1, 1
    while depth < SHALLOWEST and widest > 1:  # a memory report may tell of too little L1 for any
        widest -= 1
        high, wide = (_fitting(share, widest) for share in shares)
        depth = deepest_k(facts, row, high, wide)
    depth = even_k(facts, row, max(depth, 1))
    sub_h, sub_w = (2 if side % 2 == 0 else 1 for side in (high, wide))
    config = (
        f"config=ttnn.MinimalMatmulConfig(M_block_size={high}, K_block_size={depth}, N_block_size={wide}, "
        f"subblock_h={sub_h}, subblock_w={sub_w}, compute_with_storage_grid_size=ttnn.CoreCoord({x}, {y}))"
    )
    if not multiplies_alone(facts)[row]:
        return f"{config}, all else as now"
    return f"ttnn.experimental.minimal_matmul(x, w{beside_minimal(facts, row)}, {config}, {COMPUTE_AS_NOW})"


def _fitting(share: int, widest: int) -> int:
    """The largest block side up to `widest` that cuts a share into equal parts."""
    return next(side for side in range(min(share, widest), 0, -1) if share % side == 0)


SETS = sets_program(_call)


def _tell(ops: Affected) -> Words:
    facts, shares = ops.facts, _shares(ops.facts, ops.row)
    (high, wide), (rows, columns) = shares.block, shares.share
    return Words(
        claim=(
            f"{ops.many('minimal_matmul call', ('works', 'work'))} in blocks larger than a core's share ({ops.time}): "
            f"{high} x {wide} tiles for {rows} x {columns}, {ops.example}"
        ),
        assumption="a try: the roofline is reached; blocks that fit took half of the time on three of four shapes",
        cells=((facts.input(1), "DATATYPE"),),
        cited=2,
        fix=ops.with_only(SETS).program,
        verify=f"re-profile; kernel_us at line {ops.line} falls; PCC unchanged",
        caveat="sweep K_block_size too; blocks and double buffers must fit L1 (check_setting tells)",
    )
