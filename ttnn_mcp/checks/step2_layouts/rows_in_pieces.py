"""Rows are cut into pieces, each piece passes the same ops by itself, and a concat joins them again.

A matmul reads its weights once for each piece, an op on few rows pays its launch and leaves cores idle, and the slices
and the concat copy everything. Ops that work row by row (matmuls, norms, element-wise ops) give the same result for
all rows at once. Measured in public ledgers: a head's scores of 256 tokens in pieces of 32 took 11.9 ms, at once 1.9;
norms of 256 rows by 32 took 4 times as long; 512 rows at a time for 32 took 0.86 of 2.87 ms (each in
`tests/frozen`: DiffusionGemma, SeamlessM4T).

The line: two slices and more that cut a tensor into equal parts along another dim than the last, a concat along that
dim of as many parts, and between them each kind of op as often as there are parts, or a multiple of it; together 1 % of
the window. The bound: no op on all rows takes less time than on one part now; slices and concat go. Twice as many rows
at a time brought a fifth of it, four times as many a quarter (Boltz), so nothing is expected: it is a trial.

Silent where rows depend on each other: convs, pools, exchanges, reductions, group norms, running sums and ops that we
do not know stand between, or attention within a piece of a sequence (a window), or an op reads what one of an earlier
piece made (a state). Silent too where pieces are padded, where nothing stands between, and on the pieces of a cache
(`cache-filled-by-user`). A state as large as a piece looks like one: a loop over time steps cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.stages.attentions import writes_cache
from ttnn_mcp.checks.arrays import Rows
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.needs import OPERANDS
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.iterations import signatures
from ttnn_mcp.run.ops.alike import numbered
from ttnn_mcp.run.ops.operand import Operand

LONGEST = 24  # ops on one piece: the body of a loop in a model's code, not a layer (ours)
# a row of their result depends on other rows, or may
DEPENDENT = ("conv", "pool", "collective", "reduction", "other")
ACROSS = ("GroupNorm", "Accumulation")  # of other families: statistics of a group of rows, sums along them
PADDED = ("Concat", "Pad")  # each piece gets rows of its own
ROWS, LAST = 2, 3  # the dims of rows and columns: reports print W, Z, Y, X (practice)


class Pieces(NamedTuple):
    """The ops from the first slice to the concat, and the number of pieces."""

    rows: Rows
    parts: int


@check(
    title="rows worked on in pieces",
    lever=LAYOUT,
    of=ops_named("no concats", "Concat"),
    needs=(OPERANDS,),
    worth=Worth(saving=USUAL),
    compiled="call the layer once on all rows: no loop over torch.split or torch.chunk around it",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all rows that are cut into pieces."""
    groups = pieces_of(facts)
    saved = np.zeros(len(facts))
    for part in groups:
        saved[part.rows] = facts.kernel_ns[part.rows] * (1 - 1 / part.parts)
    rows = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *(part.rows for part in groups)]))
    copies = rows[facts.named("Slice", "Concat")[rows]]
    saved[copies] = facts.kernel_ns[copies]
    saved[facts.roofline.impossible] = 0.0  # time or operands of such a row are those of another op
    yield Problem(rows, saved[rows], gone=copies, tell=partial(_tell, groups), is_trial=True)


def _tell(groups: list[Pieces], ops: Affected) -> Words:
    facts = ops.facts
    heaviest = max(groups, key=lambda part: float(facts.kernel_ns[part.rows].sum()))
    start, end = int(heaviest.rows[0]), int(heaviest.rows[-1])
    work = heaviest.rows[~facts.named("Slice", "Concat")[heaviest.rows]]
    name = facts.names[facts.heaviest(work, 1)[0]]
    return Words(
        claim=(
            f"{len(groups)} tensor{'s are' if len(groups) > 1 else ' is'} cut into pieces of rows around the same ops "
            f"({ops.time}): heaviest {heaviest.parts} pieces from line {facts.line(start)} to {facts.line(end)}, "
            f"most of it {name}"
        ),
        assumption="a trial: all rows at once take no less than one piece does now; slices and concat go",
        cells=((facts.input(0), "LAYOUT"), (facts.output(), "LAYOUT")),
        fix=(
            f"one call on all rows in place of {heaviest.parts} pieces, without ttnn.slice and ttnn.concat; where L1 "
            "is too small, as few pieces as fit; a sharded norm takes block_h of all rows"
        ),
        verify="re-profile: list_ops(group_by='op_code') shows fewer calls and no slices; PCC unchanged",
        caveat=(
            "only where no piece reads what another made (steps of a recurrence) and all share their weights (not "
            "experts); a cache or an L1 limit may need pieces"
        ),
    )


def pieces_of(facts: WindowFacts) -> list[Pieces]:
    """Slices of one tensor, as often each op between, and the concat behind them."""
    ops, kinds = facts.ops, signatures(facts.ops)
    slicing = facts.named("Slice")
    slices = np.flatnonzero(slicing)
    dependent = facts.of_family(*DEPENDENT) | facts.named(*PADDED, *ACROSS) | writes_cache(ops)
    mixes = _mixes(facts)
    groups: list[Pieces] = []
    for row in map(int, np.flatnonzero(facts.named("Concat"))):
        dim, count = _cut(ops.outputs[0], ops.inputs[0], row)
        near = slices[slice(*np.searchsorted(slices, [row - LONGEST * count, row]))]
        first = _first_slice(facts, near, dim, count)
        if first is None:
            continue
        rows: Rows = np.arange(first, row + 1)
        between = rows[:-1]
        work = between[~slicing[between]]
        if not len(work) or dependent[work].any() or _uneven(facts, between, work, count):
            continue
        if not _carries(facts, between, kinds[between] == kinds[first]) and not (
            dim == ROWS and mixes(work, first)
        ):
            groups.append(Pieces(rows, count))
    return groups


def _uneven(facts: WindowFacts, between: Rows, work: Rows, count: int) -> bool:
    """Whether a kind of op stands there not as often on each piece; slices of a kind start at different rows."""
    kinds = signatures(facts.ops)
    alike = numbered(len(work), [kinds[work], facts.ops.texts("attributes").codes[work]])
    return bool((np.bincount(alike) % count).any() or (np.bincount(kinds[between]) % count).any())


def _carries(facts: WindowFacts, between: Rows, cuts: Mask) -> bool:
    """Whether an op reads what the ops on an earlier piece made: a state. The pieces begin at their slices."""
    piece = np.cumsum(cuts)
    for made_by in facts.flow.producers:
        maker = made_by[between]
        inside = maker >= between[0]
        earlier = piece[np.where(inside, maker - between[0], 0)] < piece
        if (inside & earlier).any():
            return True
    return False


def _mixes(facts: WindowFacts) -> Callable[[Rows, int], bool]:
    """Whether rows of a piece meet each other: as both operands of a matmul, or as queries and as many keys."""
    second, makers = facts.input(1), facts.flow.makers_of(1)
    if second is None:
        return lambda _work, _first: True  # the report lost it
    alike = facts.of_family("attention") & (facts.ops.inputs[0].logical[:, ROWS] == second.logical[:, ROWS])
    multiplies = facts.of_family("matmul")
    return lambda work, first: bool((alike[work] | (multiplies[work] & (makers[work] >= first))).any())


def _cut(whole: Operand, part: Operand, row: int) -> tuple[int, int]:
    """The one dim, other than the columns, of which the whole holds several parts, and how many; 1 for none."""
    larger, smaller = whole.logical[row].tolist(), part.logical[row].tolist()
    dims = [dim for dim in range(LAST + 1) if larger[dim] != smaller[dim]]
    if len(dims) != 1 or dims[0] == LAST:
        return LAST, 1
    return dims[0], larger[dims[0]] // smaller[dims[0]]


def _first_slice(facts: WindowFacts, slices: Rows, dim: int, count: int) -> int | None:
    """The first of the last slices that cut a tensor into so many parts along the dim; None where there are fewer."""
    if count < 2 or not len(slices):
        return None
    last, kinds = int(slices[-1]), signatures(facts.ops)[slices]
    if _cut(facts.ops.inputs[0], facts.ops.outputs[0], last) != (dim, count):
        return None
    alike = slices[kinds == kinds[-1]]
    return int(alike[-count]) if len(alike) >= count else None
