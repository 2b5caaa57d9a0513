"""A GroupNorm uses the slower of its two ways to compute statistics.

`use_welford=True` computes mean and variance on the vector unit with sums in FLOAT32; otherwise the matrix unit does
it. In a table of July 2026 (tt-metal PR #49219) the same sharded norms took 160 to 229 us without it and 1438 to 2044
us with it. In DRAM it can be the faster way: SDXL's VAE gained by it in 2025 (PR #29147), and PR #31732 made it up to
three times faster. So this is a trial.

The line: GroupNorms with use_welford in their ATTRIBUTES, together 1 % of the window to save. The bound is the
largest gain in that table, never below DRAM traffic or the launch. At least is 0: it may be slower without, and the
statistics are less exact.

Silent on norms without it: no report shows whether it would help them; and on interleaved ones with groups narrower
than a tile, which are wrong without it (tt-metal #53803).
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import NORM_CONFIG
from ttnn_mcp.checks.needs import ATTRIBUTES
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.group_norm_call import narrow_groups
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.quoting import figure

NORMS = ops_named("no GroupNorm ops", "GroupNorm")
MOST_GAINED = 1 - 179.6 / 2044.2  # 1x256x1x256 in 16 groups on one core: tt-metal PR #49219


@check(
    title="GroupNorm statistics on the vector unit",
    lever=NORM_CONFIG,
    slot="welford",
    of=NORMS,
    needs=(ATTRIBUTES,),
    worth=Worth(saving=USUAL),
    compiled="no option of tt-xla chooses use_welford; report the shape to tt-mlir",
    general=True,
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such norms."""
    norms = NORMS.rows(facts)
    rows = norms[attributes_of(facts.ops).flags(norms, "use_welford") & ~narrow_groups(facts, norms)]
    took = facts.kernel_ns[rows]
    yield Problem(rows, np.minimum(took * MOST_GAINED, took - least_ns(facts)[rows]), tell=_tell)


def _tell(ops: Affected) -> Words:
    facts, norms = ops.facts, len(NORMS.rows(ops.facts))
    return Words(
        claim=f"{len(ops.rows)} of {norms} GroupNorms run with use_welford ({ops.time}); heaviest {ops.example}",
        assumption=f"without it a norm saves at most the {figure(MOST_GAINED, '.0%')} "
        "that tt-metal measured on one of its own",
        cells=((facts.ops.inputs[0], "MEMORY"),),
        also=(cite_attribute(facts, ops.row, "use_welford"),),
        fix="ttnn.group_norm(x, num_groups=..., use_welford=False, ...), shape by shape; keep it where it is faster",
        verify=f"re-profile; op_detail(op={ops.line}).kernel_us falls; PCC >= 0.99 of the whole model",
        caveat="a trial: in DRAM use_welford can be faster, and its sums are more exact (image models notice)",
    )
