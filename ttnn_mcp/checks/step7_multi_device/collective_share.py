"""Exchanges between devices take much of the kernel time.

Exchanges do no work of the model. Fewer of them (one reduction per pair of layers, fused QKV), smaller ones
(bfloat8_b payload, norms on the shard between reduce-scatter and all-gather) or fused ones (all-gather matmul,
matmul reduce-scatter) save time.

Below 30 us an exchange is hops and set-up, and so is one whose payload needs under 30 % of its time at the links' rate:
there the fix is fewer ones, because smaller payloads and more links bring nothing (two links took 69 us for 34,
Qwen3-TTS on N300; BFLOAT8_B cost a decode step of Llama-3.2 1B on T3K 2 % for its gathers, 24 % for its reduce-scatter,
and saved 12 % of a prefill, its port in tt-metal).

Where the payload takes half of the time and more, at the rate that links have been seen to carry, narrower ones are
expected to save their part of it.

The line: collectives take more than a fifth of the critical device's kernel time (domain practice). The bound
keeps what the payload needs over the links in use, both directions at their specified rate. A collective's time
contains waiting for slower devices: the caveat tells how much, and device-imbalance has the cause.

Not applicable with one device; silent below the line. `device_balance.ccl_share` always has the figure.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.devices.collectives import today_gb_s
from ttnn_mcp.analyses.op_kinds.formats import FEWER_BYTES, SIXTEEN_BITS_OR_MORE
from ttnn_mcp.analyses.roofline.roofline import EXPLAINS
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import SAME_OPS
from ttnn_mcp.checks.shared.mesh import DEVICES, LATENCY_NS, by_payload, worth_fusing
from ttnn_mcp.quoting import figure

FUSED = "; ttnn.experimental.all_gather_matmul_async where a matmul reads it"
SMALLER = (
    "halve the payload: ttnn.typecast(x, ttnn.bfloat8_b) before the exchange; reduce_scatter + all_gather with the "
    "norm on the shard between; one fused QKV instead of three"
)
FEWER = (
    "these wait for hops and set-up, not for bytes: have fewer of them (one sum for attention and MLP where the model "
    "allows it, ttnn.all_reduce in place of two exchanges, one fused QKV instead of three); not more links"
)
MANY = 0.20  # of the critical device's kernel time (ours)


@check(
    title="much time in collectives",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(SAME_OPS,),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all collectives of the critical device."""
    exchanges, rows = facts.collectives, facts.collectives.rows
    if facts.share(rows) <= MANY or not facts.ops.inputs:
        return
    carried = np.nan_to_num(exchanges.least_ns(today_gb_s(facts.chip)), nan=np.inf)
    wide = facts.ops.inputs[0].dtype.among(*SIXTEEN_BITS_OR_MORE)[rows]
    by_bytes = by_payload(facts, np.where(wide, FEWER_BYTES, 0.0))
    yield Problem(
        rows,
        exchanges.beyond_payload_ns(facts.kernel_ns, facts.chip),
        tell=partial(_tell, carried),
        expected=by_bytes,
        is_trial=by_bytes is None,
    )


def _tell(carried: Floats, ops: Affected) -> Words:
    facts, balance, device = ops.facts, ops.facts.balance, ops.facts.scope.critical_device
    waiting = balance.waiting_ns()[balance.devices.index(device)]
    took = facts.kernel_ns[ops.row]
    by_bytes = took >= LATENCY_NS and carried[np.searchsorted(facts.collectives.rows, ops.row)] >= EXPLAINS * took
    return Words(
        claim=(
            f"Collectives take {ops.time} of kernel time ({len(ops.rows)}x) on device {device}; heaviest {ops.example}"
        ),
        assumption="at best only the payload at the links' specified rate is left",
        fix=(SMALLER if by_bytes else FEWER) + (FUSED if worth_fusing(facts)[ops.rows].any() else ""),
        verify="re-profile; device_balance.ccl_share falls, PCC >= 0.99 on the composed output",
        caveat=f"up to {figure(waiting / 1e3, '.0f')} us of it on this device "
        "is waiting for slower devices, not exchange",
    )
