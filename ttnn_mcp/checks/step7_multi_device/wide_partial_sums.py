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
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL
from ttnn_mcp.run.ops.op_names import canonical

NARROWER = 0.5  # of the columns: what the gather then sends at most (ours)


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such pairs of matmul and reduce-scatter."""
    makers, whole = facts.joins.makers, facts.ops.inputs[0].logical[:, 3]
    part = np.fmax(facts.ops.outputs[0].logical[:, 3], 1)
    able = facts.of_family("matmul") & reads_weights(facts.ops, facts.flow) & (facts.joins.reader_counts == 1)
    scatters = facts.names.where(lambda text: canonical(text).startswith("ReduceScatter")) & (part < whole)
    deep = facts.ops.inputs[1].logical[:, 2]
    pays = scatters & able[makers] & (deep[makers] * whole <= NARROWER * whole * part)
    rows = np.flatnonzero(pays)
    if facts.share(rows) < USUAL:
        return
    row = facts.heaviest(rows, 1)[0]
    matmul, chips = int(makers[row]), round(whole[row] / part[row])
    scatter = Claim(
        claim=(
            f"Matmuls split along K write all columns, then a reduce-scatter keeps 1 of {chips} parts ({len(rows)}x, "
            f"{time_of(facts, rows)}): {example(facts, matmul)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows],
        assumption="the gather before it costs nothing against the scatter: it sends a small part of its bytes",
        evidence=cite_each((row, matmul), lambda n: cite_op(facts, n)),
        fix=(
            "give each chip a part of the columns N of the weights and all of K; x = ttnn.all_gather(x, dim=3) before "
            f"the matmul of line {facts.line(matmul)}, no reduce-scatter: the result is the same part"
        ),
        verify="re-profile; the ReduceScatter is gone, device_balance.ccl_share falls; PCC >= 0.99 composed",
        caveat="where x is whole on every chip already, not even the gather is needed",
    )
    yield scatter
    order = np.argsort(makers[rows])
    matmuls, kept = makers[rows][order], (part[rows] / whole[rows])[order]
    unwritten = (1 - kept) * facts.ops.outputs[0].bytes[matmuls] / (facts.chip.dram_achievable_gb_s or np.inf)
    yield replace(
        scatter,
        claim=f"Their matmuls write {chips} times the columns that are kept ({time_of(facts, matmuls)})",
        rows=matmuls,
        at_most_ns=np.where(
            facts.roofline.impossible[matmuls], 0.0, np.minimum(unwritten, facts.kernel_ns[matmuls])
        ),
        assumption="the columns that another chip then writes take no DRAM here",
    )


CHECK = Check(
    id="wide-partial-sums",
    title="wide partial sums sent over the links",
    step=7,
    look=look,
    of=DEVICES,
    needs=(TWO_OPERANDS,),
)
