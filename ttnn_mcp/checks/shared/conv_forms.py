"""What fixes set of a Conv2dConfig: each changes the conv that those before it left, and must fit L1 beside them.

A grid or another layout comes with the largest block that fits there: a block must divide the rows of a core, which
are others on other cores (conv2d_utils.cpp: a core_grid is taken as it is, and the block is lowered to a divisor).
Where more cores would leave more blocks than larger ones on the present cores, the present cores stay.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ttnn_mcp.analyses.op_kinds.convs import sizes_of
from ttnn_mcp.analyses.programs.conv_cores import in_layout, should_transpose
from ttnn_mcp.analyses.programs.convs import HEIGHT, Conv, blocks_of, larger_block
from ttnn_mcp.analyses.programs.grids import Grid
from ttnn_mcp.checks.op_config import DOUBLES, OpConfig, Sets

ACTIVATIONS, WEIGHTS = DOUBLES


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
