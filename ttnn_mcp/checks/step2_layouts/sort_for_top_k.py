"""A whole row is sorted, and only its first few places are read.

`ttnn.topk` keeps k places while it merges, and shares rows of a power of two up to 32768 columns over the grid.
`ttnn.sort` orders all columns. Sampling from 128,256 probabilities took 30 ms a token by a sort, and 0.18 ms for each
part of 32768 columns by a TopK of 32 (tt-xla PR #4334); tt-mlir turns such a sort and its slices into a TopK too
(PR #7363).

The line: a Sort all of whose readers are slices that keep at most 64 columns, which is what the multi-core TopK takes;
1 % of the window to save. The bound leaves the bytes of the sort.

Silent where anybody reads more columns, as a cumulative sum over sorted probabilities does, or others than the first.
"""

from __future__ import annotations

import re

import numpy as np

from ttnn_mcp.analyses.op_kinds.topk import SHARED_K, SHARED_TO
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.worth import USUAL, Worth

_INSIDE = re.compile(r"slice_start\W+Shape\(\[[\d;, ]*\b0*[1-9]\d*\]")  # from a later column on
SORTS = ops_named("no Sort ops", "Sort")


@check(
    title="a sort of which few places are read",
    of=SORTS,
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="torch.topk(x, k) in place of torch.sort(x) and the slices",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all sorts of which few columns are read."""
    kept, width = (operand.logical[:, 3] for operand in (facts.ops.outputs[0], facts.ops.inputs[0]))
    cuts = facts.named("Slice") & (kept <= SHARED_K) & (kept < width)
    cuts &= ~facts.ops.texts("attributes").where(lambda text: _INSIDE.search(text) is not None)
    rows = np.flatnonzero(SORTS.mask(facts) & facts.joins.read_only_by(cuts))
    yield Problem(rows, np.fmax(facts.kernel_ns - achievable_ns(facts), 0.0)[rows], tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, cut = ops.facts, ops.facts.joins.readers(ops.row)[0]
    width, kept = int(facts.ops.inputs[0].logical[ops.row, 3]), int(facts.ops.outputs[0].logical[cut, 3])
    parts = -(-width // SHARED_TO)
    falls = facts.attributes(ops.row).flag("descending") is not False
    least, sign = ("", "-") if falls else (", largest=False", "")
    return Words(
        claim=f"{width} columns are sorted ({len(ops.rows)}x, {ops.time}) of which {kept} are read: {ops.example}",
        assumption="TopK takes no longer than reading the row",
        also=facts.cite(cut),
        fix=(
            f"ttnn.topk(x, k={kept}, dim=-1{least})"
            + (f" on {parts} parts of {SHARED_TO} columns, then one over the joined values" if parts > 1 else "")
            + " in place of ttnn.sort and the slices; a power of two of columns, "
            f"padded with {sign}inf, uses many cores"
        ),
        verify="re-profile; list_ops(op_code='Sort') is empty, TopK takes less; same tokens",
        caveat="readers are inferred from shapes; equal values may come in another order",
    )
