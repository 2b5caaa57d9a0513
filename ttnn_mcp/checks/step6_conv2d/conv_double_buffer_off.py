"""A conv reads its next block only after it has computed the present one.

With `enable_act_double_buffer` the reader fills a second activation block while the first is multiplied; with
`enable_weights_double_buffer` the same holds for weights. It costs one more block of L1. Best seen: WIDTH_SHARDED
convs of SDXL 1.6 to 1.7 times as fast (tt-metal #23123), a whole YOLOv4 7 % together with the split reader (tt-metal
#23472).

The line: a flag is off, there is more than one block to go through, and the second block fits L1 by the conv's own
formulas. HEIGHT_SHARDED convs with several blocks hold all weights anyway (tt-metal #22791) and with a single block
have nothing to prefetch; for weights only BLOCK and WIDTH count.

One conv is in one claim, and the bound is half of the op, never below the roofline, for one flag and for both: the
multiply waits for both blocks and frees both, so both readers fill theirs side by side while it waits. A step takes
C + max(A, W), where C computes, A brings activations, W weights; with both flags max(C, A, W), which is half at best.
The flag of the faster reader alone brings nothing, so one flag alone can fail where both help.

Silent if the flags are on, if there is only one block, and if no second block fits.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.programs.convs import DOUBLE_BUFFER_BEST, Conv
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG
from ttnn_mcp.checks.needs import BLOCK_CONFIG, L1_LIMIT
from ttnn_mcp.checks.op_config import DOUBLES
from ttnn_mcp.checks.shared.conv_ops import (
    ACTIVATIONS,
    WEIGHTS,
    candidates,
    conv_check,
    doubled,
    l1_caveat,
    with_doubles,
)
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.wording import cite_attribute, cite_op
from ttnn_mcp.checks.worth import USUAL, Worth


@conv_check(
    title="conv reads and computes in turns",
    lever=CONV_CONFIG,
    needs=(BLOCK_CONFIG, L1_LIMIT),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the convs of each set of flags that can be turned on together."""
    saved = np.minimum(DOUBLE_BUFFER_BEST * facts.kernel_ns, facts.kernel_ns - least_ns(facts))
    for flags in ((ACTIVATIONS, WEIGHTS), (ACTIVATIONS,), (WEIGHTS,)):
        rows, _ = candidates(facts, partial(_turned_on, facts.safe_l1_bytes, flags))
        yield Problem(rows, saved[rows], sets=with_doubles, tell=partial(_tell, flags))


def _turned_on(safe_bytes: float, flags: tuple[str, ...], conv: Conv) -> Conv | None:
    """The form with these flags on; None where others are the first that fit."""
    form = doubled(conv, safe_bytes)
    if form is None:
        return None
    on = tuple(flag for flag, side in DOUBLES.items() if getattr(form, side) and not getattr(conv, side))
    return form if on == flags else None


def _tell(flags: tuple[str, ...], ops: Affected) -> Words:
    facts = ops.facts
    row, conv = facts.convs.configured(ops.examples)[0]
    fit = "second blocks fit" if len(flags) > 1 else "a second block fits"
    return Words(
        claim=(
            f"{len(ops.rows)} of {len(facts.convs.rows)} convs ({ops.time}) run with {' and '.join(flags)} off "
            f"although {fit} L1; heaviest at line {ops.line}: {conv.layout}, {conv.blocks} x {conv.inner_blocks} "
            "blocks"
        ),
        assumption="reading and computing take turns; overlapped, the longer half stays (no gain where compute-bound)",
        evidence=(*(cite_attribute(facts, row, flag) for flag in flags), *cite_op(facts, row)),
        fix=ops.with_only(with_doubles).conv_text,
        verify=f"re-profile; op_detail(op={ops.line}).kernel_us falls, memory_summary headroom stays positive",
        caveat=l1_caveat(facts, conv),
    )
