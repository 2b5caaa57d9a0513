"""Element-wise ops that did not vanish but moved into their neighbour: a fused activation, bias or residual.

The neighbour keeps its name and shapes, so sequences alone say "removed". Its record gives it away: it gained an
activation among its attributes, or an operand.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.comparison.alignment import Alignment, Edit
from ttnn_mcp.readers.printed.attributes import parse_attributes
from ttnn_mcp.run.ops.op_names import family

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ttnn_mcp.run.ops.op_table import OpTable

_FUSES = re.compile(r"activation|fused|op_chain|residual", re.IGNORECASE)
_EMPTY = re.compile(r"\w*\(\[\]\)|\[\]|\{\}")  # SmallVector([]): a list of activations with none in it
SMALL = 3  # ops that one neighbour may take in; a longer gap is a rewrite


def absorbed(found: Alignment, before: OpTable, after: OpTable) -> Alignment:
    """Removed (or added) element-wise ops joined with the partner that took them in (or let them go)."""
    pair_at = {row: pair for pair, row in enumerate(found.before.tolist())}
    pair_into = {row: pair for pair, row in enumerate(found.after.tolist())}
    dissolved: set[int] = set()
    edits: list[Edit] = []
    for edit in found.edits:
        rows, table, pairs = (
            (edit.before, before, pair_at) if edit.kind == "removed" else (edit.after, after, pair_into)
        )
        if edit.kind not in ("removed", "added") or not _is_small(rows, table):
            edits.append(edit)
            continue
        sides = [pairs[side] for side in (rows[0] - 1, rows[-1] + 1) if side in pairs]
        taker = next(
            (pair for pair in sides if pair not in dissolved and _took(found, pair, edit, before, after)), None
        )
        if taker is None:
            edits.append(edit)
            continue
        dissolved.add(taker)
        own, other = int(found.before[taker]), int(found.after[taker])
        edits.append(Edit(tuple(sorted((*edit.before, own))), tuple(sorted((*edit.after, other)))))
    return found.without(dissolved, tuple(edits)) if dissolved else found


def _is_small(rows: Sequence[int], ops: OpTable) -> bool:
    names = ops.texts("op_code")
    return len(rows) <= SMALL and all(family(names[row]) == "eltwise" for row in rows)


def _took(found: Alignment, pair: int, edit: Edit, before: OpTable, after: OpTable) -> bool:
    """Whether the pair's op has more in it on the side where the edit has less."""
    own, other = (before, int(found.before[pair])), (after, int(found.after[pair]))
    lean, rich = (own, other) if edit.kind == "removed" else (other, own)
    if _operands(*rich) > _operands(*lean):
        return True
    return bool(_fused(*rich) - _fused(*lean))


def _operands(ops: OpTable, row: int) -> int:
    return sum(bool(one.present[row]) for one in ops.inputs)


def _fused(ops: OpTable, row: int) -> set[tuple[str, str]]:
    """Attributes that hold an activation, bias or residual."""
    said = parse_attributes(ops.texts("attributes")[row])
    return {
        (key, text)
        for key in said
        if _FUSES.search(key) and (text := said.given(key)) is not None and not _EMPTY.fullmatch(text.strip())
    }
