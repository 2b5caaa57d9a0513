"""Results that nobody read: operations whose every output was made, never touched again and freed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.memory.buffer_spans import before
from ttnn_mcp.analyses.memory.lifetimes import NOBODY

if TYPE_CHECKING:
    from ttnn_mcp.analyses.memory.replayed import Replayed
    from ttnn_mcp.readers.memory.columns import Integers


def unread_operations(replay: Replayed, until: int) -> Integers:
    """Places of the operations whose results nobody read, all freed before the operation at place `until`.

    A result that lives on may be one of the model's. One that lies in a buffer which was there before (in place, a
    view, an output that the caller gave) is read through that buffer's other names. Where one of several results is
    not known, the operation is left out.
    """
    lives, spans = replay.lifetimes, replay.lifetimes.spans
    unread = (
        (lives.last_reads == NOBODY) & (lives.last_touches == spans.starts // 2) & (spans.ends <= before(until))
    )
    by_operation = lives.producers >= 0
    makers, rows = lives.producers[by_operation], lives.rows[by_operation]
    wasted = (rows >= 0) & unread[rows] & (spans.starts[rows] // 2 == makers)
    return np.setdiff1d(makers[wasted], makers[~wasted])
