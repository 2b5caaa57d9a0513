"""A large exchange runs far below the rate of its links.

A collective of many bytes should be bound by its links. If it is far slower, something else limits it: small packets,
tensors scattered over DRAM, or a new output tensor in each call. `ttnn.all_gather` of TTNN 0.81.1 ignores num_links,
topology, num_workers_per_link and chunks_per_sync; `ttnn.reduce_scatter` and the experimental ops still take them.
With four workers per link in place of one Llama-70B on a Galaxy prefilled 4096 tokens in 545.5 ms and not in 584.8; on
128 tokens it took longer, 71.2 ms and not 67.0 (tt-metal PR #36991), so that is told for more rows only.

The line: an exchange of 30 us or more on the fastest device (smaller ones are bound by latency, and their rate
says nothing) that reaches less than half of the best known rate of links of this architecture: 12 GB/s per
link and direction on Wormhole, 24 on Blackhole, half of its specification (tech_reports/CCLs/CCL_bandwidth.md).
The fastest device's time stands for the exchange: the times of the others contain waiting.

Not applicable with one device. Silent about collectives without links and topology in their attributes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.collectives import today_gb_s
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import LINK_RATE, SAME_OPS
from ttnn_mcp.checks.shared.mesh import DEVICES, KEPT_OUTPUT, LATENCY_NS, PACKET_BYTES, fastest_ns
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

FEW_ROWS = 128  # with so many, more workers lost (tt-metal PR #36991)
SLOW = 0.5  # of what links have been seen to carry (ours)


@check(
    title="exchange below its links' rate",
    lever=EXCHANGE,
    principal=True,
    of=DEVICES,
    needs=(SAME_OPS, LINK_RATE),
    worth=Worth(saving=USUAL),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all slow exchanges."""
    exchanges, carried = facts.collectives, today_gb_s(facts.chip)
    exchange = fastest_ns(facts, facts.balance)[exchanges.rows]
    rate = exchanges.rate_gb_s(exchange)
    slow = (exchange >= LATENCY_NS) & (rate < SLOW * (carried or np.nan))
    at_most = (exchange - exchanges.least_ns(carried))[slow]
    yield Problem(exchanges.rows[slow], at_most, tell=partial(_tell, rate))


def _tell(rate: Floats, ops: Affected) -> Words:
    facts, exchanges = ops.facts, ops.facts.collectives
    place = int(np.searchsorted(exchanges.rows, ops.row))
    packet = PACKET_BYTES.get(facts.chip.arch or "", min(PACKET_BYTES.values()))
    fabric = "FABRIC_1D_RING" if exchanges.directions[place] > 1 else "FABRIC_1D"
    return Words(
        claim=(
            f"Exchanges run at less than half their links' rate ({len(ops.rows)}x, {ops.time}): line {ops.line} moves "
            f"{figure(exchanges.payload_bytes[place] / 1e6, '.1f')} MB at "
            f"{figure(rate[place], '.1f')} GB/s per link and direction, "
            f"{figure(today_gb_s(facts.chip), '.0f')} have been seen"
        ),
        assumption="links reach the best rate seen on this architecture; waiting for slower devices stays",
        fix=_more_workers(facts, ops.row)
        or (
            f"{KEPT_OUTPUT}; larger packets: r = ttnn.FabricRouterConfig(); r.max_packet_payload_size_bytes = "
            f"{packet}; ttnn.set_fabric_config(ttnn.FabricConfig.{fabric}, router_config=r) before opening; no "
            "num_links of your own"
        ),
        verify="re-profile; device_balance.ccl_share falls, list_ops kernel_us of the op falls on every device",
        caveat="payload counted from operands; untraced profiles skew the start of each device",
    )


def _more_workers(facts: WindowFacts, row: int) -> str:
    """For a reduce-scatter of many rows with one worker per link."""
    rows = facts.ops.inputs[0].logical[row, :3].prod()
    one = facts.attributes(row).number("num_workers_per_link") == 1
    if not one or rows <= FEW_ROWS or "ReduceScatter" not in facts.names[row]:
        return ""
    return (
        "ttnn.reduce_scatter(..., num_workers_per_link=4), 1 now; then the output made "
        "once, and larger packets (router_config of ttnn.set_fabric_config)"
    )
