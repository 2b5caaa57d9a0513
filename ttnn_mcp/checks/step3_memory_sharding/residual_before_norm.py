"""Two tensors are added by an op of its own before a norm that could add them.

`ttnn.layer_norm` and `ttnn.rms_norm` take the second tensor as residual_input_tensor and add it while they read: the
sum is neither written nor read again. An encoder that norms after its sums had the same numbers with one op less
(tt-metal's perf_automation guide, 06); on a Llama decoder 6 us per layer were projected (tt-metal #13629).

The line: an addition of two tensors of one shape and placement whose result a LayerNorm reads and, by the tensors of a
linked memory report, nobody else; the norm has no residual yet; together 0.5 % of the window. The bound is the
additions' whole time, less a read of the second tensor.

Silent on differences, on sums that apply a function, which the norm does not, and where the sum is read again: a
decoder that norms before its blocks carries it on, and the norm does not give it back. Shapes alone cannot tell these
apart, so without a memory report it cannot tell.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.tensor_identity import passed_on_alone
from ttnn_mcp.analyses.op_kinds.activations import adds_full_tensors
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import Affected, CannotTell, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import FUSION
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import plain
from ttnn_mcp.checks.worth import SAFE, Worth

NORMS = ("LayerNorm", "RMSNorm")
SUM = "BinaryOpType::ADD"


@check(
    title="a sum that a norm could make",
    lever=FUSION,
    of=ops_named("no norms over the last dim", *NORMS),
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such additions."""
    norms = _norms_of_sums(facts)
    alone = passed_on_alone(facts.run, facts.ops, facts.joins.makers[norms], norms)
    if alone is not None:
        sums = np.sort(facts.joins.makers[norms[alone]])
        yield Problem(sums, facts.kernel_ns[sums], tell=partial(_tell, norms[alone]))
    elif len(norms):
        yield CannotTell(
            "shapes do not tell whether the sums before norms are read again; capture a memory report too"
        )


def _tell(norms: Rows, ops: Affected) -> Words:
    facts = ops.facts
    norm = int(norms[facts.joins.makers[norms] == ops.row][0])
    call = "rms_norm" if "RMSNORM" in facts.ops.texts("attributes")[norm] else "layer_norm"
    return Words(
        claim=f"{ops.many('sum')} that only a norm reads ({ops.time}): {ops.example}, norm at line {facts.line(norm)}",
        assumption="the norm adds while it reads; nothing else reads the sum",
        cells=((facts.ops.outputs[0], "MEMORY"),),
        fix=(
            f"ttnn.{call}(a, residual_input_tensor=b, ...) at line {facts.line(norm)}, no ttnn.add at line "
            f"{ops.line}"
        ),
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="both in shards or none; the norm reads one tensor more, and its L1 must hold it",
    )


def _norms_of_sums(facts: WindowFacts) -> Rows:
    """Norms without a residual that alone read a sum, by shapes."""
    makers, x = facts.joins.makers, facts.ops.inputs[0]
    has_residual = (facts.ops.inputs[1].logical == x.logical).all(axis=1)
    sums = adds_full_tensors(facts.ops) & plain(facts)
    sums &= facts.ops.texts("attributes").where(lambda text: SUM in text)
    sums &= facts.ops.inputs[0].sharded == facts.ops.inputs[1].sharded
    return np.flatnonzero(facts.named(*NORMS) & ~has_residual & sums[makers] & (makers >= 0))
