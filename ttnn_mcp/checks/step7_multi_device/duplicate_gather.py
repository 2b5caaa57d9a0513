"""The same tensor is gathered more than once.

An all-gather brings a whole tensor to every device. A second one over the same tensor brings the same bytes
again: keep the first result, or gather later, behind the op that shrinks the tensor.

The line: two or more all-gathers read the output of the same op with the same attributes, and the repeats take
0.5 % of the window (trivially safe). The saving is the time of the repeats.

Producers are inferred from shapes, types and placements. Gathers of the model's inputs and weights have no producer
and are left out. Not applicable with one device.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_names import canonical

WHERE = ("dim", "gather_dim", "cluster_axis", "ring_size")  # what makes two gathers of one tensor the same


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all repeated gathers."""
    gathers = np.flatnonzero(facts.names.where(lambda text: canonical(text).startswith("AllGather")))
    first: dict[tuple[object, ...], int] = {}
    again: dict[int, int] = {}
    makers = facts.joins.makers
    for row in gathers.tolist():
        maker = int(makers[row])
        if maker == NOBODY:
            continue
        attributes = facts.attributes(row)
        key = (maker, facts.names[row], facts.shapes(row), *(attributes.get(place) for place in WHERE))
        if key in first:
            again[row] = first[key]
        else:
            first[key] = row
    rows = np.array([*again], dtype=np.int64)
    if not len(rows):
        return
    examples = facts.heaviest(rows, 1)
    row, before = examples[0], again[examples[0]]
    yield Claim(
        claim=(
            f"All-gathers repeat an earlier one ({len(rows)}x, {time_of(facts, rows)}): {example(facts, row)} after "
            f"line {facts.line(before)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="the first result is still in memory and unchanged",
        evidence=cite_op(facts, row) + facts.cite(before),
        fix=(
            f"keep the tensor gathered at line {facts.line(before)} and reuse it; deallocate it after its last "
            "reader"
        ),
        verify="re-profile; list_ops(op_code='AllGather').total.count falls, PCC >= 0.99",
        caveat="that both read the same tensor is inferred from shapes; check the model's code",
    )


CHECK = Check(
    id="duplicate-gather",
    title="same tensor gathered twice",
    step=7,
    look=look,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(time=SAFE),
)
