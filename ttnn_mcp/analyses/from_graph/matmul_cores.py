"""The cores on which a matmul runs: as TTNN chooses them for given placements, or with a core grid."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.from_graph.auto_matmul import Blocks, Chooser
from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.hardware import TILE_BYTES
from ttnn_mcp.readers.graph.specs import Spec
from ttnn_mcp.readers.printed.memory_config import Placement
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

IN_DRAM = Placement("INTERLEAVED", "DRAM")
IN_L1 = Placement("INTERLEAVED", "L1")
BIAS = 2  # place of the bias among the inputs


def chooser_of(ops: OpTable, row: int, grid: Grid, l1_bytes: int, *, given_grid: bool = False) -> Chooser | None:
    """TTNN's choice for the matmul at `row` as it lies; None with sharded operands or unknown data types."""
    specs = [_spec(operand, row) for operand in (*ops.inputs[:BIAS], *ops.outputs[:1])]
    known = [spec for spec in specs if spec is not None]
    if len(known) < len(("a", "b", "out")):
        return None
    bias_bytes = sum(TILE_BYTES.get(bias.dtype[row], 0) for bias in ops.inputs[BIAS : BIAS + 1])
    a, b, out = known
    return Chooser(a, b, out, grid, l1_bytes, bias_bytes=bias_bytes, given_grid=given_grid)


def moved_to(chooser: Chooser, placement: Placement) -> Chooser:
    """The same matmul with both operands and the output placed elsewhere."""
    a, b, out = (replace(spec, placement=placement) for spec in (chooser.a, chooser.b, chooser.out))
    return replace(chooser, a=a, b=b, out=out)


def cores_of(chooser: Chooser) -> int | None:
    """The cores that the chosen program works on; None where the choice is not modelled."""
    blocks = chooser.blocks()
    if blocks is None:
        return None
    most = chooser.grid[0] * chooser.grid[1]
    return min(_pieces(chooser, blocks), most)


def _pieces(chooser: Chooser, blocks: Blocks) -> int:
    """Blocks of the output, one for each core."""
    a, b = chooser.a, chooser.b
    rows = a.batch * a.rows if chooser.given_grid and b.batch == 1 else a.rows
    down, across = ceil(rows / blocks.per_core_m), ceil(b.columns / blocks.per_core_n)
    return (a.batch if blocks.kind in ("Tiles", "Reuse") else 1) * down * across


def _spec(operand: Operand, row: int) -> Spec | None:
    """The operand as a tensor; None where it is absent or lost, sharded, or of a data type without tiles."""
    if not operand.present[row] or operand.sharded[row] or operand.dtype[row] not in TILE_BYTES:
        return None
    placement = IN_L1 if operand.in_l1[row] else IN_DRAM
    return Spec(
        tuple(int(size) for size in operand.padded[row]), operand.dtype[row], tiled=True, placement=placement
    )
