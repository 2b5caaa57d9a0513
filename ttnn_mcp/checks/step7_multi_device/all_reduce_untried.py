"""An all-reduce of one row of tiles runs as reduce-scatter and all-gather, and this run did not try one op: a trial.

That is what `ttnn.all_reduce` runs itself. For one token hops decide, not bytes: one `all_reduce_async` over a buffer
in L1 took half of the time of both in decode steps of two models on four chips (Qwen3 4B 41 of 79 us, Mistral Small 24B
46 of 88), and lost in a third (Laguna; all in tt-metal's ledgers). So nothing is expected, and it stands last in the
plan.

The line: a reduce-scatter of one row of tiles whose output one all-gather alone reads, each under 30 us; together 1 %
of the window to save. The bound is all above their payload at the links' specified rate.

Silent on more rows, where bandwidth decides. Not applicable with one device.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.devices.collectives import payload_gb_s
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import UNTRIED
from ttnn_mcp.checks.needs import OPERANDS, SAME_OPS
from ttnn_mcp.checks.shared.mesh import DEVICES, LATENCY_NS, axis_argument, collectives_named, reduced_and_gathered
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE


@check(
    title="one op for the all-reduce of a token, a trial",
    lever=UNTRIED,
    of=DEVICES,
    needs=(OPERANDS, SAME_OPS),
    worth=Worth(saving=USUAL),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield both exchanges of each."""
    scatters, gathers = reduced_and_gathered(facts)
    short = (facts.kernel_ns[scatters] < LATENCY_NS) & (facts.kernel_ns[gathers] < LATENCY_NS)
    short &= facts.ops.inputs[0].height[scatters] <= TILE_SIDE
    rows = np.sort(np.concatenate((scatters[short], gathers[short])))
    needed = facts.collectives.least_ns(payload_gb_s(facts.chip))[np.searchsorted(facts.collectives.rows, rows)]
    took = facts.kernel_ns[rows]
    yield Problem(rows, took - np.fmin(np.fmax(needed, LAUNCH_FLOOR_NS), took), tell=_tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    scatter = row if collectives_named(facts, "ReduceScatter")[row] else int(facts.joins.makers[row])
    return Words(
        claim=(
            f"All-reduces of one row of tiles run as reduce-scatter and all-gather ({ops.time}), where hops decide: "
            f"{ops.example}"
        ),
        assumption="a trial: one op over a buffer in L1 took half of both in two ledgers of tt-metal, lost in one",
        fix=(
            f"`ttnn.experimental.all_reduce_async` (x, buffer_tensor{axis_argument(facts, scatter)}, mesh_device, "
            "multi_device_global_semaphore) on x WIDTH_SHARDED in L1; its buffer and semaphore made once"
        ),
        verify="re-profile; one AllReduceAsync for each pair, device_balance.ccl_share falls; PCC >= 0.99 composed",
        caveat="needs x in L1 shards; a move into them may cost what it gains",
    )
