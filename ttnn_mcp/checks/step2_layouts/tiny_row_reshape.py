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

from ttnn_mcp.analyses.op_kinds.tiny_rows import TINY_ROW_BYTES, moves_tiny_rows, row_bytes
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_named
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.op_names import canonical

MOVES = ("Reshape", "Permute", "Transpose", "Concat")


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such ops."""
    source, output = facts.ops.inputs[0], facts.ops.outputs[0]
    reshapes = facts.named(*MOVES)
    rows = np.flatnonzero(reshapes & moves_tiny_rows(facts.ops))
    left_ns = np.fmax(facts.roofline.dram_achievable_ns, LAUNCH_FLOOR_NS)
    at_most = np.maximum(facts.kernel_ns - left_ns, 0.0)[rows]
    if not len(rows):
        return
    row = facts.heaviest(rows)[0]
    name = canonical(facts.names[row])
    short = min((source, output), key=lambda operand: row_bytes(operand)[row])
    yield Claim(
        claim=(
            f"{len(rows)} reshapes, permutes and concats ({time_of(facts, rows)}) move ROW_MAJOR rows below "
            f"{TINY_ROW_BYTES} B; heaviest {name}, {short.padded[row, 3]}-wide rows ({row_bytes(short)[row]:.0f} B): "
            f"{example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption="the same bytes in long rows run at achievable DRAM bandwidth",
        evidence=cite_op(facts, row, (short, "LAYOUT"), (short, "DATATYPE")),
        fix=(
            f"have a large dim last before line {facts.line(row)}: permute where rows are still long, batch "
            "the op that made the rows so that no reshape is needed, concat along the last dim (dim=-1); pixels out of "
            "channels: ttnn.upsample"
        ),
        verify=f"re-profile; list_ops(op_code='{name}') kernel_us falls; PCC unchanged",
        caveat="the next op must still get the order that it needs: check shapes there",
    )


CHECK = Check(
    id="tiny-row-reshape",
    title="row-major reshape of tiny rows",
    step=2,
    look=look,
    of=ops_named("no Reshape, Permute, Transpose or Concat ops", *MOVES),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="reorder dims in the PyTorch code so that a large one is last before the view or permute",
)
