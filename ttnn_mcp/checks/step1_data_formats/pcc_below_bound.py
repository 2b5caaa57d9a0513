"""An operation's output misses its PCC bound in the comparison records of the memory report.

TTNN compares each op with its golden function if `enable_comparison_mode` is on. In a `local` record the golden
function gets the op's own inputs, so it names the op that loses accuracy. In a `global` record it gets golden results,
so it shows the loss of all ops so far. Speed-ups of step 1 cost accuracy: take a format or fidelity back at the first
op below its bound.

The line: TTNN's own verdict (`matches` is 0), against the bound of the run (`comparison_mode_pcc`). No saving is
claimed.

Silent if every record matches, and if the run compared nothing: most runs do not compare, because it costs time.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.memory.accuracy import Loss, losses_of
from ttnn_mcp.checks.arrays import Mask, no_saving
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import ACCURACY
from ttnn_mcp.checks.shared.memory_claims import rows_of_operations
from ttnn_mcp.wire import Evidence


def _compared(facts: WindowFacts) -> Mask:
    return np.full(len(facts), facts.run.memory is not None and bool(facts.run.memory.comparisons))


@check(
    title="an op misses its PCC bound",
    lever=ACCURACY,
    risk=True,
    of=Subject(_compared, "no tensors were compared with a golden function (enable_comparison_mode)"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all operations below their bound; the first one is the example."""
    if losses := losses_of(facts.run.memory_report):
        operations = {loss.operation for loss in losses}
        rows = rows_of_operations(facts, operations)
        yield Problem(rows, no_saving(rows), tell=partial(_tell, losses, len(operations) - 1), of_window=True)


def _tell(losses: list[Loss], others: int, ops: Affected) -> Words:
    return Words(
        claim=f"{losses[0].sentence}{f'; {others} more operations miss theirs' if others else ''}",
        assumption="accuracy risk; later operations may only inherit what the first one loses",
        evidence=tuple(_cite(ops.facts, loss) for loss in losses[:3]),
        fix=(
            "give this op more mantissa: a higher math_fidelity, fp32_dest_acc_en=True, or BFLOAT16 where it reads "
            "BFLOAT8_B or BFLOAT4_B; revert the last change that touched it"
        ),
        verify="run again with enable_comparison_mode; op_detail(op=...).call.pcc_local reaches the bound",
        caveat="a golden function can differ on purpose (approximate modes, other tie-breaking): compare by hand once",
    )


def _cite(facts: WindowFacts, loss: Loss) -> Evidence:
    report = facts.run.memory_report.path.name
    row = f"{loss.table}:tensor_id={loss.record.tensor}"
    return Evidence(source=report, row=row, column="actual_pcc", value=loss.record.actual)
