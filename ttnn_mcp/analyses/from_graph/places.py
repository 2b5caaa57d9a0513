"""Buffers of ops about the places of elements: sort, argmax, scatter, gather, top-k and sampling.

Measured on TTNN 0.81.1 mock devices, Wormhole and Blackhole, per program factory. Top-k on one core, spread over many,
and by way of large indices on Blackhole, equal to the byte: tt-metal ttnn/cpp/ttnn/operations/reduction/topk/device,
topk_utils.cpp (find_topk_core_config) and the program factories beside it.
"""

from __future__ import annotations

import re
from math import ceil, log2

from ttnn_mcp.analyses.from_graph.program import Buffers, Program
from ttnn_mcp.hardware import ELEMENT_BYTES, TILE_BYTES, TILE_SIDE, filled_up

_HALF = TILE_BYTES["BFLOAT16"]
_ALIGNED = 32  # bytes
_SORTED_WITH = 2  # operands beside the first: places, and what goes there
GATHERED = 4  # tiles out, at least
BYTES_OF_TWO = (
    8  # of a row: two cores gain as much reading as they lose gathering once each has this times the cores
)
CHUNK_SHARE = 0.9 / 8  # of the room: what scatter reads of a row at a time
_KEPT = re.compile(r"TopkParams\((\d+),")
LOCAL_COST, FINAL_COST = 7, 2  # kLocalCostFactor, kFinalCostFactor: per tile on each core, and on the last one
LEAST_SPLIT = 2  # tiles of a core
PREPARED = 32  # tiles of BFLOAT16: half of them rows
INDICES = 8192  # bytes
SAMPLED, WORD = 47_488, 4  # bytes beside the row, of a place
FINISHED = 12_288  # bytes beside a tile of places


def sort(program: Program) -> Buffers | None:
    """Values and places: a row of tiles of each on one core, or a part of it on each of many, and some tiles more."""
    x, places = program.x, program.outputs[-1]
    pair, staged = max(x.tile_bytes, _HALF) + places.tile_bytes, 0
    if x.dtype == "UINT16":  # sorted as UINT32, between two tiles of its own
        pair, staged = 2 * places.tile_bytes, 2 * x.tile_bytes
    row = 1 << max((x.columns - 1).bit_length(), 1)  # filled up to a power of two
    if program.factory == "SortProgramFactorySingleRowSingleCore":
        return {"PAIRS": (6 + row) * pair, "SYNC": _HALF // 2, "STAGED": staged}
    if program.factory == "SortProgramFactorySingleRowMultiCore":
        return {"PAIRS": 6 * pair, "STAGED": staged}
    if program.factory != "SortProgramFactoryCrossCoreDataExchange":
        return None
    cores = 1 << (program.machine.cores.bit_length() - 1)
    return {"PAIRS": (8 + max(row // cores, 2)) * pair, "SYNC": 3 * _HALF, "STAGED": staged}


def argmax(program: Program) -> Buffers | None:
    """Each core reads a part of a row, in two halves; of every core come the best value and its place of each row."""
    x, out = program.x, program.out
    row = filled_up(out.shape[-1] * ELEMENT_BYTES["UINT32"], _ALIGNED)
    if program.factory == "ArgMaxSingleCoreProgramFactory":
        return {"ROWS": x.page_bytes, "OUT": row}
    if program.factory != "ArgMaxMultiCoreProgramFactory" or x.tiled:
        return None
    size, several = ELEMENT_BYTES[x.dtype], out.shape[-1] > 1
    piece = _ALIGNED // 2 if x.in_l1 else program.machine.aligned
    smallest = piece // ELEMENT_BYTES["BFLOAT16"]  # elements that no two cores share: what pages are aligned to
    parts = ceil(x.shape[-1] / smallest)
    cores = min(program.machine.cores, parts)
    if several:  # fewer cores for short rows: a power of two
        cores = min(cores, 1 << ceil(log2(max(x.shape[-1] * size / BYTES_OF_TWO, 1)) / 2))
    read = filled_up(ceil(parts / cores) * smallest * size, _ALIGNED)
    values = filled_up(out.shape[-1] * size, _ALIGNED)
    return {"ROWS": (2 if several else 1) * read, "OUT": row, "BEST": cores * (row + values)}


def scatter(program: Program) -> Buffers | None:
    """A row that is read and one that is written, of places and of what goes there: whole, or as much as has room."""
    if len(program.inputs) <= _SORTED_WITH or program.x.tiled:
        return None
    x, *others = program.inputs
    most = int(CHUNK_SHARE * program.room.before / ELEMENT_BYTES["BFLOAT16"]) // _ALIGNED * _ALIGNED  # elements
    sizes = [
        filled_up(min(spec.shape[-1], most) * ELEMENT_BYTES[spec.dtype], _ALIGNED)
        for spec in (x, x, *others[:_SORTED_WITH])
    ]
    added = 2 * sizes[0] if program.factory == "ScatterReduceBfloat16ProgramFactory" else 0  # in FLOAT32
    return {"ROWS": sizes[0] + sizes[1], "PLACES": sizes[2], "WHAT": sizes[3], "SUMS": added}


def gather(program: Program) -> Buffers | None:
    """A row of tiles, a tile of places, and a row of tiles out, at least four; of a long row equal parts that fit."""
    if len(program.inputs) < _SORTED_WITH:
        return None
    x, places = program.inputs[:_SORTED_WITH]
    if program.factory == "GatherCodegenProgramFactoryStreaming":
        others, free = places.tile_bytes + program.out.tile_bytes, program.room.before
        if free == program.machine.bank_bytes:  # no tensor lies above: then L1_SMALL counts as free
            free += program.machine.small_bytes
        parts = ceil(x.columns * x.tile_bytes / max(free - others, x.tile_bytes))
        row = ceil(x.columns / parts) * x.tile_bytes
        return {"ROW": row, "PLACES": places.tile_bytes, "OUT": program.out.tile_bytes}
    out = max(program.out.columns, GATHERED) * program.out.tile_bytes
    return {"ROW": x.columns * x.tile_bytes, "PLACES": places.tile_bytes, "OUT": out}


def gathered_by_tiles(program: Program) -> Buffers | None:
    """Two tiles or a row of them, one of places, one out: data types that no generated program takes."""
    tiles = {"SingleRowMultiCore": 2, "SingleRowSingleCore": program.x.columns}.get(program.factory)
    if tiles is None or len(program.inputs) < _SORTED_WITH:
        return None
    places = program.inputs[1].tile_bytes
    return {"TILES": tiles * program.x.tile_bytes, "PLACES": places, "OUT": program.out.tile_bytes}


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
