"""Many of the bytes that an op moves are padding up to 32 x 32 tiles.

TILE layout pads the last two dims to multiples of 32: 3 channels as the last dim are 10.7 times the bytes, a
height of 1 is 32 times. Ops that only move or map elements pay for it in full.

The line: at least 30 % of an op's bytes are padding that another shape of the same tensor would not need (outer
dims merged into the height; below a width of 32, elements folded into whole tiles), on element-wise, shape,
layout, movement and reduction ops; such ops take 2 % of the window and could give back 1 % (domain practice). The
bound is all above the other bytes in DRAM at achievable bandwidth, and above the launch, which alone bounds ops in L1:
in another shape such ops gained more than the padding's part in 11 of 16 measured changes, and a permute of long rows
in ROW_MAJOR took 0.17 ms in place of 5.53 (tt-metal #29219). One head per tile is the usual case in a decode step: rope
and slices on [B,heads,1,d] took 108 us in GLM (tt-mlir #8755).

Silent on the padding of a single row of tiles, which no shape avoids (the one row of a decode step), on matmuls and
convs, and on op records copied from an earlier call. Cannot tell before 2025-09: reports then wrote padded shapes
only.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.layouts import moves_bytes
from ttnn_mcp.analyses.op_kinds.tile_padding import takes_tiles_apart, tile_waste
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, OPERANDS
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

WASTE = 0.30  # of an op's bytes: domain practice
RISK_SHARE = 0.02  # of the window on such ops: same


@check(
    title="tiles that are mostly padding",
    lever=LAYOUT,
    of=Subject(lambda facts: moves_bytes(facts.ops), "no element-wise, shape, layout or movement ops"),
    needs=(OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=RISK_SHARE, saving=USUAL),
    compiled="choose dims that are multiples of 32 in the model, and keep a large dim last",
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that move mostly padding."""
    waste = tile_waste(facts.ops)
    rows = np.flatnonzero(moves_bytes(facts.ops) & (waste >= WASTE) & ~facts.joins.doubtful)
    then_ns = np.fmax(facts.roofline.dram_achievable_ns * (1 - waste), LAUNCH_FLOOR_NS)
    reorders = takes_tiles_apart(facts.ops, facts.chip)
    at_most = np.maximum(facts.kernel_ns - then_ns, 0.0)[rows]
    yield Problem(rows, at_most, tell=partial(_tell, reorders))


def _tell(reorders: Mask, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    narrow = any(
        0 < operand.logical[row, 3] < operand.padded[row, 3] // 2
        for operand in (*facts.ops.inputs, *facts.ops.outputs)
    )
    at_best = "at DRAM bandwidth at most" if facts.roofline.dram_bytes[row] > 0 else "in a launch at least"
    users, heads, height, _ = facts.ops.inputs[0].logical[row]
    short = ONE_ROW if min(users, heads) > 1 == height else SHORT
    return Words(
        claim=(
            f"{ops.many('op')} ({ops.time}) {ops.verb('move')} {figure(WASTE, '.0%')} tile padding or more; heaviest "
            f"{ops.name}, {figure(tile_waste(facts.ops)[row], '.0%')} padding: {ops.example}"
        ),
        assumption=(
            f"rows that stay whole move {at_best}"
            if reorders[row]
            else f"another shape holds the same elements in full tiles, which move {at_best}"
        ),
        cells=((facts.input(0), "LAYOUT"), (facts.output(), "LAYOUT")),
        fix=NARROW if narrow else WHOLE_ROWS if reorders[row] else short,
        verify="re-profile: tensor_formats.padding no longer lists these ops; PCC unchanged",
        caveat="the next op may need this shape; then change the order of ops instead",
    )


NARROW = (
    "keep it ROW_MAJOR, put a large dim last before tilizing (ttnn.permute), or fold neighbours into the channels "
    "(ttnn.fold)"
)
SHORT = (
    "merge the short dim into the one above it (ttnn.reshape in ROW_MAJOR), or pad it to a multiple of 32 once at the "
    "start"
)
ONE_ROW = (
    "keep heads of a decode step as [1,B,heads,d], whose tiles are full of heads, and not as [B,heads,1,d]; "
    "otherwise merge the short dim into the one above it (ttnn.reshape in ROW_MAJOR)"
)
WHOLE_ROWS = (
    "keep the tensor ROW_MAJOR from the op that makes it until its short dim is gone: whole rows then move in one "
    "piece. Do not untilize just before: that was slower still (tt-metal #29219)"
)
