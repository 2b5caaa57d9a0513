"""What is told of caches of keys and values that are written piece by piece: fills by user, updates of two caches."""

from __future__ import annotations

from ttnn_mcp.checks.check import Affected, Words
from ttnn_mcp.checks.wording import cite_op, example


def written_apart(ops: Affected, first: int, problem: str, fix: str) -> Words:
    """The words of several writes of which the `first` is shown."""
    return Words(
        claim=f"{problem} ({ops.time} with slices): {example(ops.facts, first)}",
        assumption="one call moves the same bytes; slices and launches go",
        evidence=cite_op(ops.facts, first, (ops.facts.ops.inputs[1], "MEMORY")),
        fix=fix,
        verify="re-profile; list_ops(group_by='op_code') shows fewer cache writes; PCC unchanged",
        caveat="builds before mid-2026 fill one user per call; the cores of keys and values must be enough for both",
    )
