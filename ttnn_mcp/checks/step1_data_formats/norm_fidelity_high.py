"""A norm multiplies at HiFi4, TTNN's own choice for it, where HiFi2 may do.

`ttnn.layer_norm` and `ttnn.rms_norm` without a compute config run at HiFi4. With HiFi2 in place of it the 48 LayerNorms
of BGE-M3 took 870 us less and kept their PCC, while LoFi passed one layer and failed 24 (tt-metal's perf_automation
guide); the transformer of Stable Diffusion 1.4 went the same way (PR #49371). It is a try: DeepSeek's RMSNorm was
raised to HiFi4 with float32 sums for accuracy (PR #39040).

The line: LayerNorm or RMSNorm on BFLOAT16 or BFLOAT8_B above HiFi2, on half of the grid and more; what could be saved
is 1 % of the window. The bound is in step with the passes, down to DRAM bytes at achievable bandwidth. Nothing tells
how much of a norm's time its passes take, so no saving is expected of it.

Silent on norms that wait for DRAM, on FLOAT32 inputs, and on few cores (norm-on-few-cores comes first).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS, on_few_cores
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import KERNEL_CONFIG, PASSES
from ttnn_mcp.checks.needs import DRAM_BANDWIDTH, OPERANDS
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler
from ttnn_mcp.checks.shared.compute_configs import sets_compute
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import FIDELITY_PHASES

NORMS = ops_named("no LayerNorm or RMSNorm ops", "LayerNorm", "RMSNorm")
ENOUGH = FIDELITY_PHASES["HiFi2"]
SETS = sets_compute(math_fidelity="HiFi2")


@check(
    title="norms at HiFi4",
    lever=KERNEL_CONFIG,
    slot=PASSES,
    costs_accuracy=True,
    of=NORMS,
    needs=(OPERANDS, DRAM_BANDWIDTH),
    worth=Worth(saving=USUAL),
    compiled=compute_config_of_compiler("math_fidelity=HiFi2"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all norms above HiFi2."""
    passes = facts.ops.texts("fidelity").mapped(
        lambda text: max(FIDELITY_PHASES.get(text, ENOUGH), ENOUGH), missing=ENOUGH, dtype=np.float64
    )
    able = NORMS.mask(facts) & facts.ops.inputs[0].dtype.among("BFLOAT16", "BFLOAT8_B")
    able &= (facts.kernel_ns >= SMALL_NS) & ~on_few_cores(facts.ops, facts.chip.cores)
    rows = np.flatnonzero(able)
    took = facts.kernel_ns[rows]
    saves = np.minimum(took * (1 - ENOUGH / passes[rows]), took - achievable_ns(facts)[rows])
    rows, saves = rows[saves > 0], saves[saves > 0]
    yield Problem(rows, saves, passes=ENOUGH / passes[rows], sets=SETS, tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    return Words(
        claim=(
            f"{ops.many('norm', ('multiplies', 'multiply'))} at {facts.ops.texts('fidelity')[row]} ({ops.time}): "
            f"{ops.name} {ops.example}"
        ),
        assumption="a try: HiFi2 keeps the accuracy; time falls at most in step with the passes",
        evidence=(*facts.cite(row, "fidelity"), *cite_op(facts, row, (facts.input(0), "DATATYPE"))),
        fix=ops.with_only(SETS).compute_text,
        verify="re-profile: the norms' MATH FIDELITY is HiFi2, kernel_us falls; PCC of the whole model >= 0.99",
        caveat="keep fp32_dest_acc_en as it is; what passes in one layer can fail over all: judge the whole model",
    )
