"""Step 6: what must fire on a conv, what must stay silent just below the line, and what is no conv's fault."""

from __future__ import annotations

import pytest

from tests.checks.conv_programs import Conv, halo_output, put_conv, put_halo
from tests.checks.rows import ONE_PASS, case_of, claims, pass_time, put, the_claim
from tests.profiles import DRAM, Program, height_sharded
from tests.profiles.conv import move
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, interleaved_to_sharded, matmul, sharded_to_interleaved, tilize, unary
from ttnn_mcp.checks.check import CannotTell, NotApplicable
from ttnn_mcp.checks.step6_conv2d import (
    act_block_h_below_maximum,
    batch_norm_unfolded,
    conv_activation_unfused,
    conv_cores_idle,
    conv_data_movement,
    conv_double_buffer_off,
    conv_shard_layout_slow,
    conv_sliced_in_dram,
    weights_prepared_every_call,
)

BY_ATTRIBUTES = (
    act_block_h_below_maximum,
    conv_cores_idle,
    conv_data_movement,
    conv_double_buffer_off,
    conv_shard_layout_slow,
    conv_sliced_in_dram,
)
ALL = (*BY_ATTRIBUTES, batch_norm_unfolded, conv_activation_unfused, weights_prepared_every_call)
TUNED = {"block": (8, 6), "weights_double": True}


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


@pytest.fixture
def asked(tmp_path):
    """What a check says about one conv, changed."""

    def ask(module, **change):
        program = Program("wormhole_b0")
        put_conv(program, **change)
        return list(module.CHECK.look(case_of(tmp_path, program)))

    return ask


def relu(program, x, kernel_ns=20_000, kind="RELU", dtype=None):
    return put(program, unary(kind, x, program.tensor(x.shape, dtype or x.dtype, placement=x.placement), kernel_ns))


@pytest.mark.parametrize("module", ALL, ids=lambda module: module.CHECK.id)
def test_without_convs_nothing_applies(module, tmp_path, program):
    relu(program, program.tensor([1, 1, 32, 32]))
    (said,) = module.CHECK.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)
    assert "Conv2d" in said.why


@pytest.mark.parametrize("module", BY_ATTRIBUTES, ids=lambda module: module.CHECK.id)
def test_convs_without_attributes_cannot_be_judged(module, tmp_path, program):
    x, w = halo_output(program), program.weight([1, 1, 576, 64])
    put(program, DeviceOp("Conv2dDeviceOperation", (x, w), (program.tensor([1, 1, 4096, 64]),), 50_000, cores=64))
    (said,) = module.CHECK.look(case_of(tmp_path, program))
    assert isinstance(said, CannotTell)
    assert "ATTRIBUTES" in said.why


@pytest.mark.parametrize("module", ALL, ids=lambda module: module.CHECK.id)
def test_a_tuned_conv_is_clean(module, asked):
    said = asked(module, **TUNED)
    assert not said or isinstance(said[0], NotApplicable)


# --- act-block-h-below-maximum


def test_a_block_that_could_be_the_whole_height_is_named_with_its_override(tmp_path, program):
    put_conv(program)  # 2 of 8 tiles
    case = case_of(tmp_path, program)
    claim = the_claim(act_block_h_below_maximum.CHECK, case)
    assert "act_block_h_override=256" in claim.fix
    assert f"line {case.line(0)} has Bh 2 of 8" in claim.claim
    least = max(case.roofline.compute_ns[0], case.roofline.dram_ns[0], 2_000)
    assert claim.at_most_ns[0] == pytest.approx((100_000 - least) * 3 / 4)  # 4 blocks become 1
    assert {one.column for one in claim.evidence} >= {"ATTRIBUTES.block_config.act_block_h_ntiles"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"block": (8, 6)}, "already the whole height"),
        ({"allocated": 1_300_000}, "no room"),
        ({"layout": "WIDTH", "channel_cores": 64}, "ignored there"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_block_that_cannot_grow_is_left_alone(asked, change, why):
    assert not asked(act_block_h_below_maximum, **change), why


@pytest.mark.parametrize(("room", "fires"), [(-100, True), (100, False)])
def test_blocks_are_told_from_one_percent_on(tmp_path, room, fires):
    alone = Program("wormhole_b0")
    put_conv(alone)
    saved = float(the_claim(act_block_h_below_maximum.CHECK, case_of(tmp_path, alone)).at_most_ns.sum())
    program = Program("wormhole_b0")
    put_conv(program)
    pass_time(program, saved * 100 - 100_000 + room)
    assert bool(claims(act_block_h_below_maximum.CHECK, case_of(tmp_path, program))) is fires


def test_a_compilers_user_is_told_the_compilers_option(tmp_path, program):
    put_conv(program)
    claim = the_claim(act_block_h_below_maximum.CHECK, case_of(tmp_path, program, generation="tt-torch"))
    assert "optimization_level" in claim.fix
    assert "Conv2dConfig" not in claim.fix


def test_figures_of_an_older_report_say_what_they_leave_out(asked):
    (claim,) = asked(act_block_h_below_maximum, legacy=True, allocated=None)
    assert "only the conv's input" in claim.caveat
    assert "no memory report" in claim.caveat


# --- conv-double-buffer-off


def test_a_conv_of_several_blocks_without_double_buffer_may_gain_four_tenths(asked):
    (claim,) = asked(conv_double_buffer_off)
    assert "enable_act_double_buffer=True" in claim.fix
    assert claim.at_most_ns.tolist() == [40_000]


@pytest.mark.parametrize(
    "change",
    [{"act_double": True}, {"block": (8, 6)}, {"allocated": 1_260_000}],
    ids=["on", "a single block", "no room"],
)
def test_a_double_buffer_that_brings_nothing_is_not_advised(asked, change):
    assert not asked(conv_double_buffer_off, **change)


def test_weights_are_double_buffered_where_channels_are_cut(asked):
    said = asked(conv_double_buffer_off, layout="BLOCK", channel_cores=8, act_double=True)
    assert ["enable_weights_double_buffer=True" in one.fix for one in said] == [True]
    assert not asked(conv_double_buffer_off, layout="HEIGHT", block=(8, 6))


def test_a_conv_at_its_roofline_gains_nothing_from_a_double_buffer(asked):
    # 2 x 16384 x 64 x 18432 operations at HiFi4 on 64 cores: 590 us
    assert not asked(conv_double_buffer_off, inner=576, fidelity="HiFi4", kernel_ns=592_000)


# --- conv-shard-layout-slow


def conv_in(program, layout, kernel_ns, **change):
    shape = {
        "HEIGHT": {"layout": "HEIGHT", "grid": (8, 8), "per_core": (1, 16), "block": (1, 24)},
        "BLOCK": {"layout": "BLOCK", "grid": (8, 8), "channel_cores": 8, "per_core": (8, 2), "block": (8, 3)},
    }[layout]
    put_conv(program, inner=72, kernel_ns=kernel_ns, act_double=True, weights_double=True, **shape, **change)


@pytest.mark.parametrize(("slow", "fast"), [("HEIGHT", "BLOCK"), ("BLOCK", "HEIGHT")])
def test_the_faster_layout_of_a_similar_conv_is_proposed_whichever_it_is(tmp_path, program, slow, fast):
    conv_in(program, slow, 260_000)
    conv_in(program, fast, 100_000)
    claim = the_claim(conv_shard_layout_slow.CHECK, case_of(tmp_path, program))
    assert f"TensorMemoryLayout.{fast}_SHARDED" in claim.fix
    assert claim.at_most_ns.tolist() == [pytest.approx(160_000, rel=0.01)]


@pytest.mark.parametrize(("kernel_ns", "fires"), [(201_000, True), (199_000, False)])
def test_twice_as_fast_is_the_line(tmp_path, program, kernel_ns, fires):
    conv_in(program, "BLOCK", kernel_ns)
    conv_in(program, "HEIGHT", 100_000)
    assert bool(claims(conv_shard_layout_slow.CHECK, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize("change", [{"fidelity": "HiFi4"}, {"weights": "BFLOAT16"}], ids=["fidelity", "weights"])
def test_convs_of_other_formats_are_no_comparison(tmp_path, program, change):
    conv_in(program, "BLOCK", 300_000)
    conv_in(program, "HEIGHT", 100_000, **change)
    found = claims(conv_shard_layout_slow.CHECK, case_of(tmp_path, program))
    assert not any("against" in claim.claim for claim in found)


def test_one_tile_of_rows_per_core_is_starved_where_nothing_else_ran(asked):
    narrow = {"per_core": (1, 16), "block": (1, 24), "inner": 72, "act_double": True}
    (claim,) = asked(conv_shard_layout_slow, **narrow)
    assert "BLOCK_SHARDED" in claim.fix
    assert not asked(conv_shard_layout_slow, **{**narrow, "per_core": (1, 4)})
    assert not asked(conv_shard_layout_slow, **{**narrow, "per_core": (2, 16)})


# --- conv-data-movement


def conv_behind_halo(program, x, *, moved=True, conv=None):
    conv = conv or Conv(block=(8, 6))
    halo = put_halo(program, x, conv)
    if moved:
        packed = program.tensor(halo.shape, halo.dtype, "ROW_MAJOR", placement=halo.placement)
        halo = put(program, move(halo, packed, 30_000))
    return put_conv(program, conv, halo)


def rows_of(program, placement=DRAM, height=16_384):
    return program.tensor([1, 1, height, 64], layout="ROW_MAJOR", placement=placement)


def test_a_copy_in_front_of_halo_is_named_with_who_wrote_interleaved(tmp_path, program):
    made = relu(program, rows_of(program))
    into = interleaved_to_sharded(made, rows_of(program, height_sharded(256, 64, (8, 8))), 40_000)
    conv_behind_halo(program, put(program, into), moved=False)
    claim = the_claim(conv_data_movement.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [40_000]
    assert "written by Unary" in claim.claim


def test_the_first_copy_of_the_models_input_is_no_waste(tmp_path, program):
    into = interleaved_to_sharded(rows_of(program), rows_of(program, height_sharded(256, 64, (8, 8))), 40_000)
    conv_behind_halo(program, put(program, into), moved=False)
    assert not claims(conv_data_movement.CHECK, case_of(tmp_path, program))


@pytest.mark.parametrize(("allocated", "fires"), [(400_000, True), (600_000, False)])
def test_a_move_is_idle_only_where_l1_is_not_short(tmp_path, program, allocated, fires):
    x = relu(program, rows_of(program, height_sharded(256, 64, (8, 8))))
    conv_behind_halo(program, x, conv=Conv(block=(8, 6), allocated=allocated))
    found = claims(conv_data_movement.CHECK, case_of(tmp_path, program))
    assert ["reallocate_halo_output=False" in claim.fix for claim in found] == [True] * fires


# --- conv-activation-unfused


def test_an_activation_behind_a_conv_belongs_into_it(tmp_path, program):
    relu(program, put_conv(program, **TUNED), kind="SILU")
    claim = the_claim(conv_activation_unfused.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [20_000]
    assert "UnaryOpType.SILU" in claim.fix


def test_copies_between_conv_and_activation_do_not_hide_it(tmp_path, program):
    y = put_conv(program, **TUNED)
    out = put(program, sharded_to_interleaved(y, program.tensor(y.shape, y.dtype), 5_000))
    relu(program, out)
    assert claims(conv_activation_unfused.CHECK, case_of(tmp_path, program))


def test_a_conv_output_that_others_read_keeps_its_own_op(tmp_path, program):
    y = put_conv(program, **TUNED)
    z = relu(program, y)
    put(program, binary("ADD", y, z, program.tensor(y.shape, y.dtype, placement=y.placement), 20_000))
    assert not claims(conv_activation_unfused.CHECK, case_of(tmp_path, program))


@pytest.mark.parametrize(
    ("kind", "conv", "dtype"),
    [("RELU", {"activation": "RELU"}, None), ("LOG", {}, None), ("RELU", {}, "BFLOAT16")],
    ids=["the conv has one", "not fusable", "changes the type"],
)
def test_what_a_conv_cannot_apply_stays(tmp_path, program, kind, conv, dtype):
    relu(program, put_conv(program, **TUNED, **conv), kind=kind, dtype=dtype)
    assert not claims(conv_activation_unfused.CHECK, case_of(tmp_path, program))


def test_an_activation_behind_a_group_norm_is_not_the_convs(tmp_path, program):
    y = put_conv(program, **TUNED)
    normed = program.tensor(y.shape, y.dtype, placement=y.placement)
    relu(program, put(program, DeviceOp("GroupNorm", (y,), (normed,), 30_000, fidelity="HiFi4")))
    assert not claims(conv_activation_unfused.CHECK, case_of(tmp_path, program))


@pytest.mark.parametrize(("longer", "fires"), [(3_870_000, True), (3_890_000, False)])
def test_activations_are_told_from_half_a_percent_on(tmp_path, program, longer, fires):
    relu(program, put_conv(program, **TUNED))  # 20 us of 120 us and the rest
    pass_time(program, longer)
    assert bool(claims(conv_activation_unfused.CHECK, case_of(tmp_path, program))) is fires


# --- batch-norm-unfolded


def test_a_batch_norm_behind_a_conv_folds_into_it(tmp_path, program):
    y = put_conv(program, **TUNED)
    normed = program.tensor(y.shape, y.dtype, placement=y.placement)
    put(program, DeviceOp("BatchNormOperation", (y,), (normed,), 30_000, fidelity="HiFi4"))
    claim = the_claim(batch_norm_unfolded.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [30_000]
    assert "running_var" in claim.fix


@pytest.mark.parametrize(
    ("kinds", "width", "found"), [(("MUL", "ADD"), 64, 2), (("ADD",), 64, 0), (("MUL", "ADD"), None, 0)]
)
def test_scale_and_shift_per_channel_are_a_batch_norm_and_a_bias_is_none(tmp_path, program, kinds, width, found):
    x = put_conv(program, **TUNED)
    for kind in kinds:
        other = program.weight([1, 1, 1, width]) if width else program.weight(list(x.shape))
        x = put(program, binary(kind, x, other, program.tensor(x.shape, x.dtype, placement=x.placement), 30_000))
    rows = [len(claim.rows) for claim in claims(batch_norm_unfolded.CHECK, case_of(tmp_path, program))]
    assert rows == [found] * bool(found)


def test_group_norm_cannot_be_folded(tmp_path, program):
    y = put_conv(program, **TUNED)
    normed = program.tensor(y.shape, y.dtype, placement=y.placement)
    put(program, DeviceOp("GroupNorm", (y,), (normed,), 30_000, fidelity="HiFi4"))
    assert not claims(batch_norm_unfolded.CHECK, case_of(tmp_path, program))


# --- conv-sliced-in-dram


def slices(program, *, allocated=100_000, kernel_ns=20_000):
    """A conv in two slices of the height: fetched, convolved, written."""
    conv = Conv(block=(8, 6), allocated=allocated)
    whole = relu(program, program.tensor([1, 1, 2 * conv.rows + 256, 64], layout="ROW_MAJOR"))
    filled = program.tensor([1, 1, 2 * conv.rows, conv.columns], "BFLOAT8_B")
    for _ in range(2):
        part = rows_of(program, conv.placed(256, 64), conv.rows)
        put(program, DeviceOp("PaddedSliceDeviceOperation", (whole,), (part,), kernel_ns))
        y = put_conv(program, conv, put_halo(program, part, conv))
        put(program, DeviceOp("SliceWriteDeviceOperation", (y, filled), (filled,), kernel_ns))


def test_slices_of_a_conv_that_fits_whole_cost_what_their_transport_costs(tmp_path, program):
    slices(program)
    claim = the_claim(conv_sliced_in_dram.CHECK, case_of(tmp_path, program))
    assert len(claim.rows) == 4
    assert claim.at_most_ns.sum() == 80_000
    assert "2 of them would fit" in claim.claim
    assert "Conv2dL1FullSliceConfig" in claim.fix


def test_slices_of_a_conv_too_large_for_l1_are_told_without_a_saving(tmp_path, program):
    slices(program, allocated=700_000)
    claim = the_claim(conv_sliced_in_dram.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.sum() == 0
    assert "0 of them would fit" in claim.claim


def test_slices_nobody_convolves_are_not_this_checks(tmp_path, program):
    x = put_conv(program, **TUNED)
    y = relu(program, program.tensor([1, 1, 64, 64]))
    put(program, DeviceOp("SliceWriteDeviceOperation", (y, x), (x,), 50_000))
    (said,) = conv_sliced_in_dram.CHECK.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


# --- conv-cores-idle


def test_a_conv_on_a_fixed_grid_is_told_what_the_whole_grid_would_leave_its_busiest_core(tmp_path):
    program = Program("blackhole")  # 11 x 10 cores
    put_conv(program, layout="BLOCK", grid=(8, 8), channel_cores=8, per_core=(8, 1), block=(8, 6))
    claim = the_claim(conv_cores_idle.CHECK, case_of(tmp_path, program))
    assert "64 of 110" in claim.claim
    assert claim.at_most_ns.tolist() == [25_000]  # 64 x 8 tiles: 6 instead of 8 per core


@pytest.mark.parametrize(
    ("change", "grid"),
    [
        ({"grid": (8, 8), "per_core": (1, 2), "block": (1, 6)}, "64 tiles of rows cannot be cut further"),
        ({"grid": (11, 9), "per_core": (8, 2), "block": (8, 6)}, "8 tiles stay 8 on 110 cores"),
    ],
    ids=["one tile each", "nearly all cores"],
)
def test_idle_cores_that_nothing_could_be_dealt_to_are_not_counted(tmp_path, change, grid):
    program = Program("blackhole")
    put_conv(program, **change)
    assert not claims(conv_cores_idle.CHECK, case_of(tmp_path, program)), grid


def test_without_a_stated_grid_the_most_cores_used_stand_for_it(tmp_path):
    program = Program("wormhole_b0")
    put_conv(program, grid=(4, 4), per_core=(8, 2), block=(8, 6))
    relu(program, program.tensor([1, 1, 2048, 64]))
    claim = the_claim(conv_cores_idle.CHECK, case_of(tmp_path, program, generation="C4"))
    assert "most cores any op used" in claim.caveat


# --- weights-prepared-every-call


def prepared(program):
    raw = program.weight([1, 1, 576, 64], layout="ROW_MAJOR")
    weight = put(program, tilize(raw, program.tensor([1, 1, 576, 64]), 30_000))
    conv = Conv(block=(8, 6))
    x, out = halo_output(program, conv), program.tensor([1, 1, conv.rows, conv.columns], conv.out)
    op = DeviceOp(
        "Conv2dDeviceOperation",
        (x, weight),
        (out,),
        100_000,
        cores=64,
        fidelity="HiFi2",
        attributes=conv.attributes(),
    )
    put(program, op)


def test_weights_tilized_in_a_warm_iteration_are_prepared_once_too_often(tmp_path, program):
    prepared(program)
    claim = the_claim(weights_prepared_every_call.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [30_000]
    assert "prepare_conv_weights" in claim.fix


def test_weights_prepared_in_the_only_pass_may_be_right(tmp_path, program):
    prepared(program)
    (said,) = weights_prepared_every_call.CHECK.look(case_of(tmp_path, program, ONE_PASS))
    assert isinstance(said, CannotTell)
    assert "2 or more iterations" in said.why


def test_a_second_operand_that_ops_computed_is_no_weight(tmp_path, program):
    a, b = program.tensor([1, 1, 576, 64]), program.weight([1, 1, 64, 64])
    made = put(program, matmul(a, b, program.tensor([1, 1, 576, 64]), 20_000))
    weight = put(program, tilize(made, program.tensor([1, 1, 576, 64], "BFLOAT8_B"), 30_000))
    conv = Conv(block=(8, 6))
    x, out = halo_output(program, conv), program.tensor([1, 1, conv.rows, conv.columns], conv.out)
    put(program, DeviceOp("Conv2dDeviceOperation", (x, weight), (out,), 100_000, attributes=conv.attributes()))
    assert not claims(weights_prepared_every_call.CHECK, case_of(tmp_path, program))
