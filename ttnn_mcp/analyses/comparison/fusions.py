"""Element-wise ops that were fused into their neighbour: an activation, a bias or a residual.

The neighbour keeps its name and shapes, so the sequences alone show a removed op. The neighbour's record shows the
fusion: it has one more activation among its attributes, or one more operand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.alignment import Alignment, Rewrite
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.run.ops.op_table import OpTable

_FUSES = re.compile(r"activation|fused|op_chain|residual", re.IGNORECASE)
_EMPTY = re.compile(r"\w*\(\[\]\)|\[\]|\{\}")  # SmallVector([]): an empty list of activations
SMALL = 3  # ops that one neighbour may absorb; a longer gap is a rewrite


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
