"""Fused attention of few queries computes chunks that are mostly padding.

SDPA computes whole chunks: 32 rows of queries in a chunk of 64 are computed as 64, and 352 keys in chunks of 320 as
640. Eight heads of one token over 352 keys took 82 us on a Wormhole with chunks of 64 x 64, 61 with 32 x 320 and 27
with 32 x 352 (Qwen3-TTS on N300, PERF_NOTES of tt-metal).

The line: prefill attention of at most 128 rows of queries, 5 us and more, of which chunks as long as the padded
queries, and chunks of keys that divide them better, compute a tenth less and more; 1 % of the window to save. Of the
chunks of keys that fit L1, up to 512, the one with least padding, then the longest. The bound is the smaller of the
shares that remain of the elements and of the pairs of chunks, because each pair costs beside its elements; 5 us stay.

Silent on decode attention, MLA and rings, without a printed config (sdpa-small-chunks), from 129 rows of queries on,
and on a prompt's chunk whose start a tensor says: how many keys it has is not in the report.
"""

from __future__ import annotations

import re
from functools import partial
from math import ceil

import numpy as np

from ttnn_mcp.analyses.op_kinds.config_grids import LESS_WORK
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import ATTENTION_CONFIG
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.attention_chunks import (
    fits,
    grid_text,
    key_count,
    of_each_kind,
    printed,
    program_text,
)
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.ops.op_names import canonical

FEW_ROWS = 128  # of queries: longer ones take chunks of 128 and more in the guides of tt-metal
LONGEST = 512  # of keys: the longest chunk that was measured to win (tt-metal's perf_automation guide)
_ELSEWHERE = re.compile(r"Decode|MLA|Ring|Joint")


@check(
    title="attention chunks that are mostly padding",
    lever=ATTENTION_CONFIG,
    of=ops_of_family("no fused attention", "attention"),
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled="tt-xla has no option for it: its compiler passes no program config",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such attentions."""
    prefill = facts.names.where(lambda text: not _ELSEWHERE.search(canonical(text)))
    few = facts.ops.inputs[0].logical[:, 2] <= FEW_ROWS
    rows = np.flatnonzero(facts.of_family("attention") & prefill & few)
    now, then = (of_each_kind(facts, rows, partial(chunks, facts)) for chunks in (_given, _best))
    (area, pairs), (least, fewest) = (_computed(facts, rows, chunks) for chunks in (now, then))
    padded = (area > 0) & (least <= LESS_WORK * area)  # none without a config, or where lengths are not printed
    took = facts.kernel_ns[rows]
    stays = np.fmax(took * np.minimum(least / np.fmax(area, 1), fewest / np.fmax(pairs, 1)), SMALL_NS)
    gains = padded & (stays < took)
    yield Problem(rows[gains], (took - stays)[gains], tell=partial(_tell, now[gains], then[gains]))


def _tell(now: Rows, then: Rows, ops: Affected) -> Words:
    facts, row, (q, k) = ops.facts, ops.row, then[ops.at]
    lengths = _lengths(facts, row)
    return Words(
        claim=(
            f"{ops.many('attention op', ('computes', 'compute'))} chunks of {' x '.join(map(str, now[ops.at]))} over "
            f"{' x '.join(map(str, lengths))} queries and keys ({ops.time}): {ops.example}"
        ),
        assumption="time falls with the padding, and with the number of chunks; 5 us stay",
        also=(cite_attribute(facts, row, "program_config"),),
        fix=program_text(facts, row, grid_text(facts, row), q, k),
        caveat="some sizes hang: one per process, check_setting first",
    )


def _given(facts: WindowFacts, row: int) -> tuple[int, int]:
    """The printed chunks; zeros without a config."""
    return printed(facts, row) if facts.attributes(row).struct("program_config") else (0, 0)


def _best(facts: WindowFacts, row: int) -> tuple[int, int]:
    queries, keys = map(_padded, _lengths(facts, row))
    q, k = printed(facts, row)
    q = min(q, queries)
    able = [each for each in range(TILE_SIDE, LONGEST + 1, TILE_SIDE) if fits(facts, row, q, each)]
    return q, min(able, key=lambda each: (ceil(keys / each) * each, -each), default=k)


def _lengths(facts: WindowFacts, row: int) -> tuple[int, int]:
    """Queries and keys of a head."""
    return int(facts.ops.inputs[0].logical[row, 2]), key_count(facts, row)


def _padded(rows: int) -> int:
    return ceil(rows / TILE_SIDE) * TILE_SIDE


def _computed(facts: WindowFacts, rows: Rows, chunks: Rows) -> tuple[Rows, Rows]:
    """Per row, the elements of a head's scores that are computed, and the pairs of chunks."""
    lengths = of_each_kind(facts, rows, partial(_lengths, facts))
    counts = -(-lengths // np.fmax(chunks, 1))
    return (counts * chunks).prod(axis=1), counts.prod(axis=1)
