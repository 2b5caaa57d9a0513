"""Command dispatch occupies a row or column of a Wormhole's workers, which ethernet cores could do.

A chip of an n300 card has 64 workers. Dispatch on workers leaves 8x7 or, by columns, 7x8 of them; dispatch on ethernet
cores, TTNN's default on this card, leaves all 64 (TTNN 0.81.1, on mock devices). A program that opens its device with
a `dispatch_core_config` of its own can run on 56.

The line: a Wormhole's report states 56 available workers, ops use all of them, and with an eighth more cores they save
1 % of the window. The bound is the time in proportion to the cores, never below the DRAM bytes.

Silent on 64 and 72 workers, and on Blackhole: it dispatches from a column of workers and refuses ethernet cores there
(TTNN 0.81.1). Silent about ops on a part of the grid: they leave workers idle already.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import DEVICE
from ttnn_mcp.checks.worth import USUAL, Worth

LEFT, ALL = 56, 64  # workers of a chip of an n300 beside dispatch on workers and on ethernet cores: TTNN 0.81.1


def _on_all_left(facts: WindowFacts) -> Mask:
    """Ops on each worker of a Wormhole that dispatches from workers; collectives use few cores on purpose."""
    left = (facts.chip.arch == "wormhole_b0") & (facts.ops.numbers("worker_cores") == LEFT)
    return left & (facts.ops.numbers("cores") == LEFT) & ~facts.of_family("collective")


@check(
    title="dispatch occupies workers",
    lever=DEVICE,
    of=Subject(_on_all_left, f"no op uses all of {LEFT} workers of a Wormhole"),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that use every worker left."""
    took = facts.kernel_ns
    bytes_ns = np.nan_to_num(facts.roofline.dram_achievable_ns)
    best = np.maximum(np.maximum(took * LEFT / ALL, bytes_ns), LAUNCH_FLOOR_NS)
    rows = np.flatnonzero(_on_all_left(facts) & (best < took) & ~facts.roofline.impossible)
    yield Problem(rows, (took - best)[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    return Words(
        claim=(
            f"Dispatch occupies 8 of {ALL} workers; {len(ops.rows)} ops use all {LEFT} that are left "
            f"({ops.time}): {ops.example}"
        ),
        assumption=f"time falls with the cores, {LEFT} to {ALL}, down to the DRAM bytes",
        columns=("worker_cores", "cores"),
        fix=(
            "device = ttnn.open_device(device_id=0, dispatch_core_config="
            "ttnn.DispatchCoreConfig(ttnn.DispatchCoreType.ETH)), or without a dispatch_core_config"
        ),
        verify="re-profile; open_run states 64 workers, CORE COUNT of these ops rises, kernel_us falls",
        caveat="grids and shards written for 8x7 stay there until their configs name the new row",
    )
