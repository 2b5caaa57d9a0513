"""Batch norm runs as separate ops after a conv.

At inference batch norm is one scale and one shift per channel, known in advance: multiply the scale into the conv's
weights, add the shift to its bias, and the ops are gone with the same results. PyTorch folds only after
`model.eval()`.

The line: a BatchNorm op, or two and more element-wise ops with an operand of one value per channel (subtract,
multiply, multiply, add), read a conv's output that no other op reads, and take 0.5 % of the window. The saving is
their time.

GroupNorm, LayerNorm and RMSNorm depend on the input and cannot be folded: silent about them, and where the conv or one
of the ops applies a function, which is not linear. Readers are inferred from
shapes, types and placements.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import plain
from ttnn_mcp.checks.shared.conv_ops import conv_check, convs_behind
from ttnn_mcp.checks.wording import kinds
from ttnn_mcp.checks.worth import SAFE, Worth

LEAST_OPS = 2  # per-channel ops in a row that make a batch norm; one alone may be a bias (ours)


@conv_check(
    title="batch norm not folded into the conv",
    lever=FUSION,
    needs=(TWO_OPERANDS,),
    worth=Worth(time=SAFE),
    compiled="model.eval() before compiling: batch norm then folds",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all batch norms behind convs."""
    per_channel, norms = _per_channel(facts) & plain(facts), facts.named("BatchNorm")
    conv_of: dict[int, int] = {}
    for row, conv in convs_behind(facts, np.flatnonzero(norms | per_channel)).items():
        if facts.attributes(conv).text_of("activation"):
            continue
        chain = facts.joins.chain(row, per_channel)
        if norms[row] or len(chain) >= LEAST_OPS:
            conv_of.update(dict.fromkeys(chain, conv))
    rows = np.array([*conv_of], dtype=np.int64)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, conv_of))


def _tell(conv_of: dict[int, int], ops: Affected) -> Words:
    return Words(
        claim=(
            f"Batch norm runs as {len(ops.rows)} ops ({ops.time}) behind "
            f"{kinds(ops.facts, np.unique([*conv_of.values()]))}: {ops.example} behind the conv at line "
            f"{ops.facts.line(conv_of[ops.row])}"
        ),
        assumption="scale and shift are constants, folded into weights and bias on the host",
        fix=(
            "scale = norm.weight / torch.sqrt(norm.running_var + norm.eps); weight = conv.weight * "
            "scale.reshape(-1, 1, 1, 1); bias = (conv.bias - norm.running_mean) * scale + norm.bias; in "
            "float32, then ttnn.from_torch"
        ),
        verify="re-profile; the ops are gone from list_ops(group_by='op_code'), PCC >= 0.99",
        caveat="operands of one value per channel may not be a batch norm: check the model",
    )


def _per_channel(facts: WindowFacts) -> Mask:
    """Element-wise ops whose second operand holds one value per channel of a wider first one."""
    first, second = facts.ops.inputs[:2]
    one_row = (second.logical[:, :3].prod(axis=1) == 1) & (second.logical[:, 3] == first.logical[:, 3])
    return facts.named("Binary") & one_row & (second.logical[:, 3] > 1) & (first.elements > second.elements)
