"""Fused attention reads a square mask from DRAM.

Attention reads its mask tile by tile beside Q and K, and multiplies the pairs that the mask switches off all the same.
With `is_causal=True` it makes the mask itself and skips the pairs above the diagonal: half of the work. A mask that
only hides padding (one for each text of a batch) is not needed where nothing is padded: without one a BGE-M3 encoder
of 24 layers took 237 us less at batch 1 (tt-metal's perf_automation guide).

The line: prefill attention of 512 rows and more over as many keys, with a mask of one value per pair; 1 % of the window
to save. The bound is half of the op: the causal case.

Silent about causal calls, decode, joint and ring attention, and keys of another number than Q (cross attention). The
report does not show what the mask hides, so the finding is a trial: only a causal or an empty mask can go.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.worth import USUAL, Worth

LONG = 512  # rows: what was measured (tt-metal perf_automation, BGE-M3); shorter ones have few pairs
CAUSAL = 0.5  # of the pairs are left (tt-metal PR #19503, its model of the op)


@check(
    title="a mask that attention could do without",
    lever=ATTENTION,
    of=ops_named("no prefill attention", "ScaledDotProductAttention"),
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="call torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True) without attn_mask",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all attention with a square mask."""
    rows = _masked(facts)
    yield Problem(rows, (1 - CAUSAL) * facts.kernel_ns[rows], tell=_tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    mask = ops.facts.ops.inputs[3]
    attend = (
        "ttnn.transformer.scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal={}, ...), the rest as now"
    )
    each = mask.logical[ops.row, 0] > 1  # one of each text of a batch, which hides how long each is
    return Words(
        claim=(
            f"Attention reads a square mask ({len(ops.rows)}x, {ops.time}): {mask.shape_text(ops.row)} "
            f"{mask.dtype[ops.row]}, {ops.example}"
        ),
        assumption="a causal mask leaves half of the pairs; without padding to hide no mask is needed",
        cells=((mask, "DATATYPE"), (mask, "MEMORY")),
        fix=f"{attend.format(False)}, if no text of the batch is padded"
        if each
        else f"{attend.format(True)}, if the mask is causal; is_causal=False if it hides nothing",
        verify=f"re-profile; op_detail(op={ops.line}) shows no INPUT_3 and kernel_us falls; PCC >= 0.99",
        caveat="a mask of another pattern must stay; with keys that are no multiple of 32 pad it with -inf (#54833)",
    )


def _masked(facts: WindowFacts) -> Rows:
    """Prefill attention with one mask value per pair of rows."""
    if len(facts.ops.inputs) <= len(("q", "k", "v")):
        return np.zeros(0, dtype=np.int64)
    rows, mask = facts.ops.inputs[0].logical[:, 2], facts.ops.inputs[3].logical
    square = (mask[:, 2] == rows) & (mask[:, 3] == rows)
    return np.flatnonzero(facts.named("ScaledDotProductAttention") & square & (rows >= LONG))
