"""TopK runs on few cores because its width is not a power of two.

The kernel that distributes a row over the grid sorts bitonically. It takes widths that are powers of two, from 8192
to 32768 (indices of 16 bits), and k up to 64; everything else goes to the kernel that keeps each row of tiles on one
core. Padded from 18992 to 32768 columns, a TopK went from 10.8 to 0.3 ms (tt-metal #38487); others gained 26 and 34
times (tt-metal #53108, #38509).

The line: a TopK on less than half of the grid, over a width that padding takes to such a power of two; wider ones
can be split first. The possible saving is 1 % of the window. The bound distributes the work over the whole grid.

Silent on k above 64 and on widths whose next power of two is below 8192, which the kernel did not distribute before
August 2026 (tt-metal #53793), and on TopK that a sub-core grid confines.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import on_few_cores
from ttnn_mcp.analyses.op_kinds.topk import SHARED_TO, power_of_two_from, unshared_by_width
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import CORES, OPERANDS
from ttnn_mcp.checks.shared.floors import spread_saves
from ttnn_mcp.checks.worth import USUAL, Worth

TOPK = ops_named("no TopK ops", "TopK")


@check(
    title="TopK over a width that one core must sort",
    of=TOPK,
    needs=(OPERANDS, CORES),
    worth=Worth(saving=USUAL),
    compiled="pad the logits to a power of two in the model (torch.nn.functional.pad with -inf) before torch.topk",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all TopK ops that padding would share."""
    rows = np.flatnonzero(TOPK.mask(facts) & on_few_cores(facts.ops, facts.chip.cores))
    rows = rows[unshared_by_width(facts.ops, rows)]
    yield Problem(rows, spread_saves(facts, rows), tell=_tell)


def _tell(ops: Affected) -> Words:
    width = int(ops.facts.ops.inputs[0].padded[ops.row, 3])
    return Words(
        claim=(
            f"{ops.many('TopK op')} ({ops.time}) {ops.verb('run')} on few of {ops.facts.chip.cores} cores: {width} "
            f"columns are no power of two that the multi-core kernel takes: {ops.example}"
        ),
        assumption="padded, the work is distributed over the whole grid; the padding itself is not subtracted",
        columns=("cores",),
        fix=_fix(ops.facts, ops.row, width),
        verify="re-profile; list_ops(op_code='TopK') shows more cores and kernel_us falls; same tokens",
        caveat="one core merges the others' results: gains flatten beyond some 32 cores (tt-metal #56797)",
    )


def _fix(facts: WindowFacts, row: int, width: int) -> str:
    logical = int(facts.ops.inputs[0].logical[row, 3])
    sign = "" if facts.attributes(row).flag("largest") is False else "-"  # of the least values the greatest pads
    if width <= SHARED_TO:
        return (
            f"pad to a power of two: x = ttnn.pad(x, [(0, 0), (0, 0), (0, 0), (0, {power_of_two_from(width) - logical}"
            f")], value=float('{sign}inf')), then ttnn.topk(x, ...) as now; better, pad the LM head's columns and mask "
            "them once"
        )
    return (
        f"split the {logical} columns into parts of {SHARED_TO}, the last padded with {sign}inf; "
        "ttnn.topk on each part, then one ttnn.topk over the joined values, with each part's offset added to "
        "its indices"
    )
