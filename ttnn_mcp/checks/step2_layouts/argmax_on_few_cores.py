"""ArgMax searches the vocabulary on one core.

The multi-core kernel reduces the last dim of a ROW_MAJOR tensor. Builds before May 2026 use it only with
`use_multicore=True`, and for more than one row only since July 2025 (tt-metal #20730, #25510); a TILE input keeps it
on one core. At batch 32 and 128256 words a single core made decoding three times slower than ArgMax on the host: 8.4
against 29.1 tokens per second and user (tt-metal #15736).

The line: an ArgMax over the last dim on less than half of the grid, 5 us and more, whose ATTRIBUTES say
`use_multicore` false or whose input is TILE, with too many tiles for one core. The possible saving is 1 % of the
window. The bound distributes the input over the whole grid.

Silent if the attributes ask for multi-core already, and on other dims than the last: one core reduces those.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.few_cores import on_few_cores
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import CORES, OPERANDS
from ttnn_mcp.checks.shared.floors import spread_saves
from ttnn_mcp.checks.wording import cite_attribute, cite_op
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

ARGMAX = ops_named("no ArgMax ops", "ArgMax", "Argmax")
DIMS = 4  # of a tensor in a report: the last one is 3, or -1 (ours)


@check(
    title="ArgMax on one core",
    of=ARGMAX,
    needs=(OPERANDS, CORES),
    worth=Worth(saving=USUAL),
    compiled="a release of tt-mlir from April 2026 on (#7705) takes the multi-core kernel",
)
def look(facts: WindowFacts) -> Problems:
    """Yield the ArgMax ops that the grid could share."""
    rows = np.flatnonzero(ARGMAX.mask(facts) & on_few_cores(facts.ops, facts.chip.cores))
    rows = rows[_could_share(facts, rows)]
    yield Problem(rows, spread_saves(facts, rows), tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    least = facts.ops.numbers("cores")[ops.rows].min()
    tiles = facts.ops.inputs[0].layout[row] == "TILE"
    attributes = facts.attributes(row)
    over = "" if "dim" in attributes and not attributes.text_of("dim") else ", dim=-1"  # else of all rows together
    first = "x = ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT); " if tiles else ""
    return Words(
        claim=f"{ops.many('ArgMax op')} ({ops.time}) {ops.verb('run')} on {figure(least, '.0f')} "
        f"of {facts.chip.cores} cores: {ops.example}",
        assumption="the multi-core kernel distributes the input evenly over the grid",
        evidence=(cite_attribute(facts, row, "use_multicore"), *cite_op(facts, row), *facts.cite(row, "cores")),
        fix=(
            f"{first}ttnn.argmax(x{over}) of a ROW_MAJOR x, over more cores since May 2026; builds before that take "
            "use_multicore=True (for any batch since July 2025), older ones ArgMax on the host"
        ),
        verify="re-profile; list_ops(op_code='ArgMax') shows more cores and kernel_us falls; same tokens",
        caveat="builds of early 2025 gave wrong tokens for more than one row with multi-core: compare the tokens",
    )


def _could_share(facts: WindowFacts, rows: Rows) -> Rows:
    single = facts.attributes_of_ops.numbers(rows, lambda one: float(one.flag("use_multicore") is False)) > 0
    tiles = facts.ops.inputs[0].layout.among("TILE")[rows]
    dim = facts.attributes_of_ops.numbers(rows, lambda attributes: attributes.number("dim"))
    last = np.isnan(dim) | (dim == -1) | (dim == DIMS - 1)
    return np.flatnonzero((single | tiles) & last)
