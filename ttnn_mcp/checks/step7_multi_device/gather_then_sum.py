"""An all-reduce is written out as an all-gather of every device's tensor and a sum of them.

The gather brings N whole tensors to each of N devices, (N-1) times the tensor over the links; `ttnn.all_reduce`
reduces a part on each device and gathers the parts: 2 x (N-1)/N times (tech_reports/CCLs/CCL_bandwidth.md). So from
three devices on it sends 2/N of the bytes. Since 2025 it is a reduce-scatter and a fast all-gather on any dim that
splits into whole tiles, the rows too (0.81.1 scatters 3200 x 576 over four devices along the rows).

The line: an all-gather over three devices and more, whose only reader is a sum over the gathered dim, and whose
payload needs half of its time at today's link rate; together 1 % of the window. The bound keeps 2/N of the gather and
drops the sum.

Silent on small tensors: their gather is mostly set-up time, and two exchanges have two set-ups. There gather and sum
are faster (29 ops and 210 us became 2 ops and 43 us, tt-metal PR #51007). Silent if neither rows nor width split into
whole tiles, and if the attributes do not tell the number of links.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.collectives import today_gb_s
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import LINK_RATE, OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, axis_argument, collectives_named
from ttnn_mcp.checks.wording import time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE

SUMS = ("FastReduceNC", "Reduce", "Sum", "MorehSum")
BYTES_DECIDE = 0.5  # of the gather's time: below it set-up and waiting outweigh the bytes (ours)
FEWEST = 3  # devices: with two, both forms send the same bytes


@check(
    title="all-reduce written as gather and sum",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(OPERANDS, LINK_RATE),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such pairs."""
    sums, exchanges = _sums(facts), facts.collectives
    gathers = facts.joins.makers[sums]
    places = np.searchsorted(exchanges.rows, gathers)
    devices, needed = exchanges.devices[places], exchanges.least_ns(today_gb_s(facts.chip))[places]
    whole = facts.ops.inputs[0].logical[gathers, 2:] % (TILE_SIDE * devices[:, None]) == 0
    summed = facts.ops.outputs[0].elements[sums] * devices == facts.ops.inputs[0].elements[sums]
    chosen = (devices >= FEWEST) & (needed >= BYTES_DECIDE * facts.kernel_ns[gathers]) & whole.any(axis=1) & summed
    gathers, sums, devices = gathers[chosen], sums[chosen], devices[chosen]
    saved = np.concatenate((facts.kernel_ns[gathers] * (1 - 2 / devices), facts.kernel_ns[sums]))
    yield Problem(np.concatenate((gathers, sums)), saved, tell=partial(_tell, sums), about=gathers)


def _tell(sums: Rows, ops: Affected) -> Words:
    facts, last = ops.facts, int(sums[ops.rows == ops.row][0])
    return Words(
        claim=(
            f"All-reduces written as all-gather and sum ({len(ops.rows)}x, "
            f"{time_of(facts, np.concatenate((ops.rows, sums)))}): {ops.example}, summed at line {facts.line(last)}"
        ),
        assumption="ttnn.all_reduce takes 2/N of the gather's time for 2/N of its bytes, and sums on the way",
        also=facts.cite(last),
        fix=(
            f"x = ttnn.all_reduce(x{axis_argument(facts, ops.row)}) on what line {ops.line} gathers, not both; from "
            "0.64.1"
        ),
        verify="re-profile; device_balance.ccl_share falls; PCC >= 0.99 on the composed output",
        caveat="two exchanges have two set-ups, and sums are in BFLOAT16; readers are inferred from shapes",
    )


def _sums(facts: WindowFacts) -> Rows:
    """Sums that alone read what an all-gather made."""
    gathers, makers = collectives_named(facts, "AllGather"), facts.joins.makers
    alone = facts.joins.reader_counts[makers] == 1  # never where nobody made it: that points to the last op
    return np.flatnonzero(facts.named(*SUMS) & alone & gathers[makers])
