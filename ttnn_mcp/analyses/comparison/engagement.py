"""Whether a change took hold: of all ops alike, how many show it, in which layers, and which do not.

Ops are alike if they have the same canonical name and shapes, and the same place in their layer where layers were
recognised. Only those count that had the same value before: an op that was in BFLOAT8_B already cannot become so.
The kinds of edit (a fusion, a removal, an insertion) come with the places alike that still have the old ops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.comparison.alignment import Rewrite
from ttnn_mcp.analyses.comparison.aspects import SAME, Aspect
from ttnn_mcp.analyses.comparison.comparison import Comparison
from ttnn_mcp.analyses.comparison.edits import listed_ops
from ttnn_mcp.analyses.comparison.engaged import Engaged
from ttnn_mcp.analyses.comparison.places import reached, roles_of
from ttnn_mcp.arrays import Booleans, Integers

EDITS_LOOKED_AT = 40  # kinds of edit, the most frequent ones
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


def _differences(aspect: Aspect, name_of: Integers) -> list[tuple[int, int]]:
    """(name, code) of the differences that occur, the most frequent first."""
    rows = np.flatnonzero(aspect.codes != SAME)
    kinds, counts = np.unique(np.stack((name_of[rows], aspect.codes[rows])), axis=1, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:LOOKED_AT]
    return [(int(kinds[0, place]), int(kinds[1, place])) for place in order]


def _counted(comparison: Comparison, change: Engaged, changed: Booleans, like: Booleans) -> Engaged:
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


class _Place(NamedTuple):
    """Rows of the baseline where an edit happened: its ops, or the two ops between which others were inserted."""

    first: int
    length: int
    edit: Rewrite


def edits_engaged(comparison: Comparison) -> Iterator[Engaged]:
    """The kinds of edit; each with the places of the baseline that have the same ops in the same order."""
    roles = roles_of(comparison)
    partner = np.full(len(roles), -1, dtype=np.int64)
    partner[comparison.alignment.before] = comparison.alignment.after
    kinds: dict[tuple[bytes, str, str], list[_Place]] = {}
    for place in _places(comparison):
        pattern = roles[place.first : place.first + place.length].tobytes()
        kinds.setdefault((pattern, *_words(comparison, place.edit)), []).append(place)
    for (pattern, op, what), places in sorted(kinds.items(), key=lambda kind: -len(kind[1]))[:EDITS_LOOKED_AT]:
        firsts = np.array([place.first for place in places], dtype=np.int64)
        intact = _untouched(roles, partner, np.frombuffer(pattern, dtype=np.int64))
        untouched = np.setdiff1d(intact, firsts)  # what was inserted behind the last op leaves its place intact
        ns, delta_ns = _times(comparison, places)
        yield Engaged(
            kind="fusion" if places[0].edit.before else "added",
            op=op,
            what=what,
            took=len(places),
            of=len(places) + len(untouched),
            layers=reached(comparison, firsts, untouched),
            missing=tuple(comparison.ops[1].lines[partner[untouched]].tolist()),
            ns=ns,
            delta_ns=delta_ns,
        )


def _places(comparison: Comparison) -> Iterator[_Place]:
    partner = np.full(len(comparison.times[1]), -1, dtype=np.int64)
    partner[comparison.alignment.after] = comparison.alignment.before
    for edit in comparison.alignment.edits:
        if edit.before:
            yield _Place(min(edit.before), max(edit.before) - min(edit.before) + 1, edit)
        elif edit.after[0] > 0 and partner[edit.after[0] - 1] >= 0:
            first = int(partner[edit.after[0] - 1])
            yield _Place(first, min(2, len(comparison.times[0]) - first), edit)


def _words(comparison: Comparison, edit: Rewrite) -> tuple[str, str]:
    """The op that the edit is about, and what became of it."""
    before, after = (
        [comparison.names(0)[row] for row in edit.before],
        [comparison.names(1)[row] for row in edit.after],
    )
    if not before:
        return after[0], f"{listed_ops(after)} new"
    return before[0], f"{listed_ops(before)} -> {listed_ops(after)}" if after else f"{listed_ops(before)} gone"


def _untouched(roles: Integers, partner: Integers, pattern: Integers) -> Integers:
    """First rows of the stretches with this pattern whose ops are all there still, with nothing between them."""
    starts = np.flatnonzero(roles[: len(roles) - len(pattern) + 1] == pattern[0])
    for place in range(1, len(pattern)):
        starts = starts[roles[starts + place] == pattern[place]]
    intact = np.ones(len(starts), dtype=np.bool_)
    for place in range(len(pattern)):
        intact &= (partner[starts] >= 0) & (partner[starts + place] == partner[starts] + place)
    return starts[intact]


def _times(comparison: Comparison, places: list[_Place]) -> tuple[int, int]:
    before, after = comparison.times
    rows = [row for place in places for row in place.edit.before]
    new_rows = [row for place in places for row in place.edit.after]
    ns = int(before[rows].sum()) if rows else 0
    return ns, (int(after[new_rows].sum()) if new_rows else 0) - ns
