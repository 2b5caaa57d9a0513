"""A bias runs as an addition of its own behind a matmul that could add it.

`ttnn.linear(x, w, bias=row)` adds a row to its output while it packs: TTNN 0.81.1 runs one op for it at every shape
that was tried on mock devices, with and without `core_grid`, on shards where a config is set. As an op of its own the
addition reads the whole output again and writes it again. tt-metal's optimisation guides measured 5.05 us in one op
and 10.99 in two.

The line: an addition of one row to a matmul's output, which no other op reads; the matmul has no bias yet, and the sum
keeps the type; together 0.5 % of the window (the change is safe: the same sum). The bound is the additions' whole time.

Silent if another op also reads the matmul's output, if the second operand has more than one row (a residual path),
where the matmul or the sum applies a function (f(x W) + b is not f(x W + b)), and about matmuls with batched weights,
or on shards without a config, whose bias TTNN 0.81.1 does not fuse.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.kept_rows import DENSE
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import keep_width, plain
from ttnn_mcp.checks.wording import cite_attribute, cite_op
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.hardware import TILE_SIDE

SUM = "BinaryOpType::ADD"
ROW = "SubtileBroadcastType::ROW_B"


@check(
    title="bias not fused into the matmul",
    lever=FUSION,
    of=ops_of_family("no matmuls", "matmul"),
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled="use torch.nn.Linear(bias=True): the compiler fuses a sum that alone reads the matmul",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such additions."""
    rows = _unfused(facts)
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    maker, bias = int(facts.joins.makers[row]), facts.ops.inputs[1]
    return Words(
        claim=(
            f"Additions of one row run behind matmuls ({len(ops.rows)}x, {ops.time}): heaviest {ops.example}, behind "
            f"line {facts.line(maker)}"
        ),
        assumption="added while packing, a row costs the matmul next to nothing",
        evidence=(cite_attribute(facts, row, "binary_op_type"), *cite_op(facts, row, (bias, "DATATYPE"))),
        fix=(
            f"ttnn.linear(x, w, bias=row, ...) at line {facts.line(maker)}, the rest as now; row is "
            f"[1, 1, 1, {bias.logical[row, 3]}] in tiles"
        ),
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="the operands are inferred from shapes; DRAM-sharded and batched configs may need the op",
    )


def _unfused(facts: WindowFacts) -> Rows:
    """Additions of one row that alone read a matmul's output."""
    ops, joins = facts.ops, facts.joins
    x, bias = ops.inputs[:2]
    able = facts.named(*DENSE) & (joins.reader_counts == 1)
    for added_already in ops.inputs[2:3]:
        able &= ~added_already.present
    able &= bias.elements == bias.logical[:, 2:].prod(axis=1)  # weights without a batch
    able[facts.matmuls.rows[facts.matmuls.chosen & x.sharded[facts.matmuls.rows]]] = False
    able &= plain(facts)
    # a report that prints no logical shapes shows a row as a row of tiles
    columns = x.logical[:, 3] * (1 if bias.has_logical else TILE_SIDE)
    one_row = (bias.elements == columns) & (x.elements > columns)
    spread = "" if bias.has_logical else ROW
    adds = ops.texts("attributes").where(lambda text: SUM in text and spread in text) & plain(facts)
    return np.flatnonzero(adds & one_row & able[joins.makers] & keep_width(facts))  # the last op has no reader
