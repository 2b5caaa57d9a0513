"""Tensors stay in L1 long after their last use and take the room that larger blocks or shards need.

A Python name keeps its tensor alive until it is assigned again or the function returns. In a model's forward that
is often ten operations too late, and the allocator reserves the same bytes in every bank meanwhile.

The line: held over two or more operations that ran on the device (one is usual: compute, then deallocate), or over the
operation at the L1 peak; together 2 % of a bank returned at the peak, or one tensor of 5 % of a bank (both ours;
ttnn-visualizer lists late deallocations too). Views and in-place results count as uses.

Saves bytes, not time. Silent about weights, about results that no operation reads, and if frees are in time.
"""

from __future__ import annotations

from functools import partial

from ttnn_mcp.analyses.memory.lifetimes import LateFrees
from ttnn_mcp.checks.check import Affected, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import L1_USE
from ttnn_mcp.checks.needs import CAPACITY, ENDED, MEMORY, REPLAY
from ttnn_mcp.checks.shared.memory_claims import (
    cite_capacity,
    cite_tensor,
    lack_of_room,
    operation_name,
    replay_behind,
)
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.quoting import figure

WORTH_AT_PEAK = 0.02  # of a bank, returned at the peak by all of them (ours)
WORTH_ALONE = 0.05  # of a bank, by one tensor anywhere (ours)


@check(
    title="tensors freed long after their last use",
    lever=L1_USE,
    risk=True,
    needs=(MEMORY, ENDED, REPLAY, CAPACITY),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all tensors freed late."""
    replayed, capacity = replay_behind(facts)
    levels = replayed.fullest.l1
    late = replayed.lifetimes.late_frees(replayed.fullest.peak)
    returned = int(levels.max() - late.levels_without(levels).max())
    largest = int(replayed.fullest.spans.bytes_per_bank[late.rows].max(initial=0))
    if returned >= WORTH_AT_PEAK * capacity or largest >= WORTH_ALONE * capacity:
        last_uses = [int(replayed.operations[tensor.last_use]) for tensor in late]
        yield lack_of_room(facts, last_uses, partial(_tell, late, returned))


def _tell(late: LateFrees, returned: int, ops: Affected) -> Words:
    replayed, _ = replay_behind(ops.facts)
    first = late[0]
    each, together = figure(first.bytes_per_bank, ","), figure(returned, ",")
    return Words(
        claim=(
            f"{counted(len(late), 'tensor')} in L1 freed late: tensor {first.tensor} ({each} bytes per bank) stays "
            f"{first.held} device operations too long; in time, the L1 peak falls by {together} bytes"
        ),
        assumption="gives room, not time; nothing outside the report reads them",
        evidence=(
            *(cite_tensor(replayed, tensor.row, tensor.last_use) for tensor in late[:3]),
            cite_capacity(replayed),
        ),
        fix=(
            f"ttnn.deallocate(x) right after {operation_name(replayed, first.last_use)}; "
            "all: memory_summary.late_frees"
        ),
        verify="capture again; memory_summary.late_frees is shorter, l1_peak.headroom_bytes grows",
        caveat="the peak is a lower bound: not all circular buffers are known" if replayed.floor_because else None,
    )
