"""The time that stays above its floor after all edits, split by why, and its heaviest kinds of op.

The window is what the edits save, what the ops must still take, and the rest: this one has a reason for each op. An op
near its floor needs no explanation. One that is far from it was changed by an edit that reaches only so far, or no edit
touches it, or no floor is known for its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.window_facts import WindowFacts
from ttnn_mcp.checks.plan.plan import Plan
from ttnn_mcp.run.ops.groups import heaviest_kinds

NEAR_ITS_FLOOR = 0.7  # of its time: tt-metal's own matmuls reach 0.7 to 0.8 of the roofline
KINDS = 5  # the most that are named, the heaviest first
NEAR, AFTER_EDITS, NO_EDIT, NO_FLOOR, GAPS = "near_floor", "after_edits", "no_edit", "no_floor_known", "gaps"


class Kind(NamedTuple):
    """Ops of one kind whose time stays unexplained, in nanoseconds.

    Attributes:
        name: canonical name of the op.
        ops: their number.
        above_ns: time above their floors.
        now_ns: all that they take now.
        why: the reason with most of that time.
        heaviest: position of the longest in `facts.ops`.
    """

    name: str
    ops: int
    above_ns: float
    now_ns: float
    why: str
    heaviest: int


class Unexplained(NamedTuple):
    """Time above the floors after all edits, by why, and the heaviest kinds of op with any but `near_floor`."""

    by_why: Mapping[str, float]
    kinds: tuple[Kind, ...]


def unexplained(facts: WindowFacts, plan: Plan) -> Unexplained:
    """What a plan of all checks leaves unexplained."""
    above = np.maximum(plan.left_ns - plan.floors_ns, 0.0)
    near = plan.floors_ns >= NEAR_ITS_FLOOR * plan.left_ns
    why = np.select(
        [near, plan.touched, ~facts.least_times.bounded], [NEAR, AFTER_EDITS, NO_FLOOR], default=NO_EDIT
    )
    by_why = {reason: float(above[why == reason].sum()) for reason in (NEAR, AFTER_EDITS, NO_EDIT, NO_FLOOR)}
    by_why[GAPS] = float(plan.left_gaps_ns.sum())
    open_ns = np.where(near, 0.0, above)
    kinds = [
        Kind(
            name,
            len(alike),
            took_ns,
            float(facts.kernel_ns[alike].sum()),
            _main(why[alike], open_ns[alike]),
            int(alike[np.argmax(open_ns[alike])]),
        )
        for name, took_ns, alike in heaviest_kinds(facts.names, open_ns, KINDS)
    ]
    return Unexplained({reason: ns for reason, ns in by_why.items() if ns > 0}, tuple(kinds))


def _main(
    why: np.ndarray[tuple[int], np.dtype[np.str_]], open_ns: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> str:
    """The reason with most of the time."""
    reasons, places = np.unique(why, return_inverse=True)
    return str(reasons[np.argmax(np.bincount(places, weights=open_ns))])
