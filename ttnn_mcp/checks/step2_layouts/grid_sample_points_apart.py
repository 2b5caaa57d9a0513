"""A grid_sample reads the points of a grid that no op makes one by one, or works out their weights again.

Its time goes with the number of points, not with the image: for each a core waits for a row of the grid, 4 to 24 bytes
long, then for four pixels. K points in one row of the grid are read at once (tt-metal PR #27816), and pixels and
weights of a grid that stays the same are worked out once on the host (PR #27485; a bottleneck, says PR #26668).
OFT, whose samples took a tenth of its time, then had both (PR #30449). How much it saves no source tells: a trial.

The line: a grid of one point a row (2 numbers, or 6 that were prepared) that no op of the window made, whose width some
K up to 32 divides; 1 % of the window to save. The bound is half of the time, one of the two waits, and no more than
what is above the op's bytes.

Silent on grids that ops of the pass make, as to regroup those is a copy of short rows, and on mode="nearest", whose
prepared points have two numbers.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.programs.convs import divisors
from ttnn_mcp.checks.check import Affected, Mask, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import trial_saves
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth

SAMPLES = ops_named("no grid_sample ops", "GridSample")
ONE_WAIT = 0.5  # of the time: one of two that are alike (ours)
NUMBERS, PREPARED = 2, 6  # of a point: x and y; or a pixel and four weights
POINTS_AT_MOST = 32  # in a row: it is then 384 B long, and longer rows spare little more (ours)


@check(
    title="points of a grid read one by one",
    of=SAMPLES,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled="tt-xla has no option for it: report the shape to tt-mlir",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all of them."""
    rows, grid = SAMPLES.rows(facts), facts.ops.inputs[1].logical
    rows = rows[facts.joins.by_input[1][rows] == NOBODY]
    rows = rows[[facts.attributes(row).text_of("mode") != "nearest" for row in rows.tolist()]]
    alone = grid[rows, 3] == np.where(_are_prepared(facts, rows), PREPARED, NUMBERS)
    able = np.array([_together(width) > 1 for width in grid[rows, 2].tolist()], dtype=np.bool_)
    rows = rows[alone & able]
    saved = np.minimum(ONE_WAIT * facts.kernel_ns, trial_saves(facts))
    yield Problem(rows, saved[rows], tell=_tell, is_trial=True)


def _tell(ops: Affected) -> Words:
    facts, row = ops.facts, ops.row
    image, grid = (facts.ops.inputs[number].logical[row].tolist() for number in (0, 1))
    together, prepared = _together(grid[2]), bool(_are_prepared(facts, np.array([row]))[0])
    shape = [*grid[:2], grid[2] // together, PREPARED * together]
    corners = ", align_corners=True" if facts.attributes(row).flag("align_corners") else ""  # else other pixels
    call = f"points = ttnn.prepare_grid_sample_grid(grid, {image}{corners}, output_dtype=ttnn.bfloat16); "
    made = "" if prepared else call
    how = ", its weights worked out in the op" if not prepared else ""
    return Words(
        claim=(
            f"{ops.many('grid_sample')} ({ops.time}) {ops.verb('read')} one point after the other{how}: "
            f"{ops.example}, {ops.took_us}"
        ),
        assumption="a trial: half of the time is the wait for the points, the other half for their pixels",
        cells=((facts.ops.inputs[1], "MEMORY"),),
        also=(cite_attribute(facts, row, "use_precomputed_grid"),),
        fix=(
            f"once, on the host: {made}points = ttnn.reshape(points, {shape}), then to the device; "
            f"y = ttnn.grid_sample(x, points{corners}, use_precomputed_grid=True), shape as now"
        ),
        caveat="batch_output_channels=True puts the points of a row into the channels: no regrouping behind it",
    )


def _are_prepared(facts: WindowFacts, rows: Rows) -> Mask:
    return attributes_of(facts.ops).flags(rows, "use_precomputed_grid")


def _together(width: int) -> int:
    """The most points of a row of this width that fill shorter rows evenly."""
    return max((each for each in divisors(width) if each <= POINTS_AT_MOST), default=1)
