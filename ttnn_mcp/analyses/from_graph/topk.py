"""Buffers of top-k, on one core, spread over many, and by way of large indices on Blackhole, and of sampling.

tt-metal ttnn/cpp/ttnn/operations/reduction/topk/device: topk_utils.cpp (find_topk_core_config) and the program
factories beside it. Compared with TTNN 0.81.1 on mock devices, Wormhole and Blackhole: equal to the byte.
"""

from __future__ import annotations

import re
from math import ceil

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.hardware import TILE_BYTES, TILE_SIDE

_HALF = TILE_BYTES["BFLOAT16"]
_KEPT = re.compile(r"TopkParams\((\d+),")
LOCAL_COST, FINAL_COST = 7, 2  # kLocalCostFactor, kFinalCostFactor: per tile on each core, and on the last one
LEAST_SPLIT = 2  # tiles of a core
PREPARED = 32  # tiles of BFLOAT16: half of them rows
INDICES = 8192  # bytes
SAMPLED, WORD = 47_488, 4  # bytes beside the row, of a place
FINISHED = 12_288  # bytes beside a tile of places


def top_k(program: Program) -> Buffers | None:
    """On one core six tiles of values and of places and three for each tile of what is kept; more where spread."""
    printed = _KEPT.match(program.attributes)
    if printed is None:
        return None
    kept = ceil(int(printed[1]) / TILE_SIDE)
    place = program.outputs[-1].tile_bytes if len(program.outputs) > 1 else _HALF
    if program.factory == "TopKSingleCoreProgramFactory":
        value = program.x.tile_bytes
        sorted_values = (4 + 2 * kept) * max(value, _HALF)
        return {"VALUES": (2 + kept) * value, "SORTED": sorted_values, "PLACES": (6 + 3 * kept) * place}
    return _spread(program, kept, place) if program.factory == "TopKMultiCoreProgramFactory" else None


def _spread(program: Program, kept: int, place: int) -> Buffers | None:
    """Each core sorts a part of the row; one more gathers the best of all and sorts these."""
    value, tiles = program.x.tile_bytes, program.x.columns
    pair = max(value, _HALF) + place
    across, down = program.machine.grid[0] - 1, program.machine.grid[1] - 2  # TTNN leaves the last ones out
    plans: list[tuple[int, Buffers]] = []
    split = max(tiles // (1 << (max(across * down, 1).bit_length() - 1)), LEAST_SPLIT)
    while split <= tiles // 2:
        parts = tiles // split
        gathered = parts * kept
        last, each = 2 * value + gathered * pair, split * pair + 2 * max(value, _HALF)
        buffers = {"TILES": 4 * (value + place) + 2 * place, "GATHERED": gathered * pair, "ROWS": max(last, each)}
        is_rectangle = any(parts % high == 0 and parts // high <= across for high in range(1, down + 1))
        if tiles % split == 0 and is_rectangle and sum(buffers.values()) < program.machine.bank_bytes:
            plans.append((LOCAL_COST * split + FINAL_COST * gathered, buffers))
        split *= 2
    return min(plans, key=lambda plan: plan[0])[1] if plans else None


def prepared(_program: Program) -> Buffers:
    """Blackhole, first of three programs: tiles become rows."""
    return {"TILES": PREPARED * _HALF}


def large_indices(_program: Program) -> Buffers:
    """Second: two pieces of a row."""
    return {"ROW": INDICES}


def finished(program: Program) -> Buffers:
    """Third: values are gathered into tiles."""
    return {"VALUES": FINISHED, "PLACES": program.outputs[-1].tile_bytes}


def sampled(program: Program) -> Buffers | None:
    """Values, their places and a core's row of them, sorted; scalars of each user beside."""
    if program.x.shape[-2] != TILE_SIDE or program.x.dtype != "BFLOAT16":
        return None
    columns = program.x.columns
    return {"SCALARS": SAMPLED, "VALUES": 2 * columns * _HALF, "PLACES": columns * TILE_SIDE * TILE_SIDE * WORD}
