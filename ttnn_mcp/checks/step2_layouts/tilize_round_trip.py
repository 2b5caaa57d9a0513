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

from ttnn_mcp.analyses.op_kinds.layouts import TO_ROWS, TO_TILES
from ttnn_mcp.analyses.op_kinds.round_trips import RoundTrips, ends_as_it_began, layout_round_trips
from ttnn_mcp.checks.check import Check, Claim, Claims, Subject, WindowFacts
from ttnn_mcp.checks.shared.wording import cite_each, cite_op, example, op_name, took
from ttnn_mcp.checks.worth import USUAL, Worth

CONVERSIONS_BOTH_WAYS = Subject(
    lambda facts: facts.named(*TO_TILES) & facts.named(*TO_ROWS).any(), "tilize and untilize do not both occur"
)


def look(facts: WindowFacts) -> Claims:
    """Yield a claim over the pairs that change nothing, and one over those that move or cast on the way."""
    trips = layout_round_trips(facts.ops, facts.flow)
    same = ends_as_it_began(facts.ops, trips)
    yield from _claim(facts, trips.where(same), "drop both: pass the TILE tensor on", both_go=True)
    one_stays = "replace both by one ttnn.to_memory_config or ttnn.typecast in TILE"
    yield from _claim(facts, trips.where(~same), one_stays, both_go=False)


def _claim(facts: WindowFacts, trips: RoundTrips, advice: str, *, both_go: bool) -> Claims:
    if not len(trips.out):
        return
    sure = trips.surely_saves(facts.run, facts.ops, facts.kernel_ns) if both_go else None
    row, rows, at_most = facts.heaviest(trips.out)[0], trips.rows, trips.saves(facts.kernel_ns)
    back = trips.undone_by(row)
    first_ns, second_ns = (float(facts.kernel_ns[leg].sum()) for leg in (trips.out, trips.back))
    names = [op_name(facts, leg).split("With")[0] for leg in (row, back)]
    yield Claim(
        claim=(
            f"{len(trips.out)} {names[0]}->{names[1]} pairs on one tensor ({took(first_ns)} + {took(second_ns)}, "
            f"{facts.share(rows):.1%}); heaviest {example(facts, row)} and {facts.line(back)}"
        ),
        rows=rows,
        at_most_ns=at_most,
        at_least_ns=sure,
        assumption="nothing else reads the copy in the other layout",
        evidence=cite_each((row, back), lambda leg: cite_op(facts, leg, (facts.output(), "LAYOUT"))),
        fix=(
            f"{advice} (lines {facts.line(row)}, {facts.line(back)}). For element-wise chains: x = "
            "ttnn.to_layout(x, ttnn.TILE_LAYOUT) once before them: older builds convert around each op on ROW_MAJOR"
        ),
        verify="re-profile: tensor_formats.conversions loses these pairs; compare_runs.added shows none elsewhere",
        caveat="joined by size, type and placement, not by tensor id: confirm in the code",
    )


CHECK = Check(
    id="tilize-round-trip",
    title="untilized and tilized again",
    step=2,
    look=look,
    of=CONVERSIONS_BOTH_WAYS,
    worth=Worth(saving=USUAL),
    compiled="keep one layout in the model code there: no view, permute or slice between the two",
)
