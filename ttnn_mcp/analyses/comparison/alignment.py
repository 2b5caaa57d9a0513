"""Aligns two windows: which op became which, and which ops were added, removed, fused or split.

Each window becomes a sequence of symbols, and the longest common subsequence of the two gives the pairs of ops. An op
is three symbols in a row: its name, its name with its shapes, and its whole record (formats and placements too). Two
ops with the same record have three symbols in common, two ops that share only the name have one. A subsequence that
is as long as possible therefore pairs ops with equal records where it can, then ops of equal shapes, then ops of the
same name. The ops between two pairs are an edit.

Element-wise ops that were fused into their neighbour: an activation, a bias or a residual.

The neighbour keeps its name and shapes, so the sequences alone show a removed op. The neighbour's record shows the
fusion: it has one more activation among its attributes, or one more operand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np

from ttnn_mcp.analyses.comparison.lcs import CELLS_AT_MOST, cells, common
from ttnn_mcp.analyses.comparison.op_tokens import Tokens
from ttnn_mcp.arrays import Booleans, Integers
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.records import dataclass
from ttnn_mcp.run.ops.op_names import family
from ttnn_mcp.run.ops.op_table import OpTable

_FUSES = re.compile(r"activation|fused|op_chain|residual", re.IGNORECASE)
_EMPTY = re.compile(r"\w*\(\[\]\)|\[\]|\{\}")  # SmallVector([]): an empty list of activations
SMALL = 3  # ops that one neighbour may absorb; a longer gap is a rewrite
EditKind = Literal["added", "removed", "fused", "split", "replaced"]
LEVELS = 3


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Ops at one place that have no partner.

    Attributes:
        before: their rows in the baseline; empty where ops were added.
        after: their rows in the candidate; empty where ops were removed.
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
    """Pairs and edits; together they contain every op of both windows once, if `complete`.

    Attributes:
        before: rows of the baseline that have a partner, ascending.
        after: their partners in the candidate, ascending.
        same_shape: per pair, whether the shapes are equal too.
        edits: the ops without a partner, in order.
        complete: False where the windows were too long to align; then there are no pairs and no edits.
    """

    before: Integers
    after: Integers
    same_shape: Booleans
    edits: tuple[Rewrite, ...]
    complete: bool = True

    def without(self, pairs: set[int], edits: tuple[Rewrite, ...]) -> Alignment:
        """The same alignment without these pairs (their numbers), and with other edits."""
        remaining = np.array([pair not in pairs for pair in range(len(self.before))], dtype=np.bool_)
        return Alignment(
            self.before[remaining], self.after[remaining], self.same_shape[remaining], edits, self.complete
        )


def aligned(before: Tokens, after: Tokens) -> Alignment:
    """The alignment of two windows."""
    partners_found = _partners(before, after)
    if partners_found is None:
        none = np.zeros(0, dtype=np.int64)
        return Alignment(none, none, none.astype(np.bool_), (), complete=False)
    rows, partners = partners_found
    same_shape = before.shape[rows] == after.shape[partners]
    plain = Alignment(rows, partners, same_shape, ())
    gaps = list(_gaps(plain, len(before), len(after)))
    return _gathered(plain, gaps, before.name.tolist(), after.name.tolist())


def _partners(before: Tokens, after: Tokens) -> tuple[Integers, Integers] | None:
    """Rows that have a partner, and their partners, both ascending; None where the windows are too long.

    Windows that are long for three symbols per op are aligned by one, the name. Matches of the records are taken
    first, then matches of the shapes, then of the names: an op gets one partner only.
    """
    before_symbols, after_symbols = _symbols(before, after)
    levels = LEVELS
    if cells(before_symbols, after_symbols) > CELLS_AT_MOST:
        before_symbols, after_symbols, levels = before_symbols[::LEVELS], after_symbols[::LEVELS], 1
        if cells(before_symbols, after_symbols) > CELLS_AT_MOST:
            return None
    place, partner = common(before_symbols, after_symbols)
    level, rows, partners = place % levels, place // levels, partner // levels
    partners_taken: set[int] = set()
    partner_of: dict[int, int] = {}
    for narrowest in reversed(range(levels)):
        chosen = level == narrowest
        for row, candidate in zip(rows[chosen].tolist(), partners[chosen].tolist(), strict=True):
            if row not in partner_of and candidate not in partners_taken:
                partner_of[row] = candidate
                partners_taken.add(candidate)
    ordered = sorted(partner_of)
    return np.array(ordered, dtype=np.int64), np.array([partner_of[row] for row in ordered], dtype=np.int64)


def _symbols(before: Tokens, after: Tokens) -> tuple[Integers, Integers]:
    """Both windows as sequences of LEVELS symbols per op; symbols of different levels are never equal."""
    pairs = (before.name, after.name), (before.shape, after.shape), (before.record, after.record)
    codes = (np.unique(np.concatenate(pair), return_inverse=True)[1] for pair in pairs)
    of_levels = [code.ravel() * LEVELS + level for level, code in enumerate(codes)]  # unmoved: less tells as much
    symbols = np.stack(of_levels, axis=1)
    return symbols[: len(before)].ravel(), symbols[len(before) :].ravel()


@dataclass(frozen=True, slots=True)
class _Gap:
    """Rows between two neighbouring pairs, whose numbers are `left` and `right` (-1 and len(pairs) at the ends)."""

    left: int
    right: int
    before: range
    after: range


def _gaps(pairs: Alignment, before: int, after: int) -> Iterator[_Gap]:
    starts = np.concatenate(([-1], pairs.before)) + 1, np.concatenate(([-1], pairs.after)) + 1
    ends = np.append(pairs.before, before), np.append(pairs.after, after)
    for place in np.flatnonzero((starts[0] < ends[0]) | (starts[1] < ends[1])).tolist():
        rows = range(int(starts[0][place]), int(ends[0][place]))
        yield _Gap(place - 1, place, rows, range(int(starts[1][place]), int(ends[1][place])))


def _gathered(pairs: Alignment, gaps: list[_Gap], before: list[int], after: list[int]) -> Alignment:
    """The alignment with its gaps as edits, each together with the pairs that belong to it.

    A pair that shares only the name joins the gap beside it if the gap has ops of that name (on one side: two would be
    a pair). Three matmuls that became one wide matmul are one fusion, not one change and two removals.
    """
    dissolved: set[int] = set()
    edits: list[Rewrite] = []
    for gap in gaps:
        names = {before[row] for row in gap.before} | {after[row] for row in gap.after}
        rows, partners = list(gap.before), list(gap.after)
        for pair in (gap.left, gap.right):
            if not 0 <= pair < len(pairs.before) or pairs.same_shape[pair] or pair in dissolved:
                continue
            row, partner = int(pairs.before[pair]), int(pairs.after[pair])
            if before[row] in names:
                dissolved.add(pair)
                rows, partners = sorted([*rows, row]), sorted([*partners, partner])
        edits.append(Rewrite(tuple(rows), tuple(partners)))
    return pairs.without(dissolved, tuple(edits))


def absorbed(alignment: Alignment, before: OpTable, after: OpTable) -> Alignment:
    """The alignment with removed (or added) element-wise ops joined to the op that absorbed (or released) them."""
    pair_at = {row: pair for pair, row in enumerate(alignment.before.tolist())}
    pair_into = {row: pair for pair, row in enumerate(alignment.after.tolist())}
    dissolved: set[int] = set()
    edits: list[Rewrite] = []
    for edit in alignment.edits:
        rows, table, pairs = (
            (edit.before, before, pair_at) if edit.kind == "removed" else (edit.after, after, pair_into)
        )
        if edit.kind not in ("removed", "added") or not _is_small(rows, table):
            edits.append(edit)
            continue
        sides = [pairs[side] for side in (rows[0] - 1, rows[-1] + 1) if side in pairs]
        taker = next(
            (pair for pair in sides if pair not in dissolved and _took(alignment, pair, edit, before, after)), None
        )
        if taker is None:
            edits.append(edit)
            continue
        dissolved.add(taker)
        row_before, row_after = int(alignment.before[taker]), int(alignment.after[taker])
        edits.append(Rewrite(tuple(sorted((*edit.before, row_before))), tuple(sorted((*edit.after, row_after)))))
    return alignment.without(dissolved, tuple(edits)) if dissolved else alignment


def _is_small(rows: Sequence[int], ops: OpTable) -> bool:
    names = ops.texts("op_code")
    return len(rows) <= SMALL and all(family(names[row]) == "eltwise" for row in rows)


def _took(alignment: Alignment, pair: int, edit: Rewrite, before: OpTable, after: OpTable) -> bool:
    """Whether the pair's op has more operands or fused attributes on the side where the edit has no ops."""
    op_before, op_after = (before, int(alignment.before[pair])), (after, int(alignment.after[pair]))
    lean, rich = (op_before, op_after) if edit.kind == "removed" else (op_after, op_before)
    if _operands(*rich) > _operands(*lean):
        return True
    return bool(_fused(*rich) - _fused(*lean))


def _operands(ops: OpTable, row: int) -> int:
    return sum(bool(operand.present[row]) for operand in ops.inputs)


def _fused(ops: OpTable, row: int) -> set[tuple[str, str]]:
    """The attributes that are an activation, a bias or a residual, with their texts."""
    attributes = parse_attributes(ops.texts("attributes")[row])
    return {
        (key, text)
        for key in attributes
        if _FUSES.search(key)
        and (text := attributes.text_of(key)) is not None
        and not _EMPTY.fullmatch(text.strip())
    }
