"""Logits are gathered from all chips before a TopK or an ArgMax that each chip could begin alone.

The k largest of all columns are among the k largest of each part. With TopK on each chip only k values and indices
travel, and every chip merges a part of the columns. tt-xla expects 2 ms a token of it on four Blackhole chips with
262,144 columns (tt-xla #4494, built in tt-mlir PR #8601); tt_transformers' sampling works so.

The line: an all-gather along the last dim whose output only TopK and ArgMax read, directly or by slices; 1 % of the
window to save. The bound is the gather, and of those readers what the other chips then do.

Silent where anything else reads the gathered logits. Not applicable with one device.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.dataflow.readers import Joins
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check
from ttnn_mcp.checks.levers import EXCHANGE
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.mesh import DEVICES, exchanges_named
from ttnn_mcp.checks.wording import cite_op, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

CHOOSES = ("TopK", "ArgMax", "Argmax")
LEAST_K = 32  # values of each chip: a tile of them, where fewer are wanted (ours)


@check(
    title="logits gathered before their largest are chosen",
    lever=EXCHANGE,
    of=DEVICES,
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
)
def look(facts: WindowFacts) -> Problems:
    """Yield all gathers before a choice, and what chooses behind them."""
    part, whole = facts.ops.inputs[0].logical[:, 3], facts.ops.outputs[0].logical[:, 3]
    gathers = np.flatnonzero(exchanges_named(facts, "AllGather") & (part < whole)).tolist()
    slices, chooses = facts.named("Slice"), facts.named(*CHOOSES)
    of_gathers = {row: _choosing(facts.joins, row, slices, chooses) for row in gathers}
    choices = {row: behind for row, behind in of_gathers.items() if len(behind)}
    sparing = dict.fromkeys(choices, 1.0)
    sparing |= {int(place): 1 - part[row] / whole[row] for row, behind in choices.items() for place in behind}
    rows, spared = np.array([*sparing], dtype=np.int64), np.array([*sparing.values()], dtype=np.float64)
    about = np.array([*choices], dtype=np.int64)
    yield Problem(rows, facts.kernel_ns[rows] * spared, tell=partial(_tell, choices, rows), about=about)


def _tell(choices: dict[int, Rows], rows: Rows, ops: Affected) -> Words:
    facts, columns = ops.facts, ops.facts.ops.outputs[0].logical[ops.row, 3]
    asked = [facts.attributes(row).number("k") or 1 for row in choices[ops.row].tolist()]
    return Words(
        claim=(
            f"{ops.many('all-gather')} of {int(columns)} columns, of which only the largest are wanted "
            f"({time_of(facts, rows)} with what chooses): {ops.example}"
        ),
        assumption="k values and indices of each chip cost nothing to gather; all chips choose at once",
        also=cite_op(facts, int(choices[ops.row][-1])),
        fix=(
            f"values, indices = ttnn.topk(logits, k={max(LEAST_K, *asked)}, dim=-1) on each chip, before the gather; "
            "then ttnn.all_gather of both (dim=3), indices offset by the chip's first column, "
            "and one TopK or ttnn.sampling over them"
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
