"""Buffers of MinimalMatmul, with its own blocks or those of a config, and with what is fused into it.

Measured on TTNN 0.81.1 mock devices: equal to the byte.
"""

from __future__ import annotations

import re

from ttnn_mcp.analyses.from_graph.footprint import Buffers
from ttnn_mcp.analyses.from_graph.program import Program
from ttnn_mcp.analyses.programs.minimal_matmul import MinimalMatmul, default_config

_PRINTED = re.compile(
    r"^MinimalMatmulParams\((?:std::nullopt|MinimalMatmulConfig\((?P<config>\d[\d, ]+)[^)]*\)), "
    r".*?ComputeKernelConfig\([^)]*\)(?P<end>.*)$"
)
_OPERANDS, _FIELDS = 2, 5
_SWIGLU = 3  # place among what is printed behind the kernel's config; absent before 0.81


def minimal_matmul(program: Program) -> Buffers | None:
    """Operands, output, sums, bias; of a fused addcmul the tensor that is added and the row that it is scaled by."""
    printed = _PRINTED.match(program.attributes)
    if printed is None or len(program.inputs) < _OPERANDS:
        return None
    a, b, *others = program.inputs
    numbers = [int(number) for number in re.findall(r"\d+", printed["config"] or "")]
    if numbers and len(numbers) != _FIELDS:
        return None
    block, subblock = default_config(a.batch * a.rows, b.columns, fp32=program.fp32)
    if numbers:
        block, subblock = (numbers[0], numbers[1], numbers[2]), (numbers[3], numbers[4])
    scaled = others[-2:] if len(others) >= _OPERANDS else []  # beside a bias there is nothing else
    bias = others[0].tile_bytes if len(others) > len(scaled) else 0
    sizes = (a.tile_bytes, b.tile_bytes, program.out.tile_bytes, bias)
    grid = program.machine.grid
    buffers = MinimalMatmul(block, subblock, grid, grid, *sizes, fp32=program.fp32).buffers
    high, _, wide = block
    behind = printed["end"].rstrip(")").split(", ")
    if len(behind) > _SWIGLU and behind[_SWIGLU] == "1":  # two columns become one
        buffers["OUT"] //= 2
    if scaled:
        buffers |= {"ADDED": high * wide * scaled[0].tile_bytes, "SCALE": wide * scaled[1].tile_bytes}
    return buffers
