"""What fixes set of compute kernel configs, and the ops for which they set one: those with an operand of their own."""

from __future__ import annotations

from collections.abc import Callable

from ttnn_mcp.analyses.op_kinds.formats import weight_of
from ttnn_mcp.checks.check import Subject
from ttnn_mcp.checks.op_config import OpConfig, Sets

WEIGHTED_OPS = Subject(  # of a report that has two operand columns
    lambda facts: facts.of_family("matmul", "conv") & (weight_of(facts.ops) is not None), "no matmul or conv ops"
)


def sets_compute(**fields: str) -> Sets:
    """The same fields for every op."""
    return lambda config: config.computing(**fields)


def sets_fidelity(of: Callable[[int], str]) -> Sets:
    """The math fidelity of each op by its row."""

    def change(config: OpConfig) -> OpConfig:
        return config.computing(math_fidelity=of(config.row))

    return change
