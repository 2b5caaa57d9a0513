"""A tensor waits in L1 for a use that is twenty operations away.

Skip connections, encoder outputs and residuals are made early and read late. While they wait, every bank of L1
holds their shard, and every operation in between has that much less room for blocks and buffers. One trip to DRAM
and back costs two moves; the room may be worth more.

The line: 20 operations that ran on the device between two uses (domain practice), and 1 % of a bank per tensor.
Saves bytes, not time: the two moves cost some.

Silent about weights (see weights-in-l1), about tensors without a later read (late-free), below 1 %.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Problems, Rows, WindowFacts, Words, check
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
from ttnn_mcp.readers.memory.spaces import L1

LONG = 20  # operations without a use (ours)
WORTH_SHARE = 0.01  # of a bank (ours)


@check(
    title="tensors that wait long in L1",
    lever=L1_USE,
    risk=True,
    needs=(MEMORY, ENDED, REPLAY, CAPACITY),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all tensors that wait long, the largest first."""
    replayed, capacity = replay_behind(facts)
    spans, lifetimes = replayed.fullest.spans, replayed.lifetimes
    idle, _, second = lifetimes.waits
    waiting = (idle >= LONG) & (spans.buffers == L1) & ~lifetimes.persistent
    tensors = np.flatnonzero(waiting & (spans.bytes_per_bank >= WORTH_SHARE * capacity))
    tensors = tensors[np.argsort(-spans.bytes_per_bank[tensors], kind="stable")]
    if len(tensors):
        yield lack_of_room(facts, replayed.operations[second[tensors]].tolist(), partial(_tell, tensors))


def _tell(tensors: Rows, ops: Affected) -> Words:
    replayed, _ = replay_behind(ops.facts)
    spans, lifetimes = replayed.fullest.spans, replayed.lifetimes
    idle, first, second = lifetimes.waits
    row, peak = int(tensors[0]), replayed.fullest.peak
    at_peak = tensors[(first[tensors] < peak) & (peak < second[tensors])]
    return Words(
        claim=(
            f"{counted(len(tensors), 'tensor')} wait in L1 for {LONG} operations: tensor {int(lifetimes.names[row])} "
            f"({figure(spans.bytes_per_bank[row], ',.0f')} bytes per bank) for {int(idle[row])}; "
            f"{figure(spans.bytes_per_bank[at_peak].sum(), ',.0f')} bytes of them lie there at the peak"
        ),
        assumption="gives room, not time: two moves per tensor are added",
        evidence=(
            *(cite_tensor(replayed, int(row), int(first[row])) for row in tensors[:3]),
            cite_capacity(replayed),
        ),
        fix=(
            f"x = ttnn.to_memory_config(x, ttnn.DRAM_MEMORY_CONFIG) after {operation_name(replayed, int(first[row]))}, "
            f"back to L1 before {operation_name(replayed, int(second[row]))}"
        ),
        verify="capture again; memory_summary.live at the peak no longer shows it",
        caveat="only worth it where the room is needed: see memory_summary.l1_peak.headroom_bytes",
    )
