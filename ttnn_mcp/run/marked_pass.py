"""The pass that the signposts of a report bracket, where no iterations repeat: what lies before it is set-up.

Engineers put `start` and `stop`, or `model started` and `model finished`, around the pass that they measure. The
outermost pair that holds most of the ops is that pass; of several the last one is, because the first may compile.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.signpost_words import begins, ends, stem_of

MOST_OF_ALL = 0.5  # of the ops of all outermost pairs together; with fewer they mark parts of a pass (ours)


class MarkedPass(NamedTuple):
    """A pair of signposts.

    Attributes:
        start: name of the first.
        end: name of the second.
        after: line of the first.
        before: line of the second.
        outside: ops before and behind the pair, none of them in another outermost pair.
    """

    start: str
    end: str
    after: int
    before: int
    outside: int


def marked_pass(signposts: OpTable, ops: OpTable) -> MarkedPass | None:
    """The last outermost pair; None if no pair holds most of the ops, or if nothing lies outside of it."""
    pairs = _outermost(signposts)
    counts = [int(((ops.lines > after) & (ops.lines < before)).sum()) for _, _, after, before in pairs]
    outside = len(ops) - sum(counts)
    if not outside or sum(counts) < MOST_OF_ALL * len(ops) or counts[-1] < max(counts) * MOST_OF_ALL:
        return None
    return MarkedPass(*pairs[-1], outside)


def _outermost(signposts: OpTable) -> list[tuple[str, str, int, int]]:
    """(begin, end, line of each) of the pairs that no other pair holds, in order."""
    order = np.argsort(signposts.lines, kind="stable").tolist()
    names = signposts.texts("op_code")
    marks = [(names[row], int(signposts.lines[row])) for row in order]
    pairs: list[tuple[str, str, int, int]] = []
    place = 0
    while place < len(marks):
        name, line = marks[place]
        closing = _closing(marks, place) if begins(name) else None
        if closing is not None:
            pairs.append((name, marks[closing][0], line, marks[closing][1]))
        place = place + 1 if closing is None else closing + 1
    return pairs


def _closing(marks: list[tuple[str, int]], place: int) -> int | None:
    """Where the mark at `place` ends: the first end of its stem that is not the end of an inner one."""
    stem, inside = stem_of(marks[place][0]), 0
    for later in range(place + 1, len(marks)):
        name = marks[later][0]
        if stem_of(name) != stem:
            continue
        if begins(name):
            inside += 1
        elif ends(name):
            if not inside:
                return later
            inside -= 1
    return None
