"""A reduce-scatter cuts tiles apart, so TTNN cuts the tensor into pieces before it and joins them after it.

A dim that does not give every device whole tiles (2880 columns over 8 devices) is sliced, untilized, tilized, padded
and concatenated piece by piece: 30 ops around one exchange in 0.81.1. Without them a step of gpt-oss went from 10.7
to 14.7 tokens/s (`ttnn.all_reduce`, tt-metal PR #38225), and 29 ops and 210 us became 2 ops and 43 us (all-gather and
`fast_reduce_nc`, PR #51007).

The line: a ReduceScatter that reads a Concat or a Pad, with at least as many slices, conversions, pads and concats
directly before it as devices; together 1 % of the window. The bound is the whole time of these ops; the exchange
stays.

Silent on a reduce-scatter whose input one op wrote. Not applicable with one device.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, exchanges_named
from ttnn_mcp.checks.wording import time_of
from ttnn_mcp.checks.worth import USUAL, Worth

PIECES = (*TO_ROWS, *TO_TILES, "UntilizeCodegen", "FillPad", "Pad", "Slice", "Concat")
JOINED = ("Concat", "Pad")


@check(
    title="a reduce-scatter that cuts tiles apart",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="shard the model over a dim that is a multiple of 32 times the devices, or pad it once in the weights",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all pieces of all such exchanges."""
    exchanges, makers, pieces = facts.collectives, facts.joins.makers, facts.named(*PIECES)
    scatters = exchanges_named(facts, "ReduceScatter")[exchanges.rows]
    rows, devices = exchanges.rows[scatters], exchanges.devices[scatters]
    before = rows - _begins(pieces)[rows]
    cut = (makers[rows] != NOBODY) & facts.named(*JOINED)[makers[rows]] & (before >= devices)
    rows, before = rows[cut], before[cut]
    steps = np.zeros(len(facts) + 1, dtype=np.int64)
    steps[rows - before] += 1
    steps[rows] -= 1
    after = facts.named("Slice") & np.isin(makers, rows)
    parts = np.flatnonzero(after | (np.cumsum(steps)[:-1] > 0))
    yield Problem(parts, facts.kernel_ns[parts], tell=partial(_tell, parts), about=rows)


def _tell(parts: Rows, ops: Affected) -> Words:
    facts = ops.facts
    return Words(
        claim=(
            f"Reduce-scatters over a dim that cuts tiles apart ({len(ops.rows)}x), with {len(parts)} slices, "
            f"conversions and pads around ({time_of(facts, parts)}): {ops.example}"
        ),
        assumption="the exchange reads the tensor whole and takes as long as now",
        evidence=(*facts.cite(int(parts[np.argmax(facts.kernel_ns[parts])])), *facts.cite(int(parts[0]))),
        fix=(
            "scatter a dim that gives every device whole tiles: ttnn.reduce_scatter(x, dim=2); for an all-reduce "
            "ttnn.all_reduce(x) (from 0.64.1), or, small, ttnn.all_gather and "
            "ttnn.experimental.fast_reduce_nc(x, dims=[0])"
        ),
        verify="re-profile; the Slice, Tilize and FillPad ops around it are gone; PCC >= 0.99 composed",
        caveat="slices that the model itself makes right before the exchange are counted too",
    )


def _begins(pieces: Mask) -> Rows:
    """Per op, the first of the pieces that lie right before it; the op itself where none do."""
    others = np.where(pieces, -1, np.arange(len(pieces)))
    last = np.maximum.accumulate(np.concatenate(([-1], others)))[:-1]
    return last + 1
