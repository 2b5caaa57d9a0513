"""A cache of keys or values is written user by user, or keys and values one after the other.

`ttnn.experimental.paged_fill_cache` takes the rows of all users at once, with batch_idx_tensor saying whose they are
(TTNN 0.81.1, tt-metal #45116). In a loop each user costs a slice and a launch, for keys and for values, in each layer:
Llama-3.1-8B with 32 users had 2,048 of them and met its first token after 1103.7 ms, with one call per cache after
1045.2 (tt-xla PR #4955). In decode `ttnn.experimental.paged_fused_update_cache` writes keys and values at once, each on
cores of its own (tt-metal PR #15202).

`ttnn.fill_cache`, for caches without pages, takes one user a call (TTNN 0.81.1 refuses more): there the loop ends only
with pages.

The line: four fills and more of one user each, nothing but slices, casts and reshapes between them; or two updates of
equal shape with no more than that between. Together 0.5 % of the window. The bound of fills is their slices, and what
they take above their bytes; of updates the shorter of both.

Silent about one user (a fill each for keys and values), and about caches that are written as a whole.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.cache_writes import UNPAGED, fills_by_user, updates_in_pairs, users_of_fills
from ttnn_mcp.checks.check import Check, Claim, Claims, Floats, Rows, WindowFacts, ops_named
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.shared.wording import cite_op, example, time_of
from ttnn_mcp.checks.worth import SAFE, Worth


def look(facts: WindowFacts) -> Claims:
    """Yield a claim over fills by user, and one over updates of keys and values."""
    fills, slices = fills_by_user(facts.ops)
    if len(fills):
        rows = np.union1d(fills, slices)
        above = facts.kernel_ns[rows] - np.where(np.isin(rows, fills), achievable_ns(facts)[rows], 0.0)
        unpaged = "page the cache, [blocks,heads,64,d]: " if users_of_fills(facts.ops)[fills[0]] >= 0 else ""
        yield _claim(
            facts, rows, above, f"{len(fills)} fills write a cache user by user", int(fills[0]),
            f"{unpaged}ttnn.experimental.paged_fill_cache(cache, x, page_table, batch_idx_tensor=users) once for all "
            "users, x [users,heads,rows,d] whole, users a tensor of their numbers (int32, ROW_MAJOR)",
        )  # fmt: skip
    firsts, seconds = updates_in_pairs(facts.ops)
    if len(firsts):
        shorter = np.minimum(facts.kernel_ns[firsts], facts.kernel_ns[seconds])
        yield _claim(
            facts, seconds, shorter, f"{len(firsts)} updates run beside that of another cache", int(seconds[0]),
            "ttnn.experimental.paged_fused_update_cache(k_cache, k, v_cache, v, update_idxs_tensor=positions, "
            "page_table=page_table), k and v on cores apart: nlp_create_qkv_heads_decode(overlap_qk_coregrid=False)",
        )  # fmt: skip


def _claim(facts: WindowFacts, rows: Rows, at_most: Floats, does: str, row: int, fix: str) -> Claim:  # noqa: PLR0917
    return Claim(
        claim=f"{does} ({time_of(facts, rows)} with slices): {example(facts, row)}",
        rows=rows,
        at_most_ns=np.fmax(np.minimum(at_most, facts.kernel_ns[rows]), 0.0),
        assumption="one call moves the same bytes; slices and launches go",
        evidence=cite_op(facts, row, (facts.ops.inputs[1], "MEMORY")),
        fix=fix,
        verify="re-profile; list_ops(group_by='op_code') shows fewer cache writes; PCC unchanged",
        caveat="builds before mid-2026 fill one user per call; the cores of keys and values must be enough for both",
    )


CHECK = Check(
    id="caches-written-apart",
    title="a cache written piece by piece",
    step=3,
    look=look,
    of=ops_named("no caches of keys and values", "PagedFillCache", "PagedUpdateCache", *UNPAGED),
    needs=(TWO_OPERANDS,),
    worth=Worth(time=SAFE),
)
