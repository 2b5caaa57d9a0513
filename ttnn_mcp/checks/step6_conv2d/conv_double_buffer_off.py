"""A conv reads its next block only after computing the present one.

With `enable_act_double_buffer` the reader fills a second activation block while the first is multiplied; with
`enable_weights_double_buffer` the same holds for weights. It costs one more block of L1. Best seen: WIDTH_SHARDED
convs of SDXL 1.6 to 1.7 times as fast (tt-metal #23123), a whole YOLOv4 7 % together with the split reader (tt-metal
#23472).

The line: the flag is off, there is more than one block to go through, and the second block fits L1 by the conv's
own formulas. HEIGHT_SHARDED convs with several blocks hold all weights anyway (tt-metal #22791) and with a single
block have nothing to prefetch; for weights only BLOCK and WIDTH are looked at. The bound is half of
the op, never below the roofline: of two things that took turns, the longer one stays.

Silent where the flag is on, where there is one block only, and where the second block does not fit.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.op_kinds.conv_l1 import DOUBLE_BUFFER_BEST, HEIGHT, Conv
from ttnn_mcp.analyses.op_kinds.convs import Convs
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts
from ttnn_mcp.checks.needs import BLOCK_CONFIG, L1_LIMIT
from ttnn_mcp.checks.shared.conv_ops import CONV_CONFIGS, CONVS, l1_caveat, megabytes
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.wording import cite_attribute, cite_op, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

if TYPE_CHECKING:
    from collections.abc import Callable


def look(facts: WindowFacts) -> Claims:
    """Yield one claim for activations, one for weights."""
    convs, limit = facts.convs, facts.l1_limit
    if limit is None:
        return

    def act(conv: Conv) -> Conv | None:
        return None if conv.act_double or not conv.doubling_helps else replace(conv, act_double=True)

    def weights(conv: Conv) -> Conv | None:
        alone = conv.weights_double or conv.layout == HEIGHT or conv.inner_blocks < 2
        return None if alone else replace(conv, weights_double=True)

    yield from _claims(facts, convs, limit, "act", act)
    yield from _claims(facts, convs, limit, "weights", weights)


def _claims(
    facts: WindowFacts, convs: Convs, limit: L1Limit, what: str, doubled: Callable[[Conv], Conv | None]
) -> Claims:
    better = {conv: doubled(conv) for conv in convs.distinct if conv is not None}
    rows = convs.where(lambda conv: (to := better[conv]) is not None and to.total_bytes <= limit.safe_bytes)
    at_most = np.minimum(DOUBLE_BUFFER_BEST * facts.kernel_ns, facts.kernel_ns - least_ns(facts))[rows]
    if not len(rows):
        return
    setting = f"enable_{what}_double_buffer"
    examples = [(row, conv, to) for row in facts.heaviest(rows) if (conv := convs.at(row)) and (to := better[conv])]
    row, first, to = examples[0]
    yield Claim(
        claim=(
            f"{len(rows)} of {len(convs.rows)} convs ({time_of(facts, rows)}) run with {setting} off although a "
            f"second block fits L1; heaviest at line {facts.line(row)}: {first.layout}, {first.blocks} x "
            f"{first.inner_blocks} blocks"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption="reading and computing take turns; overlapped, the longer half stays (no gain where compute-bound)",
        evidence=(cite_attribute(facts, row, setting), *cite_op(facts, row)),
        fix=(
            f"ttnn.Conv2dConfig({setting}=True)  # line {facts.line(row)}: {megabytes(to.total_bytes)} of "
            f"{megabytes(limit.limit_bytes)} L1"
        ),
        verify=(
            f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls, memory_summary headroom stays positive"
        ),
        caveat=l1_caveat(limit, first, facts.chip.arch),
    )


CHECK = Check(
    id="conv-double-buffer-off",
    title="conv reads and computes in turns",
    step=6,
    look=look,
    of=CONVS,
    needs=(BLOCK_CONFIG, L1_LIMIT),
    worth=Worth(saving=USUAL),
    compiled=CONV_CONFIGS,
)
