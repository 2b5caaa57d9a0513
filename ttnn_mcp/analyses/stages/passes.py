"""How often a stage of a model ran, and where the next stage begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.stages.attentions import attentions_of
from ttnn_mcp.analyses.stages.heads import head_groups
from ttnn_mcp.analyses.stages.stretches import begins_trace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.run.ops.op_table import OpTable


def passes_of(ops: OpTable, rows: NDArray[np.int64], heads: NDArray[np.int64]) -> int:
    """The number of passes in the ops of a stage: the most that its rows show in one of three ways.

    They are stretches of ops; LM heads; look-ups that look up the same as the first. Before a pass looks up its tokens
    it may look up their positions, so embeddings with no attention between them are one look-up.
    """
    stretches = 1 + int((np.diff(rows) > 1).sum())
    return max(stretches, head_groups(ops, heads), _look_ups(ops, rows))


def _look_ups(ops: OpTable, rows: NDArray[np.int64]) -> int:
    embeds = rows[ops.of_family("embedding")[rows]]
    works = np.array([attention.row for attention in attentions_of(ops)], dtype=np.int64)
    if not len(works):
        works = np.flatnonzero(ops.of_family("matmul"))
    place = np.searchsorted(works, embeds)
    look_ups = np.split(embeds, np.flatnonzero(np.diff(place)) + 1)
    shapes = [[ops.shapes(int(row)) for row in look_up] for look_up in look_ups]
    return shapes.count(shapes[0])


def next_stage(ops: OpTable, heads: NDArray[np.int64], before: int, after: int) -> tuple[int, bool]:
    """(first row of the stage of the attention at `after`, whether it is a guess).

    The attention at `before` is the last of another stage. The next one begins where tokens are looked up, behind an
    LM head, with another trace; a guess is the longest gap.
    """
    between = np.arange(before + 1, after + 1)
    embeds = between[ops.of_family("embedding")[between]]
    if len(embeds):
        return int(embeds[0]), False
    behind = heads[np.searchsorted(heads, before, side="right") : np.searchsorted(heads, after)]
    if len(behind):
        return int(behind[-1]) + 1, False
    changes = between[begins_trace(ops)[between]]
    if len(changes):
        return int(changes[0]), False
    return int(between[np.argmax(np.nan_to_num(ops.numbers("gap_ns")[between]))]), True
