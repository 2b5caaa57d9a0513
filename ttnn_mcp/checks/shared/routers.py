"""Which experts a router chose for one token: the TopK before their matmuls."""

from __future__ import annotations

from bisect import bisect
from typing import NamedTuple

import numpy as np

from ttnn_mcp.checks.check import WindowFacts


class ActiveExperts(NamedTuple):
    """How many experts are active, and the row and attribute that tell it."""

    active: float
    row: int
    column: str


class Routers:
    """The TopK ops of a window."""

    def __init__(self, facts: WindowFacts) -> None:
        self._rows: list[int] = np.flatnonzero(facts.named("TopK")).tolist()
        self._facts = facts

    def choice(self, row: int, experts: int) -> ActiveExperts | None:
        """What the last TopK before `row` chose among so many for one token, at most as many; None if it did not."""
        before = bisect(self._rows, row)
        if not before:
            return None
        router = self._rows[before - 1]
        scores = self._facts.ops.inputs[0].logical[router]
        if scores[3] != experts or scores[:3].prod() != 1:
            return None
        (k,) = self._facts.attributes_of_ops.numbers(np.array([router]), lambda attributes: attributes.number("k"))
        return ActiveExperts(float(k), router, "k") if 1 <= k <= experts else None
