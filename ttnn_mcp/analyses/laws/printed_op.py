"""One row of a report, as those ask it who describe its op."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttnn_mcp.analyses.attribute_columns import attributes_of

if TYPE_CHECKING:
    from ttnn_mcp.run.chip import Chip
    from ttnn_mcp.run.ops.op_table import OpTable
    from ttnn_mcp.run.ops.operand import Operand

NOT_PLAIN = ("fuse_swiglu", "fused_ternary_scalar", "chunk_start_idx", "chunk_start_idx_tensor", "attention_sink")
FUNCTION = re.compile(r"UnaryOpType::(\w+)")


class PrintedOp:
    """One row of a table, as the describers ask it."""

    def __init__(self, ops: OpTable, row: int, chip: Chip) -> None:
        self.ops, self.row, self.chip = ops, row, chip
        self.attributes = attributes_of(ops).row(row)
        self.inputs = [operand for operand in ops.inputs if operand.present[row]]
        self.output = next((operand for operand in ops.outputs if operand.present[row]), None)
        self.fidelity = ops.texts("fidelity")[row]
        cores = ops.numbers("cores")[row]
        self.cores = int(cores) if cores > 0 else None

    @property
    def functions(self) -> list[str]:
        """Element-wise functions that its attributes name: fused ones, or its own."""
        return [name for text in self.attributes.values() for name in FUNCTION.findall(text)]

    @property
    def fused(self) -> str:
        """What it computes besides; empty for nothing."""
        forms = [
            key for key in NOT_PLAIN if self.attributes.text_of(key) and self.attributes.flag(key) is not False
        ]
        return " ".join([*self.functions, *forms])

    def shape(self, operand: Operand, *, logical: bool = False) -> list[int]:
        """Four dims, as they lie in memory unless `logical`."""
        return (operand.logical if logical else operand.padded)[self.row].tolist()

    def place(self, operand: Operand) -> str:
        """Where it lies."""
        return operand.placement[self.row]

    def dtype(self, operand: Operand) -> str:
        """Its format."""
        return operand.dtype[self.row]
