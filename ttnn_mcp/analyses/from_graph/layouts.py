"""Buffers of ops that turn rows into tiles, and tiles into rows.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

from math import ceil

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Machine, Program
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.graph.specs import Spec

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
_INDICES, FEW_INDICES = 256, 128  # bytes


def tilized(program: Program) -> Buffers | None:
    """Rows to tiles: a row of tiles in and out, or a block of it if rows are few and long."""
    x, out = program.x, program.out
    in_tile = TILE_SIDE * TILE_SIDE * (4 if x.tile_bytes == _FULL else 2)
    # two matrices of a shard, a row of padding
    if program.factory == "TilizeWithValPaddingMultiCoreShardedFactory":
        if out.held is None:
            return None
        row = out.held[2] * in_tile
        return {"ROWS": 2 * out.rows * row, "PADDING": row // TILE_SIDE}
    if "Sharded" in program.factory:  # from shards into like shards
        return {}
    if "Block" in program.factory:
        tiles = _block_of(out, program.machine)
        row = tiles * in_tile // TILE_SIDE + 2 * program.machine.aligned
        return {"ROWS": tiles * in_tile, "TILES": tiles * out.tile_bytes, "ROW": row}
    return {"ROWS": out.columns * in_tile, "TILES": out.columns * out.tile_bytes}


def untilized(program: Program) -> Buffers | None:
    """Tiles to rows: the same; the generated program takes twice the part of a row that a core has."""
    x, out = program.x, program.out
    out_tile = TILE_SIDE * TILE_SIDE * (4 if out.tile_bytes == _FULL else 2)
    if "Block" in program.factory:
        return _pair(_block_of(x, program.machine), x.tile_bytes, out_tile)
    if "Identical" in program.factory:  # from shards into like shards
        return {}
    if "Codegen" in program.factory:
        return _pair(2 * _share_of_row(x, program.machine), x.tile_bytes, out_tile)
    if x.held is not None:  # reads its shard where it lies
        _, rows, columns = x.held
        whole = "Unpadding" in program.factory
        copies = min(rows, 2) if not whole else 2 * rows if out.sharded_in_l1 else 2
        return {"ROWS": copies * columns * out_tile}
    return _pair(x.columns, x.tile_bytes, out_tile)


def _pair(tiles: int, came: int, goes: int) -> Buffers:
    return {"TILES": tiles * came, "ROWS": tiles * goes}


def _share_of_row(x: Spec, machine: Machine) -> int:
    """Columns of tiles at a time: as few as leave no core without work; all where tiles are not full."""
    few = ceil(x.tiles / machine.cores)
    if x.shape[-2] % TILE_SIDE or x.shape[-1] % TILE_SIDE:
        return x.columns
    if x.tiles == x.columns:
        return few
    return next((size for size in range(few, x.columns) if x.columns % size == 0), x.columns)


def embedded(program: Program) -> Buffers:
    """Two rows of the table; into tiles: two rows of tiles in and out if they fit, otherwise one; and indices."""
    out = program.out
    table = max(program.inputs, key=lambda spec: spec.shape[-1])
    if not out.tiled:  # a second row is read ahead where cores have several
        rows = 2 if out.batch * out.shape[-2] > program.machine.cores else 1
        return {
            "ROWS": rows * table.row_bytes,
            "INDICES": _INDICES * (2 if program.machine.arch == "blackhole" else 1),
        }
    if out.held is not None:  # writes its shard where it lies
        return {"ROWS": 2 * out.held[2] * _HALF, "INDICES": FEW_INDICES}
    row = out.columns * (out.tile_bytes + _HALF)
    return {"ROWS": 2 * row if 2 * row + FEW_INDICES <= program.room.running else row, "INDICES": FEW_INDICES}


def _block_of(tensor: Spec, machine: Machine) -> int:
    """Side of the square blocks into which few long rows are cut: the smallest that leaves a core without a block."""
    rows, columns = tensor.batch * tensor.rows, tensor.columns
    longest = max(rows, columns)
    sides = (side for side in range(1, longest) if ceil(columns / side) * ceil(rows / side) < machine.cores)
    return next(sides, longest)
