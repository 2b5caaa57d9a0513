"""A cache of keys or values is filled user by user.

`ttnn.experimental.paged_fill_cache` takes the rows of all users at once, with batch_idx_tensor saying whose they are
(TTNN 0.81.1, tt-metal #45116). In a loop each user costs a slice and a launch, for keys and for values, in each layer:
Llama-3.1-8B with 32 users had 2,048 of them and met its first token after 1103.7 ms, with one call per cache after
1045.2 (tt-xla PR #4955).

`ttnn.fill_cache`, for caches without pages, takes one user a call (TTNN 0.81.1 refuses more): there the loop ends only
with pages.

The line: four fills and more of one user each, nothing but slices, casts and reshapes between them; together 0.5 % of
the window. The bound is their slices, and what they take above their bytes.

Silent about one user (a fill each for keys and values), and about caches that are written as a whole.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ttnn_mcp.analyses.op_kinds.cache_writes import UNPAGED, fills_by_user, users_of_fills
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import CACHES
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.cache_writes import written_apart
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.worth import SAFE, Worth


@check(
    title="a cache filled user by user",
    lever=CACHES,
    of=ops_named("no fills of caches", "PagedFillCache", *UNPAGED),
    needs=(TWO_OPERANDS,),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield fills by user, with their slices."""
    fills, slices = fills_by_user(facts.ops)
    rows = np.union1d(fills, slices)
    above = facts.kernel_ns[rows] - np.where(np.isin(rows, fills), achievable_ns(facts)[rows], 0.0)
    yield Problem(rows, np.fmax(above, 0.0), tell=partial(_tell, fills))


def _tell(fills: Rows, ops: Affected) -> Words:
    first = int(fills[0])
    unpaged = "page the cache, [blocks,heads,64,d]: " if users_of_fills(ops.facts.ops)[first] >= 0 else ""
    return written_apart(
        ops,
        first,
        f"{len(fills)} fills write a cache user by user",
        f"{unpaged}ttnn.experimental.paged_fill_cache(cache, x, page_table, batch_idx_tensor=users) once for all "
        "users, x [users,heads,rows,d] whole, users a tensor of their numbers (int32, ROW_MAJOR)",
    )
