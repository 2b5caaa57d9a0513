"""Buffers of what routes tokens to experts, and adds up what they gave.

Measured on TTNN 0.81.1 mock devices; what goes to other chips on Wormhole only, on meshes of 1x8 and 2x4.
"""

from __future__ import annotations

from math import prod

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.analyses.from_graph.reductions import CHUNK
from ttnn_mcp.hardware import ELEMENT_BYTES, LOCAL_L1_ALIGNMENT_BYTES, TILE_BYTES, filled_up

_HALF = TILE_BYTES["BFLOAT16"]
EXPERTS, GATED = 8, 90  # tiles of 256 experts, the only number that the gate takes; all of its buffers
HEADERS = 96  # bytes of two packets of the fabric
CLIENT = 9_840  # bytes of the connections to other chips
DISPATCHED = 3  # operands


def grouped_gate(program: Program) -> Buffers | None:
    """Scores, bias, and what lies between them and the choice."""
    return {"SCORES": GATED * _HALF} if program.x.columns == EXPERTS and program.x.dtype == "BFLOAT16" else None


def summed_and_split(program: Program) -> Buffers | None:
    """Tiles of the summed dimension, the most up to eight that divide it, twice; zeros; two tiles out."""
    place = program.attributes.partition("(")[2].partition(",")[0]
    if not place.isdigit() or int(place) >= len(program.x.shape):
        return None
    summed = program.x.shape[int(place)]
    chunk = next(size for size in range(CHUNK, 0, -1) if summed % size == 0)
    return {"IN": 2 * chunk * program.x.tile_bytes, "ZEROS": _HALF, "OUT": 2 * program.out.tile_bytes}


def dispatched(program: Program) -> Buffers | None:
    """A token twice, all choices, the map of the experts, what goes where, and the choices of all chips."""
    if not _is_measured(program) or len(program.outputs) < 2:
        return None
    x, choices, experts = program.inputs[:DISPATCHED]
    tokens, every = prod(x.shape[:-1]), prod(program.outputs[1].shape[:-1])
    choice, of_expert = program.dram_row(choices), program.dram_row(experts)
    places = tokens * experts.shape[-1]  # a byte for each chip
    return {
        "TOKENS": 2 * program.dram_row(x),
        "CHOICES": (tokens + every) * choice,
        "EXPERTS": prod(experts.shape[:-1]) * of_expert,
        "PLACES": places,
        "HEADERS": HEADERS,
    }


def combined(program: Program) -> Buffers | None:
    """A token of each of the chip's experts, their numbers, a row of the map and one of the choices."""
    if not _is_measured(program):
        return None
    x, experts, choices = program.inputs[:DISPATCHED]
    numbers = filled_up(x.shape[0] * ELEMENT_BYTES["UINT16"], LOCAL_L1_ALIGNMENT_BYTES)
    return {
        "TOKENS": x.shape[0] * x.row_bytes,
        "EXPERTS": experts.row_bytes,
        "CHOICES": choices.row_bytes,
        "NUMBERS": numbers,
        "CONNECTIONS": CLIENT,
    }


def remapped(program: Program) -> Buffers | None:
    """Two rows of scores, and one of each other tensor."""
    if len(program.inputs) < DISPATCHED or len(program.outputs) < 2 or program.x.tiled:
        return None
    scores, experts, choices = program.inputs[:DISPATCHED]
    numbers = filled_up(program.out.shape[-1] * ELEMENT_BYTES["UINT16"], LOCAL_L1_ALIGNMENT_BYTES)
    return {
        "SCORES": 2 * scores.row_bytes,
        "NUMBERS": numbers,
        "EXPERTS": experts.row_bytes,
        "CHOICES": choices.row_bytes,
        "OUT": sum(spec.row_bytes for spec in program.outputs[:2]),
    }


def _is_measured(program: Program) -> bool:
    return len(program.inputs) >= DISPATCHED and not program.x.tiled and program.machine.arch == "wormhole_b0"
