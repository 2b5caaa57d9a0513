"""Which experts a router chose for one token: the TopK, or the op of a grouped gate, before their matmuls."""

from __future__ import annotations

from bisect import bisect
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.run.ops.op_names import canonical
from ttnn_mcp.run.ops.op_table import OpTable

MANY = 16  # experts: the fewest of a published model with such a router (ours; measured were 32, 128 and 512)
FEW = 0.5  # of the experts that are active: more, and the rest is hardly worth a change (ours)
CHOOSES = {"TopK": "k", "MoeGroupedTopk": "n_activated_experts", "DeepseekGroupedGate": "n_activated_experts"}


class ActiveExperts(NamedTuple):
    """How many experts are active, and the row and attribute that tell it."""

    active: float
    row: int
    column: str


class Routers:
    """The routers among some ops."""

    def __init__(self, ops: OpTable) -> None:
        self._rows: list[int] = np.flatnonzero(ops.named(*CHOOSES)).tolist()
        self._ops = ops

    def choice(self, row: int, experts: int) -> ActiveExperts | None:
        """What the last TopK before `row` chose among so many for one token, at most as many; None if it did not."""
        before = bisect(self._rows, row)
        if not before:
            return None
        router = self._rows[before - 1]
        scores = self._ops.inputs[0].logical[router]
        if scores[3] != experts or scores[:3].prod() != 1:
            return None
        name = CHOOSES[canonical(self._ops.texts("op_code")[router])]
        k = attributes_of(self._ops).row(router).number(name) or 0
        return ActiveExperts(float(k), router, name) if 1 <= k <= experts else None
