"""An op takes a number from the host that is another one in the next pass: a trace would repeat the recorded one.

A trace records the ops with all numbers that Python gave them. A slice that starts one row further each step, or a
cache written at the next place, is replayed where it was recorded, and nothing says so. Both take the number from a
tensor on the device instead, which is written before each replay (tt-metal, TraceCorrectness.md). Without a trace such
an op is also a new program for each number.

The line: the start of a Slice, or the place that `ttnn.update_cache` writes, differs between the last two passes at
the same place of the pass. No saving of its own: it stands in the way of a trace.

Silent on numbers that repeat, however many there are in one pass (a loop over slices), on runs of one pass, where the
passes may be the layers of one, and on passes with other numbers of these ops. `ttnn.slice` with tensors gives equal
parts of a dimension only: `num_devices` says how many (TTNN 0.81.1).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.devices.host_numbers import Changing, changing_numbers
from ttnn_mcp.checks.arrays import no_saving
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import TRACE
from ttnn_mcp.errors import shown
from ttnn_mcp.wire import Evidence

FIXES = {
    "Slice": (
        "ttnn.slice(x, starts, ends, slice_dim=<dim>, num_devices=<equal parts>), starts and ends ttnn.uint32 tensors "
        "on the device, written before each replay"
    ),
    "UpdateKVCache": (
        "page the cache: ttnn.experimental.paged_update_cache(cache, x, update_idxs_tensor=positions, "
        "page_table=page_table), positions a tensor on the device, written before each replay"
    ),
}


@check(
    title="numbers that a trace would freeze",
    lever=TRACE,
    risk=True,
    of=Subject(
        lambda facts: facts.named(*FIXES) & (not facts.run.performance_report.traced),
        "no op that takes such a number, or a trace is replayed already",
    ),
)
def look(facts: WindowFacts) -> Problems:
    """Yield one problem per kind of op."""
    report = facts.run.performance_report
    for changing in changing_numbers(report.steady, report.iterations):
        rows = np.flatnonzero(np.isin(facts.ops.lines, changing.lines))
        yield Problem(rows, no_saving(rows), tell=partial(_tell, changing))


def _tell(changing: Changing, ops: Affected) -> Words:
    line = ops.facts.line(int(ops.rows[0]))
    before = int(changing.before[np.flatnonzero(changing.lines == line)[0]])
    cells = (_cell(ops.facts, line, changing.attribute), _cell(ops.facts, before, changing.attribute))
    now, then = (cell.value for cell in cells)
    return Words(
        claim=(
            f"{len(ops.rows)} {changing.name} take{'s' * (len(ops.rows) == 1)} another {changing.attribute} from the "
            f"host in each pass: {now} at line {line}, {then} at line {before}: a trace repeats the recorded one"
        ),
        assumption="a risk, no saving: it decides whether the pass can be traced",
        evidence=cells,
        fix=FIXES[changing.name],
        verify=f"capture again: {changing.attribute} is equal in all passes; then trace, and compare PCC of two steps",
        caveat="it may follow the input's shape: then each shape needs its own trace",
    )


def _cell(facts: WindowFacts, line: int, attribute: str) -> Evidence:
    ops = facts.run.performance_report.steady  # the window holds one pass alone
    printed = attributes_of(ops).row(int(np.flatnonzero(ops.lines == line)[0])).text_of(attribute)
    return Evidence(source=ops.source, row=line, column=f"ATTRIBUTES.{attribute}", value=shown(str(printed)))
