"""Logits are gathered from all chips before a TopK or an ArgMax that each chip could begin alone.

The k largest of all columns are among the k largest of each part. With TopK on each chip only k values and indices
travel, and every chip merges a part of the columns. tt-xla expects 2 ms a token of it on four Blackhole chips with
262,144 columns (tt-xla #4494, built in tt-mlir PR #8601); tt_transformers' sampling works so.

The line: an all-gather along the last dim whose output only TopK and ArgMax read, directly or by slices; 1 % of the
window to save. The bound is the gather, and of those readers what the other chips then do.

Silent where anything else reads the gathered logits. Not applicable with one device.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ttnn_mcp.checks.check import Check, Claim, Claims, Mask, Rows, WindowFacts
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.op_names import canonical

if TYPE_CHECKING:
    from ttnn_mcp.analyses.dataflow.readers import Joins

CHOOSES = ("TopK", "ArgMax", "Argmax")


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all gathers before a choice, and what chooses behind them."""
    part, whole = facts.ops.inputs[0].logical[:, 3], facts.ops.outputs[0].logical[:, 3]
    gathers = facts.names.where(lambda text: canonical(text).startswith("AllGather")) & (part < whole)
    slices, chooses = facts.named("Slice"), facts.named(*CHOOSES)
    of_gathers = {row: _choosing(facts.joins, row, slices, chooses) for row in np.flatnonzero(gathers).tolist()}
    choices = {row: behind for row, behind in of_gathers.items() if len(behind)}
    if not choices:
        return
    sparing = dict.fromkeys(choices, 1.0)
    sparing |= {int(place): 1 - part[row] / whole[row] for row, behind in choices.items() for place in behind}
    rows, spared = np.array(list(sparing), dtype=np.int64), np.array(list(sparing.values()), dtype=np.float64)
    row = facts.heaviest(np.array(list(choices)), 1)[0]
    chooser = int(choices[row][-1])
    yield Claim(
        claim=(
            f"{len(choices)} all-gather{'s' * (len(choices) > 1)} of {int(whole[row])} columns, of which only the "
            f"largest are wanted ({time_of(facts, rows)} with what chooses): {example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=facts.kernel_ns[rows] * spared,
        assumption="k values and indices of each chip cost nothing to gather; all chips choose at once",
        evidence=cite_each((row, chooser), lambda n: cite_op(facts, n)),
        fix=(
            "values, indices = ttnn.topk(logits, k=32, dim=-1) on each chip, before the gather; then ttnn.all_gather "
            "of both (dim=3), indices offset by the chip's first column, and one TopK or ttnn.sampling over them"
        ),
        verify="re-profile; the all-gather moves k columns per chip, device_balance.ccl_share falls; same tokens",
        caveat="pad each chip's columns to a power of two with -inf, or TopK runs on few cores",
    )


def _choosing(joins: Joins, gather: int, slices: Mask, chooses: Mask) -> Rows:
    """The slices and choices behind it, if nothing else reads it; else none."""
    first = np.array(joins.readers(gather), dtype=np.int64)
    cuts = first[slices[first]]
    second = np.array([reader for cut in cuts.tolist() for reader in joins.readers(cut)], dtype=np.int64)
    ends = np.concatenate((first[~slices[first]], second))
    return np.sort(np.concatenate((cuts, ends))) if len(ends) and chooses[ends].all() else ends[:0]


CHECK = Check(
    id="top-k-of-gathered",
    title="logits gathered before their largest are chosen",
    step=7,
    look=look,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
)
