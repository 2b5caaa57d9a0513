"""Rows with the same op code and operand cells: one number for all of them."""

from __future__ import annotations

from itertools import chain

from ttnn_mcp.arrays import Integers
from ttnn_mcp.run.ops.alike import first_rows, numbered
from ttnn_mcp.run.ops.artefact import artefact
from ttnn_mcp.run.ops.op_table import OpTable


@artefact
def written_kinds(ops: OpTable) -> Integers:
    """A number per row, from 0 in order of appearance, equal for rows with the same code and operand cells."""
    alike = ops.alike()
    if alike is None:
        return _by_cells(ops)
    read_alike = numbered(len(ops), alike)
    return _by_cells(ops.take(first_rows(read_alike)))[read_alike]


def _by_cells(ops: OpTable) -> Integers:
    cells = (part for operand in ops.operands_once() for part in operand.written_by)
    return numbered(len(ops), chain([ops.texts("op_code").codes], cells))
