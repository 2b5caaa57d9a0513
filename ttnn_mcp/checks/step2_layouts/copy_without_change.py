"""An op writes again what it reads: the same elements, type, layout and place.

`ttnn.clone` protects a tensor from an op that frees or changes its input. A conv told not to free it
(deallocate_activation=False) needs no such copy: without its clones Panoptic DeepLab took 21.9 ms in place of 23.0
(tt-metal PR #32336). Slices of a whole tensor, pads of nothing, repeats by one and casts to the type that is there come
from code that asks for them in any case.

The line: Clone, Copy, Slice, Pad, Repeat, Concat or Typecast with one input, whose output has its shape, padding, type,
layout and placement; together 0.5 % of the window. The bound is all they took. At least is that too where a linked
memory report shows that nobody else reads what is copied.

Silent on copies to another memory (a move), into a tensor that is there (caches, inputs of a trace), into or out of
shards, whose layout over cores the report does not show, and in old reports, which write padded shapes only.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.dataflow.tensor_identity import passed_on_alone
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import LOGICAL_SHAPES, OPERANDS
from ttnn_mcp.checks.worth import SAFE, Worth

COPIES = ("Clone", "Copy", "Slice", "Pad", "Repeat", "Concat", "Typecast")
OF_A_CONV = ("InterleavedToSharded", "PaddedSlice", "Move", "Halo")  # ops that ttnn.conv2d runs in front (0.81.1)


@check(
    title="copies that change nothing",
    lever=LAYOUT,
    of=ops_named("no copies, slices, pads, repeats or casts", *COPIES),
    needs=(OPERANDS, LOGICAL_SHAPES),
    worth=Worth(time=SAFE),
    compiled="drop the clone, slice or cast in the model there: it changes nothing",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all ops that change nothing."""
    rows = np.flatnonzero(facts.named(*COPIES) & _unchanged(facts))
    all_of_it = facts.kernel_ns[rows]
    sure = passed_on_alone(facts.run, facts.ops, facts.joins.makers[rows], rows)  # nobody's place is the last op's
    at_least = None if sure is None else np.where(sure, all_of_it, 0.0)
    yield Problem(rows, all_of_it, at_least_ns=at_least, tell=_tell)


def _tell(ops: Affected) -> Words:
    copies = f"{len(ops.rows)} copies change" if ops.s else "1 copy changes"
    convs = _convs_behind(ops.facts, ops.rows)
    kept = (
        f"; the conv at line {ops.facts.line(int(convs[0]))} must keep its input: deallocate_activation=False in its "
        "Conv2dConfig, other fields as now"
        if len(convs)
        else ""
    )
    return Words(
        claim=f"{copies} nothing ({ops.time}): {ops.name} {ops.example}",
        assumption="no op frees or changes one of the two tensors in place while the other is needed",
        cells=((ops.facts.input(0), "MEMORY"), (ops.facts.output(), "MEMORY")),
        fix=(
            f"drop the {ops.name.lower()} at line {ops.line} and pass its input on{kept}; no output_tensor= that "
            "writes over it"
        ),
        verify="re-profile; compare_runs.removed lists them; PCC unchanged",
        caveat="an op in place (output_tensor=, fill or update of a cache) would then change both readers' tensor",
    )


def _unchanged(facts: WindowFacts) -> Mask:
    x, y, keys = facts.ops.inputs[0], facts.ops.outputs[0], facts.flow.keys
    same = (x.logical == y.logical).all(axis=1) & (keys[x.name] == keys[y.name])
    for other in facts.ops.inputs[1:]:
        same &= ~other.present
    return same & ~x.sharded


def _convs_behind(facts: WindowFacts, copies: Rows) -> Rows:
    """The convs that read one of these copies."""
    convs, passes = np.flatnonzero(facts.named("Conv2d")), facts.named(*OF_A_CONV)
    read = [facts.joins.maker_behind(conv, passes, len(OF_A_CONV)) for conv in convs.tolist()]
    return convs[np.isin(read, copies)]
