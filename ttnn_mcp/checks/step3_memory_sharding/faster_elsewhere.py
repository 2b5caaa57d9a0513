"""The same op takes longer here than with another config elsewhere in this run.

The run's own evidence outranks a model: two matmuls of equal shapes, types, placements, fidelity and remaining
attributes do the same work, and the slower one can take the config of the faster one.

The line: matmuls, fused attention, norms and convs; equal in everything the report shows but program_config, core
grid, a conv's blocks and buffers, and the cores used; every op of the faster config takes under 90 % of every op of the
slower one (two runs of one program differ by up to 5 %), 5 us and more, and the difference is at least 0.5 % of the
window. at_least counts the slowest op of the faster config, at_most the fastest: this is no model.

Silent if one config is not always faster than the other, if the cells do not show the difference, and about rows with
impossible operands or times.
"""

from __future__ import annotations

import re
from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.op_kinds.kept_rows import DENSE
from ttnn_mcp.analyses.op_kinds.twins import CHOICES, slower_than_twins
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import Affected, Evidence, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.expectation import seen_in_run
from ttnn_mcp.checks.levers import AS_ELSEWHERE
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_attribute, cite_each, took
from ttnn_mcp.checks.worth import SAFE, Worth
from ttnn_mcp.errors import shown

ALIKE = (*DENSE, "SparseMatmul")
CONFIGURED = Subject(
    lambda facts: facts.named(*ALIKE) | facts.of_family("attention", "norm", "conv"),
    "no matmuls, fused attention, norms or convs",
)
_FIELDS = re.compile(r"(in0_block_w|per_core_[MN]|[qk]_chunk_size)=(\d+)")


@check(
    title="the same op is faster elsewhere in this run",
    lever=AS_ELSEWHERE,
    of=CONFIGURED,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=SAFE),
    compiled=optimized("chooses matmul configs"),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that have a faster twin."""
    able = CONFIGURED.mask(facts) & (facts.kernel_ns >= SMALL_NS) & ~facts.roofline.impossible
    slower = slower_than_twins(facts.ops, np.flatnonzero(able))
    tell = partial(_tell, slower.twins)
    yield Problem(
        slower.rows,
        slower.at_most_ns,
        at_least_ns=slower.at_least_ns,
        expected=seen_in_run(slower, facts.kernel_ns[slower.rows]),
        tell=tell,
    )


def _tell(twins: Rows, ops: Affected) -> Words:
    facts, row, twin = ops.facts, ops.row, int(twins[ops.at])
    pairs = ((facts.attributes(row).get(key), facts.attributes(twin).get(key), key) for key in CHOICES)
    setting = next((key for slow, quick, key in pairs if slow != quick), "")
    return Words(
        claim=(
            f"{ops.many('op', ('takes', 'take'))} longer ({ops.time}) than with another config in this run: "
            f"{ops.example} {took(float(facts.kernel_ns[row]))}, at line {facts.line(twin)} "
            f"{took(float(facts.kernel_ns[twin]))}{_told(facts, twin)}"
        ),
        assumption="measured in this run: the slowest and the fastest op of the faster config",
        evidence=cite_each((row, twin), lambda n: (*facts.cite(n), *_cells(facts, n, setting))),
        fix=f"the {setting or 'core grid'} that op_detail(op={facts.line(twin)}) prints",
        verify=f"re-profile; op_detail(op={ops.line}).kernel_us is that of line {facts.line(twin)} now; PCC",
        caveat="L1 may be fuller here than there: the config may not fit beside other tensors",
    )


def _told(facts: WindowFacts, twin: int) -> str:
    fields = _FIELDS.findall(facts.attributes(twin).get("program_config", ""))
    return shown(f" with {fields[0][0]}={fields[0][1]}") if fields else ""


def _cells(facts: WindowFacts, row: int, setting: str) -> tuple[Evidence, ...]:
    return (cite_attribute(facts, row, setting),) if setting else facts.cite(row, "cores")
