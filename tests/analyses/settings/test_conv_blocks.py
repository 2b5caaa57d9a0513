"""Trials of a conv's blocks, against the conv that TTNN builds when it is called with the block at once.

`ConvAsked` is held to TTNN 0.81.1 by 1,700 trials on mock devices (tests/real, `test_real_trials`).
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyses.settings.conv_asked import ConvAsked
from tests.analyses.settings.rows import on_chip, ops_in
from tests.checks.conv_programs import with_conv
from tests.for_all import for_all
from ttnn_mcp.analyses.programs.conv_spread import Channels
from ttnn_mcp.analyses.programs.conv_window import ConvWindow
from ttnn_mcp.analyses.settings.conv_blocks import (
    block_choices,
    block_height_trial,
    was_sharded_by_ttnn,
    width_divisor_trial,
)

GRID = (8, 8)
BY_TTNN, BEFORE, UNKNOWN = ("Halo", "InterleavedToSharded"), ("Halo", "PaddedSlice"), ()


@pytest.fixture(scope="module")
def op(tmp_path_factory):
    return ops_in(tmp_path_factory.mktemp("conv"), with_conv())[0]


def after(op, names):
    return replace(op, before=tuple(f"{name}DeviceOperation" for name in names))


def asked(layout="HEIGHT", side=64, channels=(64, 64), kernel=3, *, b=1, **more):
    window = ConvWindow(b, (side, side), (kernel, kernel), (1, 1), (kernel // 2,) * 4)
    return ConvAsked(f"{layout}_SHARDED", window, Channels(*channels), **more)


def of(conv):
    return (conv.block_h, conv.per_core_h, conv.cores, conv.blocks)


@for_all("value", [0, 32, 64, 96, 128, 160, 256, 512])
@for_all(
    "call",
    [
        asked(side=128),
        asked(side=128, block_h=96),  # 57 cores of 9 tiles, in place of 64 of 8
        asked(side=80, b=2),
        asked("BLOCK", 64, (256, 256)),
        asked("BLOCK", 20, (512, 320)),
    ],
)
@for_all(("before", "from_dram"), [(BY_TTNN, False), (BEFORE, True)])
def test_a_block_gives_the_conv_that_ttnn_builds_for_it(op, call, value, before, from_dram):
    call = replace(call, from_dram=from_dram)
    ran, built = call.on(GRID), replace(call, block_h=value).on(GRID)
    trial, tried = block_height_trial(after(op, before), ran, value)
    assert of(tried) == of(built)
    assert trial.now == 32 * ran.block_h
    assert trial.effect is (of(tried) != of(ran))
    assert (trial.needs == "check the core count afterwards", trial.at_most_ns is None) == (
        (ran.cores != built.cores,) * 2
    )
    assert (f"rows again: {built.cores[0]} cores" in trial.change) is (ran.cores != built.cores)
    assert trial.unknown == ""
    lowered = from_dram and value // 32 != built.block_h and value > 0
    assert (f"lowers it to {32 * built.block_h} with" in trial.change) is lowered


@for_all("value", [-32, 100])
def test_a_block_is_whole_tiles(op, value):
    trial, tried = block_height_trial(op, asked().on(GRID), value)
    assert (trial.broken, tried) == (("a multiple of 32, or 0",), None)


@for_all(("tiles", "is_judged"), [(8 * 128, True), (8 * 128 + 1, False)])
def test_no_block_is_many_times_the_conv(op, tiles, is_judged):
    """128 tiles of rows on 64 cores: with eight times as many in a block nothing is left to distribute."""
    ran = asked(side=64).on(GRID)
    assert ran.per_core_h * ran.cores[0] == 128
    trial, tried = block_height_trial(after(op, BEFORE), ran, 32 * tiles)
    assert (not trial.unknown, tried is not None) == (is_judged, is_judged)


@for_all(("before", "is_modelled"), [(BY_TTNN, False), (UNKNOWN, False), (BEFORE, True)])
@for_all("lost", [{"window": None}, {"input_channels": 0}, {"chip": 61}])
def test_without_window_or_grid_only_a_divisor_is_modelled(op, before, is_modelled, lost):
    ran, here = asked(side=128).on(GRID), after(op, before)
    if "chip" in lost:
        here = on_chip(here, cores=61)
    else:
        ran = replace(ran, **lost)
    assert block_height_trial(here, ran, 128)[1].block_h == 4  # of 8
    trial, tried = block_height_trial(here, ran, 96)
    assert (tried is not None) is is_modelled
    assert ("which is not modelled" in trial.change) is not is_modelled


def test_where_nobody_tells_who_sharded_the_input_the_larger_conv_counts(op):
    """A block of 96 rows: a sharded input keeps its 64 cores and blocks of 64, an interleaved one gets 57 cores."""
    ran = asked(side=128).on(GRID)
    trial, tried = block_height_trial(after(op, UNKNOWN), ran, 96)
    assert of(tried) == of(replace(asked(side=128), block_h=96).on(GRID))
    assert "sharded input and distributes any other input again" in trial.change
    trial, tried = block_height_trial(after(op, UNKNOWN), ran, 128)  # which divides: both are one conv
    assert (of(tried), trial.change) == ((4, 8, ran.cores, 2), "1 blocks become 2")


@for_all(
    ("before", "by_ttnn"),
    [
        (BY_TTNN, True),
        (("Halo", "Move", "Reshard"), True),
        (("Untilize", "UntilizeWithUnpadding", "InterleavedToSharded"), True),
        (("Halo", "PaddedSlice", "InterleavedToSharded"), False),
        (("PaddedSlice",), False),
        (("Halo", "Unary"), False),
        (("Move", "Halo", "Unary", "InterleavedToSharded"), False),
        (("Unary", "InterleavedToSharded"), None),
        (("Halo", "Move"), None),
        ((), None),
    ],
)
def test_the_ops_before_tell_who_sharded_the_input(op, before, by_ttnn):
    assert was_sharded_by_ttnn(after(op, before)) is by_ttnn


# --- WIDTH_SHARDED

WIDE = asked("WIDTH", 20, (1024, 512))


@for_all("value", [0, 32, 64, 96, 384, 416])
def test_a_block_of_a_width_sharded_conv_is_ttnns_or_refused(op, value):
    """400 rows are 12 whole tiles, padded to 13: a block must divide both."""
    ran, call = WIDE.on(GRID), replace(WIDE, block_h=value)
    trial, tried = block_height_trial(op, ran, value)
    legal = all(call.rules(GRID).values())
    assert (not trial.broken) is legal
    assert (tried and of(tried)) == (of(call.on(GRID)) if legal else None)


def test_without_a_window_its_rows_are_not_known(op):
    ran = replace(WIDE.on(GRID), window=None)
    trial, tried = block_height_trial(op, ran, 32)
    assert (trial.unknown, tried) == ("the report leaves out the number of rows of this conv", None)
    assert block_height_trial(op, ran, 0)[1].block_h == 13


@for_all("value", [1, 2, 3, 4, 9, 18, 36])
def test_a_divisor_of_its_width_gives_ttnns_block(op, value):
    """1024 channels on 32 cores, 9 of the window: 9 tiles of the inner dimension to a core."""
    ran, call = WIDE.on(GRID), replace(WIDE, width_divisor=value)
    trial, tried = width_divisor_trial(op, ran, value)
    legal = all(call.rules(GRID).values())
    assert (not trial.broken) is legal
    if legal:
        built = call.on(GRID)
        assert (tried.block_w, tried.inner_blocks) == (built.block_w, built.inner_blocks)
        assert (trial.now, trial.effect) == (1, value != 1)


def test_a_divisor_is_one_at_least_and_of_known_channels(op):
    ran = WIDE.on(GRID)
    assert width_divisor_trial(op, ran, 0)[0].broken == ("at least 1",)
    for lost in ({"window": None}, {"input_channels": 0}):
        assert (
            "leaves out the window or the channels" in width_divisor_trial(op, replace(ran, **lost), 2)[0].unknown
        )


@for_all("value", [0, 2, 5])
def test_other_layouts_ignore_it(op, value):
    ran = asked().on(GRID)
    trial, tried = width_divisor_trial(op, ran, value)
    assert (tried, trial.effect, trial.broken) == (ran, False, ())


@for_all(
    ("call", "setting", "choices"),
    [
        (asked(side=128), "act_block_h_override", (32, 64, 128, 256)),
        (asked(side=128), "act_block_w_div", (1,)),
        (WIDE, "act_block_w_div", (1, 3, 9)),
        (WIDE, "core_grid", ()),
    ],
)
def test_blocks_worth_a_trial(call, setting, choices):
    assert block_choices(call.on(GRID), setting) == choices
