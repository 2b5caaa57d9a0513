"""A sum or mean over many rows runs on a few cores: one per column of tiles and batch.

A reduction along the rows deals out columns of tiles, whatever their height, so a narrow tensor starves the grid:
51,264 rows of one tile's width took 917 us on one core of 64. The rows are parts of a batch just as well: summed part
by part, and the parts after that, they fill the grid. So do sums of ROW_MAJOR rows, 242 us on 64 cores (tt-metal
#52922, #50393), and builds since tt-metal PR #54349 cut such columns by themselves.

The line: a reduction of TILE rows to one, on under half of the grid, 5 us and more, and more rows of tiles than cores
per column; together 1 % of the window to save. The bound is its tiles over all cores, down to the DRAM bytes and the
launch.

Silent about sums along the columns, whose rows are dealt out, and about ROW_MAJOR inputs.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import on_few_cores
from ttnn_mcp.analyses.programs.convs import divisors
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.needs import CORES, OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


@check(
    title="a sum over many rows on few cores",
    of=ops_of_family("no reductions", "reduction"),
    needs=(OPERANDS, CORES),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such sums."""
    cores = facts.chip.cores or 0
    took, used = facts.kernel_ns, facts.ops.numbers("cores")
    tiles = facts.ops.inputs[0].padded.prod(axis=1) / TILE_SIDE**2
    best = np.maximum(took * used / np.maximum(np.minimum(cores, tiles), used), achievable_ns(facts))
    rows = np.flatnonzero(_sums_rows(facts) & on_few_cores(facts.ops, cores) & (best < took))
    yield Problem(rows, (took - best)[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    x, cores = ops.facts.ops.inputs[0], ops.facts.chip.cores or 0
    batch, channels, high, wide = (int(side) for side in x.logical[ops.row])
    math = ops.facts.attributes(ops.row).get("math_op", "")
    call = next((name for name in ("max", "min") if math.endswith(name.upper())), "sum")
    parts = _parts(high // TILE_SIDE, batch * channels * -(-wide // TILE_SIDE), cores)
    used = int(ops.facts.ops.numbers("cores")[ops.row])
    return Words(
        claim=(
            f"{ops.many('sum')} over many rows on few of {cores} cores ({ops.time}): {used} for {high} rows, "
            f"{ops.example}"
        ),
        assumption="tiles distributed evenly over all cores; the second sum is small",
        cells=((x, "LAYOUT"),),
        columns=("cores",),
        fix=(
            f"ttnn.{call}(ttnn.{call}(ttnn.reshape(x, ({batch * channels}, {parts}, {high // parts}, {wide})), dim=2, "
            "keepdim=True), dim=1, keepdim=True)  # a view on tiles; mean alike; or, since mid-2026, "
            f"ttnn.{call} of x in ROW_MAJOR, dim=-2"
        ),
        verify="re-profile; the first sum's CORE COUNT is that of its parts, both take less; PCC >= 0.99",
        caveat="sums of parts round differently: compare in float32 accumulation",
    )


def _sums_rows(facts: WindowFacts) -> Mask:
    """Reductions of rows of tiles to one row."""
    x, y = facts.ops.inputs[0], facts.ops.outputs[0]
    to_one = (
        (x.logical[:, 2] > TILE_SIDE)
        & (x.logical[:, 2] % TILE_SIDE == 0)
        & (y.logical[:, 2] == 1)
        & (x.logical[:, 3] == y.logical[:, 3])
    )
    return facts.named("Reduce") & to_one & x.layout.among("TILE")


def _parts(high: int, columns: int, cores: int) -> int:
    """The divisor of the rows of tiles after which the busiest core has the fewest tiles; the smallest of them."""
    return min(divisors(high), key=lambda parts: (-(-parts * columns // cores) * high // parts, parts))
