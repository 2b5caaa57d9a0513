"""A norm without weight is multiplied by one row of values, and perhaps shifted by another: it takes both itself.

`ttnn.layer_norm` and `ttnn.rms_norm` take `weight` and `bias` and apply them to a row while they hold it. As ops of
their own, the product and the sum each read and write the whole tensor again. The row may be a parameter, or be made
in every pass, as the scale and shift of adaptive norms are.

The line: a LayerNorm or RMSNorm that reads nothing but its input, or a residual beside it; its result alone goes into a
product with one row of the same width; what that makes may alone go into a sum with one row; data types as in the
norm's result; together 0.5 % of the window (the change is safe: the same arithmetic). The bound is the whole time of
these ops: the rows that the norm reads in their place are one tile high.

Silent where the row differs per batch (a norm has one weight for all rows), about norms in parts over devices, where
another op reads what lies between, and where the product or the sum applies a function.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import plain
from ttnn_mcp.checks.wording import cite_attribute, cite_op
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.operand import Operand

NORMS = ("LayerNorm", "RMSNorm")
PRODUCT, SUM = "BinaryOpType::MUL", "BinaryOpType::ADD"


@check(
    title="a norm's weight applied by an op of its own",
    lever=FUSION,
    of=ops_named("no norms over the last dim", *NORMS),
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(time=SAFE),
    compiled="enable_create_d2m_subgraphs=True with optimization_level >= 1: the compiler then joins element-wise ops",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such products, with the sums behind them."""
    norms, products = _followed(facts, _bare_norms(facts), PRODUCT)
    made = np.zeros(len(facts), dtype=np.bool_)
    made[products] = True
    scaled, sums = _followed(facts, made, SUM)
    shifts = dict(zip(scaled.tolist(), sums.tolist(), strict=True))
    rows = np.concatenate((products, sums))
    yield Problem(rows, facts.kernel_ns[rows], tell=partial(_tell, norms, shifts), about=products)


def _tell(norms: Rows, shifts: dict[int, int], ops: Affected) -> Words:
    facts, norm = ops.facts, int(norms[ops.at])
    call = "rms_norm" if "RMSNORM" in facts.ops.texts("attributes")[norm] else "layer_norm"
    shift = ", bias=shift" if ops.row in shifts else ""
    beside = f", {len(shifts)} of them shifted after" if shifts else ""
    lines = [facts.line(row) for row in (ops.row, shifts.get(ops.row)) if row is not None]
    dropped = f"op at line {lines[0]}" if len(lines) == 1 else f"ops at lines {lines[0]} and {lines[1]}"
    return Words(
        claim=(
            f"{ops.many('norm')} without weight, scaled after by an op of its own{beside} ({ops.time_together}): "
            f"{ops.example}, norm at line {facts.line(norm)}"
        ),
        assumption="the norm applies one row of weights while it holds the values",
        evidence=(
            cite_attribute(facts, ops.row, "binary_op_type"),
            *cite_op(facts, ops.row),
            *cite_op(facts, norm),
        ),
        fix=(
            f"ttnn.{call}(x, weight=scale{shift}, ...) at line {facts.line(norm)}, scale as [1, 1, 1, C] in TILE or "
            f"[1, 1, C/32, 32] in ROW_MAJOR; without the {dropped}"
        ),
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="readers are inferred from shapes; on shards the weight's layout is ROW_MAJOR",
    )


def _bare_norms(facts: WindowFacts) -> Mask:
    """Norms that read an input, perhaps a residual of its shape, and no weight."""
    x, rest = facts.ops.inputs[0], facts.ops.inputs[1:]
    bare = facts.named(*NORMS)
    tall = x.elements > x.logical[:, 3]  # of one row a weight has the shape of a residual
    for operand in rest:
        bare &= ~operand.present | (tall & (operand.logical == x.logical).all(axis=1))
    return bare


def _followed(facts: WindowFacts, made: Mask, kind: str) -> tuple[Rows, Rows]:
    """(makers, readers): what these ops make, read alone by a `kind` of it and one row of its width."""
    joins = facts.joins
    makers, readers = joins.edges
    alike = facts.ops.texts("attributes").where(lambda text: kind in text) & plain(facts)
    kept = made[makers] & (joins.reader_counts[makers] == 1) & alike[readers]
    makers, readers = makers[kept], readers[kept]
    first, second = (joins.by_input[place][readers] == makers for place in (0, 1))
    left, right = (_is_row(facts, operand)[readers] for operand in facts.ops.inputs[:2])
    out = facts.ops.outputs[0]
    same = out.dtype.codes[makers] == out.dtype.codes[readers]
    kept = (first != second) & np.where(first, right, left) & same
    return makers[kept], readers[kept]


def _is_row(facts: WindowFacts, operand: Operand) -> Mask:
    """Whether the operand is one row as wide as the op's result."""
    shape = operand.logical
    return (shape[:, :3] == 1).all(axis=1) & (shape[:, 3] == facts.ops.outputs[0].logical[:, 3])
