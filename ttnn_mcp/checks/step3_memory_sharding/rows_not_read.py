"""A matmul or norm computes rows that are dropped right after it, or the logits of a whole prompt.

Each row of a matmul, norm or activation depends on its own row of the input alone: a slice that keeps a few rows gives
the same before it. The LM head is the usual case: generating takes the logits of a prompt's last token only, so
DeepSeek's prefill narrows the hidden states to the last 32 rows first (tt-metal PR #41275), and the LLM report of
tt-metal slices before the head (section 4.5.3).

The line: a slice of at most half the rows with all their columns, alone reading what a matmul with weights, a
LayerNorm or a unary op wrote, and what stands alone before that; or the last matmul of a window with attention over
128 rows and more, on as many rows, at least 8192 columns wide and twice as wide as deep, whose result no matmul reads.
1 % of the window to save. The bound leaves the kept rows' share and the bytes of the weights; an op that is faster than
its roofline promises nothing.

Silent about decode, and where more than one op reads the rows. Scoring and training read all logits: then the second
finding does not hold.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import reads_weights
from ttnn_mcp.analyses.op_kinds.kept_rows import computed_then_dropped, logits_of_all_rows, rows_of
from ttnn_mcp.checks.arrays import Floats, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.quoting import figure


@check(
    title="rows computed for nobody",
    of=ops_of_family("no matmuls or norms", "matmul", "norm"),
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(saving=USUAL),
    compiled="index the hidden states with the last position before the LM head: hidden[:, -1:, :]",
)
def look(facts: WindowFacts) -> Problems:
    """Yield ops whose rows a slice drops, and the head that computes the logits of a prompt."""
    weights = reads_weights(facts.ops, facts.flow)
    rows, kept = computed_then_dropped(facts.ops, facts.joins, weights)
    tell = partial(_tell, "Rows are computed that a slice drops", "ttnn.slice the input first,", kept)
    yield Problem(rows, _saved(facts, rows, kept), tell=tell)
    head = np.setdiff1d(logits_of_all_rows(facts.ops, weights), rows)
    few = TILE_SIDE / rows_of(facts.ops.outputs[0])[head]
    tell = partial(_tell, "Logits are computed for all rows", "x = x[:, :, -32:, :], the last rows, first,", few)
    yield Problem(head, _saved(facts, head, few), tell=tell)


def _tell(problem: str, change: str, kept: Floats, ops: Affected) -> Words:
    return Words(
        claim=(
            f"{problem} ({len(ops.rows)}x, {ops.time}): {ops.example}, of whose "
            f"rows {figure(kept[ops.at], '.1%')} are needed"
        ),
        assumption="time falls with the rows down to the bytes of the weights",
        cells=((ops.facts.ops.inputs[0], "MEMORY"),),
        fix=f"{change} before the op at line {ops.line}; one tile of 32 rows is the least that an op computes",
        verify=f"re-profile; op_detail(op={ops.line}) shows fewer rows and kernel_us falls; PCC >= 0.99",
        caveat="holds for generating: scoring, training and speculative decoding read the logits of every token",
    )


def _saved(facts: WindowFacts, rows: Rows, kept: Floats) -> Floats:
    took, weight = facts.kernel_ns[rows], facts.ops.inputs[1]
    moved = np.sum([operand.bytes[rows] for operand in (*facts.ops.inputs, *facts.ops.outputs)], axis=0)
    of_weights = np.where(weight.present[rows], weight.bytes[rows], 0.0) / moved
    streaming = np.nan_to_num(facts.roofline.dram_achievable_ns[rows]) * of_weights
    saved = np.fmax(took - np.fmax(took * kept, streaming), 0.0)
    return np.where(facts.roofline.impossible[rows], 0.0, saved)
