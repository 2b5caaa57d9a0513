"""Step 1: each check fires where a format costs time, stays silent just below its line and on its false positives."""

from __future__ import annotations

import pytest

from tests.checks.programs import (
    NARROW,
    WIDE,
    cast,
    configured,
    conv,
    decode,
    linear,
    prefill,
    relu,
    scaled,
    to_tiles,
)
from tests.checks.rows import ONE_PASS, case_of, claims, pass_time, put, the_claim
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.checks.check import CannotTell, NotApplicable
from ttnn_mcp.checks.step1_data_formats import (
    fidelity_above_operands,
    fidelity_below_operands,
    fp32_accumulation,
    output_wider_than_consumer,
    packer_accumulation_off,
    typecast_round_trip,
    wide_activations,
    wide_weights,
)


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")  # 64 cores at 1 GHz; 240 GB/s of DRAM are achievable


def wide_weights_program(program):
    decode(program)


def high_fidelity_program(program):
    prefill(program)


def low_fidelity_program(program):
    prefill(program, weights=WIDE, fidelity="LoFi")


def round_trip_program(program):
    x = cast(program, relu(program, program.tensor([1, 1, 512, 512], NARROW)), WIDE)
    relu(program, cast(program, x, NARROW))


def wide_output_program(program):
    linear(program, 512, 512, 512, 30_000, weights=NARROW)
    relu(program, cast(program, program.calls[-1].outputs[0], NARROW))


PAIRS = [
    (wide_weights.CHECK, wide_weights_program, "saving", 0.01),
    (fidelity_above_operands.CHECK, high_fidelity_program, "saving", 0.01),
    (fidelity_below_operands.CHECK, low_fidelity_program, "time", 0.01),
    (fp32_accumulation.CHECK, lambda program: configured(program, fp32=1), "time", 0.01),
    (packer_accumulation_off.CHECK, lambda program: configured(program, packer=0), "time", 0.01),
    (wide_activations.CHECK, scaled, "saving", 0.01),
    (typecast_round_trip.CHECK, round_trip_program, "saving", 0.01),
    (output_wider_than_consumer.CHECK, wide_output_program, "saving", 0.005),
]


@pytest.mark.parametrize("pair", PAIRS, ids=[pair[0].id for pair in PAIRS])
@pytest.mark.parametrize("over", [True, False], ids=["just above the line", "just below"])
def test_a_pair_at_every_line(tmp_path, pair, over):
    check, build, counted, line = pair
    alone = Program("wormhole_b0")
    build(alone)
    case = case_of(tmp_path, alone)
    claim = the_claim(check, case)
    reference = claim.at_most_ns.sum() if counted == "saving" else case.kernel_ns[claim.rows].sum()
    longer = Program("wormhole_b0")
    build(longer)
    pass_time(longer, reference / line * (0.995 if over else 1.005) - case.total_ns)
    assert bool(claims(check, case_of(tmp_path, longer))) is over


@pytest.mark.parametrize(("check", "build"), [pair[:2] for pair in PAIRS], ids=[pair[0].id for pair in PAIRS])
def test_a_claim_is_short_cites_its_ops_and_promises_no_more_than_they_take(tmp_path, program, check, build):
    build(program)
    case = case_of(tmp_path, program)
    claim = the_claim(check, case)
    assert len(claim.claim) <= 200
    assert len(claim.assumption) <= 120
    assert len(claim.fix) <= 260
    assert len(claim.verify) <= 120
    assert len(claim.caveat or "") <= 160
    assert (claim.at_most_ns <= case.kernel_ns[claim.rows]).all()
    lines = {case.line(int(row)) for row in claim.rows} | {case.line(int(row)) - 1 for row in claim.rows}
    assert {one.row for one in claim.evidence} <= lines
    assert all(one.value is not None for one in claim.evidence)


@pytest.mark.parametrize("check", [pair[0] for pair in PAIRS], ids=[pair[0].id for pair in PAIRS])
def test_a_run_without_such_ops_is_not_applicable(tmp_path, program, check):
    pass_time(program, 1000)
    (said,) = check.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


def test_narrower_weights_save_their_bytes_at_achievable_bandwidth_and_no_more(tmp_path, program):
    decode(program)
    claim = the_claim(wide_weights.CHECK, case_of(tmp_path, program))
    weights, rest = 4096 * 4096, 2 * 32 * 4096 * 2
    spared = weights * (2 - 1.0625) / (weights * 2 + rest)
    assert claim.at_most_ns.sum() == pytest.approx(300_000 * spared)


def test_a_weight_bound_op_at_its_roofline_keeps_the_bytes_that_stay(tmp_path, program):
    linear(program, 32, 4096, 4096, 125_000)
    claim = the_claim(wide_weights.CHECK, case_of(tmp_path, program))
    stays = (4096 * 4096 * 1.0625 + 2 * 32 * 4096 * 2) / 240
    assert claim.at_most_ns.sum() == pytest.approx(125_000 - stays)


@pytest.mark.parametrize(
    "change",
    [{"weights": NARROW}, {"where": L1}, {"fidelity": "HiFi4", "cores": 1}],
    ids=["narrow already", "in L1", "arithmetic of one core outweighs the bytes"],
)
def test_weights_stay_as_they_are_where_narrower_ones_would_not_help(tmp_path, program, change):
    decode(program, **change)
    assert not claims(wide_weights.CHECK, case_of(tmp_path, program))


def test_attention_has_no_weights_to_narrow(tmp_path, program):
    key = relu(program, program.tensor([1, 1, 4096, 4096]))
    x, y = program.tensor([1, 1, 32, 4096]), program.tensor([1, 1, 32, 4096])
    put(program, DeviceOp("MatmulDeviceOperation", (x, key), (y,), 300_000, fidelity="HiFi2"))
    (said,) = wide_weights.CHECK.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


def test_without_an_architecture_bytes_have_no_time(tmp_path):
    program = Program("wormhole_b0", clock_ghz=0.5)
    decode(program)
    (said,) = wide_weights.CHECK.look(case_of(tmp_path, program, generation="C2"))
    assert isinstance(said, CannotTell)


def test_a_front_end_is_told_its_own_option_and_its_line_is_cited(tmp_path, program):
    decode(program)
    claim = the_claim(wide_weights.CHECK, case_of(tmp_path, program, generation="tt-torch"))
    assert "enable_bfp8_conversion" in claim.fix
    assert any(one.column == "LOC" for one in claim.evidence)


def test_half_the_passes_save_half_the_time_where_nothing_else_binds(tmp_path, program):
    prefill(program)
    claim = the_claim(fidelity_above_operands.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.sum() == 2_000_000
    assert "math_fidelity=ttnn.MathFidelity.HiFi2" in claim.fix
    assert "compute_kernel_config=" in claim.fix


def test_fewer_passes_never_promise_to_beat_the_arithmetic_that_stays(tmp_path, program):
    prefill(program, fidelity="HiFi4", output=NARROW)
    at = case_of(tmp_path, program)
    flop = 2 * 4096**3
    assert at.roofline.compute_ns[0] == pytest.approx(flop * 4 / 4096 / 64)
    slow = Program("wormhole_b0")
    linear(slow, 4096, 4096, 4096, 2_100_000, weights=NARROW, fidelity="HiFi4")
    claim = the_claim(fidelity_above_operands.CHECK, case_of(tmp_path, slow))
    assert claim.at_most_ns.sum() == pytest.approx(2_100_000 / 2)
    assert claim.at_most_ns.sum() <= 2_100_000 - flop * 2 / 4096 / 64 + 1


def test_a_conv_takes_its_compute_config_by_another_name(tmp_path, program):
    conv(program)
    claim = the_claim(fidelity_above_operands.CHECK, case_of(tmp_path, program))
    assert claim.fix.startswith("compute_config=")
    assert "1 conv " in claim.claim


@pytest.mark.parametrize(
    "change",
    [
        {"fidelity": "LoFi"},
        {"fidelity": "HiFi2"},
        {"weights": "FLOAT32", "activations": "FLOAT32"},
        {"weights": "BFLOAT4_B", "fidelity": "LoFi"},
    ],
    ids=lambda change: "-".join(change.values()),
)
def test_a_fidelity_that_the_operands_can_use_is_right(tmp_path, program, change):
    prefill(program, **change)
    assert not claims(fidelity_above_operands.CHECK, case_of(tmp_path, program))


def test_bfloat4_weights_need_no_second_pass(tmp_path, program):
    prefill(program, weights="BFLOAT4_B", fidelity="HiFi2")
    assert "MathFidelity.LoFi" in the_claim(fidelity_above_operands.CHECK, case_of(tmp_path, program)).fix


def test_a_memory_bound_matmul_gains_nothing_from_fewer_passes(tmp_path, program):
    decode(program, fidelity="HiFi4")
    assert not list(fidelity_above_operands.CHECK.look(case_of(tmp_path, program)))


def test_the_fidelity_of_element_wise_ops_means_nothing(tmp_path, program):
    scaled(program)
    (said,) = fidelity_above_operands.CHECK.look(case_of(tmp_path, program))
    assert isinstance(said, NotApplicable)


@pytest.mark.parametrize(
    "check", [fidelity_above_operands.CHECK, fidelity_below_operands.CHECK], ids=lambda c: c.id
)
def test_an_empty_fidelity_column_is_no_verdict(tmp_path, program, check):
    prefill(program)
    program.calls[-1].ops[0].fidelity = None
    (said,) = check.look(case_of(tmp_path, program))
    assert isinstance(said, CannotTell)


def test_lofi_on_bfloat16_is_a_risk_and_no_saving(tmp_path, program):
    low_fidelity_program(program)
    claim = the_claim(fidelity_below_operands.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.sum() == 0
    assert claim.caveat is None


def test_a_core_grid_is_named_as_the_likely_reason_for_lofi(tmp_path, program):
    prefill(program, weights=WIDE, fidelity="LoFi", core_grid="(x=8,y=8)")
    assert "core_grid" in the_claim(fidelity_below_operands.CHECK, case_of(tmp_path, program)).caveat


@pytest.mark.parametrize("change", [{"weights": NARROW}, {"activations": NARROW}, {"fidelity": "HiFi2"}], ids=str)
def test_lofi_with_a_narrow_side_is_common_practice(tmp_path, program, change):
    prefill(program, **{"weights": WIDE, "fidelity": "LoFi", **change})
    assert not claims(fidelity_below_operands.CHECK, case_of(tmp_path, program))


def test_a_try_keeps_every_other_setting_as_it_is(tmp_path, program):
    configured(program, fp32=1, packer=0)
    case = case_of(tmp_path, program)
    assert "fp32_dest_acc_en=False, packer_l1_acc=False" in the_claim(fp32_accumulation.CHECK, case).fix
    assert "fp32_dest_acc_en=True, packer_l1_acc=True" in the_claim(packer_accumulation_off.CHECK, case).fix


@pytest.mark.parametrize("subblock", [(1, 2), (1, 3)])
def test_a_subblock_below_the_limit_would_not_grow_without_float32(tmp_path, program, subblock):
    configured(program, fp32=1, subblock=subblock)
    assert not list(fp32_accumulation.CHECK.look(case_of(tmp_path, program)))


def test_float32_operands_are_meant_to_accumulate_in_float32(tmp_path, program):
    configured(program, fp32=1)
    program.tensors[0].dtype = "FLOAT32"
    assert not list(fp32_accumulation.CHECK.look(case_of(tmp_path, program)))


@pytest.mark.parametrize(("blocks", "fires"), [(2, True), (1, False)])
def test_a_conv_with_a_bias_accumulates_from_the_second_block_on(tmp_path, program, blocks, fires):
    conv(program, blocks=blocks)
    assert bool(claims(packer_accumulation_off.CHECK, case_of(tmp_path, program))) is fires


@pytest.mark.parametrize("check", [fp32_accumulation.CHECK, packer_accumulation_off.CHECK], ids=lambda c: c.id)
def test_without_a_kernel_config_accumulation_is_not_known(tmp_path, program, check):
    prefill(program)
    program.calls[-1].ops[0].attributes = {}
    (said,) = check.look(case_of(tmp_path, program))
    assert isinstance(said, CannotTell)


@pytest.mark.parametrize(
    "change",
    [{"dtype": NARROW}, {"layout": "ROW_MAJOR"}, {"kernel_ns": 2_000_000}, {"kind": "ADD"}],
    ids=["narrow already", "rows cannot be block float", "not bound by DRAM", "may be the residual path"],
)
def test_activations_stay_as_they_are_where_narrower_ones_would_not_help(tmp_path, program, change):
    scaled(program, **change)
    assert not claims(wide_activations.CHECK, case_of(tmp_path, program))


def test_a_slice_is_spared_the_bytes_it_touches_not_those_of_its_whole_input(tmp_path, program):
    x, out = program.tensor([1, 1, 4096, 16384]), program.tensor([1, 1, 4096, 4096])
    put(program, DeviceOp("SliceDeviceOperation", (x,), (out,), 300_000))
    claim = the_claim(wide_activations.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.sum() <= (1 - 0.53125) * 300_000 * 1.0001


def test_a_cast_that_somebody_else_reads_stays(tmp_path, program):
    x = cast(program, relu(program, program.tensor([1, 1, 512, 512], NARROW)), WIDE)
    relu(program, x, "FLOAT32")
    cast(program, x, NARROW)
    claim = the_claim(typecast_round_trip.CHECK, case_of(tmp_path, program))
    assert claim.at_most_ns.tolist() == [0.0, 20_000.0]


def test_an_op_between_two_casts_may_need_the_other_type(tmp_path, program):
    x = cast(program, relu(program, program.tensor([1, 1, 512, 512], WIDE)), "UINT32")
    y = put(program, DeviceOp("AccumulationDeviceOperation", (x,), (program.tensor([1, 1, 512, 512], "UINT32"),)))
    cast(program, y, WIDE)
    assert not claims(typecast_round_trip.CHECK, case_of(tmp_path, program))


def test_a_constant_cast_per_iteration_shows_only_when_there_are_iterations(tmp_path, program):
    cast(program, program.weight([1, 1, 512, 512]), NARROW)
    (claim,) = claims(typecast_round_trip.CHECK, case_of(tmp_path, program))
    assert "per iteration" in claim.claim
    assert not claims(typecast_round_trip.CHECK, case_of(tmp_path, program, ONE_PASS))


def test_a_tilize_can_write_the_narrow_type_itself(tmp_path, program):
    x = to_tiles(program, program.tensor([1, 1, 512, 512], layout="ROW_MAJOR"))
    relu(program, cast(program, x, NARROW))
    claim = the_claim(output_wider_than_consumer.CHECK, case_of(tmp_path, program))
    assert "ttnn.to_layout(x, ttnn.TILE_LAYOUT, dtype=ttnn.bfloat8_b)" in claim.fix
    assert claim.at_most_ns.sum() == 20_000


def test_a_wide_output_that_somebody_reads_is_needed(tmp_path, program):
    y = linear(program, 512, 512, 512, 30_000, weights=NARROW)
    cast(program, y, NARROW)
    relu(program, y)
    assert not claims(output_wider_than_consumer.CHECK, case_of(tmp_path, program))


def test_a_cast_to_a_wider_type_is_none_of_its_business(tmp_path, program):
    y = linear(program, 512, 512, 512, 30_000, weights=NARROW, output=NARROW)
    cast(program, y, WIDE)
    assert not claims(output_wider_than_consumer.CHECK, case_of(tmp_path, program))
