"""A Move between Halo and a conv packs L1 that is not short.

With `reallocate_halo_output` a Move follows Halo: it copies the halo tensor to where L1 has no gap before it. That is
needed only where the conv's buffers would not fit otherwise.

The line: the Moves cost 1 % of the window. A Move counts only if the conv would also fit with the gap that the Move
closes (at most the size of the halo tensor), by the conv's own formulas and with 5 % to spare. The bound is their time.

Cannot tell if the L1 of the chip is not known and there are Moves. Silent about Moves elsewhere. Producers are
inferred from shapes, types and placements; only a memory report makes them certain.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.checks.check import Affected, CannotTell, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG
from ttnn_mcp.checks.needs import BLOCK_CONFIG, L1_LIMIT
from ttnn_mcp.checks.op_config import OpConfig, set_alone
from ttnn_mcp.checks.shared.conv_ops import conv_check, makers_of
from ttnn_mcp.checks.worth import USUAL, Worth


@conv_check(
    title="a Move where L1 is not short",
    lever=CONV_CONFIG,
    needs=(BLOCK_CONFIG,),
    worth=Worth(time=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the Moves from Halo to a conv that would fit L1 without them."""
    if facts.l1_limit is None and facts.named("Move").any():
        yield CannotTell(L1_LIMIT.why(facts))
    # without the Move at most the halo tensor's size is lost; the allocated bytes include it
    roomy = facts.convs.where(lambda conv: conv.total_bytes + conv.allocated_bytes <= facts.safe_l1_bytes)
    moves = makers_of(facts, roomy, "Move")
    source = facts.joins.makers[moves]
    rows = moves[(source != NOBODY) & facts.named("Halo")[source]]
    readers = roomy[np.isin(facts.joins.makers[roomy], rows)]
    conv_of = dict(zip(facts.joins.makers[readers].tolist(), readers.tolist(), strict=True))
    yield Problem(rows, facts.kernel_ns[rows], sets=_left_where_it_is, owners=conv_of, tell=partial(_tell, conv_of))


def _left_where_it_is(config: OpConfig) -> OpConfig:
    return config.with_conv_field("reallocate_halo_output", "False")


def _tell(conv_of: dict[int, int], ops: Affected) -> Words:
    text = set_alone(ops.facts, conv_of[ops.row], _left_where_it_is).conv_text
    return Words(
        claim=(
            f"Moves between Halo and Conv2d ({len(ops.rows)}x, {ops.time}) pack L1 that is not short: heaviest at line "
            f"{ops.line}, {ops.facts.ops.inputs[0].shape_text(ops.row)}"
        ),
        assumption="each conv fits with its halo tensor left where it is (L1 by model, 5 % kept free)",
        fix=f"{text}; on these convs; back to True if one runs out of L1",
        verify="re-profile; list_ops(op_code='MoveDeviceOperation').total falls, no circular-buffer clash",
        caveat="fragmentation is not modelled: try the largest conv first",
    )
