"""A GroupNorm uses the slower of its two ways to compute statistics.

`use_welford=True` computes mean and variance on the vector unit with sums in FLOAT32; otherwise the matrix unit does
it. In a table of July 2026 (tt-metal PR #49219) the same sharded norms took 160 to 229 us without it and 1438 to 2044
us with it. In DRAM it can be the faster way: SDXL's VAE gained by it in 2025 (PR #29147), and PR #31732 made it up to
three times faster. So this is a trial.

The line: GroupNorms with use_welford in their ATTRIBUTES, together 1 % of the window to save. The bound is the
largest gain in that table, never below DRAM traffic or the launch. At least is 0: it may be slower without, and the
statistics are less exact.

Silent on norms without it: no report shows whether it would help them.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.attribute_columns import attributes_of
from ttnn_mcp.checks.check import Check, Claim, Claims, WindowFacts, ops_named
from ttnn_mcp.checks.needs import ATTRIBUTES
from ttnn_mcp.checks.shared.floors import least_ns
from ttnn_mcp.checks.shared.wording import cite_attribute, cite_op, example, time_of
from ttnn_mcp.checks.worth import USUAL, Worth

MOST_GAINED = 1 - 179.6 / 2044.2  # 1x256x1x256 in 16 groups on one core: tt-metal PR #49219


def look(facts: WindowFacts) -> Claims:
    """Yield one claim over all such norms."""
    norms = np.flatnonzero(facts.named("GroupNorm"))
    rows = norms[attributes_of(facts.ops).flags(norms, "use_welford")]
    if not len(rows):
        return
    took, row = facts.kernel_ns[rows], facts.heaviest(rows)[0]
    yield Claim(
        claim=(
            f"{len(rows)} of {len(norms)} GroupNorms run with use_welford ({time_of(facts, rows)}); heaviest "
            f"{example(facts, row)}"
        ),
        rows=rows,
        at_most_ns=np.minimum(took * MOST_GAINED, took - least_ns(facts)[rows]),
        assumption=f"without it a norm saves at most the {MOST_GAINED:.0%} that tt-metal measured on one of its own",
        evidence=(*cite_op(facts, row, (facts.ops.inputs[0], "MEMORY")), cite_attribute(facts, row, "use_welford")),
        fix="ttnn.group_norm(x, num_groups=..., use_welford=False, ...), shape by shape; keep it where it is faster",
        verify=f"re-profile; op_detail(op={facts.line(row)}).kernel_us falls; PCC >= 0.99 of the whole model",
        caveat="a trial: in DRAM use_welford can be faster, and its sums are more exact (image models notice)",
    )


CHECK = Check(
    id="group-norm-welford",
    title="GroupNorm statistics on the vector unit",
    step=1,
    look=look,
    of=ops_named("no GroupNorm ops", "GroupNorm"),
    needs=(ATTRIBUTES,),
    worth=Worth(saving=USUAL),
    compiled="no option of tt-xla chooses use_welford; report the shape to tt-mlir",
    general=True,
)
