"""Buffers of ops that fill places, drop values, and turn images.

Measured on TTNN 0.81.1 mock devices, Wormhole and Blackhole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttnn_mcp.analyses.from_graph.program import Program


def index_filled(program: Program) -> int | None:
    """Three rows, two of them to read, and the places."""
    if len(program.inputs) < 2 or program.x.tiled:
        return None
    x, places = program.inputs[:2]
    return 3 * program.dram_row(x) + program.dram_row(places)


def rotated(program: Program) -> int | None:
    """Between neighbours: four rows of a point in tiles, twice, and their weights; a row to fill with, two out."""
    x = program.x
    if program.factory != "BilinearProgramFactory" or x.tiled:
        return None
    return 2 * x.columns * x.tile_bytes + 2 * x.tile_bytes + 3 * x.row_bytes
