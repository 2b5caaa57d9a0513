"""Reshapes that copy their tensor: which ones the checks of reshapes tell about, and the words for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttnn_mcp.analyses.op_kinds.permuted_columns import rows_of_permuted
from ttnn_mcp.analyses.op_kinds.tiny_rows import moves_tiny_rows
from ttnn_mcp.checks.check import Affected, Words, ops_named

if TYPE_CHECKING:
    from ttnn_mcp.checks.check import Mask, WindowFacts

RESHAPES = ops_named("no Reshape ops took device time: all were views, or there were none", "Reshape")
IN_WHOLE_TILES = (
    "pad sequence and head dims to multiples of 32 in the model, so that the compiler's reshapes are views"
)


def copied(facts: WindowFacts, *, same_width: bool) -> Mask:
    """Reshapes to the same width or to another one, but for those that tiny rows or permuted columns explain."""
    keep = facts.ops.inputs[0].logical[:, 3] == facts.ops.outputs[0].logical[:, 3]
    reshapes = RESHAPES.mask(facts) & ~moves_tiny_rows(facts.ops) & (keep == same_width)
    reshapes[rows_of_permuted(facts.ops)] = False
    return reshapes


def copy_told(ops: Affected, why: str, fix: str, *, beside: str = "") -> Words:
    """That they copy, and why; `beside` names other ops that go with them."""
    return Words(
        claim=f"{len(ops.rows)} reshapes ({ops.time}) copy, no views: {why}; heaviest {ops.example}{beside}",
        assumption="each becomes a view, or falls into a fused op that does its move",
        cells=((ops.facts.input(0), "LAYOUT"), (ops.facts.output(), "LAYOUT")),
        fix=fix,
        verify="re-profile: compare_runs.removed lists the Reshape ops; PCC unchanged",
        caveat="a fused op takes some time of its own, which the bound does not subtract",
    )
