"""A norm over devices runs as three ops and more, where TTNN has one: a trial.

Sums of squares, an all-gather of them, the scaling, and often a rotation of heads or a scale and shift behind it.
`ttnn.experimental.dit_fused_distributed_rmsnorm` (and `_layernorm`; in the wheel of 0.81.1) does all of that in one op,
whose own cores exchange the sums. On a ring of four Wormholes that took 46 to 84 % of the time of the ops in eleven
shapes of LTX-2.3, 32 to 4864 rows (tt-metal's ledger of tt_dit). One model says nothing about the next, and the first
form of that op lost at some shapes: so nothing is expected, and it stands last in the plan.

The line: an all-gather between the two halves of such a norm, with nobody else reading it; 1 % of the window. The bound
is all of them but what the second half moves at the achievable DRAM bandwidth, and its launch.

Silent where the sums are not gathered. Readers are inferred from shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, norms_in_halves
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.op_names import canonical

BEHIND = ("RotaryEmbeddingLlama", "Ternary")  # its rope_cos and rope_sin; its weight and bias


@check(
    title="a norm over devices in three ops",
    lever=FUSION,
    of=DEVICES,
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops of each such norm; the second half stays as the one op."""
    firsts, gathers, seconds = norms_in_halves(facts)
    follows = facts.names.where(lambda text: canonical(text) in BEHIND)
    behind = [after for row in seconds.tolist() for after in facts.joins.chain(row, follows)[1:2]]
    gone = np.sort(np.array([*firsts, *gathers, *behind], dtype=np.int64))
    rows = np.sort(np.concatenate((gone, seconds)))
    saved = np.where(facts.roofline.impossible, 0.0, facts.kernel_ns)
    stays = np.fmax(facts.roofline.dram_achievable_ns[seconds], LAUNCH_FLOOR_NS)
    saved[seconds] = np.maximum(saved[seconds] - stays, 0.0)
    yield Problem(rows, saved[rows], gone=gone, tell=partial(_tell, firsts), is_trial=True)


def _tell(firsts: Rows, ops: Affected) -> Words:
    op = "`ttnn.experimental.dit_fused_distributed_rmsnorm`"
    op = op if "RMS" in canonical(ops.facts.names[firsts[0]]) else f"{op} (or `_layernorm`)"
    return Words(
        claim=f"Norms over devices run as three ops and more ({len(firsts)}x, {ops.time}): {ops.example}",
        assumption="a trial: one op took 46 to 84 % of their time in one model's ledger; its rows still cross DRAM",
        fix=(
            f"{op} (x, cluster_axis, mesh_device, semaphores, weight=gamma, "
            "num_heads_per_device=heads, rope_cos, rope_sin, transformation_mat); a scale and shift behind it are its "
            "weight and bias; semaphores made once"
        ),
        verify="re-profile; no PreAllGather and PostAllGather rows; PCC >= 0.99 composed",
        caveat="written for diffusion models: rows of many tokens; as a call of decode nobody measured it",
    )
