"""Caches of keys and of values are updated one after the other.

In decode `ttnn.experimental.paged_fused_update_cache` writes keys and values at once, each on cores of its own
(tt-metal PR #15202).

The line: two updates of equal shape with nothing but slices, casts and reshapes between them; together 0.5 % of the
window. The bound is two thirds of both: 57 and 62 % were saved (wall time of Phi 3.5 mini's traced layer, Voxtral TTS).

Silent where three updates or more follow one another, and about caches without pages.
"""

from __future__ import annotations

import numpy as np

from ttnn_mcp.analyses.op_kinds.cache_writes import updates_in_pairs
from ttnn_mcp.checks.check import Affected, Problem, Problems, WindowFacts, Words, check, ops_named
from ttnn_mcp.checks.levers import CACHES
from ttnn_mcp.checks.needs import TWO_OPERANDS
from ttnn_mcp.checks.shared.cache_writes import written_apart
from ttnn_mcp.checks.worth import SAFE, Worth

MOST = 2 / 3  # of both updates: more than was measured, see above


@check(
    title="keys and values updated one after the other",
    lever=CACHES,
    of=ops_named("no updates of paged caches", "PagedUpdateCache"),
    needs=(TWO_OPERANDS,),
    worth=Worth(time=SAFE),
)
def look(facts: WindowFacts) -> Problems:
    """Yield both updates of each pair."""
    firsts, seconds = updates_in_pairs(facts.ops)
    pairs = np.sort(np.concatenate([firsts, seconds]))
    yield Problem(pairs, MOST * facts.kernel_ns[pairs], gone=seconds, tell=_tell)


def _tell(ops: Affected) -> Words:
    return written_apart(
        ops,
        int(ops.rows[0]),
        f"Updates of two caches run one after the other ({len(ops.rows) // 2}x)",
        "ttnn.experimental.paged_fused_update_cache(k_cache, k, v_cache, v, update_idxs_tensor=positions, "
        "page_table=page_table), k and v on cores apart: nlp_create_qkv_heads_decode(overlap_qk_coregrid=False)",
    )
