"""Ops that stream tensors: from one op through DRAM to the next, and operands that no op of the window made."""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, Flow
from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.arrays import Booleans, Floats
from ttnn_mcp.run.ops.op_table import OpTable
from ttnn_mcp.run.ops.operand import Operand


def passes_dram_on(ops: OpTable, joins: Joins) -> Booleans:
    """Ops with a maker and a reader, and with INPUT_0 and OUTPUT_0 interleaved in DRAM."""
    between = (joins.makers != NOBODY) & (joins.reader_counts > 0)
    return between & _interleaved_in_dram(ops.inputs[0]) & _interleaved_in_dram(ops.outputs[0])


def unmade_dram_bytes(ops: OpTable, flow: Flow) -> Floats:
    """Bytes of the operands in DRAM that no op of the window made: they stay in DRAM."""
    pairs = zip(ops.inputs, flow.made, strict=True)
    return np.sum([np.where(operand.in_dram & ~made, operand.bytes, 0.0) for operand, made in pairs], axis=0)


def operand_bytes(ops: OpTable) -> Floats:
    """Bytes of all operands, in L1 and DRAM."""
    return np.sum([operand.bytes for operand in (*ops.inputs, *ops.outputs)], axis=0)


def _interleaved_in_dram(operand: Operand) -> Booleans:
    return operand.in_dram & ~operand.sharded
