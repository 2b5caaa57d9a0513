"""Settings of a Conv2d: blocks, double buffers, shard layout, weights. Rules are those of ttnn's conv2d."""

from __future__ import annotations

from dataclasses import replace

from ttnn_mcp.analyses.op_kinds.conv_cores import in_layout, tiles_of_busiest_core
from ttnn_mcp.analyses.op_kinds.conv_l1 import BLOCK, DOUBLE_BUFFER_BEST, HEIGHT, WIDTH, Conv, divisors
from ttnn_mcp.analyses.op_kinds.convs import convs_of, sizes_of
from ttnn_mcp.analyses.op_kinds.grids import Grid, worker_grid
from ttnn_mcp.analyses.settings.compute import grid_rules, largest_grid, lighter_weights
from ttnn_mcp.analyses.settings.trial import Op, Trial, per_step_ns, rules
from ttnn_mcp.hardware import TILE_SIDE


def conv_in(op: Op) -> Conv | None:
    """The conv of the op; None where its attributes say too little."""
    convs = convs_of(op.table)
    return convs.at(0) if len(convs.rows) else None


def buffers_of(conv: Conv) -> dict[str, int]:
    """Everything in L1 while the conv runs, what was there before included."""
    return {"ALLOCATED": conv.allocated_bytes, **conv.buffers}


def act_block_h(op: Op, conv: Conv, value: int) -> Trial:
    """`act_block_h_override`: 32 x tiles of output height per block; 0 = all of a core's height."""
    now = TILE_SIDE * conv.block_h
    legal = tuple((TILE_SIDE * one, replace(conv, block_h=one).total_bytes) for one in divisors(conv.per_core_h))
    if conv.layout == WIDTH:
        return Trial(now, change="WIDTH_SHARDED ignores it: use act_block_w_div", effect=False, at_most_ns=0.0)
    tiles = conv.per_core_h if value == 0 else value // TILE_SIDE
    broken = rules(
        ("a multiple of 32, or 0", value >= 0 and value % TILE_SIDE == 0),
        (f"divides a core's {conv.per_core_h} tiles of output height", tiles > 0 and conv.per_core_h % tiles == 0),
    )
    if broken:
        return Trial(now, broken, legal=legal, change="TTNN lowers it to the next legal value with a warning")
    then = replace(conv, block_h=tiles)
    return Trial(
        now,
        buffers=buffers_of(then),
        change=f"{conv.blocks} blocks become {then.blocks}",
        at_most_ns=per_step_ns(op, conv.blocks, then.blocks),
        legal=legal,
        needs="look at the core count afterwards: TTNN may round the rows per core",
        effect=tiles != conv.block_h,
    )


def double_buffer(op: Op, conv: Conv, value: bool, *, weights: bool) -> Trial:
    """`enable_act_double_buffer`, `enable_weights_double_buffer`."""
    if weights:
        then = replace(conv, weights_double=value)
        now, useful = conv.weights_double, conv.layout != HEIGHT or conv.blocks == 1
        idle = "no change: HEIGHT_SHARDED with several blocks holds all weights already"
    else:
        then = replace(conv, act_double=value)
        now, useful = conv.act_double, conv.doubling_helps
        idle = "no change: a single block leaves nothing to read ahead"
    best = min(DOUBLE_BUFFER_BEST * op.kernel_ns, op.kernel_ns - op.least_ns) if value and not now else 0.0
    helps = "the next block is read while one is computed" if value else "reading and computing take turns"
    return Trial(
        now,
        buffers=buffers_of(then),
        change=helps if useful else idle,
        at_most_ns=best if useful else 0.0,
        effect=useful and value != now,
    )


def weights_dtype(op: Op, conv: Conv, value: str) -> Trial:
    """`weights_dtype`: block formats shrink the weights in L1 and in DRAM."""
    return lighter_weights(op, conv.weights_dtype, value, buffers_of(replace(conv, weights_dtype=value)))


def core_grid(op: Op, conv: Conv, grid: Grid) -> Trial:
    """`core_grid`, with override_sharding_config: the same layout on another grid."""
    broken = grid_rules(op, grid)
    if broken:
        return Trial(f"{op.cores} cores", broken, instead=largest_grid(op))
    size = sizes_of(op.table, convs_of(op.table).rows)[0]
    other = in_layout(conv, conv.layout, size, grid) if conv.layout != WIDTH else None
    legal = divisors(other.per_core_h) if other else []
    # of the blocks that are legal there, the one nearest to today's
    block = max((one for one in legal if one <= conv.block_h), default=1)
    then = replace(other, block_h=block) if other else None
    work = tiles_of_busiest_core(then) / tiles_of_busiest_core(conv) if then else 1.0
    return Trial(
        f"{op.cores} cores",
        buffers=buffers_of(then) if then else {},
        change=(
            f"the busiest core has {work:.2f} times the output tiles" if then else "WIDTH_SHARDED is not modelled"
        ),
        at_most_ns=max(0.0, op.kernel_ns * (1 - work)) if then else None,
        needs="override_sharding_config=True and shard_layout",
    )


def shard_layout(op: Op, conv: Conv, value: str) -> Trial:
    """`shard_layout`: with whatever legal block needs least L1 in the other layout."""
    if value not in (HEIGHT, BLOCK, WIDTH):
        return Trial(conv.layout, ("one of HEIGHT_SHARDED, BLOCK_SHARDED, WIDTH_SHARDED",))
    if value == conv.layout:
        return Trial(conv.layout, buffers=buffers_of(conv), change="no change", at_most_ns=0.0, effect=False)
    grid = worker_grid(op.chip)
    if value == WIDTH or grid is None:
        return Trial(conv.layout, change="L1 not modelled for this layout or grid")
    other = in_layout(conv, value, sizes_of(op.table, convs_of(op.table).rows)[0], grid)
    least = min(
        (replace(other, block_h=one) for one in divisors(other.per_core_h)), key=lambda one: one.total_bytes
    )
    return Trial(
        conv.layout,
        buffers=buffers_of(least),
        change=(
            f"per core {least.per_core_h} x {least.per_core_w} tiles instead of {conv.per_core_h} x "
            f"{conv.per_core_w} (least L1 at act_block_h_override={TILE_SIDE * least.block_h})"
        ),
        needs="neighbours in the same layout, else a Reshard appears",
    )
