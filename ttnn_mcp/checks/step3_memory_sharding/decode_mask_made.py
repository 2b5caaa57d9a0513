"""A decode step makes a mask for its attention, op by op.

`ttnn.transformer.scaled_dot_product_attention_decode` takes the position of each user as cur_pos_tensor and leaves out
what comes after it; with sliding_window_size it also leaves out what lies before the window (TTNN 0.81.1). gpt-oss made
that mask from positions in nine small ops per layer: two differences, three comparisons and conjunctions, a choice of 0
or -inf, a repeat for all heads (tt-mlir #7711).

The line: element-wise and shape ops whose results only such a mask or decode attention reads; together 0.5 % of the
window. The bound is all they took, and what that attention takes beyond 5 us: with a mask it reads the whole cache, by
positions only what lies before them (Falcon3's in tt-metal: 107 us became 46, and 962 became 46).

Silent on masks that no op of the window made, and where another op reads what they are made from. The report does not
show what the mask hides, so the finding is a trial: a mask of another pattern must stay.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.mask_makers import DECODE_ATTENTION, makers_of_decode_masks
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import ATTENTION
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, TWO_OPERANDS
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.checks.worth import SAFE, Worth

ATTENDS = ops_named("no decode attention", *DECODE_ATTENTION)


@check(
    title="a mask made for decode attention",
    lever=ATTENTION,
    of=ATTENDS,
    needs=(TWO_OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that make masks."""
    rows, readers = makers_of_decode_masks(facts.joins)
    at, least = np.concatenate([rows, readers]), np.where(ATTENDS.mask(facts), SMALL_NS, 0.0)
    saved = np.maximum(facts.kernel_ns - least, 0.0)
    yield Problem(at, saved[at], about=rows, tell=partial(_tell, len(readers)))


def _tell(readers: int, ops: Affected) -> Words:
    return Words(
        claim=(
            f"{ops.many('op', ('makes', 'make'))} masks for {counted(readers, 'decode attention op')} ({ops.time}): "
            f"{ops.name} {ops.example}"
        ),
        assumption="the mask hides later positions, or those before a window, and attention can do that itself",
        fix=(
            "ttnn.transformer.scaled_dot_product_attention_decode(q, k, v, cur_pos_tensor=positions) and no attn_mask; "
            "with a window sliding_window_size=... too"
        ),
        verify="re-profile; compare_runs.removed lists these ops; PCC >= 0.99",
        caveat="a mask of another pattern must stay; readers are inferred from shapes",
    )
