"""A conv reads its next block only after it has computed the present one.

With `enable_act_double_buffer` the reader fills a second activation block while the first is multiplied; with
`enable_weights_double_buffer` the same holds for weights. It costs one more block of L1. Best seen: WIDTH_SHARDED
convs of SDXL 1.6 to 1.7 times as fast (tt-metal #23123), a whole YOLOv4 7 % together with the split reader (tt-metal
#23472).

The line: the flag is off, there is more than one block to go through, and the second block fits L1 by the conv's own
formulas. HEIGHT_SHARDED convs with several blocks hold all weights anyway (tt-metal #22791) and with a single block
have nothing to prefetch; for weights only BLOCK and WIDTH count. The bound is half of the op, never below the
roofline: reading and computing took turns, and the longer half stays.

Silent if the flag is on, if there is only one block, and if the second block does not fit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.op_kinds.conv_l1 import DOUBLE_BUFFER_BEST, HEIGHT, Conv
from ttnn_mcp.checks.check import Claim, Claims, WindowFacts
from ttnn_mcp.checks.needs import BLOCK_CONFIG, L1_LIMIT
from ttnn_mcp.checks.shared.conv_ops import Candidates, candidates, conv_check, l1_caveat, room_for
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.wording import cite_attribute, cite_op, time_of
from ttnn_mcp.checks.worth import USUAL, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield one claim for activations, one for weights."""
    yield from _claims(facts, "enable_act_double_buffer", candidates(facts, _second_activation))
    yield from _claims(facts, "enable_weights_double_buffer", candidates(facts, _second_weights))


def _second_activation(conv: Conv) -> Conv | None:
    return replace(conv, act_double=True) if conv.doubling_helps and not conv.act_double else None


def _second_weights(conv: Conv) -> Conv | None:
    alone = conv.weights_double or conv.layout == HEIGHT or conv.inner_blocks < 2
    return None if alone else replace(conv, weights_double=True)


def _claims(facts: WindowFacts, setting: str, doubled: Candidates) -> Claims:
    rows = doubled.rows
    if not len(rows):
        return
    row, first, to = doubled.heaviest[0]
    yield Claim(
        claim=(
            f"{len(rows)} of {len(facts.convs.rows)} convs ({time_of(facts, rows)}) run with {setting} off although a "
            f"second block fits L1; heaviest at line {facts.line(row)}: {first.layout}, {first.blocks} x "
            f"{first.inner_blocks} blocks"
        ),
        rows=rows,
        at_most_ns=np.minimum(DOUBLE_BUFFER_BEST * facts.kernel_ns, facts.kernel_ns - least_ns(facts))[rows],
        assumption="reading and computing take turns; overlapped, the longer half stays (no gain where compute-bound)",
        evidence=(cite_attribute(facts, row, setting), *cite_op(facts, row)),
        fix=f"ttnn.Conv2dConfig({setting}=True)  {room_for(facts, row, to)}",
        verify=(
            f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls, memory_summary headroom stays positive"
        ),
        caveat=l1_caveat(facts, first),
    )


CHECK = conv_check(
    id="conv-double-buffer-off",
    title="conv reads and computes in turns",
    look=look,
    needs=(BLOCK_CONFIG, L1_LIMIT),
    worth=Worth(saving=USUAL),
)
