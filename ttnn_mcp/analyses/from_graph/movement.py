"""Buffers of ops that move, cut, join or convert tensors.

Each program keeps a few pages of each tensor, usually two: it reads or writes one and works on the other. The numbers
were measured on TTNN 0.81.1 mock devices, per program factory. A core's own shard needs no buffer, but the models count
one. If the number depends on the shape of the work, the largest is taken.
"""

from __future__ import annotations

import re
from math import ceil
from typing import TYPE_CHECKING

from ttnn_mcp.hardware import ELEMENT_BYTES, LOCAL_L1_ALIGNMENT_BYTES, TILE_BYTES, TILE_SIDE, filled_up

if TYPE_CHECKING:
    from ttnn_mcp.analyses.from_graph.program import Program


_HALF = TILE_BYTES["BFLOAT16"]
IN_SHARDS = {"ConcatS2SRMProgramFactory", "ConcatS2SMultiProgramFactory", "ConcatBlockShardedProgramFactory"}
REPEATED = 8  # pages that repeats read at a time
ROWS_OF_SLICE = 8192  # bytes
BYTES_TOGETHER, SIXTEEN = 32_768, 16  # padding by rows works on so many bytes, in sixteens of rows
_PIECE = 64  # bytes: of an entry of the map of a reshape, and what rows in DRAM are aligned to at most
SAMPLED_COLUMNS = 8  # tiles of a row that a grid sample works on at a time
_SIDES = 2  # of a shard
_STRIDES = re.compile(r"operation_attributes_t\((\d+), (\d+), 0\)")


def cut_out(program: Program) -> int:
    """A slice: two tiles; in ROW_MAJOR 8 kB of rows, at least two; with a step two rows of the input."""
    out = program.out
    if program.factory == "SliceRmStrideProgramFactory":
        return 2 * program.x.row_bytes + 2 * TILE_SIDE
    if out.tiled:
        return 2 * out.tile_bytes + LOCAL_L1_ALIGNMENT_BYTES
    row = program.dram_row(out)
    return max(ROWS_OF_SLICE // row, 2) * row + LOCAL_L1_ALIGNMENT_BYTES


def into_shards(program: Program) -> int:
    """A shard of tiles where they are converted; rows that become shards pass through four aligned ones."""
    x, out, width = program.x, program.out, program.out.held_width
    if x.tiled:
        of_shard = out.shard or x.shard
        tiles = of_shard[0] * of_shard[1] if of_shard is not None else 2
        return 0 if x.dtype == out.dtype else tiles * (x if out.sharded_in_l1 else out).tile_bytes
    if width is None:
        return 0
    aligned = program.machine.aligned
    return 4 * filled_up(width * ELEMENT_BYTES[x.dtype] + aligned, aligned)


def joined(program: Program) -> int:
    """Concat: rows of shards where they lie; of tiles in shards a row of each and twice of all, else two pages."""
    tensors, out = program.inputs, program.out
    tile = max(program.x.tile_bytes, _HALF)
    if program.factory == "ConcatTiledUnalignedProgramFactory":
        return 3 * (sum(spec.columns for spec in tensors) + out.columns) * tile
    if program.factory == "ConcatS2STiledProgramFactory":
        shards = [spec.shard[1] if spec.shard is not None else spec.columns for spec in tensors]
        return 2 * sum(shards) * tile + sum(shards) * out.tile_bytes
    if program.factory in IN_SHARDS:
        return 0
    return two_pages(program)


def two_pages(program: Program) -> int:
    """Two pages of the input or output, whichever is larger, and some words: concat, split, upsample."""
    return 2 * max(program.x.page_bytes, program.out.page_bytes) + TILE_SIDE


def copied(program: Program) -> int:
    """Tiles: two, and two more to convert. Rows: three; of shards one in, and two out that are aligned."""
    x, out = program.x, program.out
    if x.tiled:
        return 2 * (x.tile_bytes + (out.tile_bytes if out.dtype != x.dtype else 0))
    if x.held_width is None or out.held_width is None:
        return 3 * max(x.row_bytes, out.row_bytes)
    came, goes = (int(width * ELEMENT_BYTES[x.dtype]) for width in (x.held_width, out.held_width))
    return came + 2 * filled_up(goes, LOCAL_L1_ALIGNMENT_BYTES)


def moved(program: Program) -> int:
    """Shards need no buffer, interleaved tensors two pages; where both places overlap, what a core has of them."""
    out = program.out
    if out.sharded_in_l1:
        return 0
    if "Overlap" in program.factory or not program.factory:  # before 0.78 no graph names the factory
        pages = out.tiles if out.tiled else out.batch * out.shape[-2]
        return ceil(pages / program.machine.cores) * out.page_bytes
    return 2 * out.page_bytes


def nothing(program: Program) -> int | None:
    """No buffer: reads and writes shards in place."""
    outputs = program.outputs
    return 0 if all(spec.sharded_in_l1 for spec in outputs) and not program.factory.startswith("Nd") else None


def cut_into_shards(program: Program) -> int | None:
    """Tiles become rows by way of four rows of tiles; four rows that are not aligned, and one that fills them up."""
    x, out, columns = program.x, program.out, program.out.held_width
    if columns is None:
        return None
    row = columns * int(ELEMENT_BYTES[out.dtype])
    if x.tiled:
        return 4 * ceil(columns / TILE_SIDE) * (x.tile_bytes + max(out.tile_bytes, _HALF)) + row
    return (4 * row if row % program.machine.aligned else 0) + (row if x.shape[-1] < columns else 0)


def resharded(program: Program) -> int | None:
    """No buffer, but for rows that are not aligned: those of a shard of the input, for each of two kernels.

    ReshardSameWidthFactory, where the output's cores read; builds before 0.81 have them once (tt-metal #56226).
    """
    out = program.out
    if not program.factory.startswith("ReshardSameWidth") or out.tiled or out.held_width is None:
        return nothing(program)
    shards = [spec.placement.shard.shape for spec in program.inputs if spec.placement and spec.placement.shard]
    if not shards or len(shards[0]) != _SIDES:
        return None
    row = int(out.held_width * ELEMENT_BYTES[out.dtype])
    step = LOCAL_L1_ALIGNMENT_BYTES if program.x.sharded_in_l1 else program.machine.aligned
    return 2 * shards[0][0] * filled_up(row, step) if row % step else 0


def made(program: Program) -> int:
    """A tensor full of one value: two pages."""
    return 2 * program.out.page_bytes


def one_row(program: Program) -> int:
    """A row, worked on in place, aligned as rows in DRAM are."""
    return filled_up(program.x.row_bytes, _PIECE)


def written_into(program: Program) -> int | None:
    """A part of a tensor: shards are written from where they lie."""
    return 0 if program.x.sharded_in_l1 else None


def turned(program: Program) -> int:
    """Transpose and permute: up to three double buffers of tiles, or two rows if rows stay whole."""
    x = program.x
    if program.factory == "MultiCoreRowInvariant":
        return 2 * filled_up(x.row_bytes, program.machine.aligned)
    if program.factory == "TransposeWHShardedProgramFactory":
        return 0
    copies = 3 if "Generic" in program.factory or not program.factory else 2
    return 2 * copies * x.tile_bytes + 8 * TILE_SIDE


def reshaped(program: Program) -> int:
    """Tiles: one in, one out and the map of what goes where. Rows: two in and out twice, eight where they are odd."""
    x, out = program.x, program.out
    if x.tiled:
        pieces = 1 if x.shape[-1] % TILE_SIDE == out.shape[-1] % TILE_SIDE == 0 else 2  # of a row within a tile
        return x.tile_bytes + out.tile_bytes + _PIECE * pieces * (TILE_SIDE + 2)
    came, goes = (spec.shape[-1] * ELEMENT_BYTES[spec.dtype] for spec in (x, out))
    several = 8 if came % LOCAL_L1_ALIGNMENT_BYTES or goes % LOCAL_L1_ALIGNMENT_BYTES else 1
    return 2 * (
        2 * filled_up(came, _PIECE) + 2 * _PIECE + several * (filled_up(goes, _PIECE) + LOCAL_L1_ALIGNMENT_BYTES)
    )


def padded(program: Program) -> int:
    """Tiles: two and one of padding. Rows: many at a time, and up to two of padding."""
    out = program.out
    if out.tiled:
        return 3 * out.tile_bytes
    rows = ceil(BYTES_TOGETHER / out.row_bytes / SIXTEEN) * SIXTEEN
    return rows * out.row_bytes + 2 * (out.row_bytes + _PIECE)


def upsampled(program: Program) -> int:
    """Two pages; tiles: a row of them in and out; between points: eight rows of sums and of weights, six tiles."""
    x = program.x
    if program.factory == "UpsampleMultiCoreShardedProgramFactory":
        return 0
    if x.tiled:
        return x.columns * (x.tile_bytes + max(program.out.tile_bytes, _HALF))
    if "Bilinear" not in program.factory:
        return two_pages(program)
    return 8 * x.row_bytes + min(8 * x.row_bytes, 2 * _HALF) + 4 * _HALF


def folded(program: Program) -> int | None:
    """Fold: what becomes one row, each piece of it aligned, and the row where pieces have to be moved together."""
    strides = _STRIDES.match(program.attributes)
    if strides is None or program.factory != "MultiCoreDRAMFold" or program.x.tiled:
        return None
    pieces = int(strides[1]) * int(strides[2])
    return 2 * pieces * filled_up(program.x.row_bytes, program.machine.aligned) + program.out.row_bytes


def grid_sampled(program: Program) -> int | None:
    """Four neighbours of a point, in up to eight tiles, twice; their weights, two rows out and the point."""
    if program.factory != "GridSampleBilinearProgramFactory" or program.x.tiled or program.out.sharded_in_l1:
        return None
    tiles = 2 * max(min(program.x.columns, SAMPLED_COLUMNS), 1) + 2
    return tiles * _HALF + 2 * program.out.row_bytes + _PIECE


def filled(program: Program) -> int:
    """Padding of the last tiles: two in, a mask for each padded side, two out."""
    x = program.x
    return (4 + max(sum(side % TILE_SIDE > 0 for side in x.shape[-2:]), 1)) * x.tile_bytes


def repeated(program: Program) -> int:
    """Eight pages of the output."""
    return REPEATED * program.out.page_bytes
