"""A residual is added behind a matmul of many rows by an op of its own, where one op of TTNN does both: a trial.

`ttnn.experimental.dit_minimal_matmul_addcmul_fused` is a minimal_matmul that writes residual + s * (x W + b) * gate:
the product is neither written nor read again. The gate is one row; without one in the model it holds ones. TTNN 0.81.1
takes it on Wormhole with and without a bias, in batches, on 32 rows and more, if weights and residual have one format,
and refuses others. Public ledgers of Gaze-LLE, MASt3R and RF-DETR (tt-metal) and of X-VLA had gains from it, Chronos-2
a refusal for its formats, and MoonViT 30.5 -> 27.1 ms with too low a PCC.

The line: a sum of two full tensors, or a product with one row and that sum, or their addcmul, that alone reads a
matmul over 256 padded rows and more with one weight, all of it interleaved; 1 % of the window in the sums. The bound is
the sums, and what the matmuls take above their roofline: they become another program.

Silent where weights and residual differ in format, on fewer rows, where other programs stream weights faster, on
functions, and on a turned first operand.
Readers are inferred from shapes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.op_kinds.activations import adds_full_tensors, by_one_row
from ttnn_mcp.analyses.op_kinds.kept_rows import DENSE
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import FUSION, PROGRAM
from ttnn_mcp.checks.needs import ATTRIBUTES, PLACEMENTS, TWO_OPERANDS
from ttnn_mcp.checks.op_config import COMPUTE_AS_NOW
from ttnn_mcp.checks.shared.activations import as_stored, plain
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.minimal_call import beside_operands, multiplies_alone
from ttnn_mcp.checks.step3_memory_sharding.minimal_matmul_for_many_rows import MANY_OF_A_GUESS
from ttnn_mcp.checks.worth import USUAL, Worth

SUM, PRODUCT, BOTH = "BinaryOpType::ADD", "BinaryOpType::MUL", "ADDCMUL"


@check(
    title="a sum that a matmul could make",
    lever=FUSION,
    slot=PROGRAM,
    of=ops_of_family("no matmuls", "matmul"),
    needs=(TWO_OPERANDS, PLACEMENTS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the matmuls and what goes into them."""
    matmuls, gates, sums = _chains(facts)
    gone = np.sort(np.concatenate((gates[gates != NOBODY], sums)))
    if facts.share(gone) < USUAL:
        return
    rows = np.sort(np.concatenate((gone, matmuls)))
    saved = np.where(facts.roofline.impossible, 0.0, facts.kernel_ns)
    saved[matmuls] = np.maximum(saved - achievable_ns(facts), 0.0)[matmuls]
    chains = zip(sums.tolist(), matmuls.tolist(), gates.tolist(), strict=True)
    tell = partial(_tell, {end: (first, between) for end, first, between in chains})
    yield Problem(rows, saved[rows], gone=gone, about=sums, tell=tell, is_trial=True)


def _chains(facts: WindowFacts) -> tuple[Rows, Rows, Rows]:
    """Matmul, product with one row (NOBODY without one) and sum of each chain."""
    ops, joins, simple = facts.ops, facts.joins, plain(facts) & ~facts.joins.doubtful
    attributes = ops.texts("attributes")
    alone = simple & (joins.reader_counts == 1)
    matmuls = _able(facts) & alone
    gates = alone & matmuls[joins.makers] & attributes.where(lambda text: PRODUCT in text) & by_one_row(ops)
    sums = adds_full_tensors(ops) & attributes.where(lambda text: SUM in text)
    sums = simple & (sums | attributes.where(lambda text: BOTH in text))
    ends, made_by = np.flatnonzero(sums), np.stack([made[sums] for made in joins.by_input])
    in_chain = np.where(made_by == NOBODY, False, (matmuls | gates)[made_by])
    before = np.where(in_chain.any(axis=0), made_by[in_chain.argmax(axis=0), np.arange(len(ends))], NOBODY)
    between = np.where(gates[before], before, NOBODY)
    first = np.where(gates[before], joins.makers[before], before)
    weights, made = ops.inputs[1].dtype, ops.outputs[0].dtype
    pairs = zip(first.tolist(), ends.tolist(), strict=True)
    one_format = np.array([one != NOBODY and weights[one] == made[end] for one, end in pairs], dtype=np.bool_)
    return first[one_format], between[one_format], ends[one_format]


def _able(facts: WindowFacts) -> Mask:
    x, w, out = *facts.ops.inputs[:2], facts.ops.outputs[0]
    many = out.padded[:, :3].prod(axis=1) >= MANY_OF_A_GUESS
    able = facts.named(*DENSE) & multiplies_alone(facts) & many & (w.logical[:, :2] == 1).all(axis=1)
    able &= ~x.sharded & ~w.sharded & ~out.sharded
    rows = np.flatnonzero(able)
    able[rows] = facts.attributes_of_ops.numbers(rows, lambda one: float(one.flag("transpose_a") is True)) == 0
    return able


def _tell(before: dict[int, tuple[int, int]], ops: Affected) -> Words:
    facts, (matmul, gate) = ops.facts, before[ops.row]
    gated = gate != NOBODY
    without = f"lines {facts.line(gate)} and {ops.line}" if gated else f"line {ops.line}"
    row = f"gate [1, 1, 1, {facts.ops.outputs[0].logical[matmul, 3]}]" + ", ones here" * (not gated)
    beside = beside_operands(facts, matmul, "bias_tensor", ops.row)
    stored = as_stored(facts, matmul)
    return Words(
        claim=(
            f"{ops.many('residual')} added behind matmuls of many rows ({ops.time}): {ops.example}, behind line "
            f"{facts.line(matmul)}"
        ),
        assumption="a trial: the sums cost nothing in the matmul, which reaches its roofline as minimal_matmul",
        cells=((facts.ops.inputs[1], "DATATYPE"),),
        fix=(
            "ttnn.experimental.dit_minimal_matmul_addcmul_fused(x, w, 1.0, residual, gate"
            f"{beside}, {COMPUTE_AS_NOW}) at line {facts.line(matmul)}, no op at {without}; "
            f"{row}" + (f"; w{stored}" if stored else "")
        ),
        verify="re-profile; list_ops(op_code='BinaryNgDeviceOperation').total.count falls, PCC >= 0.99",
        caveat="not with weights of another format than the residual's; sweep its blocks; readers inferred from shapes",
    )
