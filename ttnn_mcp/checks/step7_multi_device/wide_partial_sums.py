"""A matmul split along K writes wide partial sums, which a reduce-scatter adds up: split along N it writes a part.

Weights of K x N on D chips are K/D x N or K x N/D, the same bytes. Split along K every chip writes all N columns of
partial sums, and the exchange sends them; split along N it gathers the K inputs first and writes its N/D columns, the
very result of the scatter. Where N is much larger than K, as in an LM head, the second sends and writes less: that of
DeepSeek went from 1357 to 1164 us (tt-metal PR #41275).

The line: a reduce-scatter along the last dim that alone reads a matmul with weights, where the D x K inputs are at most
half of the N columns; the scatters take 1 % of the window. The bound is the scatter, and the matmul's bytes of the
columns that it no longer writes.

Silent on the projections of a layer, where N is the hidden size and K the wider one. Not applicable with one device.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.op_kinds.formats import reads_weights
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, columns_of_results, exchanges_named
from ttnn_mcp.checks.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL

NARROWER = 0.5  # of the columns: what the gather then sends at most (ours)


@check(
    title="wide partial sums sent over the links",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(TWO_OPERANDS,),
)
def look(facts: WindowFacts) -> Problems:
    """Yield the reduce-scatters of all such pairs, and their matmuls."""
    makers, whole = facts.joins.makers, facts.ops.inputs[0].logical[:, 3]
    part = np.fmax(columns_of_results(facts), 1)
    able = facts.of_family("matmul") & reads_weights(facts.ops, facts.flow) & (facts.joins.reader_counts == 1)
    scatters = exchanges_named(facts, "ReduceScatter") & (part < whole)
    deep = facts.ops.inputs[1].logical[:, 2]
    rows = np.flatnonzero(scatters & able[makers] & (deep[makers] * whole <= NARROWER * whole * part))
    if facts.share(rows) < USUAL:
        return
    yield Problem(rows, facts.kernel_ns[rows], tell=_tell)
    matmuls, kept = makers[rows], part[rows] / whole[rows]
    unwritten = (1 - kept) * facts.ops.outputs[0].bytes[matmuls] / (facts.chip.dram_achievable_gb_s or np.inf)
    at_most = np.where(facts.roofline.impossible[matmuls], 0.0, np.minimum(unwritten, facts.kernel_ns[matmuls]))
    yield Problem(matmuls, at_most, tell=_tell_of_matmuls, about=rows)


def _tell(ops: Affected) -> Words:
    facts, matmul = ops.facts, int(ops.facts.joins.makers[ops.row])
    return Words(
        claim=(
            f"Matmuls split along K write all columns, then a reduce-scatter keeps 1 of {_chips(ops)} parts "
            f"({len(ops.rows)}x, {ops.time}): {example(facts, matmul)}"
        ),
        assumption="the gather before it costs nothing against the scatter: it sends a small part of its bytes",
        also=cite_op(facts, matmul),
        fix=(
            "give each chip a part of the columns N of the weights and all of K; x = ttnn.all_gather(x, dim=3) before "
            f"the matmul of line {facts.line(matmul)}, no reduce-scatter: the result is the same part"
        ),
        verify="re-profile; the ReduceScatter is gone, device_balance.ccl_share falls; PCC >= 0.99 composed",
        caveat="where x is whole on every chip already, not even the gather is needed",
    )


def _tell_of_matmuls(ops: Affected) -> Words:
    time = time_of(ops.facts, ops.facts.joins.makers[ops.rows])
    return replace(
        _tell(ops),
        claim=f"Their matmuls write {_chips(ops)} times the columns that are kept ({time})",
        assumption="the columns that another chip then writes take no DRAM here",
    )


def _chips(ops: Affected) -> int:
    """The parts that the heaviest scatter makes."""
    return round(ops.facts.ops.inputs[0].logical[ops.row, 3] / max(columns_of_results(ops.facts)[ops.row], 1))
