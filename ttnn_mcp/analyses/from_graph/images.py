"""Buffers of ops that fold, turn and sample images, and of those that fill places.

Proven by captures of TTNN 0.81.1 on mock devices: tests/real/l1_captures.json.
"""

from __future__ import annotations

import re

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.movement import two_pages
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.hardware import ELEMENT_BYTES, TILE_BYTES

_HALF = TILE_BYTES["BFLOAT16"]
SAMPLED_COLUMNS = 8  # tiles of a row that a grid sample works on at a time
_STRIDES = re.compile(r"operation_attributes_t\((\d+), (\d+), 0\)")


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
