"""Buffers of the norms that several chips share: before their statistics are gathered, and after.

Measured on TTNN 0.81.1 mock devices, for tiles that are interleaved, RMS and layer norm.
"""

from __future__ import annotations

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.hardware import TILE_BYTES

_HALF, _FULL = TILE_BYTES["BFLOAT16"], TILE_BYTES["FLOAT32"]
_NORMS = {"RMSNORM": (1, 4), "LAYERNORM": (3, 7)}  # rows of tiles between, beside input and output; single tiles


def before_gather(program: Program) -> Buffers | None:
    """A row of tiles twice, its squares twice, the scale, and the statistics."""
    x, out = program.x, program.out
    if program.factory != "LayerNormPreAllGatherProgramFactory" or x.sharded_in_l1:
        return None
    middle = _FULL if program.fp32 else _HALF
    return {
        "IN": 2 * x.columns * x.tile_bytes,
        "SQUARES": 2 * x.columns * middle,
        "SCALE": _HALF,
        "STATISTICS": out.columns * out.tile_bytes,
    }


def after_gather(program: Program) -> Buffers | None:
    """A row of tiles in and out and of weight and bias, what lies between, and the statistics of all chips."""
    kind = next((name for name in _NORMS if f"::{name}" in program.attributes), None)
    if kind is None or program.factory != "LayerNormPostAllGatherProgramFactory" or program.x.sharded_in_l1:
        return None
    x, statistics, *weights = program.inputs
    rows, singles = _NORMS[kind]
    middle = _FULL if program.fp32 else _HALF
    return {
        "IN": x.columns * x.tile_bytes,
        "OUT": x.columns * program.out.tile_bytes,
        "WEIGHTS": x.columns * len(weights) * _HALF,
        "BETWEEN": (x.columns * rows + singles) * middle,
        "STATISTICS": statistics.columns * statistics.tile_bytes,
    }
