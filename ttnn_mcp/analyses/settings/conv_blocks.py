"""The blocks of a Conv2d: trials of act_block_h_override and act_block_w_div, as TTNN applies them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.programs.conv_spread import (
    Channels,
    Spread,
    block_height,
    block_width,
    spread_anew,
    width_rules,
)
from ttnn_mcp.analyses.programs.convs import WIDTH, Conv, blocks_of, divisors
from ttnn_mcp.analyses.programs.grids import worker_grid
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value, broken_of, per_step_ns
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.ops.op_names import canonical

TrialAndConv = tuple[Trial, "Conv | None"]
SHARDERS = ("InterleavedToSharded", "Reshard")  # ops by which TTNN sharded the conv's input itself
SLICER = "PaddedSlice"  # cuts a slice out of an input in DRAM and distributes its rows, for any block: 0.81.1
BETWEEN = ("Halo", "Move", "Untilize", "UntilizeWithUnpadding")  # ops that may run between those and the conv
SCALE_AT_MOST = 8  # times the conv's height: no block can be larger


def block_choices(conv: Conv, setting: str) -> tuple[Value, ...]:
    """Legal values of a block if the rows stay on the same cores; empty for other settings."""
    if setting == "act_block_h_override":
        return tuple(TILE_SIDE * size for size in blocks_of(conv))
    if setting == "act_block_w_div":
        return tuple(divisors(conv.block_w)) if conv.layout == WIDTH else (1,)
    return ()


def block_height_trial(op: Op, conv: Conv, value: int) -> TrialAndConv:
    """The trial of an `act_block_h_override`: 32 x the tiles of output height per block; 0 means a core's height."""
    current, tiles = TILE_SIDE * conv.block_h, value // TILE_SIDE
    if value < 0 or value % TILE_SIDE:
        return Trial(current, ("a multiple of 32, or 0",)), None
    if tiles > SCALE_AT_MOST * max(conv.per_core_h * conv.cores[0], 1):
        return Trial(current, unknown="it is far more rows than the conv has"), None
    if conv.layout == WIDTH:
        return _width_height(op, conv, tiles)
    was_sharded_here = was_sharded_by_ttnn(op)
    lowered = replace(conv, block_h=block_height(conv.per_core_h, conv.per_core_h, tiles))
    spread = _spread(op, conv, tiles) if was_sharded_here is not False else None
    divides = tiles > 0 and conv.per_core_h % tiles == 0
    if was_sharded_here is False or (divides and spread is None):
        unchanged = divides or tiles == 0
        note = "" if unchanged else f"; TTNN lowers it to {TILE_SIDE * lowered.block_h} with a warning"
        return _trial(op, conv, lowered, note)
    return _spread_trial(op, conv, lowered, spread)


def _spread_trial(op: Op, conv: Conv, lowered: Conv, spread: Conv | None) -> TrialAndConv:
    """The trial of a block for which TTNN distributes the rows over the cores again, or may do so.

    `lowered` is the conv with the same distribution, `spread` the conv with the new one (None where not modelled).
    """
    if spread is None:
        change = "TTNN may distribute the rows again for it, which is not modelled"
        return Trial(TILE_SIDE * conv.block_h, change=change), None
    if was_sharded_by_ttnn(op) is None and (lowered.block_h, lowered.cores) != (spread.block_h, spread.cores):
        # a sharded input keeps its distribution, an interleaved one does not: assume the one that takes more L1
        larger = max(lowered, spread, key=lambda candidate: candidate.total_bytes + candidate.buffers["OUT"])
        return _trial(
            op, conv, larger, "; TTNN lowers the block of a sharded input and distributes any other input again"
        )
    note = f"; TTNN distributes the rows again: {spread.cores[0]} cores along them instead of {conv.cores[0]}"
    return _trial(op, conv, spread, note if spread.cores != conv.cores else "")


def width_divisor_trial(op: Op, conv: Conv, value: int) -> TrialAndConv:
    """The trial of an `act_block_w_div`: parts of a core's inner dimension. Only WIDTH_SHARDED obeys it."""
    if conv.layout != WIDTH:
        return Trial(1, change=f"no change: {conv.layout} ignores it", effect=False, at_most_ns=0.0), conv
    window = conv.window
    if window is None or not conv.input_channels:
        return Trial(None, unknown="the report leaves out the window or the channels of this conv"), None
    spread = _current_spread(conv)
    whole = block_width(spread, WIDTH, window)
    current = max(whole // max(conv.block_w, 1), 1)
    if value < 1:
        return Trial(current, ("at least 1",)), None
    width = block_width(spread, WIDTH, window, divisor=value)
    broken = broken_of(width_rules(spread, window, (conv.block_h, width)))
    if broken:
        return Trial(current, broken), None
    steps = conv.inner_blocks * conv.block_w / width
    trial = Trial(
        current,
        change=f"blocks of {conv.block_w} tiles along the inner dimension become {width}",
        at_most_ns=per_step_ns(op, conv.inner_blocks, steps),
        effect=width != conv.block_w,
    )
    return trial, replace(conv, block_w=width, inner_blocks=max(round(steps), 1))


def was_sharded_by_ttnn(op: Op) -> bool | None:
    """Whether TTNN sharded the conv's input itself, by the ops before it; None if they do not tell."""
    for name in op.before:
        if canonical(name) in SHARDERS:
            return True
        if canonical(name) == SLICER:
            return False
        if canonical(name) not in BETWEEN:
            return False if any(canonical(earlier) == "Halo" for earlier in op.before) else None
    return None


def may_be_sliced(op: Op) -> bool:
    """Whether the conv's input may lie in DRAM, by the ops before it: what an op leaves in shards lies in L1."""
    made_by = next((name for name in map(canonical, op.before) if name not in BETWEEN), SLICER)
    return made_by in (SHARDERS[0], SLICER)


def _width_height(op: Op, conv: Conv, tiles: int) -> TrialAndConv:
    """The trial of a block height with WIDTH_SHARDED, which refuses a height that does not divide its rows."""
    if conv.window is None and tiles:
        return Trial(
            TILE_SIDE * conv.block_h, unknown="the report leaves out the number of rows of this conv"
        ), None
    whole = conv.window.rows // TILE_SIDE if conv.window is not None else conv.per_core_h
    changed = replace(conv, block_h=block_height(whole, conv.per_core_h, tiles))
    rule = f"WIDTH_SHARDED: divides a core's {conv.per_core_h} tiles of output height"
    if conv.per_core_h % changed.block_h:
        return Trial(TILE_SIDE * conv.block_h, (rule,)), None
    return _trial(op, conv, changed, "")


def _trial(op: Op, conv: Conv, changed: Conv, note: str) -> TrialAndConv:
    effect = (changed.block_h, changed.cores) != (conv.block_h, conv.cores)
    trial = Trial(
        TILE_SIDE * conv.block_h,
        change=f"{conv.blocks} blocks become {changed.blocks}{note}" if effect or note else "no change",
        at_most_ns=per_step_ns(op, conv.blocks, changed.blocks) if changed.cores == conv.cores else None,
        needs="" if changed.cores == conv.cores else "check the core count afterwards",
        effect=effect,
    )
    return trial, changed


def _spread(op: Op, conv: Conv, tiles: int) -> Conv | None:
    grid = worker_grid(op.chip)
    if grid is None or conv.window is None or not conv.input_channels:
        return None
    return spread_anew(conv, conv.window, _channels(conv), grid, tiles)


def _channels(conv: Conv) -> Channels:
    return Channels(conv.input_channels, TILE_SIDE * conv.per_core_w * conv.cores[2])


def _current_spread(conv: Conv) -> Spread:
    """The conv's present distribution, with its channels padded as WIDTH_SHARDED pads them."""
    share = conv.cores[1] * TILE_SIDE
    channels = ceil(conv.input_channels / share) * share
    return Spread(conv.cores, conv.per_core_h, conv.per_core_w, conv.per_core_h, channels)
