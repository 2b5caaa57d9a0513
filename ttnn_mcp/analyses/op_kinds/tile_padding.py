"""The padding of tiles: its share of an op's bytes, and the ops that lose more by it than its bytes."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.hardware import BLOCK_FLOATS, TILE_SIDE
from ttnn_mcp.run.chip import Chip
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand

REORDERS = ("Permute", "Transpose", "Reshape")
LONG_ROW = 2 / 3  # of a page at full rate: on Blackhole 1 KB reaches 60 %, a row of a face 9 % (tt-metal #55898)


def wasted_bytes(operand: Operand) -> Floats:
    """Bytes of tile padding that another shape of the same tensor would avoid; 0 in ROW_MAJOR.

    The least size merges all outer dims into the height; if a row is narrower than a tile, it folds the elements into
    whole tiles. The one row of a decode step needs a row of tiles in any shape, so it is no waste.
    """
    logical, padded = operand.logical, operand.padded
    rows = logical[:, :3].prod(axis=1)
    width = -(-logical[:, 3] // TILE_SIDE)
    tall = -(-rows // TILE_SIDE) * width
    folded = -(-operand.elements // TILE_SIDE**2)
    least = np.where(logical[:, 3] < TILE_SIDE, folded, tall)
    now = padded.prod(axis=1) / TILE_SIDE**2
    share = np.where(now > 0, 1 - least / np.where(now > 0, now, 1.0), 0.0)
    return np.where(operand.layout.among("TILE"), operand.bytes * np.maximum(share, 0.0), 0.0)


@artefact
def tile_waste(ops: OpTable) -> Floats:
    """Share of the bytes of all operands that is avoidable tile padding."""
    operands = (*ops.inputs, *ops.outputs)
    total, wasted = np.zeros(len(ops)), np.zeros(len(ops))
    for operand in operands:
        total += operand.bytes
        wasted += wasted_bytes(operand)
    return wasted / np.where(total > 0, total, np.inf)


def takes_tiles_apart(ops: OpTable, chip: Chip) -> Booleans:
    """Ops that reorder elements of rows long enough for DRAM: ROW_MAJOR saves them more than the padding's bytes.

    In TILE each row of a face is a transfer of its own. In ROW_MAJOR it is the whole row, if that is no small page.
    """
    output, architecture = ops.outputs[0], chip.architecture
    element_bytes = np.where(output.dtype.among(*BLOCK_FLOATS), 0.0, output.element_bytes)
    has_long_rows = output.logical[:, 3] * element_bytes >= (
        LONG_ROW * architecture.small_page_bytes if architecture else np.inf
    )
    return ops.named(*REORDERS) & has_long_rows
