"""Buffers of ops that turn rows into tiles, and tiles into rows, and of transpose, permute and reshape.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory (tests/real/l1_captures.json proves those of turns and
reshapes). A core's own shard needs no buffer, but the models of tilized and untilized rows count one. If the number
depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

from math import ceil, lcm

import numpy as np

from ttnn_mcp.analyses.from_graph.program import AtMost, Buffers, Machine, Program
from ttnn_mcp.arrays import Integers
from ttnn_mcp.hardware import ELEMENT_BYTES, LOCAL_L1_ALIGNMENT_BYTES, TILE_BYTES, TILE_SIDE
from ttnn_mcp.readers.graph.specs import Spec

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
_INDICES, FEW_INDICES = 256, 128  # bytes
FACE_SIDE = 16  # elements: a tile is four faces, one after the other
SLOTS = 8  # rows of the output that are staged where rows are not aligned: reshape_rm_program_factory.cpp
READ, STAGED = 128, 80  # bytes beside whole pieces of 64, of a row that is read and of one that is staged
PIECE = 64  # bytes
ENTRY = 16  # bytes of a piece in the map of a reshape: two pages, two places
MAPPED = 1 << 24  # elements whose map is counted, at most: two seconds


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


def transposed(program: Program) -> Buffers | None:
    """Two tiles, in and out where their insides turn too, and the padding of rows that become tiles."""
    x, factory = program.x, program.factory
    if not factory:
        return _before_factories(x)
    if factory == "TransposeCNProgramFactory":
        return {"TILES": 2 * x.tile_bytes}
    if factory == "TransposeHCTiledInterleavedProgramFactory":
        face = int(FACE_SIDE * FACE_SIDE * ELEMENT_BYTES[x.dtype])
        return {"TILES": 2 * x.tile_bytes, "PADDING": face if (1, *x.shape)[-3] % TILE_SIDE else 0}
    if factory == "TransposeWHProgramFactory":
        return {"TILES": 2 * x.tile_bytes, "OUT": 2 * x.tile_bytes}
    return {} if factory == "TransposeWHShardedProgramFactory" else None


def permuted(program: Program) -> Buffers | None:
    """Rows stay whole, or are cut into blocks of tiles; tiles are read row by row, and turned if their sides change."""
    x, out, factory = program.x, program.out, program.factory
    if not factory:
        return _before_factories(x)
    if factory == "MultiCoreRowInvariant":
        return {"ROWS": 2 * program.dram_row(x)}
    if factory == "MultiCoreBlockedGeneric":
        block = 2 * int(TILE_SIDE * TILE_SIDE * ELEMENT_BYTES[x.dtype])
        return {"BLOCKS": block, "TILES": block, "OUT": block}
    if factory == "MultiCoreTiledGeneric":
        return AtMost(_before_factories(x))
    if factory != "MultiCoreTileRowInvariant":
        return None
    return {
        "TILES": 2 * x.tile_bytes,
        "PADDING": int(FACE_SIDE * ELEMENT_BYTES[x.dtype]) if out.shape[-2] % TILE_SIDE else 0,
        "OUT": 2 * x.tile_bytes if out.shape[-1] != x.shape[-1] else 0,
    }


def _before_factories(x: Spec) -> Buffers:
    """Until 0.70 no graph names the program: the most of all, three pairs of tiles and some words."""
    return AtMost({"TILES": 6 * x.tile_bytes, "PADDING": READ + READ})


def reshaped(program: Program) -> Buffers | None:
    """Tiles: one in, one out and the map of what goes where. Rows: two in, and staged ones out, for each kernel."""
    x, out = program.x, program.out
    if x.tiled:
        pieces = mapped_pieces(x.shape, out.shape)
        if pieces is None:
            return None
        return {"IN": x.tile_bytes, "OUT": out.tile_bytes, "MAP": ENTRY * pieces}
    came, goes = (int(spec.shape[-1] * ELEMENT_BYTES[spec.dtype]) for spec in (x, out))
    is_aligned = goes % LOCAL_L1_ALIGNMENT_BYTES == 0
    kernels = 2 if (came % goes == 0 or goes % came == 0) and (is_aligned or out.in_l1) else 1
    read, staged = (came - 1) // PIECE * PIECE + READ, (goes - 1) // PIECE * PIECE + STAGED
    slots = 1
    if not is_aligned or came % LOCAL_L1_ALIGNMENT_BYTES:
        slots = max(min(SLOTS, (program.room.before - 2 * read * kernels) // (staged * kernels)), 1)
    return {"ROWS": 2 * read * kernels, "STAGED": staged * slots * kernels}


def mapped_pieces(came: tuple[int, ...], goes: tuple[int, ...]) -> int | None:
    """Entries in the map of a tile: pieces of rows that lie together before and after, of each page as many as of most.

    They come again and again, so a part is counted; None where even that is too large.
    reshape_tiled_program_factory.cpp: reshape_map_output_page, compute_reshape_mapping_host_tensor.
    """
    elements = lcm(_repeated(came), _repeated(goes))
    if elements > MAPPED:
        return None
    starts = np.union1d(_starts(elements, came), _starts(elements, goes))
    tiles, pages = _tiles(starts, goes), _tiles(starts, came)
    keys, counts = np.unique(tiles * (pages.max() + 1) + pages, return_counts=True)
    first = np.flatnonzero(np.diff(keys // (pages.max() + 1), prepend=-1))
    most = int((np.maximum.reduceat(counts, first) * np.diff(first, append=len(keys))).max())
    return most + most % LOCAL_L1_ALIGNMENT_BYTES


def _repeated(shape: tuple[int, ...]) -> int:
    """Elements behind which tiles lie as before: a row of them, or a matrix whose last row of tiles is not full."""
    high, wide = shape[-2:]
    return wide * (high if high % TILE_SIDE else TILE_SIDE)


def _starts(elements: int, shape: tuple[int, ...]) -> Integers:
    """Where a row of a face begins; rows that are as wide as a face lie one behind the other in it."""
    wide = shape[-1]
    whole, step = (_repeated(shape), FACE_SIDE**2) if wide == FACE_SIDE else (wide, FACE_SIDE)
    parts = np.arange(0, whole, step, dtype=np.int64)
    return (np.arange(0, elements, whole, dtype=np.int64)[:, np.newaxis] + parts).ravel()


def _tiles(elements: Integers, shape: tuple[int, ...]) -> Integers:
    """The number of the tile that each element lies in."""
    high, wide = shape[-2:]
    row, column = np.divmod(elements, wide)
    matrix, row = np.divmod(row, high)
    return (matrix * ceil(high / TILE_SIDE) + row // TILE_SIDE) * ceil(wide / TILE_SIDE) + column // TILE_SIDE
