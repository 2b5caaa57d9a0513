"""Shared parts of the Conv2d checks: their ops, the producers of tensors, sentences about L1, and what fixes set.

Each setting of a Conv2dConfig changes the conv that those before it left, and must fit L1 beside them. A grid or
another layout comes with the largest block that fits there: a block must divide the rows of a core, which are others
on other cores (conv2d_utils.cpp: a core_grid is taken as it is, and the block is lowered to a divisor). Where more
cores would leave more blocks than larger ones on the present cores, the present cores stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY
from ttnn_mcp.analyses.memory.l1_limit import L1Limit
from ttnn_mcp.analyses.op_kinds.convs import sizes_of
from ttnn_mcp.analyses.programs.conv_cores import grid_of, in_layout, should_transpose
from ttnn_mcp.analyses.programs.convs import HEIGHT, Conv, blocks_of, larger_block
from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.checks.check import Evidence, Mask, Rows, WindowFacts, check, ops_named
from ttnn_mcp.checks.op_config import DOUBLES, OpConfig, Sets
from ttnn_mcp.checks.shared.compiled import optimized
from ttnn_mcp.checks.wording import cite_setting

ACTIVATIONS, WEIGHTS = DOUBLES
# for an op between the untilize and the conv, told by check and by tool: Halo reads TILE (untilize_with_halo of TTNN)
UNTILIZED = "let the op before the untilize write the conv's shards in TILE, without it: Halo untilizes"
WRITTEN = "let the op before write the conv's shards"
MOST_COPIES = 2  # between a conv and its activation: sharded to interleaved, a slice (ours)
conv_check = partial(  # defaults of the checks of step 6; each may override them
    check,
    of=ops_named("no Conv2d ops (a 1x1 conv of stride 1 runs as a Matmul)", "Conv2d"),
    compiled=optimized("chooses the conv configs itself"),
)


def convs_behind(facts: WindowFacts, rows: Rows) -> dict[int, int]:
    """Rows that are the only readers of a conv's unchanged output, each with that conv.

    They read it directly, or through copies and slices.
    """
    joins, convs = facts.joins, facts.named("Conv2d")
    passes = facts.of_family("movement") | facts.named("SliceWrite")
    behind: dict[int, int] = {}
    rows = at = rows[~_seem_read_twice(facts)[rows]]
    for _ in range(MOST_COPIES + 1):
        makers = joins.makers[at]
        alone = joins.reader_counts[makers] == 1  # NOBODY is the last op, which no op reads
        reached, passed = alone & convs[makers], alone & passes[makers]
        behind.update(zip(rows[reached].tolist(), makers[reached].tolist(), strict=True))
        rows, at = rows[passed], makers[passed]
    return dict(sorted(behind.items()))


def makers_of(facts: WindowFacts, rows: Rows, *names: str) -> Rows:
    """The ops of these names that made INPUT_0 of the rows."""
    makers = facts.joins.makers[rows]
    makers = np.unique(makers[makers != NOBODY])
    return makers[facts.named(*names)[makers]]


def _seem_read_twice(facts: WindowFacts) -> Mask:
    """Ops whose output one op seems to read twice: one of the two inputs may be the conv's output of equal shape."""
    first, second = facts.flow.makers_of(0), facts.flow.makers_of(1)
    return np.isin(np.arange(len(facts)), first[(first == second) & ~facts.of_family("movement")])


def whole_grid(facts: WindowFacts) -> tuple[int, int]:
    """(columns, rows) of all cores; one core if the report does not tell their number."""
    return grid_of(facts.chip.cores or 1, facts.chip.arch)


def l1_of(facts: WindowFacts) -> L1Limit:
    """The L1 of a core; only for checks that need L1_LIMIT."""
    limit = facts.l1_limit
    if limit is None:  # unmoved: every check that calls it needs L1_LIMIT
        raise ValueError("a check that reads the limit of L1 declares L1_LIMIT as its need")
    return limit


class Candidates(NamedTuple):
    """Convs whose changed form also fits L1.

    Attributes:
        rows: their positions.
        to: the changed form of each configuration.
    """

    rows: Rows
    to: dict[Conv, Conv]


def candidates(facts: WindowFacts, change: Callable[[Conv], Conv | None]) -> Candidates:
    """The convs for which `change` returns another form, if that form fits L1 by the conv's formulas."""
    forms = {conv: changed for conv in facts.convs.distinct if conv and (changed := change(conv))}
    to = {conv: changed for conv, changed in forms.items() if changed.total_bytes <= facts.safe_l1_bytes}
    return Candidates(facts.convs.where(to.__contains__), to)


def cite_height(facts: WindowFacts, row: int) -> tuple[Evidence, ...]:
    """The block height of a conv, and the height per core (in elements before 2025-03)."""
    spread = facts.attributes(row).get("parallelization_config", "")
    tiles, elements = "per_core_out_matrix_height_ntile", "per_core_out_matrix_height"
    key = tiles if tiles in spread else elements
    return (
        cite_setting(facts, row, "block_config", "act_block_h_ntiles"),
        cite_setting(facts, row, "parallelization_config", key),
    )


def l1_caveat(facts: WindowFacts, conv: Conv) -> str:
    """The basis of the L1 figures that is not read from the reports."""
    limit, basis = l1_of(facts), "L1 modelled to about 5 %"
    if not limit.read:
        basis += f"; limit {'of' if limit.measured else 'inferred for'} {facts.chip.arch} (no memory report)"
    if not conv.allocated_said:
        basis += "; other tensors in L1 are not known, only the conv's input is counted"
    return basis


def grown(config: OpConfig) -> OpConfig | None:
    """With the largest block that fits; as it is where that is reached."""
    conv = config.conv
    return conv and replace(config, conv=larger_block(conv, config.facts.safe_l1_bytes) or conv)


def doubled(conv: Conv, safe_bytes: float) -> Conv | None:
    """The conv with the double buffers that help it and fit: both before one; None where there is none."""
    forms: list[Conv] = []
    if conv.doubling_helps and not conv.act_double:
        forms.append(replace(conv, act_double=True))
    if not conv.weights_double and conv.layout != HEIGHT and conv.inner_blocks > 1:
        forms.append(replace(conv, weights_double=True))
    if len(forms) > 1:
        forms.insert(0, replace(conv, act_double=True, weights_double=True))
    return next((form for form in forms if form.total_bytes <= safe_bytes), None)


def with_doubles(config: OpConfig) -> OpConfig | None:
    """With these double buffers."""
    conv = config.conv and doubled(config.conv, config.facts.safe_l1_bytes)
    return conv and replace(config, conv=conv)


def on_grid(config: OpConfig, grid: Grid) -> OpConfig | None:
    """Over a whole grid in its layout; None where that takes more blocks than its present cores could."""
    if config.conv is None:
        return None
    size = sizes_of(config.facts.ops, np.array([config.row]))[0]
    transposed = should_transpose(config.conv, size, grid)
    changed = _blocked(in_layout(config.conv, config.conv.layout, size, grid, transposed=transposed), config)
    here = grown(config.now)
    if here is None or here.conv is None:  # unmoved: a conv was one before too
        return None
    if changed is None or changed.blocks > here.conv.blocks:
        return None
    return replace(config, conv=changed, grid=grid)


def in_other_layout(layout: str, grid: Grid) -> Sets:
    """In another layout over a whole grid."""

    def change(config: OpConfig) -> OpConfig | None:
        if config.conv is None:
            return None
        size = sizes_of(config.facts.ops, np.array([config.row]))[0]
        changed = _blocked(in_layout(config.conv, layout, size, grid), config)
        return changed and replace(config, conv=changed, grid=None)

    return change


def _blocked(conv: Conv, config: OpConfig) -> Conv | None:
    """The conv with the largest block that fits; where the limit of L1 is not known, up to that of now."""
    forms = [replace(conv, block_h=height) for height in blocks_of(conv)[::-1]] or [conv]
    if config.facts.l1_limit is None:
        now = config.now.conv or conv
        return next((form for form in forms if form.block_h <= now.block_h), forms[-1])
    return next((form for form in forms if form.total_bytes <= config.facts.safe_l1_bytes), None)
