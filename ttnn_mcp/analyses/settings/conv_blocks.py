"""The blocks of a Conv2d: act_block_h_override and act_block_w_div, by what TTNN makes of them."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from ttnn_mcp.analyses.op_kinds.conv_l1 import WIDTH, Conv, blocks_of, divisors
from ttnn_mcp.analyses.op_kinds.conv_spread import (
    ROW_MAJOR_ALIGNMENT,
    Channels,
    Spread,
    block_height,
    block_width,
    spread_anew,
    width_rules,
)
from ttnn_mcp.analyses.op_kinds.grids import worker_grid
from ttnn_mcp.analyses.settings.trial import Op, Trial, Value, broken_of, per_step_ns
from ttnn_mcp.hardware import TILE_SIDE
from ttnn_mcp.run.ops.op_names import canonical

Found = tuple[Trial, "Conv | None"]
SHARDERS = ("InterleavedToSharded", "Reshard")  # TTNN dealt the conv's input out itself
BETWEEN = ("Halo", "Move", "Untilize", "UntilizeWithUnpadding")  # what may come between that and the conv
SCALE_AT_MOST = 8  # times a core's height: no block is larger than what a core could get


def block_choices(conv: Conv, setting: str) -> tuple[Value, ...]:
    """Legal values of a block while the rows stay spread as they are; empty for other settings."""
    if setting == "act_block_h_override":
        return tuple(TILE_SIDE * size for size in blocks_of(conv))
    if setting == "act_block_w_div":
        return tuple(divisors(conv.block_w)) if conv.layout == WIDTH else (1,)
    return ()


def block_height_trial(op: Op, conv: Conv, value: int) -> Found:
    """`act_block_h_override`: 32 x tiles of output height per block; 0 = all of a core's height."""
    now, tiles = TILE_SIDE * conv.block_h, value // TILE_SIDE
    if value < 0 or value % TILE_SIDE:
        return Trial(now, ("a multiple of 32, or 0",)), None
    if tiles > SCALE_AT_MOST * max(conv.per_core_h * conv.cores[0], 1):
        return Trial(now, unknown="it is far more rows than the conv has"), None
    if conv.layout == WIDTH:
        return _width_height(op, conv, tiles)
    dealt = was_dealt_out(op)
    lowered = replace(conv, block_h=block_height(conv.per_core_h, conv.per_core_h, tiles))
    spread = _spread(op, conv, tiles) if dealt is not False else None
    divides = tiles > 0 and conv.per_core_h % tiles == 0
    if dealt is False or (divides and (spread is None or spread.cores == conv.cores)):
        kept = divides or tiles == 0
        note = "" if kept else f"; TTNN lowers it to {TILE_SIDE * lowered.block_h} with a warning"
        return _trial(op, conv, lowered, note)
    return _dealt_out(op, conv, lowered, spread)


def _dealt_out(op: Op, conv: Conv, lowered: Conv, spread: Conv | None) -> Found:
    """What TTNN makes of a block that it deals the rows out anew for, or may do so."""
    if spread is None:
        change = "TTNN may deal the rows out anew for it, which is not modelled here"
        return Trial(TILE_SIDE * conv.block_h, change=change), None
    if was_dealt_out(op) is None and (lowered.block_h, lowered.cores) != (spread.block_h, spread.cores):
        # a sharded input keeps its rows, an interleaved one does not: the larger of the two
        worse = max(lowered, spread, key=lambda one: one.total_bytes + one.buffers["OUT"])
        return _trial(op, conv, worse, "; a sharded input has the block lowered, another is dealt out anew")
    note = f"; TTNN deals the rows out anew: {spread.cores[0]} cores along them instead of {conv.cores[0]}"
    return _trial(op, conv, spread, note if spread.cores != conv.cores else "")


def width_divisor_trial(op: Op, conv: Conv, value: int) -> Found:
    """`act_block_w_div`: parts that a core's inner dimension is cut into; WIDTH_SHARDED alone obeys it."""
    if conv.layout != WIDTH:
        return Trial(1, change=f"no change: {conv.layout} ignores it", effect=False, at_most_ns=0.0), conv
    window = conv.window
    if window is None or not conv.input_channels:
        return Trial(None, unknown="the report leaves out the window or the channels of this conv"), None
    spread = _as_it_is(conv)
    whole = block_width(spread, WIDTH, window)
    now = max(whole // max(conv.block_w, 1), 1)
    if value < 1:
        return Trial(now, ("at least 1",)), None
    width = block_width(spread, WIDTH, window, divisor=value)
    broken = broken_of(width_rules(spread, window, (conv.block_h, width)))
    if broken or width < 1:
        return Trial(now, broken or ("no less than a tile per block",)), None
    steps = conv.inner_blocks * conv.block_w / width
    trial = Trial(
        now,
        change=f"blocks of {conv.block_w} tiles along the inner dimension become {width}",
        at_most_ns=per_step_ns(op, conv.inner_blocks, steps),
        effect=width != conv.block_w,
    )
    return trial, replace(conv, block_w=width, inner_blocks=max(round(steps), 1))


def was_dealt_out(op: Op) -> bool | None:
    """Whether TTNN sharded the conv's input itself, by the ops before it; None where they do not tell."""
    for name in op.before:
        if canonical(name) in SHARDERS:
            return True
        if canonical(name) not in BETWEEN:
            return False if any(canonical(one) == "Halo" for one in op.before) else None
    return None


def _width_height(op: Op, conv: Conv, tiles: int) -> Found:
    """WIDTH obeys the setting, and refuses what does not divide its rows."""
    if conv.window is None and tiles:
        return Trial(TILE_SIDE * conv.block_h, unknown="the report leaves out how many rows this conv has"), None
    whole = conv.window.rows // TILE_SIDE if conv.window is not None else conv.per_core_h
    then = replace(conv, block_h=block_height(whole, conv.per_core_h, tiles))
    rule = f"WIDTH_SHARDED: divides a core's {conv.per_core_h} tiles of output height"
    if conv.per_core_h % then.block_h:
        return Trial(TILE_SIDE * conv.block_h, (rule,)), None
    return _trial(op, conv, then, "")


def _trial(op: Op, conv: Conv, then: Conv, note: str) -> Found:
    trial = Trial(
        TILE_SIDE * conv.block_h,
        change=f"{conv.blocks} blocks become {then.blocks}{note}",
        at_most_ns=per_step_ns(op, conv.blocks, then.blocks) if then.cores == conv.cores else None,
        needs="" if then.cores == conv.cores else "look at the core count afterwards",
        effect=(then.block_h, then.cores) != (conv.block_h, conv.cores),
    )
    return trial, then


def _spread(op: Op, conv: Conv, tiles: int) -> Conv | None:
    grid = worker_grid(op.chip)
    if grid is None or conv.window is None or not conv.input_channels:
        return None
    return spread_anew(conv, conv.window, _channels(conv), grid, tiles)


def _channels(conv: Conv) -> Channels:
    return Channels(conv.input_channels, TILE_SIDE * conv.per_core_w * conv.cores[2], ROW_MAJOR_ALIGNMENT)


def _as_it_is(conv: Conv) -> Spread:
    """The conv's cores, its channels padded as WIDTH pads them."""
    share = conv.cores[1] * TILE_SIDE
    channels = ceil(conv.input_channels / share) * share
    return Spread(conv.cores, conv.per_core_h, conv.per_core_w, conv.per_core_h, channels)
