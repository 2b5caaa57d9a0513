"""Settings of a conv besides its blocks: buffers, formats, layouts and grids, against what TTNN builds of the call."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.analyses.settings.rows import on_chip, ops_in
from tests.analyses.settings.test_conv_blocks import GRID, asked
from tests.checks.conv_programs import with_conv
from tests.for_all import for_all
from ttnn_mcp.analyses.settings.conv import LAYOUTS, ConvSettings, l1_of

CALLS = {
    "HEIGHT": asked("HEIGHT", 128, (64, 64), block_h=64),
    "one block": asked("HEIGHT", 128, (64, 64)),
    "BLOCK": asked("BLOCK", 64, (256, 256), block_h=64),
    "WIDTH": asked("WIDTH", 20, (1024, 512)),
}
FIELDS = {
    "enable_act_double_buffer": "act_double",
    "enable_weights_double_buffer": "weights_double",
    "fp32_dest_acc_en": "fp32_accumulation",
    "packer_l1_acc": "packer_l1",
}


@pytest.fixture(scope="module")
def op(tmp_path_factory):
    return ops_in(tmp_path_factory.mktemp("conv"), with_conv())[0]


def of_conv(op, name, **more):
    return ConvSettings(op, replace(CALLS[name], **more).on(GRID))


def without_output(conv):
    return {name: size for name, size in conv.buffers.items() if name != "OUT"}


def sums(trial):
    return sum(trial.buffers.values()) + sum(trial.tensors.values())


@for_all("setting", FIELDS)
@for_all("name", CALLS)
def test_a_flag_takes_the_buffers_that_ttnn_makes_for_it(op, name, setting):
    for now in (False, True):
        settings = of_conv(op, name, **{FIELDS[setting]: now})
        for value in (False, True):
            trial = settings.tried(setting, value)
            built = replace(CALLS[name], **{FIELDS[setting]: value}).on(GRID)
            assert trial.now is now
            assert sums(trial) == built.total_bytes
            assert trial.grown == 0


@for_all(
    ("name", "setting", "is_useful"),
    [
        ("HEIGHT", "enable_act_double_buffer", True),
        ("one block", "enable_act_double_buffer", False),
        ("BLOCK", "enable_act_double_buffer", True),
        ("HEIGHT", "enable_weights_double_buffer", False),  # holds the weights of all rows of its window already
        ("one block", "enable_weights_double_buffer", True),
        ("BLOCK", "enable_weights_double_buffer", True),
    ],
)
def test_a_second_buffer_hides_at_most_half_of_the_time_where_something_is_read_meanwhile(
    op, name, setting, is_useful
):
    field, most = FIELDS[setting], min(op.kernel_ns / 2, op.kernel_ns - op.least_ns)
    assert most > 0
    for now in (False, True):
        for value in (False, True):
            trial = of_conv(op, name, **{field: now}).tried(setting, value)
            assert trial.effect is (is_useful and value is not now)
            assert trial.at_most_ns == (most if is_useful and value and not now else 0)
            assert trial.change.startswith("no change") is not is_useful


@for_all(
    ("setting", "value", "kept"), [("fp32_dest_acc_en", True, "FLOAT32"), ("packer_l1_acc", False, "BFLOAT16")]
)
def test_sums_are_kept_in_a_format(op, setting, value, kept):
    trial = of_conv(op, "HEIGHT").tried(setting, value)
    assert (trial.change, trial.effect, trial.at_most_ns) == (f"sums are kept in {kept}", True, None)
    assert not of_conv(op, "HEIGHT").tried(setting, not value).effect


def test_lighter_weights_take_ttnns_buffers(op):
    trial = of_conv(op, "HEIGHT").tried("weights_dtype", "BFLOAT4_B")
    assert sums(trial) == replace(CALLS["HEIGHT"], weights_dtype="BFLOAT4_B").on(GRID).total_bytes
    assert trial.now == "BFLOAT8_B"


def test_the_output_is_a_tensor_and_grows_as_one(op):
    now, then = CALLS["HEIGHT"].on(GRID), CALLS["HEIGHT"].on((4, 8))
    trial = l1_of(then, now)
    assert "OUT" not in trial.buffers
    assert trial.tensors == {"ALLOCATED": then.allocated_bytes, "OUT": 2 * now.buffers["OUT"]}
    assert trial.grown == then.allocated_bytes - now.allocated_bytes + now.buffers["OUT"]
    assert l1_of(replace(then, depthwise=True), now).buffers == {}
    damaged = replace(then, per_core_w=0)  # its output has no columns, and no buffer
    assert l1_of(damaged, damaged).tensors["OUT"] == 0


@for_all("layout", LAYOUTS)
def test_another_layout_is_tried_with_the_block_of_least_l1(op, layout):
    settings, call = of_conv(op, "HEIGHT"), replace(CALLS["HEIGHT"], layout=layout, from_dram=True)
    assert settings.choices("shard_layout") == LAYOUTS
    trial = settings.tried("shard_layout", layout)
    assert trial.now == "HEIGHT_SHARDED"
    if layout == trial.now:
        assert (trial.effect, trial.change, trial.at_most_ns) == (False, "no change", 0)
        return
    heights = [0] if layout == "WIDTH_SHARDED" else range(32, 32 * call.on(GRID).per_core_h + 1, 32)
    built = [replace(call, block_h=height).on(GRID) for height in heights]
    least = min(built, key=lambda conv: conv.total_bytes)
    assert trial.buffers == without_output(least)
    assert f"per core {least.per_core_h} x {least.per_core_w} tiles instead of 8 x 2" in trial.change
    assert f"act_block_h_override={32 * least.block_h})" in trial.change


@for_all(
    ("before", "slices"),
    [
        ((), True),
        (("Halo", "InterleavedToSharded"), True),
        (("Halo", "PaddedSlice"), True),
        (("Halo", "Conv2d"), False),
        (("Halo", "Reshard"), False),
        (("Halo", "Conv2d", "Halo", "PaddedSlice"), False),
    ],
)
def test_an_input_that_may_lie_in_dram_may_be_cut_into_slices(op, before, slices):
    settings = of_conv(replace(op, before=before), "HEIGHT")
    assert settings.tried("shard_layout", "WIDTH_SHARDED").in_slices == slices
    assert not settings.tried("act_block_h_override", 32).in_slices


@for_all("grid", [(4, 8), (8, 4), (7, 5), (8, 8)])
def test_another_grid_keeps_a_block_that_is_legal_there(op, grid):
    trial = of_conv(op, "HEIGHT").tried("core_grid", "{}x{}".format(*grid))
    built = replace(CALLS["HEIGHT"], from_dram=True).on(grid)
    assert trial.buffers == without_output(built)
    share = built.per_core_h / 8
    assert trial.change == f"the busiest core has {share:.2f} times the output tiles"
    assert trial.at_most_ns == max(0, op.kernel_ns * (1 - share))


def test_a_width_sharded_conv_has_no_other_block_there(op):
    settings = of_conv(op, "WIDTH")
    trial = settings.tried("core_grid", "8x4")
    assert trial.buffers["ACT_TILIZED"] % (13 * 2048) == 0
    beyond = settings.tried("core_grid", "9x4")
    assert (beyond.broken, beyond.instead) == (("within the worker grid 8x8",), "8x8")


def test_on_a_grid_nobody_knows_only_todays_layout_is_sized(op):
    settings = replace(of_conv(op, "HEIGHT"), op=on_chip(op, cores=61))
    assert settings.tried("shard_layout", "BLOCK_SHARDED").buffers == {}
    assert "not known" in settings.tried("shard_layout", "BLOCK_SHARDED").change
    assert settings.tried("shard_layout", "HEIGHT_SHARDED").buffers
