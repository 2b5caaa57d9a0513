"""Results that were never read: operations whose outputs were all made, never used and freed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import before
from ttnn_mcp.analyses.memory.lifetimes import NOBODY

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.readers.memory.columns import Integers


def unread_operations(replay: Replayed, until: int) -> Integers:
    """Places of the operations whose results were never read, and freed before the operation at place `until`.

    A result that is never freed may be an output of the model. A result in an older buffer (in place, a view, an output
    tensor of the caller) may be read through the buffer's other tensors. An operation is left out if one of its
    results is unknown.
    """
    lives, spans = replay.lifetimes, replay.lifetimes.spans
    unread = (
        (lives.last_reads == NOBODY) & (lives.last_touches == spans.starts // 2) & (spans.ends <= before(until))
    )
    if not len(unread):  # without buffers nothing tells who was read
        return np.empty(0, dtype=np.int64)
    makers, rows = lives.producers, lives.rows
    wasted = (rows >= 0) & unread[rows]
    return np.setdiff1d(makers[wasted], makers[~wasted])
