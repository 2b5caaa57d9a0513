"""The same tensor is gathered more than once.

An all-gather brings a whole tensor to every device. A second one over the same tensor brings the same bytes
again: keep the first result, or gather later, behind the op that shrinks the tensor.

The line: two or more all-gathers read the output of the same op with the same attributes, and the repeats take
0.5 % of the window (trivially safe). The saving is the time of the repeats.

Producers are inferred from shapes, types and placements. Gathers of the model's inputs and weights have no producer
and are left out. Not applicable with one device.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, exchanges_named
from ttnn_mcp.checks.worth import SAFE, Worth

WHERE = ("dim", "gather_dim", "cluster_axis", "ring_size")  # what makes two gathers of one tensor the same


@check(
    title="same tensor gathered twice",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all repeated gathers."""
    makers = facts.joins.makers
    first: dict[tuple[object, ...], int] = {}
    again: dict[int, int] = {}
    for row in np.flatnonzero(exchanges_named(facts, "AllGather") & (makers != NOBODY)).tolist():
        attributes = facts.attributes(row)
        key = (int(makers[row]), facts.names[row], facts.shapes(row), *(attributes.get(place) for place in WHERE))
        if key in first:
            again[row] = first[key]
        else:
            first[key] = row
    rows = np.array([*again], dtype=np.int64)
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, again))


def _tell(again: dict[int, int], ops: Affected) -> Words:
    before = again[ops.row]
    line = ops.facts.line(before)
    return Words(
        claim=f"All-gathers repeat an earlier one ({len(ops.rows)}x, {ops.time}): {ops.example} after line {line}",
        assumption="the first result is still in memory and unchanged",
        also=ops.facts.cite(before),
        fix=f"keep the tensor gathered at line {line} and reuse it; deallocate it after its last reader",
        verify="re-profile; list_ops(op_code='AllGather').total.count falls, PCC >= 0.99",
        caveat="that both read the same tensor is inferred from shapes; check the model's code",
    )
