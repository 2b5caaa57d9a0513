"""A conv is cut into slices that pass through DRAM although the whole conv would fit L1.

PaddedSlice fetches one slice of the input from DRAM into L1, the conv runs, SliceWrite puts its part of the
output back. A conv that does not fit L1 runs like this; for one that fits, both transports are needless.
Convs of SDXL's VAE ran as fast or faster once the number of slices was chosen automatically (tt-metal PR #34323).

The line: these transports cost 1 % of the window. A saving is claimed only for convs whose whole input, output and
buffers, with the present block, fit L1 by the conv's own formulas with 5 % to spare; for the others the claim gives
only the share. The bound is all of PaddedSlice and SliceWrite: an input that stays in DRAM must still be copied into
L1 once.

Silent about slices without a conv.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.conv_slices import slices_of, unsliced
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Subject, WindowFacts, Words
from ttnn_mcp.checks.levers import CONV_CONFIG
from ttnn_mcp.checks.needs import BLOCK_CONFIG
from ttnn_mcp.checks.shared.conv_ops import conv_check, l1_caveat
from ttnn_mcp.checks.wording import kinds
from ttnn_mcp.checks.worth import USUAL, Worth


def look(facts: WindowFacts) -> Problems:
    """Yield all transports of slices."""
    slices = slices_of(facts.ops)
    rows = np.unique([row for of_conv in slices.values() for row in of_conv.transports])
    whole = [
        row
        for row, conv in facts.convs.configured(slices)
        if unsliced(conv, slices[row].parts).total_bytes <= facts.safe_l1_bytes
    ]
    spared = np.isin(rows, [row for conv in whole for row in slices[conv].transports])
    yield Problem(rows, np.where(spared, facts.kernel_ns[rows], 0.0), tell=partial(_tell, whole))


def _tell(whole: list[int], ops: Affected) -> Words:
    facts, slices = ops.facts, slices_of(ops.facts.ops)
    heaviest = max(whole or slices, key=lambda conv: facts.kernel_ns[[*slices[conv].transports]].sum())
    write, transports, parts = slices[heaviest]
    conv = facts.convs.at(heaviest)
    return Words(
        claim=(
            f"{kinds(facts, np.array([*slices]))} work on slices fetched from and written to DRAM ({ops.time}); "
            f"{len(whole)} of them would fit L1 unsliced, e.g. line {facts.line(heaviest)}, 1 of {parts} slices"
        ),
        assumption="whole convs with their present block fit L1, and their neighbours read and write L1 too",
        evidence=facts.cite(transports[-1]) + facts.cite(write),
        fix=(
            f"ttnn.conv2d(..., slice_config=ttnn.Conv2dL1FullSliceConfig)  # from 0.64.0; line {facts.line(heaviest)}"
            if whole
            else "ttnn.conv2d without slice_config picks the number of slices itself; bfloat8_b weights and "
            "deallocate_activation=True make room for fewer"
        ),
        verify="re-profile; list_ops(group_by='op_code'): PaddedSlice and SliceWrite fall, no new Reshard",
        caveat=l1_caveat(facts, conv) if conv and facts.l1_limit else None,
    )


def _sliced(facts: WindowFacts) -> Mask:
    """The convs that write slices."""
    return np.isin(np.arange(len(facts)), [*slices_of(facts.ops)])


CHECK = conv_check(
    title="conv cut into DRAM slices",
    look=look,
    lever=CONV_CONFIG,
    of=Subject(_sliced, "no conv in DRAM slices (no SliceWrite behind a Conv2d)"),
    needs=(BLOCK_CONFIG,),
    worth=Worth(time=USUAL),
)
