"""Two windows laid side by side: which op became which, and which were added, removed, fused or split.

Ops are aligned as sequences. Every op stands in its sequence three times (as a name, as a name with shapes, as a
whole record), so the longest common subsequence prefers a partner of the same shape and formats but takes one that
only shares the name. What lies between partners is an edit.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ttnn_mcp.analyses.comparison.lcs import CELLS_AT_MOST, cells, common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ttnn_mcp.analyses.comparison.op_tokens import Tokens

    Rows = NDArray[np.int64]

EditKind = Literal["added", "removed", "fused", "split", "replaced"]
LEVELS = 3


@dataclass(frozen=True, slots=True)
class Edit:
    """Ops of one place that have no partners one by one.

    Attributes:
        before: their rows before; none where ops were added.
        after: their rows after; none where ops were removed.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]

    @property
    def kind(self) -> EditKind:
        """Fused: several became one. Split: one became several. Replaced: anything else on both sides."""
        if not self.before:
            return "added"
        if not self.after:
            return "removed"
        if len(self.after) == 1 < len(self.before):
            return "fused"
        return "split" if len(self.before) == 1 < len(self.after) else "replaced"


@dataclass(frozen=True, slots=True)
class Alignment:
    """Partners and edits; together they hold every op of both windows once (unless there were too many to align).

    Attributes:
        before: rows that have a partner, ascending.
        after: their partners, ascending.
        same_shape: per pair, whether the shapes are the same too.
        edits: the rest, in order.
        complete: False where the windows were too long to align; then there are no pairs and no edits.
    """

    before: Rows
    after: Rows
    same_shape: NDArray[np.bool_]
    edits: tuple[Edit, ...]
    complete: bool = True

    def without(self, pairs: set[int], edits: tuple[Edit, ...]) -> Alignment:
        """The same with some pairs dissolved and other edits."""
        kept = np.array([pair not in pairs for pair in range(len(self.before))], dtype=np.bool_)
        return Alignment(self.before[kept], self.after[kept], self.same_shape[kept], edits, self.complete)


def aligned(before: Tokens, after: Tokens) -> Alignment:
    """Lay the two side by side."""
    found = _partners(before, after)
    if found is None:
        none = np.zeros(0, dtype=np.int64)
        return Alignment(none, none, none.astype(np.bool_), (), complete=False)
    rows, partners = found
    same = before.shape[rows] == after.shape[partners]
    plain = Alignment(rows, partners, same, ())
    gaps = list(_gaps(plain, len(before), len(after)))
    return _gathered(plain, gaps, before.name.tolist(), after.name.tolist())


def _partners(before: Tokens, after: Tokens) -> tuple[Rows, Rows] | None:
    left, right = _symbols(before, after)
    levels = LEVELS
    if cells(left, right) > CELLS_AT_MOST:
        left, right, levels = left[::LEVELS], right[::LEVELS], 1
        if cells(left, right) > CELLS_AT_MOST:
            return None
    at, partner = common(left, right)
    level, rows, partners = at % levels, at // levels, partner // levels
    taken: set[int] = set()
    partner_of: dict[int, int] = {}
    for narrowest in reversed(range(levels)):
        chosen = level == narrowest
        for row, other in zip(rows[chosen].tolist(), partners[chosen].tolist(), strict=True):
            if row not in partner_of and other not in taken:
                partner_of[row] = other
                taken.add(other)
    ordered = sorted(partner_of)
    return np.array(ordered, dtype=np.int64), np.array([partner_of[row] for row in ordered], dtype=np.int64)


def _symbols(before: Tokens, after: Tokens) -> tuple[Rows, Rows]:
    """Both as sequences of LEVELS symbols per op; symbols of different levels are never equal."""
    both = np.empty((len(before) + len(after), LEVELS), dtype=np.int64)
    for level, (left, right) in enumerate(
        ((before.name, after.name), (before.shape, after.shape), (before.record, after.record))
    ):
        codes = np.unique(np.concatenate((left, right)), return_inverse=True)[1]
        both[:, level] = codes * LEVELS + level
    return both[: len(before)].ravel(), both[len(before) :].ravel()


@dataclass(frozen=True, slots=True)
class _Gap:
    """Rows between two neighbouring pairs; `left` and `right` are the pairs' numbers, -1 and len(pairs) outside."""

    left: int
    right: int
    before: range
    after: range


def _gaps(found: Alignment, before: int, after: int) -> Iterator[_Gap]:
    starts = np.concatenate(([-1], found.before)) + 1, np.concatenate(([-1], found.after)) + 1
    ends = np.append(found.before, before), np.append(found.after, after)
    for place in np.flatnonzero((starts[0] < ends[0]) | (starts[1] < ends[1])).tolist():
        rows = range(int(starts[0][place]), int(ends[0][place]))
        yield _Gap(place - 1, place, rows, range(int(starts[1][place]), int(ends[1][place])))


def _gathered(found: Alignment, gaps: list[_Gap], before: list[int], after: list[int]) -> Alignment:
    """Gaps as edits, taking in what belongs to them.

    A partner that shares only the name joins the gap beside it when the gap has more of its kind: three matmuls
    that became one wide matmul are one fusion, not one change and two removals.
    """
    dissolved: set[int] = set()
    edits: list[Edit] = []
    for gap in gaps:
        left, right = Counter(before[row] for row in gap.before), Counter(after[row] for row in gap.after)
        lost, gained = left - right, right - left
        rows, others = list(gap.before), list(gap.after)
        for pair in (gap.left, gap.right):
            if not 0 <= pair < len(found.before) or found.same_shape[pair] or pair in dissolved:
                continue
            row, other = int(found.before[pair]), int(found.after[pair])
            if lost[before[row]] or gained[before[row]]:
                dissolved.add(pair)
                rows, others = sorted([*rows, row]), sorted([*others, other])
        edits.append(Edit(tuple(rows), tuple(others)))
    return found.without(dissolved, tuple(edits))
