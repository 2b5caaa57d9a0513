"""What a role of a layer is called: by the line of the model, else by its shapes and neighbours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.errors import shown, shown_path
from ttnn_mcp.quoting import figure
from ttnn_mcp.readers.source_lines import parse_loc
from ttnn_mcp.run.ops.op_names import canonical, family

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ttnn_mcp.analyses.layers.layering import Layering
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.run import Run

# MLPs of transformers widen 2.7 times (gated) or 4 times; projections of attention keep the width, or narrow keys
# and values to fewer heads.
WIDENS = 2.0
NEAR = 2  # ops: a mask or a scale may stand between scores and softmax
MAKES_HEADS = re.compile(r"(Create|Split).*Heads", re.IGNORECASE)
JOINS_HEADS = re.compile(r"Concat\w*Heads", re.IGNORECASE)


def role_names(run: Run, ops: OpTable, layering: Layering) -> dict[int, str]:
    """Role -> its name, of the roles that something names.

    Args:
        run: the run.
        ops: all ops of the window; with only some of them, others would seem to be neighbours.
        layering: their layers. The first of each block shows shapes and neighbours.
    """
    names: dict[int, str] = {}
    for block in layering.blocks:
        rows = np.flatnonzero(layering.layer == block.layers[0])[: len(block.roles)]  # of its first pass
        for place, row in enumerate(rows.tolist()):
            name = _line(run, ops, row) or _by_neighbours(ops, rows, place)
            if name:
                names[int(layering.role[row])] = name
    return names


def _line(run: Run, ops: OpTable, row: int) -> str | None:
    """The line of the model that calls the op, by LOC or the linked memory report."""
    if run.performance_report.csv.compiler:
        place = parse_loc(ops.texts("loc")[row])
        return None if place is None else shown_path(place)
    operation = run.linked.operation_at.get(int(ops.lines[row])) if run.linked else None
    source = None if operation is None else run.sources.get(operation)
    return None if source is None else shown_path(source)


def _by_neighbours(ops: OpTable, rows: NDArray[np.int64], place: int) -> str | None:
    """What a matmul is for, and by which rule."""
    names, row = ops.texts("op_code"), int(rows[place])
    if family(names[row]) != "matmul" or len(ops.inputs) < 2 or not ops.outputs:
        return None
    before = [canonical(names[at]) for at in rows[max(place - NEAR, 0) : place].tolist()]
    behind = [canonical(names[at]) for at in rows[place + 1 : place + 1 + NEAR].tolist()]
    if int(ops.inputs[1].logical[row, :2].prod()) > 1:
        return _of_attention(before, behind)
    return _of_weights(before, behind, int(ops.inputs[0].logical[row, 3]), int(ops.outputs[0].logical[row, 3]))


def _of_attention(before: list[str], behind: list[str]) -> str | None:
    """Both operands have heads: neither is a weight."""
    if "softmax" in map(family, behind):
        return "attention scores: softmax follows"
    return "attention times values: softmax precedes" if "softmax" in map(family, before) else None


def _of_weights(before: list[str], behind: list[str], inner: int, width: int) -> str | None:
    if any(map(MAKES_HEADS.search, behind[:1])):
        return f"QKV: {shown(behind[0])} follows"
    if any(map(JOINS_HEADS.search, before[-1:])):
        return f"attention output: {shown(before[-1])} precedes"
    if inner and width >= WIDENS * inner:
        return f"up: widens {figure(width / inner, '.2g')} times"
    return f"down: narrows {figure(inner / width, '.2g')} times" if width and inner >= WIDENS * width else None
