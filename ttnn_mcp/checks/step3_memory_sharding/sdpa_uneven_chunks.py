"""Prefill attention cuts its queries into chunks that the cores cannot share evenly.

The chunks of all heads are distributed one by one, and the op ends with the core that has most. Six heads of 2336
rows in chunks of 128 are 114 on 110 cores: four of these decide. On a Blackhole that took 1480 us; chunks of 160, one
each, took 1068, of 192 1184, of 224 1261 and of 256 1433, as the rows of the fullest core say (tt-metal, Wan 2.2
TI2V-5B's notes).

The line: attention over all keys with a printed grid, 5 us and more, where another chunk from 128 to 224 rows leaves
the fullest core a tenth fewer rows and more; 1 % of the window to save. The bound is those rows' share of the time,
down to the arithmetic and the DRAM bytes. Where each core has several chunks, 17 and 25 % fewer rows brought nothing
(LAYA, ModernBERT), 38 % and more did (Wan, MiniMax H3): above 30 % it is told as more than a trial.

Silent on causal attention and on that within windows, whose chunks differ in work (tt-metal #54492: each reads the keys
of its own windows), on decode and MLA, on sub-core grids, and where the chunk does not fit L1. More cores for the
chunks are grid-left-idle.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from math import ceil

import numpy as np

from ttnn_mcp.analyses.op_kinds.config_grids import LESS_WORK, printed_cores
from ttnn_mcp.analyses.op_kinds.few_cores import SMALL_NS
from ttnn_mcp.analyses.roofline.transformer_parts import in_windows
from ttnn_mcp.checks.check import Affected, Problem, Problems, Rows, WindowFacts, Words, check, ops_of_family
from ttnn_mcp.checks.levers import ATTENTION_CONFIG
from ttnn_mcp.checks.needs import ATTRIBUTES, TWO_OPERANDS
from ttnn_mcp.checks.shared.attention_chunks import WHOLE_GRID, fits, grid_text, of_each_kind, printed, program_text
from ttnn_mcp.checks.shared.floors import achievable_ns
from ttnn_mcp.checks.wording import cite_attribute
from ttnn_mcp.checks.worth import USUAL, Worth
from ttnn_mcp.run.ops.op_names import canonical

# of queries: smaller ones read all keys more often (sdpa-small-chunks), one of 256 rows is no less than two of 128
CHUNKS = range(128, 225, 32)
MUCH_LESS = 0.7  # of the rows of the fullest core: between what brought nothing and what did (ours)
ATTENTION = ops_of_family("no fused attention", "attention")
_ELSEWHERE = re.compile(r"Decode|MLA")


@check(
    title="attention in chunks that cores share unevenly",
    lever=ATTENTION_CONFIG,
    of=ATTENTION,
    needs=(TWO_OPERANDS, ATTRIBUTES),
    worth=Worth(saving=USUAL),
    compiled="tt-xla has no option for it: its compiler passes no program config",
)
def look(facts: WindowFacts) -> Problems:
    """Yield all such attentions."""
    able = ATTENTION.mask(facts) & facts.names.where(lambda text: not _ELSEWHERE.search(canonical(text)))
    rows = np.flatnonzero(able & (facts.kernel_ns >= SMALL_NS))
    rows = rows[~in_windows(facts.ops, facts.attributes_of_ops, rows)]
    pairs = of_each_kind(facts, rows, lambda row: _rows_of_fullest(facts, row))
    share = pairs[:, 1] / np.maximum(pairs[:, 0], 1)
    uneven = (pairs[:, 0] > 0) & (share <= LESS_WORK)
    rows, share, pairs = rows[uneven], share[uneven], pairs[uneven]
    took = facts.kernel_ns[rows]
    saved = took - np.maximum(took * share, achievable_ns(facts)[rows])
    several = np.array([printed(facts, row)[0] for row in rows.tolist()]) < pairs[:, 0]
    unsure = several & (share > MUCH_LESS)
    for these, is_trial in ((~unsure, False), (unsure, True)):
        yield Problem(rows[these], saved[these], tell=partial(_tell, pairs[these]), is_trial=is_trial)


def _tell(pairs: Rows, ops: Affected) -> Words:
    facts, row, (now, then) = ops.facts, ops.row, pairs[ops.at]
    grid = grid_text(facts, row) if facts.names.where(_keeps_cores)[row] else WHOLE_GRID
    return Words(
        claim=(
            f"{ops.many('attention op', ('gives', 'give'))} the fullest core {now} rows of queries, not {then} "
            f"({ops.time}): {ops.example}"
        ),
        assumption="time falls with the rows of the fullest core, down to arithmetic and DRAM bytes",
        also=(cite_attribute(facts, row, "program_config"),),
        fix=program_text(facts, row, grid, _best(facts, row), printed(facts, row)[1]),
        caveat="some sizes hang: one per process, check_setting first",
    )


def _keeps_cores(op_code: str) -> bool:
    """Rings leave cores to the exchange between devices."""
    return "Ring" in op_code


def _rows_of_fullest(facts: WindowFacts, row: int) -> tuple[int, int]:
    """Rows of queries on the fullest core, now and with the best chunk; zeros if chunks or cores are not known."""
    now = printed(facts, row)[0]
    least = min(_deals(facts, row), default=(0, 0))[0]
    return (_deal(facts, row, now, _cores(facts, row)), least) if least else (0, 0)


def _best(facts: WindowFacts, row: int) -> int:
    return min(_deals(facts, row))[1]


def _deals(facts: WindowFacts, row: int) -> Iterator[tuple[int, int]]:
    """(rows on the fullest core, chunk) of each chunk that fits; none of causal attention, or without a grid."""
    cores = _cores(facts, row)
    if facts.attributes(row).flag("is_causal") or not cores:
        return
    q, k = printed(facts, row)
    for chunk in CHUNKS:
        if chunk <= q or fits(facts, row, chunk, k):
            yield _deal(facts, row, chunk, cores), chunk


def _deal(facts: WindowFacts, row: int, chunk: int, cores: int) -> int:
    query = facts.ops.inputs[0].logical[row]
    return chunk * ceil(int(query[:2].prod()) * ceil(int(query[2]) / chunk) / cores)


def _cores(facts: WindowFacts, row: int) -> int:
    config = facts.attributes(row).struct("program_config")
    return 0 if config is None or config.text_of("sub_core_grids") else printed_cores(config)
