"""An exchange runs with one number of workers on each link, and this run did not try another: a trial.

`num_workers_per_link` is how many cores feed a link, `chunks_per_sync` how much they send before they wait for each
other. TTNN chooses both by the size of the payload, for boards of its own. In public ledgers four workers, or more
chunks, took 5.8 -> 4.7 ms of a gather (Qwen's vision tower), 416 -> 304 us of scores (Qwen3 8B on N300), 10.6 -> 10.2
ms of a reduce-scatter with its matmul (MiniMax H3), and one worker 34 -> 21 us of one row of tiles (Muse); nothing for
Gemma 4's short ones, nor other chunks alone for MiniMax's. So nothing is expected, and it stands last in the plan.

The line: a reduce-scatter or an all-gather whose row prints its workers, and not those to try: one below 30 us, four
from there on; 1 % of the window to save. The bound is 40 % of its time (38 % measured), never below its payload at the
links' specified rate.

Silent on exchanges fused with a matmul, which have workers of their own. `ttnn.all_gather` of TTNN 0.81.1 ignores both
numbers, `ttnn.reduce_scatter` and `ttnn.experimental.all_gather_async` take them. Not applicable with one device.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.devices.collectives import payload_gb_s
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import UNTRIED
from ttnn_mcp.checks.needs import ATTRIBUTES, SAME_OPS
from ttnn_mcp.checks.shared.mesh import DEVICES, LATENCY_NS, collectives_named
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

WORKERS = "num_workers_per_link"
MANY, ONE = (
    4,
    1,
)  # measured: of long exchanges four won over two and over TTNN's choice, of a short one a single one
MOST = 0.4  # of the time: measured, a reduce-scatter of one row of tiles took 38 % less


@check(
    title="other workers for the links, a trial",
    lever=UNTRIED,
    of=DEVICES,
    needs=(SAME_OPS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all of them."""
    exchanges = facts.collectives
    able = collectives_named(facts, "ReduceScatter") | collectives_named(facts, "AllGather")
    able &= facts.ops.texts("attributes").where(lambda text: WORKERS in text)
    at = np.flatnonzero(able[exchanges.rows])
    rows = exchanges.rows[at]
    took, needed = facts.kernel_ns[rows], exchanges.least_ns(payload_gb_s(facts.chip), both_directions=True)[at]
    saved = np.minimum(MOST * took, took - np.fmin(np.fmax(needed, 0.0), took))
    now = attributes_of(facts.ops).numbers(rows, lambda attributes: attributes.number(WORKERS))
    for of_size, workers in ((took < LATENCY_NS, ONE), (took >= LATENCY_NS, MANY)):
        these = of_size & (now != workers)
        yield Problem(rows[these], saved[these], tell=partial(_tell, workers), is_trial=True)


def _tell(workers: int, ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    now = facts.attributes(row).number(WORKERS)
    has = f"{figure(now, '.0f')} worker{'s' * (now != 1)}" if now else "as many workers as TTNN chose"
    short = workers == ONE
    chunks = "" if short else ", chunks_per_sync=16"
    gathers = collectives_named(facts, "AllGather")[row]
    call = "ttnn.experimental.all_gather_async" if gathers else "ttnn.reduce_scatter"
    return Words(
        claim=(f"{ops.many('exchange')} ({ops.time}) with {has} on a link: {ops.example}, {ops.took_us}"),
        assumption="a trial: 4 to 38 % less where it gained, in public ledgers",
        evidence=(cite_attribute(facts, row, WORKERS), *facts.cite(row)),
        fix=f"{call}(..., {WORKERS}={workers}{chunks}), the rest as now" + ("" if short else "; then with 40"),
        verify=f"re-profile; kernel_us of op_detail(op={ops.line}) falls on all devices; PCC unchanged",
        caveat="ttnn.all_gather of 0.81.1 ignores both; more workers take more cores beside the links",
    )
