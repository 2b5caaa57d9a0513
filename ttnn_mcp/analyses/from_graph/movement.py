"""Buffers of ops that copy, cut, join and repeat tensors, fold and sample images, and fill places.

Most programs keep a few pages of a tensor, usually two: one is read while the other is written. A core's own shard
needs no buffer. Proven by captures of TTNN 0.81.1 on mock devices, per program factory: tests/real/l1_captures.json.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.program import AtMost, Buffers, Program
from ttnn_mcp.hardware import (
    ARCHITECTURES,
    ELEMENT_BYTES,
    LOCAL_L1_ALIGNMENT_BYTES,
    TILE_BYTES,
    TILE_SIDE,
    filled_up,
)
from ttnn_mcp.readers.graph.specs import Spec

_HALF = TILE_BYTES["BFLOAT16"]
IN_SHARDS = {"ConcatS2SRMProgramFactory", "ConcatS2SMultiProgramFactory", "ConcatBlockShardedProgramFactory"}
REPEATED = 8  # pages that repeats read at a time
SLICED_AT_ONCE = 4096  # bytes of rows that a slice reads at a time, at most: slice_rm_program_factory.cpp
WORD = 4  # bytes: a slice keeps one for each dimension
PADDED_AT_ONCE = 2048  # bytes of rows of one barrier: pad_rm_reader_writer_multi_core_default_program_factory.cpp
BARRIERS = 16  # at a time, at most: where half of L1 has room for them
_FRONT = re.compile(r"PadParams\((?:Shape\(\[[^]]*\]\), ){2}Shape\(\[[^]]*?(\d+)\]\)")  # elements before a row
_FIRST = re.compile(r"SliceParams\(Shape\(\[[^]]*?(\d+)\]\)")  # of a row
_REPEATED = re.compile(r"RepeatCodegenParams\((\d+), ")
_SIDES = 2  # of a shard, and of a tile
SAMPLED_COLUMNS = 8  # tiles of a row that a grid sample works on at a time
_STRIDES = re.compile(r"operation_attributes_t\((\d+), (\d+), 0\)")


def cut_out(program: Program) -> Buffers:
    """A slice: two tiles; with a step two rows of the input; else rows of the output, read and written in turns."""
    x, out = program.x, program.out
    if program.factory == "SliceRmStrideProgramFactory":
        return {"ROWS": 2 * x.row_bytes}
    places = WORD * len(out.shape)
    if out.tiled:
        return {"TILES": 2 * out.tile_bytes, "PLACES": places}
    first, size = _FIRST.match(program.attributes), ELEMENT_BYTES[out.dtype]
    step = LOCAL_L1_ALIGNMENT_BYTES if x.in_l1 and out.in_l1 else program.machine.aligned
    if first is not None and int(first[1]) * size % step:
        step *= 2  # what lies before the first element is read, too
    row = filled_up(out.shape[-1] * size, step)
    each = filled_up(ceil(out.batch * out.shape[-2] / program.machine.cores), TILE_SIDE)
    rows = next((count for count in range(each, 1, -1) if each % count == 0 and count * row <= SLICED_AT_ONCE), 1)
    return {"ROWS": 2 * rows * row, "PLACES": places}


def into_shards(program: Program) -> Buffers:
    """A shard of tiles where they are converted; rows that become shards pass through four aligned ones."""
    x, out, width = program.x, program.out, program.out.held_width
    if x.tiled:
        of_shard = out.shard or x.shard
        tiles = of_shard[0] * of_shard[1] if of_shard is not None else 2
        return {} if x.dtype == out.dtype else {"SHARD": tiles * (x if out.sharded_in_l1 else out).tile_bytes}
    if width is None:
        return {}
    aligned = program.machine.aligned
    return {"ROWS": 4 * filled_up(width * ELEMENT_BYTES[x.dtype] + aligned, aligned)}


def joined(program: Program) -> Buffers:
    """Concat: rows of shards where they lie; of tiles in shards a row of each and twice of all, else two pages."""
    tensors, out = program.inputs, program.out
    tile = max(program.x.tile_bytes, _HALF)
    if program.factory == "ConcatTiledUnalignedProgramFactory":
        columns = sum(spec.columns for spec in tensors)
        return {"TILES": 3 * columns * tile, "OUT": 3 * out.columns * tile}
    if program.factory == "ConcatS2STiledProgramFactory":
        shards = sum(spec.shard[1] if spec.shard is not None else spec.columns for spec in tensors)
        return {"ROWS": 2 * shards * tile, "OUT": shards * out.tile_bytes}
    if program.factory in IN_SHARDS:
        return {}
    return two_pages(program)


def two_pages(program: Program) -> Buffers:
    """Two pages of the input or output, whichever is larger, rows as DRAM aligns them: concat, split, upsample."""
    return {"PAGES": 2 * max(_page(program, program.x), _page(program, program.out))}


def _page(program: Program, spec: Spec) -> int:
    return spec.tile_bytes if spec.tiled else program.dram_row(spec)


def cloned(program: Program) -> Buffers:
    """Two pages, and two more of tiles to convert."""
    x, out = program.x, program.out
    if x.tiled:
        return copied(program)
    width = out.held_width or out.shape[-1]
    return {"ROWS": 2 * filled_up(width * ELEMENT_BYTES[x.dtype], LOCAL_L1_ALIGNMENT_BYTES)}


def copied(program: Program) -> Buffers:
    """Tiles: two, and two more to convert. Rows, or those of shards: one in, and two out that are aligned."""
    x, out = program.x, program.out
    if x.tiled:
        return {"TILES": 2 * x.tile_bytes, "OUT": 2 * out.tile_bytes if out.dtype != x.dtype else 0}
    size = ELEMENT_BYTES[x.dtype]
    came, goes = (int((spec.held_width or spec.shape[-1]) * size) for spec in (x, out))
    return {"ROWS": came, "OUT": 2 * filled_up(goes, LOCAL_L1_ALIGNMENT_BYTES)}


def moved(program: Program) -> Buffers:
    """Shards need no buffer, interleaved tensors two pages; where both places overlap, what a core has of them."""
    out = program.out
    if out.sharded_in_l1:
        return {}
    pages = out.tiles if out.tiled else out.batch * out.shape[-2]
    overlapped: Buffers = {"PAGES": ceil(pages / program.machine.cores) * out.page_bytes}
    if not program.factory:  # before 0.78 no graph names the factory
        return AtMost(overlapped)
    return overlapped if "Overlap" in program.factory else {"PAGES": 2 * out.page_bytes}


def nothing(program: Program) -> Buffers | None:
    """No buffer: reads and writes shards in place."""
    outputs = program.outputs
    return {} if all(spec.sharded_in_l1 for spec in outputs) and not program.factory.startswith("Nd") else None


def cut_into_shards(program: Program) -> Buffers | None:
    """Tiles become rows by way of four rows of tiles; four rows that are not aligned, and one that fills them up."""
    x, out, columns = program.x, program.out, program.out.held_width
    if columns is None:
        return None
    row = columns * int(ELEMENT_BYTES[out.dtype])
    if x.tiled:
        tiles = 4 * ceil(columns / TILE_SIDE)
        return {"TILES": tiles * x.tile_bytes, "ROWS": tiles * max(out.tile_bytes, _HALF), "FILLED_UP": row}
    step = LOCAL_L1_ALIGNMENT_BYTES if program.machine.arch == "wormhole_b0" else program.machine.aligned
    return {
        "ROWS": 4 * filled_up(row, step) if row % program.machine.aligned else 0,
        "FILLED_UP": row if x.shape[-1] < columns else 0,
    }


def resharded(program: Program) -> Buffers | None:
    """No buffer, but for rows that are not aligned: those of a shard of the input, for each of two kernels.

    ReshardSameWidthFactory, where the output's cores read; builds before 0.81 have them once (tt-metal #56226).
    """
    out = program.out
    if program.factory == "ReshardSameWidthFactory<false>":  # the input's cores write, to DRAM
        return {}
    if not program.factory.startswith("ReshardSameWidth") or out.tiled:
        return nothing(program)
    shards = [spec.placement.shard.shape for spec in program.inputs if spec.placement and spec.placement.shard]
    if out.held_width is None or not shards or len(shards[0]) != _SIDES:
        return None
    row = int(out.held_width * ELEMENT_BYTES[out.dtype])
    step = LOCAL_L1_ALIGNMENT_BYTES if program.x.sharded_in_l1 else program.machine.aligned
    return {"ROWS": 2 * shards[0][0] * filled_up(row, step) if row % step else 0}


def made(program: Program) -> Buffers:
    """A tensor full of one value: two pages."""
    return {"PAGES": 2 * program.out.page_bytes}


def one_row(program: Program) -> Buffers:
    """A row, worked on in place, aligned as rows in DRAM are."""
    return {"ROW": filled_up(program.x.row_bytes, program.machine.aligned)}


def written_into(program: Program) -> Buffers | None:
    """A part of a tensor: shards are written from where they lie."""
    return {} if program.x.sharded_in_l1 else None


def padded(program: Program) -> Buffers:
    """Tiles: two and one of padding. Rows: many at a time, one of padding, and one where they have to be shifted."""
    out = program.out
    if out.tiled:
        return {"TILES": 2 * out.tile_bytes, "PADDING": out.tile_bytes}
    row, aligned, front = out.row_bytes, program.dram_row(out), _FRONT.match(program.attributes)
    barrier = ceil(PADDED_AT_ONCE / row) * row
    chip = ARCHITECTURES.get(program.machine.arch or "", ARCHITECTURES["wormhole_b0"])
    room = chip.worker_l1_bytes // 2 - chip.first_cb_address
    is_shifted = row % program.machine.aligned > 0 or (front is not None and int(front[1]) > 0)
    return {
        "ROWS": min(max(room // barrier, 1), BARRIERS) * barrier,
        "PADDING": aligned,
        "SHIFTED": aligned if is_shifted else 0,
    }


def filled(program: Program) -> Buffers:
    """Padding of the last tiles: two in, a mask for each padded side, two out."""
    x = program.x
    masks = max(sum(side % TILE_SIDE > 0 for side in x.shape[-2:]), 1)
    return {"TILES": 2 * x.tile_bytes, "MASKS": masks * x.tile_bytes, "OUT": 2 * x.tile_bytes}


def repeated(program: Program) -> Buffers:
    """Eight pages; one tile where whole tiles are repeated into L1: repeat_codegen_program_factory.cpp."""
    x, out, axis = program.x, program.out, _REPEATED.match(program.attributes)
    if axis is not None and int(axis[1]) < len(x.shape) - _SIDES and x.tiled and out.in_l1:
        return {"TILE": out.tile_bytes}
    return {"PAGES": REPEATED * max(_stored_page(program, x), _stored_page(program, out))}


def _stored_page(program: Program, spec: Spec) -> int:
    return spec.page_bytes if spec.in_l1 else _page(program, spec)


def folded(program: Program) -> Buffers | None:
    """What becomes one row, each piece of it aligned, and the row where pieces have to be moved together."""
    strides, x = _STRIDES.match(program.attributes), program.x
    if strides is None or x.tiled:
        return None
    if program.factory == "MultiCore" and x.sharded_in_l1:
        return {}
    if program.factory != "MultiCoreDRAMFold":
        return None
    pieces, piece = int(strides[1]) * int(strides[2]), int(x.shape[-1] * ELEMENT_BYTES[x.dtype])
    is_loose = piece % program.machine.aligned > 0
    return {"PIECES": 2 * pieces * program.dram_row(x), "ROW": program.out.row_bytes if is_loose else 0}


def upsampled(program: Program) -> Buffers:
    """Two pages; tiles: a row of them in and out; between points: four neighbours twice, their weights and sums."""
    x = program.x
    if program.factory == "UpsampleMultiCoreShardedProgramFactory":
        return {}
    if x.tiled:
        return {"ROW": x.columns * x.tile_bytes, "OUT": x.columns * max(program.out.tile_bytes, _HALF)}
    if "Bilinear" not in program.factory:
        return two_pages(program)
    return {"NEIGHBOURS": 8 * x.row_bytes, "SUMS": min(8 * x.row_bytes, 2 * _HALF), "WEIGHTS": 4 * _HALF}


def grid_sampled(program: Program) -> Buffers | None:
    """Four neighbours of a point, in up to eight tiles, twice; their weights, two rows out and the point."""
    x, points = program.inputs[:2] if len(program.inputs) > 1 else (program.x, program.x)
    if program.factory != "GridSampleBilinearProgramFactory" or x.tiled or program.out.sharded_in_l1:
        return None
    tiles = 2 * max(min(x.columns, SAMPLED_COLUMNS), 1)
    return {
        "NEIGHBOURS": tiles * _HALF,
        "WEIGHTS": 2 * _HALF,
        "OUT": 2 * program.out.row_bytes,
        "POINT": program.dram_row(points),
    }


def index_filled(program: Program) -> Buffers | None:
    """Three rows, two of them to read, and the places."""
    if len(program.inputs) < 2 or program.x.tiled:
        return None
    x, places = program.inputs[:2]
    return {"ROWS": 2 * program.dram_row(x), "FILLED": program.dram_row(x), "PLACES": program.dram_row(places)}


def rotated(program: Program) -> Buffers | None:
    """Between neighbours: four rows of a point in tiles, twice, and their weights; a row to fill with, two out."""
    x = program.x
    if program.factory != "BilinearProgramFactory" or x.tiled:
        return None
    return {
        "NEIGHBOURS": 2 * x.columns * x.tile_bytes,
        "WEIGHTS": 2 * x.tile_bytes,
        "FILL": x.row_bytes,
        "OUT": 2 * x.row_bytes,
    }
