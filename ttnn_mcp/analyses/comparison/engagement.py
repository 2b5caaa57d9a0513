"""Whether a change took hold: of all ops alike, how many show it, in which layers, and which do not.

Ops are alike if they have the same canonical name and shapes, and the same place in their layer where layers were
recognised. Only those count that had the same value before: an op that was in BFLOAT8_B already cannot become so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.analyses.comparison.aspects import SAME
from ttnn_mcp.analyses.comparison.engaged import Engaged
from ttnn_mcp.analyses.comparison.engaged_edits import edits_engaged
from ttnn_mcp.analyses.comparison.places import reached, roles_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.comparison.aspects import Aspect
    from ttnn_mcp.analyses.comparison.comparison import Comparison

    Rows = NDArray[np.int64]
    Mask = NDArray[np.bool_]

LOOKED_AT = 40  # differences of one aspect, the most frequent ones


def engaged_of(comparison: Comparison) -> list[Engaged]:
    """All changes between the two windows, those that moved the most time first."""
    if comparison.little_in_common:
        return []
    changes = [*_settings(comparison), *edits_engaged(comparison), *_traced(comparison)]
    return sorted(changes, key=lambda change: (-abs(change.delta_ns), -change.ns, change.op, change.what))


def _settings(comparison: Comparison) -> Iterator[Engaged]:
    """The settings that changed; those of exactly the same ops are one."""
    pairs, kinds = comparison.alignment, comparison.kinds[1]
    roles, name_of = roles_of(comparison)[pairs.before], kinds.codes[pairs.after]
    merged: dict[tuple[bytes, bytes], Engaged] = {}
    for aspect in comparison.aspects:
        if aspect.kind == "shape":
            continue
        for op, code in _differences(aspect, name_of):
            changed = (aspect.codes == code) & (name_of == op)
            had_it = np.isin(aspect.after, aspect.after[changed])
            able = (aspect.before == aspect.before[np.argmax(changed)]) & ~had_it
            like = changed | (np.isin(roles, roles[changed]) & able)
            key = (changed.tobytes(), like.tobytes())
            if key in merged:
                merged[key] = replace(merged[key], what=f"{merged[key].what}, {aspect.labels[code]}")
            else:
                change = Engaged(aspect.kind, kinds.distinct[op] if op >= 0 else "", aspect.labels[code])
                merged[key] = _counted(comparison, change, changed, like)
    yield from merged.values()


def _differences(aspect: Aspect, name_of: Rows) -> list[tuple[int, int]]:
    """(name, code) of the differences that occur, the most frequent first."""
    rows = np.flatnonzero(aspect.codes != SAME)
    kinds, counts = np.unique(np.stack((name_of[rows], aspect.codes[rows])), axis=1, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:LOOKED_AT]
    return [(int(kinds[0, place]), int(kinds[1, place])) for place in order]


def _counted(comparison: Comparison, change: Engaged, changed: Mask, like: Mask) -> Engaged:
    pairs, (before, after) = comparison.alignment, comparison.times
    missing = pairs.after[like & ~changed]
    ns = int(before[pairs.before[changed]].sum())
    return replace(
        change,
        took=int(changed.sum()),
        of=int(like.sum()),
        layers=reached(comparison, pairs.before[changed], pairs.before[like & ~changed]),
        missing=tuple(comparison.ops[1].lines[missing].tolist()),
        ns=ns,
        delta_ns=int(after[pairs.after[changed]].sum()) - ns,
    )


def _traced(comparison: Comparison) -> Iterator[Engaged]:
    """Whether the candidate is replayed from a trace where the baseline was not."""
    before, after = (np.isfinite(ops.numbers("trace_id")) for ops in comparison.ops)
    if after.any() and not before.any():
        total, missing = comparison.total, tuple(comparison.ops[1].lines[~after].tolist())
        took, of = int(after.sum()), len(after)
        yield Engaged("trace", "all", "replayed", took=took, of=of, missing=missing, ns=total.before_ns)
