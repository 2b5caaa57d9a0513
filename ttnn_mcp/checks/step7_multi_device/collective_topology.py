"""A collective goes down a line, over few links or through fresh buffers, where the mesh may offer more.

On a line the end devices talk in one direction only; a ring lets all of them talk both ways, so an exchange takes
down to half. Blackhole boards have two links per neighbour. Buffers that persist between calls save the set-up:
54 to 45 us for one all-gather (CCL tech report). Ring reduce-scatter on eight p150 gained 25 to 36 %
(tt-metal #55543).

The line: collectives over more than two devices run Linear, or on one link on Blackhole, and half of their time
is 1 % of the window. The bound is that half, never below the payload at the links' specified rate.

Whether cables close a ring is in no report: an op that is asked for a ring without one falls back to Linear
silently (tt-metal #56235). Never more links on n300 and T3000: two hang there. Not applicable with one device.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.devices.collectives import payload_gb_s
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts
from ttnn_mcp.checks.needs import SAME_OPS
from ttnn_mcp.checks.shared.mesh import DEVICES
from ttnn_mcp.checks.shared.wording import cite_attribute, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

AT_BEST = 0.5  # of the time: two directions, or two links, for one


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all collectives on a line or a single link."""
    balance = facts.balance
    exchanges = facts.collectives
    line = (exchanges.directions == 1) & (exchanges.devices > 2)
    narrow = (exchanges.links == 1) & (facts.chip.arch == "blackhole")
    rows = exchanges.rows[line | narrow]
    took = facts.kernel_ns[rows]
    needed = exchanges.least_ns(payload_gb_s(facts.chip), both_directions=True)[line | narrow]
    at_most = took - np.minimum(np.fmax(AT_BEST * took, needed), took)
    if not len(rows):
        return
    fresh = int((exchanges.persistent[line | narrow] == 0).sum())
    examples = facts.heaviest(rows)
    row = examples[0]
    links = " and num_links=2" if narrow.any() else ""
    without = f", {fresh} of them without persistent buffers" if fresh else ""
    yield Claim(
        claim=(
            f"Collectives ({len(rows)}x, {time_of(facts, rows)} on device {facts.scope.critical_device}, "
            f"{balance.collective_share:.1%} over all) run {'Linear' if line.any() else 'on one link'}{without}; "
            f"heaviest at line {facts.line(row)}"
        ),
        rows=rows,
        at_most_ns=at_most,
        assumption="cables close a ring, so every device talks in both directions: at best half the time",
        evidence=(
            *(cite_attribute(facts, row, key) for key in ("topology", "num_links", "using_persistent_buffers")),
            *facts.cite(row),
        ),
        fix=(
            f"topology=ttnn.Topology.Ring{links} in these calls, after "
            "ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING) before opening the mesh; pass "
            "persistent_output_buffer made once"
        ),
        verify=(
            f"re-profile; op_detail(op={facts.line(row)}).attributes topology is Ring, device_balance.ccl_share "
            "falls"
        ),
        caveat="wiring is in no report; without a closed ring the op silently stays Linear",
    )


CHECK = Check(
    id="collective-topology",
    title="collectives on a line or few links",
    step=7,
    look=look,
    of=DEVICES,
    needs=(SAME_OPS,),
    worth=Worth(saving=USUAL),
)
