"""The ops that multiply by an operand of their own: what a compute config or weights are set for."""

from __future__ import annotations

from ttnn_mcp.analyses.op_kinds.formats import weight_of
from ttnn_mcp.checks.check import Subject

WEIGHTED_OPS = Subject(  # of a report that has two operand columns
    lambda facts: facts.of_family("matmul", "conv") & (weight_of(facts.ops) is not None), "no matmul or conv ops"
)
