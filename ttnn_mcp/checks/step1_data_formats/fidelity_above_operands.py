"""The matrix engine makes more passes over the operands than their mantissas can use.

LoFi, HiFi2, HiFi3 and HiFi4 are 1 to 4 passes; each costs the full time of the arithmetic. For BFLOAT16 operands HiFi2
is nearly exact, for BFLOAT8_B weights it reads the whole mantissa, and LoFi reads all of a BFLOAT4_B weight (tt-metal
#39627). `ttnn.conv2d` without a compute config runs at HiFi4: the most common free win in real profiles.

The line: a matmul, conv or attention above the passes its weights can use (BFLOAT16 and BFLOAT8_B 2, BFLOAT4_B 1),
whose arithmetic outweighs its DRAM traffic and explains at least half of a matmul's time, 10 % of other ops' (ours,
from ops that gained and ops that did not); together 1 % of the window. The bound is in proportion to the passes and
never below DRAM traffic or the launch.

Matmuls and convs, and attention, are told apart: HiFi2 brought nothing to attention at a fifth of its peak (three tries
in two ledgers of tt-metal), whose softmax takes no passes; at 30 to 40 % it gained beside other changes. So attention
expects a gain only where its law tells one.

Silent on memory-bound ops, which gain nothing from fewer passes (a DRAM-sharded decode matmul on Blackhole may still
gain from LoFi, tt-metal PR #50662: try it, no figure can be given), on float32 operands, and on tilize, halo and
element-wise ops, which print a fidelity and ignore it.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import (
    engine_ops,
    fewer_passes_save,
    needed_phases,
    phases,
    waits_for_arithmetic,
    weight_of,
)
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import KERNEL_CONFIG, PASSES
from ttnn_mcp.checks.needs import FIDELITY
from ttnn_mcp.checks.op_config import Sets
from ttnn_mcp.checks.shared.changed_ops import changed
from ttnn_mcp.checks.shared.compiled import compute_config_of_compiler
from ttnn_mcp.checks.shared.compute_configs import sets_fidelity
from ttnn_mcp.checks.wording import cite_op
from ttnn_mcp.checks.worth import USUAL, Worth

NAMES = {1.0: "LoFi", 2.0: "HiFi2"}


@check(
    title="more passes than the mantissas can use",
    lever=KERNEL_CONFIG,
    slot=PASSES,
    costs_accuracy=True,
    principal=True,
    of=Subject(lambda facts: engine_ops(facts.ops), "no matmul, conv or attention ops"),
    needs=(FIDELITY,),
    worth=Worth(saving=USUAL),
    compiled=compute_config_of_compiler("math_fidelity=HiFi2"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that compute more passes than they need."""
    needed = needed_phases(facts.ops)
    saves = fewer_passes_save(facts.ops, facts.roofline, needed)
    able = waits_for_arithmetic(facts.ops, facts.roofline) & (saves > 0)
    sets = sets_fidelity(lambda row: NAMES[float(needed[row])])
    attends = facts.of_family("attention")
    for rows, is_trial in ((np.flatnonzero(able & ~attends), False), (np.flatnonzero(able & attends), True)):
        yield Problem(
            rows,
            saves[rows],
            passes=(needed / phases(facts.ops))[rows],
            sets=sets,
            tell=partial(_tell, sets),
            becomes=lambda row: changed(facts, row, fidelity=NAMES[float(needed[row])]),
            is_trial=is_trial,  # attention: three of six measured cases gained nothing (public ledgers)
        )


def _tell(sets: Sets, ops: Affected) -> Words:
    facts, row, config = ops.facts, ops.row, ops.with_only(sets)
    wanted = config.compute.math_fidelity
    return Words(
        claim=(
            f"{ops.kinds} ({ops.time}) {ops.verb('compute')} at {facts.ops.texts('fidelity')[row]} what {wanted} "
            f"covers; heaviest {ops.example}"
        ),
        assumption=f"{wanted} instead; time falls at most in proportion to the passes",
        evidence=(*facts.cite(row, "fidelity"), *cite_op(facts, row, (weight_of(facts.ops), "DATATYPE"))),
        fix=config.compute_text,
        verify="re-profile: tensor_formats.fidelity shows the new fidelity, kernel_us falls; PCC >= 0.99",
        caveat="an op that waits for its readers gains less; with BFLOAT8_B weights LoFi is worth one PCC try",
    )
