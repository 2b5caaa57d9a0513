"""A tensor is untilized and tilized again (or the reverse), with nothing in between that needed the other layout.

Both ops copy the whole tensor. It happens where a helper returns ROW_MAJOR, and on older builds where element-wise
ops get ROW_MAJOR inputs: each call then tilized its inputs and untilized its result. 0.81.1 works on rows as they are.

The line: a Tilize whose input an Untilize made (or the reverse), same width, same rows or whole tiles before and
after; together 1 % of the window. Of several ops that read the copy, the nearest counts. Both can go if only such ops
read the copy; otherwise only the second can go. If data type or placement change on the way, one typecast or move
remains: such pairs are a separate claim.

Joins rest on equal size, type, layout and placement; a memory report or the code makes them certain. Silent on an
untilize for an op that reads rows, and on a reshape between the two that has to break tiles.
"""

from __future__ import annotations

from functools import partial

from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES
from ttnn_mcp.analyses.op_kinds.round_trips import RoundTrips, ends_as_it_began, layout_round_trips
from ttnn_mcp.checks.check import Affected, Problem, Problems, Subject, WindowFacts, Words, check
from ttnn_mcp.checks.levers import LAYOUT
from ttnn_mcp.checks.wording import cite_each, cite_op, op_name, took
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

CONVERSIONS_BOTH_WAYS = Subject(
    lambda facts: facts.named(*TO_TILES) & facts.named(*TO_ROWS).any(), "tilize and untilize do not both occur"
)


@check(
    title="untilized and tilized again",
    lever=LAYOUT,
    of=CONVERSIONS_BOTH_WAYS,
    worth=Worth(saving=USUAL),
    compiled="keep one layout in the model code there: no view, permute or slice between the two",
)
def look(facts: WindowFacts) -> Problems:
    """Yield the pairs that change nothing, and those that move or cast on the way."""
    trips = layout_round_trips(facts.ops, facts.flow)
    same = ends_as_it_began(facts.ops, trips)
    both, one = trips.where(same), trips.where(~same)
    took = facts.kernel_ns
    sure = both.surely_saves(facts.run, facts.ops, took)
    tell = partial(_tell, both, "drop both: pass the TILE tensor on")
    pairs = both.pairs_ns(took)
    yield Problem(both.rows, both.saves(took), at_least_ns=sure, tell=tell, about=both.out, weigh_ns=pairs)
    tell = partial(_tell, one, "replace both by one ttnn.to_memory_config or ttnn.typecast in TILE")
    yield Problem(one.rows, one.saves(took), tell=tell, about=one.out, weigh_ns=one.pairs_ns(took))


def _tell(trips: RoundTrips, advice: str, ops: Affected) -> Words:
    facts, row, back = ops.facts, ops.row, trips.undone_by(ops.row)
    first_ns, second_ns = (float(facts.kernel_ns[leg].sum()) for leg in (trips.out, trips.back))
    names = [op_name(facts, leg).split("With")[0] for leg in (row, back)]
    return Words(
        claim=(
            f"{len(trips.out)} {names[0]}->{names[1]} pairs on one tensor ({took(first_ns)} + {took(second_ns)}, "
            f"{figure(facts.share_of_whole(trips.rows), '.1%')}); heaviest {ops.example} and {facts.line(back)}"
        ),
        assumption="nothing else reads the copy in the other layout",
        evidence=cite_each((row, back), lambda leg: cite_op(facts, leg, (facts.output(), "LAYOUT"))),
        fix=(
            f"{advice} (lines {ops.line}, {facts.line(back)}). For element-wise chains: x = "
            "ttnn.to_layout(x, ttnn.TILE_LAYOUT) once before them: older builds convert around each op on ROW_MAJOR"
        ),
        verify="re-profile: tensor_formats.conversions loses these pairs; compare_runs.added shows none elsewhere",
        caveat="joined by size, type and placement, not by tensor id: confirm in the code",
    )
