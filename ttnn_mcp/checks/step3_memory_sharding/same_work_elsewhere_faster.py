"""The same matmul is faster elsewhere in this run, in another placement or as another op.

A run often holds the answer itself: one module keeps its activations in shards, the next one passes them through DRAM;
one calls ttnn.linear, another ttnn.experimental.minimal_matmul. Equal tiles of rows, inner size and columns, with equal
data types and fidelity, are the same work. In a DeepLabV3+ run on Blackhole 8192x128 times 128x512 took 41 us with
activations in DRAM and 9 us with them in height shards; in a CLIP encoder one product took 61 us as MinimalMatmul and
26 as Matmul.

The line: matmuls of 5 us and more whose every op takes over 1.11 times as long as any op of another form; together
0.5 % of the window to save. The bound is the fastest op of that form.

Silent where one form is not always faster. Where only the config differs, faster-elsewhere speaks.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.kept_rows import DENSE
from ttnn_mcp.analyses.op_kinds.twins import slower_forms
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.expectation import seen_in_run
from ttnn_mcp.checks.levers import AS_ELSEWHERE
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.activations import applied_by
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_each, cite_op, op_name, took
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.errors import shown

OWN = "; the function as here"  # forms are compared without what they apply


@check(
    title="faster in another form in this run",
    lever=AS_ELSEWHERE,
    of=ops_named("no matmuls", *DENSE),
    needs=(TWO_OPERANDS,),
    worth=Worth(saving=SAFE),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all matmuls that have a faster form in this run."""
    able = facts.named(*DENSE) & (facts.kernel_ns >= SMALL_NS) & ~facts.roofline.impossible
    slower = slower_forms(facts.ops, np.flatnonzero(able))
    yield Problem(
        slower.rows,
        slower.at_most_ns,
        expected=seen_in_run(slower, facts.kernel_ns[slower.rows]),
        tell=partial(_tell, slower.twins),
    )


def _tell(twins: Rows, ops: Affected) -> Words:
    facts, row, twin = ops.facts, ops.row, int(twins[ops.at])
    cells = ((facts.input(0), "MEMORY"), (facts.output(), "MEMORY"))
    return Words(
        claim=(
            f"{ops.many('matmul', ('is', 'are'))} faster in another form in this run ({ops.time}): {ops.example} "
            f"{took(float(facts.kernel_ns[row]))}, at line {facts.line(twin)} {took(float(facts.kernel_ns[twin]))} "
            f"{_form(facts, twin)}"
        ),
        assumption="measured in this run: the fastest op of the other form; moves into it are not counted",
        evidence=cite_each((row, twin), lambda n: cite_op(facts, n, *cells)),
        fix=(
            f"as line {facts.line(twin)}: {_call(facts, twin)} with x {_placed(facts, twin)}, memory_config="
            f"{shown(facts.ops.outputs[0].placement[twin])}, {_config(facts, twin)}"
            f"{OWN if applied_by(facts, row) != applied_by(facts, twin) else ''}"
        ),
        verify=f"re-profile; op_detail(op={ops.line}).kernel_us is that of line {facts.line(twin)} now; PCC >= 0.99",
        caveat="what makes and what reads x must fit the other form, or a move eats the gain; L1 may be fuller here",
    )


def _form(facts: WindowFacts, row: int) -> str:
    return f"as {op_name(facts, row)}, x in {_placed(facts, row)}"


def _placed(facts: WindowFacts, row: int) -> str:
    return shown(facts.ops.inputs[0].placement[row])


def _config(facts: WindowFacts, row: int) -> str:
    config = facts.attributes(row).struct("program_config")
    return f"and the program_config that op_detail(op={facts.line(row)}) prints" if config else "no program_config"


def _call(facts: WindowFacts, row: int) -> str:
    minimal = facts.named("MinimalMatmul")[row]
    return "ttnn.experimental.minimal_matmul(x, w, ...)" if minimal else "ttnn.linear(x, w, ...)"
