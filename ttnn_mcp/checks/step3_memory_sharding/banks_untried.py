"""A decode matmul's weights lie interleaved in DRAM or sharded over its banks, and the other was not tried: a trial.

Which form is faster no rule tells where decode-matmul-bandwidth is silent: on whole layers of tt-metal's ledgers 14
matmuls gained from DRAM-sharded weights (10 to 67 %), and 22 lost or did not fit; four gained and four lost when they
were taken back to interleaved weights under a 1D config. Where the law of DRAM-sharded weights tells, it is expected;
otherwise nothing is (the law of interleaved ones expected gains of four dead ends), and it stands last.

The line: that of decode-matmul-bandwidth, at any bandwidth; where the weights are interleaved, a DRAM-sharded config
fits L1 and is not expected to be slower; 1 % of the window to save. The bound is the roofline at peak rates, without
the bytes of the result.

Silent on ops of which decode-matmul-bandwidth speaks.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check, spoken_of
from ttnn_mcp.checks.levers import PROGRAM, UNTRIED
from ttnn_mcp.checks.shared.dram_sharding import banked, dram_sharded, multicast, sharded_ns
from ttnn_mcp.checks.shared.floors import trial_saves
from ttnn_mcp.checks.step3_memory_sharding import decode_matmul_bandwidth as bandwidth


@check(
    title="the other place of decode weights, a trial",
    lever=UNTRIED,
    slot=PROGRAM,
    of=bandwidth.look.of,
    needs=bandwidth.look.needs,
    worth=bandwidth.look.worth,
    compiled=bandwidth.look.compiled,
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield matmuls on interleaved weights, and on DRAM-sharded ones."""
    choice, saved = facts.matmuls, trial_saves(facts)
    rows = np.setdiff1d(choice.rows[bandwidth.decodes(facts)[choice.rows]], spoken_of(bandwidth.look, facts))
    in_banks = facts.ops.inputs[1].sharded[rows]
    apart = rows[~in_banks][_may_gain(facts, rows[~in_banks])]
    for these, then in ((apart, partial(banked, facts)), (rows[in_banks], None)):
        yield Problem(these, saved[these], tell=_tell, becomes=then, is_trial=True)


def _may_gain(facts: WindowFacts, rows: Rows) -> Mask:
    """Per matmul on interleaved weights, whether the banks are expected to be no slower: by law or by bandwidth."""
    return sharded_ns(facts, rows).expected_ns <= facts.kernel_ns[rows]


def _tell(ops: Affected) -> Words:
    facts, row, weight = ops.facts, ops.row, ops.facts.ops.inputs[1]
    now, other = ("DRAM-sharded", "interleaved") if weight.sharded[row] else ("interleaved", "DRAM-sharded")
    return Words(
        claim=f"{ops.kinds} {ops.verb('read')} {now} weights, {other} ones were not tried ({ops.time}): {ops.example}",
        assumption="a trial: 10 to 67 % less where it gained, in ledgers of tt-metal",
        cells=((weight, "MEMORY"),),
        fix=multicast(facts, row) if weight.sharded[row] else dram_sharded(facts, row) or "",
        caveat="measure each shape with the moves into shards; keep those that gain",
    )
