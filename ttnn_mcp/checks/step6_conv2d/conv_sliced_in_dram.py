"""A conv is cut into slices that travel through DRAM although the whole conv would fit L1.

PaddedSlice fetches one slice of the input from DRAM into L1, the conv runs, SliceWrite puts its part of the
output back. That is how a conv runs that does not fit; where it would fit, both transports are for nothing.
Convs of SDXL's VAE ran as fast or faster once the number of slices was chosen automatically (tt-metal PR #34323).

The line: these transports cost 1 % of the window. A saving is claimed only for convs whose whole input, output
and buffers, with the block they have, fit L1 by the conv's own formulas with 5 % to spare; for the others the
share is told without a saving. The bound is all of PaddedSlice and SliceWrite: an input that stays in DRAM must
still be copied into L1 once.

Silent about slices that no conv is behind.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.op_kinds.convs import Convs
from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, Subject, WindowFacts
from ttnn_mcp.checks.needs import BLOCK_CONFIG
from ttnn_mcp.checks.shared.conv_ops import CONV_CONFIGS, l1_caveat
from ttnn_mcp.checks.shared.wording import kinds, time_of
from ttnn_mcp.checks.worth import USUAL, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all transports of slices."""
    convs = facts.convs
    slices = _slices(facts, convs)
    if not slices:
        return
    rows = np.unique([row for transports in slices.values() for row in transports])
    limit = facts.l1_limit
    whole = [
        conv for conv in slices if limit is not None and _fits_whole(facts, convs, conv, slices[conv][0], limit)
    ]
    saved = np.isin(rows, [row for conv in whole for row in slices[conv]])
    heaviest = max(whole or slices, key=lambda conv: facts.kernel_ns[slices[conv]].sum())
    row, write = slices[heaviest][-1], slices[heaviest][0]
    first = convs.at(heaviest)
    yield Claim(
        claim=(
            f"{kinds(facts, np.array([*slices]))} work on slices fetched from and written to DRAM "
            f"({time_of(facts, rows)}); {len(whole)} of them would fit L1 unsliced, e.g. line "
            f"{facts.line(heaviest)}, 1 of {_count(facts, write)} slices"
        ),
        rows=rows,
        at_most_ns=np.where(saved, facts.kernel_ns[rows], 0.0),
        assumption="whole convs with the block they have fit L1, and their neighbours read and write L1 too",
        evidence=facts.cite(row) + facts.cite(write),
        fix=(
            f"ttnn.conv2d(..., slice_config=ttnn.Conv2dL1FullSliceConfig)  # line {facts.line(heaviest)}"
            if whole
            else "ttnn.conv2d without slice_config picks the number of slices itself; bfloat8_b weights and "
            "deallocate_activation=True make room for fewer"
        ),
        verify="re-profile; list_ops(group_by='op_code'): PaddedSlice and SliceWrite fall, no new Reshard",
        caveat=l1_caveat(limit, first, facts.chip.arch) if limit and first else None,
    )


def _sliced(facts: WindowFacts) -> Mask:
    """The convs that write slices."""
    sliced = np.zeros(len(facts), dtype=np.bool_)
    if facts.flow.producers:  # without operand columns nobody is known to read anything
        sliced[[*_slices(facts, facts.convs)]] = True
    return sliced


def _slices(facts: WindowFacts, convs: Convs) -> dict[int, list[int]]:
    """Conv row -> its SliceWrite, then its PaddedSlice where there is one."""
    source, fetch = facts.flow.producers[0], facts.named("PaddedSlice")
    is_conv = np.isin(np.arange(len(facts)), convs.rows)
    found: dict[int, list[int]] = {}
    for write in np.flatnonzero(facts.named("SliceWrite") & (source != NOBODY)).tolist():
        conv = int(source[write])
        if not is_conv[conv]:
            continue
        found[conv] = [write]
        at = conv
        for _ in range(3):  # back through Move and Halo
            at = int(source[at]) if at != NOBODY else NOBODY
            if at != NOBODY and fetch[at]:
                found[conv].append(at)
    return found


def _count(facts: WindowFacts, write: int) -> int:
    """How many slices the tensor that SliceWrite fills is cut into."""
    whole, part = facts.ops.outputs[0].elements[write], facts.ops.inputs[0].elements[write]
    return max(1, round(float(whole) / float(part)))


def _fits_whole(facts: WindowFacts, convs: Convs, row: int, write: int, limit: L1Limit) -> bool:
    conv, times = convs.at(row), _count(facts, write)
    if conv is None:
        return False
    whole = replace(conv, per_core_h=conv.per_core_h * times, allocated_bytes=conv.allocated_bytes * times)
    return whole.total_bytes <= limit.safe_bytes


CHECK = Check(
    id="conv-sliced-in-dram",
    title="conv cut into DRAM slices",
    step=6,
    look=look,
    of=Subject(_sliced, "no conv runs in DRAM slices (no SliceWrite behind a Conv2d)"),
    needs=(BLOCK_CONFIG,),
    worth=Worth(time=USUAL),
    compiled=CONV_CONFIGS,
)
