"""GELU runs as its formula, op by op: a scaling, erf, plus one, and two multiplications.

x / 2 * (1 + erf(x / sqrt(2))) is one function of TTNN: a matmul applies `ttnn.UnaryOpType.GELU` as it packs its output,
and `ttnn.gelu(x)` is one op. Each op of the formula reads and writes the whole tensor, five times together. Compilers
meet the formula too: tt-mlir learned to recognise it in PR #4442. Fused into a matmul, GELU took 0.8 us where an op of
its own took 7.6 (tt-metal's perf_automation guide).

The line: a unary ERF, an addition directly behind it and a multiplication directly behind that; together with a second
multiplication and the scaling in front 0.5 % of the window. The bound is the time of all of them.

Silent about an erf alone. Scalars are not compared: programs from the cache print those of their first call.
"""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.checks.arrays import Mask, Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.run.ops.op_table import OpTable

# GELU written out: x / 2 * (1 + erf(x / sqrt(2))) as ops that run one behind the other.
_ERF = re.compile(r"UnaryOpType::ERF\b")
SCALES = ("BinaryOpType::MUL", "BinaryOpType::DIV")


@check(
    title="GELU as its formula",
    lever=FUSION,
    of=ops_named("no unary ops", "Unary"),
    needs=(ATTRIBUTES,),
    worth=Worth(time=SAFE),
    compiled="call torch.nn.functional.gelu in the model, and no formula of your own: the compiler has an op for it",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such formulas."""
    centres, rows = gelu_formulas(facts.ops)
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell, about=centres)


def _tell(ops: Affected) -> Words:
    plus_one = ops.row + 1
    return Words(
        claim=(
            f"GELU runs as its formula around erf ({len(ops.rows)}x, {len(ops.together)} ops, {ops.time_together}): "
            f"{ops.example}, plus one at line {ops.facts.line(plus_one)}"
        ),
        assumption="a matmul applies GELU while packing, at next to no cost; as one op it keeps about a fifth",
        also=(cite_attribute(ops.facts, plus_one, "binary_op_type"),),
        fix=(
            "g = device.compute_with_storage_grid_size(); ttnn.linear(x, w, activation=ttnn.UnaryOpType.GELU, "
            "core_grid=ttnn.CoreGrid(y=g.y, x=g.x), ...) where a matmul makes x, or fused_activation in its "
            "program_config; otherwise ttnn.gelu(x)"
        ),
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="the formula is inferred from the order of the ops; what else reads their results is not known",
    )


def gelu_formulas(ops: OpTable) -> tuple[Rows, Rows]:
    """The erf ops, and all ops of their formulas.

    Behind an erf run the addition and a multiplication; another one and the scaling in front belong to it if they run.
    """
    texts = ops.texts("attributes")
    erf = texts.where(lambda text: _ERF.search(text) is not None)
    adds = texts.where(lambda text: "BinaryOpType::ADD" in text)
    scales = texts.where(lambda text: any(kind in text for kind in SCALES))
    centres = np.flatnonzero(erf & _shifted(adds, 1) & _shifted(scales, 2))
    formulas = (centres, centres + 1, centres + 2)
    around = tuple((centres + step)[_shifted(scales, step)[centres]] for step in (-1, 3))
    return centres, np.unique(np.concatenate((*formulas, *around)))


def _shifted(mask: Mask, by: int) -> Mask:
    """Per op, the mask of the op that ran `by` ops later."""
    places = np.arange(len(mask)) + by
    inside = (places >= 0) & (places < len(mask))
    return inside & mask[np.where(inside, places, 0)]
