"""A matmul or conv computes BFLOAT8_B weights in two passes, and one might be enough: a trial, never a promise.

LoFi is one pass of the engine and reads the upper 5 bits of a weight; HiFi2 reads the rest in a second one and takes
twice the time. tt-metal ships convs and gate and up projections at LoFi (tech_reports/LLMs/llms.md,
tech_reports/CNNs/cnn_optimizations.md). On a BGE-M3 encoder of 24 layers LoFi saved 6, 2 and 2.2 ms of three matmuls
with BFLOAT8_B weights, and nothing on memory-bound ones. It costs accuracy, and errors add up with depth: a change
that passes in one layer can fail in 24.

The line: a matmul or conv at HiFi2 with BFLOAT8_B weights, whose arithmetic outweighs its DRAM traffic and explains
70 % of a matmul's time (of three at 60 % LoFi took nothing), half of one's on the few cores of DRAM-sharded weights
(those of North-Mini took 174 us a layer in place of 221), 10 % of a conv's; together 1 % of the window. The bound is
half, never below DRAM traffic or the launch; on DRAM-sharded weights that traffic at the peak of the banks (six of
Muse-Glimmer 30B's on Blackhole went from 1645 to 1054 us, 492 of 512 GB/s). At least is 0: PCC may
forbid every one of them.

Silent if a matmul or conv runs at LoFi already, because the author chose per op, but for the few cores of DRAM-sharded
weights (attention at HiFi2 beside a feed-forward at LoFi: 783 us, 760 with all at LoFi; Qwen2.5-Coder's port in
tt-metal). Above HiFi2 fidelity-above-operands comes first. Silent on attention, whose second operand is no weight.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import fewer_passes_save, phases, waits_for_arithmetic
from ttnn_mcp.checks.check import Affected, Floats, Problem, Problems, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.expectation import EXPLAINED
from ttnn_mcp.checks.levers import KERNEL_CONFIG, PASSES
from ttnn_mcp.checks.needs import FIDELITY, TWO_OPERANDS
from ttnn_mcp.checks.shared.changed_ops import becomes
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler
from ttnn_mcp.checks.shared.compute_configs import sets_compute
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth

LOFI, HIFI2 = 1.0, 2.0  # passes (tt-metal's matrix_engine.md)
WEIGHTED = ("matmul", "conv")
SETS = sets_compute(math_fidelity="LoFi")


@check(
    title="a trial: LoFi for BFLOAT8_B weights",
    lever=KERNEL_CONFIG,
    slot=PASSES,
    costs_accuracy=True,
    of=ops_of_family("no matmul or conv ops", *WEIGHTED),
    needs=(TWO_OPERANDS, FIDELITY),
    worth=Worth(saving=USUAL),
    compiled=compute_config_of_compiler("math_fidelity=LoFi"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that compute such weights twice."""
    passes, about = phases(facts.ops), facts.of_family(*WEIGHTED)
    banked = np.zeros(len(facts), dtype=np.bool_)
    banked[facts.matmuls.rows[facts.matmuls.dram_sharded]] = True
    if (about & (passes == LOFI)).any():
        about = about & banked
    twice = about & (passes == HIFI2) & facts.ops.inputs[1].dtype.among("BFLOAT8_B")
    saves = fewer_passes_save(facts.ops, facts.roofline, np.full(len(facts), LOFI))
    lasts = ~facts.of_family("matmul") | (facts.roofline.compute_used_ns >= EXPLAINED * facts.kernel_ns)
    saves = np.where(banked & (saves > 0), _on_banks(facts), saves)
    rows = np.flatnonzero(twice & (lasts | banked) & waits_for_arithmetic(facts.ops, facts.roofline) & (saves > 0))
    once = np.full(len(rows), LOFI / HIFI2)
    yield Problem(rows, saves[rows], passes=once, sets=SETS, tell=_tell, becomes=becomes(facts, fidelity="LoFi"))


def _on_banks(facts: WindowFacts) -> Floats:
    """Half of the time, down to the bytes at the banks' peak: the core beside a bank decides, and LoFi reached 96 %."""
    took = facts.kernel_ns
    return np.maximum(np.minimum(took * (1 - LOFI / HIFI2), took - np.nan_to_num(facts.roofline.dram_ns)), 0.0)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) {ops.verb('wait')} for the second pass over BFLOAT8_B weights; heaviest "
            f"{ops.example}"
        ),
        assumption="all of them accept LoFi; time falls at most in proportion to the passes",
        evidence=(*facts.cite(row, "fidelity"), *cite_op(facts, row, (facts.ops.inputs[1], "DATATYPE"))),
        fix=ops.with_only(SETS).compute_text,
        verify="PCC of the whole model >= 0.99 and its task metric; then kernel_us of these ops falls",
        caveat="a trial, op by op: what passes in one layer can fail in all; heads and embeddings rarely accept it",
    )
