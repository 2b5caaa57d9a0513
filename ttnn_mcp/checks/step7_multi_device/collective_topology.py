"""A collective uses a line, few links or new buffers, although the mesh may offer more.

On a line the end devices use one direction only; in a ring all devices use both: about twice as fast on
Blackhole, 1.5 to 1.8 times on Wormhole. Blackhole boards have two links per neighbour. An output made once saves the
set-up: with packets of 8192 B, 54 became 45 us for one all-gather (all of CCL_Performance_Best_Practices.md). Small
reduce-scatters were slower on a ring than on a line before April 2026 (tt-metal PR #41522).

The line: collectives over more than two devices run Linear, or on one link on Blackhole, and half of their time
is 1 % of the window. The bound is that half (three quarters if both hold), never below the payload at the links'
specified rate; of a second link alone a little more than half of the payload's time at the rate that links have been
seen to carry, because hops and set-up stay (reductions of 164 kB on two links made a decode step of Qwen3 4B 15 us
longer, its port in tt-metal). Where the payload takes half of the time and more at that rate, a second link is
expected to halve it. Elsewhere it is a trial, as hops decide or nobody knows whether cables close a ring: a ring gained
for one decode step on four Blackhole chips (Muse) and brought nothing in another (Mistral Small 24B, 114 us and 118).

No report shows whether cables close a ring: without one an op that should use a ring falls back to Linear silently
(tt-metal #56235), and a ring fabric on an open line is slower. n300 and T3000 have one link: `ttnn.reduce_scatter` of
TTNN 0.81.1 refuses two there. Not applicable with one device.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.collectives import payload_gb_s, today_gb_s
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import SAME_OPS
from ttnn_mcp.checks.shared.mesh import DEVICES, KEPT_OUTPUT, PAYLOAD_KEPT, by_payload
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure


@check(
    title="collectives on a line or few links",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(SAME_OPS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the collectives on a line, and the others on a single link."""
    exchanges = facts.collectives
    line = (exchanges.directions == 1) & (exchanges.devices > 2)
    narrow = (exchanges.links == 1) & (facts.chip.arch == "blackhole")
    times = np.where(line, 2.0, 1.0) * np.where(narrow, 2.0, 1.0)
    needed = exchanges.least_ns(payload_gb_s(facts.chip), both_directions=True) / np.where(narrow, 2.0, 1.0)
    took = facts.kernel_ns[exchanges.rows]
    at_most = took - np.minimum(np.fmax(took / times, needed), took)
    by_second = PAYLOAD_KEPT[1] / 2 * exchanges.least_ns(today_gb_s(facts.chip))
    at_most = np.where(line, at_most, np.fmin(at_most, by_second))
    by_links = by_payload(facts, np.where(narrow, 0.5, 0.0))  # whether cables close a ring nobody knows
    by_bytes = by_links.saved_ns > 0 if by_links else np.zeros(len(took), dtype=np.bool_)
    for chosen in (line, narrow & ~line):
        for at, by in ((np.flatnonzero(chosen & by_bytes), by_links), (np.flatnonzero(chosen & ~by_bytes), None)):
            expected = by.of_rows(at) if by else None
            yield Problem(
                exchanges.rows[at], at_most[at], tell=partial(_tell, narrow), expected=expected, is_trial=by is None
            )


def _tell(narrow: Mask, ops: Affected) -> Words:
    facts, exchanges = ops.facts, ops.facts.collectives
    places = np.searchsorted(exchanges.rows, ops.rows)
    ring = bool((exchanges.directions[places] == 1).all())
    fresh = int((exchanges.persistent[places] == 0).sum())
    without = f", {fresh} of them without persistent buffers" if fresh else ""
    links = " and num_links=2" if narrow[places].any() else ""
    ring_fix = (
        "ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D_RING) before opening the mesh, no topology or num_links of "
        f"your own (older builds: topology=ttnn.Topology.Ring{links} in these calls); {KEPT_OUTPUT}"
    )
    shows = "topology is Ring" if ring else "num_links is 2"
    return Words(
        claim=(
            f"Collectives ({len(ops.rows)}x, {ops.time} on device {facts.scope.critical_device}, "
            f"{figure(facts.balance.collective_share, '.1%')} of all kernels) run "
            f"{'Linear' if ring else 'on one link'}{without}; "
            f"heaviest at line {ops.line}"
        ),
        assumption=(
            "cables close a ring, so every device talks in both directions: at best half the time"
            if ring
            else "two cables join each pair of neighbours: at best half the time"
        ),
        evidence=(
            *(cite_attribute(facts, ops.row, key) for key in ("topology", "num_links", "using_persistent_buffers")),
            *facts.cite(ops.row),
        ),
        fix=ring_fix if ring else f"no num_links of your own (older builds: num_links=2); {KEPT_OUTPUT}",
        verify=f"re-profile; op_detail(op={ops.line}).attributes {shows}, device_balance.ccl_share falls",
        caveat=(
            "wiring is in no report; without a closed ring ops stay Linear, and a ring fabric makes them slower"
            if ring
            else "wiring is in no report: boards with one cable per neighbour gain nothing"
        ),
    )
