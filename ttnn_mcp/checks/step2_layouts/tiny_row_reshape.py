"""A ROW_MAJOR reshape, permute or concat moves rows of a few bytes.

In ROW_MAJOR an interleaved tensor's page is one row, and DRAM is then limited by requests, not bytes: rows of 64 B
reach 9 % of peak on Blackhole (tt-metal #55898). Three reshapes of 6.5 million rows of 7 values took 44 % of one
model. Wan 2.2's decoder made pixels of channels by concats of rows of one value, 50.4 ms in all; with the channels
last, where ttnn.upsample takes them, it took 0.19 (its TI2V notes in tt-metal).

The line: a Reshape, Permute, Transpose or Concat in ROW_MAJOR with rows below 64 B on either side; together 1 % of the
window. The bound keeps each op's bytes at achievable bandwidth, as for long rows.

Silent on sharded tensors, whose pages the report does not show, and in TILE, where a page is a tile.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.reshapes import TINY_ROW_BYTES, moves_tiny_rows, row_bytes
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

MOVES = ("Reshape", "Permute", "Transpose", "Concat")


@check(
    title="row-major reshape of tiny rows",
    lever=LAYOUT,
    of=ops_named("no Reshape, Permute, Transpose or Concat ops", *MOVES),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="reorder dims in the PyTorch code so that a large one is last before the view or permute",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such ops."""
    rows = np.flatnonzero(facts.named(*MOVES) & moves_tiny_rows(facts.ops))
    left_ns = np.fmax(facts.roofline.dram_achievable_ns, LAUNCH_FLOOR_NS)
    yield Problem(rows, np.maximum(facts.kernel_ns - left_ns, 0.0)[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    row, operands = ops.row, (ops.facts.ops.inputs[0], ops.facts.ops.outputs[0])
    short = min(operands, key=lambda operand: row_bytes(operand)[row])
    return Words(
        claim=(
            f"{len(ops.rows)} reshapes, permutes and concats ({ops.time}) move ROW_MAJOR rows below {TINY_ROW_BYTES} "
            f"B; heaviest {ops.name}, {short.padded[row, 3]}-wide rows "
            f"({figure(row_bytes(short)[row], '.0f')} B): {ops.example}"
        ),
        assumption="the same bytes in long rows run at achievable DRAM bandwidth",
        cells=((short, "LAYOUT"), (short, "DATATYPE")),
        fix=(
            f"have a large dim last before line {ops.line}: permute where rows are still long, batch the op that made "
            "the rows so that no reshape is needed, concat along the last dim (dim=-1); pixels out of channels: "
            "ttnn.upsample"
        ),
        verify=f"re-profile; list_ops(op_code='{ops.name}') kernel_us falls; PCC unchanged",
        caveat="the next op must still get the order that it needs: check shapes there",
    )
