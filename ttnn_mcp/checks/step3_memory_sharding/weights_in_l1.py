"""Weights lie in L1 for the whole run while activations have hardly any room.

Each weight is read once per pass; from DRAM it streams while the op computes. In L1 it takes its bytes from every
operation of the model. That pays only where nothing else wants the room.

The line: tensors that no operation made and nothing frees take 10 % of an L1 bank or more, and less than 20 % of it
is free at the true peak (both ours: above it, they may stay). Saves bytes, not time.

Silent if weights are in DRAM or where there is room. A model input that is kept in L1 counts as well.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import L1_USE
from ttnn_mcp.checks.needs import CAPACITY, CAPTURES, ENDED, MEMORY, REPLAY
from ttnn_mcp.checks.shared.memory_claims import (
    cite_capacity,
    cite_graph,
    cite_tensor,
    lack_of_room,
    operation_name,
    replay_behind,
)
from ttnn_mcp.checks.wording import counted
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.memory.spaces import L1

WEIGHTS_SHARE = 0.10  # of a bank (ours)
FREE_SHARE = 0.20  # of a bank, at the peak (ours)


@check(
    title="weights that starve activations of L1",
    lever=L1_USE,
    risk=True,
    needs=(MEMORY, ENDED, REPLAY, CAPACITY, CAPTURES),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all that is there for good."""
    replayed, capacity = replay_behind(facts)
    spans, peak = replayed.fullest.spans, replayed.fullest.peak
    tensors = np.flatnonzero(replayed.lifetimes.persistent & (spans.buffers == L1))
    sizes, free = spans.bytes_per_bank[tensors], capacity - int(replayed.fullest.l1[peak])
    if sizes.sum() >= WEIGHTS_SHARE * capacity and free < FREE_SHARE * capacity:
        tell = partial(_tell, tensors[np.argsort(-sizes, kind="stable")])
        yield lack_of_room(facts, [int(replayed.operations[peak])], tell)


def _tell(tensors: Rows, ops: Affected) -> Words:
    replayed, capacity = replay_behind(ops.facts)
    names, peak = replayed.lifetimes.names, replayed.fullest.peak
    size = int(replayed.fullest.spans.bytes_per_bank[tensors].sum())
    level = int(replayed.fullest.l1[peak])
    named_tensors = ", ".join(str(int(names[row])) for row in tensors[:3] if names[row] >= 0)
    return Words(
        claim=(
            f"{counted(len(tensors), 'tensor')} made by no operation: {size} bytes of every L1 bank all along "
            f"({figure(size / capacity, '.0%')}); at {operation_name(replayed, peak)} "
            f"only {capacity - level} bytes are free"
        ),
        assumption="gives room, not time; weights stream from DRAM while the op computes",
        evidence=(
            *(cite_tensor(replayed, int(row), peak) for row in tensors[:2]),
            cite_graph(replayed, peak, level),
            cite_capacity(replayed),
        ),
        fix=(
            "ttnn.from_torch(w, memory_config=ttnn.DRAM_MEMORY_CONFIG, ...) or ttnn.to_memory_config(w, "
            f"ttnn.DRAM_MEMORY_CONFIG) once at load; the largest: tensors {named_tensors or 'unknown'}"
        ),
        verify="capture again; memory_summary.l1_peak.persistent_bytes falls, headroom_bytes grows",
        caveat="a matmul that reads them every few microseconds may become DRAM-bound: compare its kernel time",
    )
