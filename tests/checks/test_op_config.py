"""The configs of an op as one value: what it has stays, what others set stays, and the whole must fit L1."""

from __future__ import annotations

from dataclasses import replace

from tests.checks.asking import asker
from tests.checks.conv_programs import of_unknown_chip, put_conv, with_conv
from tests.checks.programs import configured, conv, prefill
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.checks.op_config import ComputeConfig, present, set_alone
from ttnn_mcp.checks.shared.compute_configs import sets_compute


def case_of(tmp_path, program, **how):
    return asker(__name__, tmp_path).case(program, **how)


def test_a_changed_config_keeps_what_the_op_has(tmp_path):
    program = Program("wormhole_b0")
    configured(program, fp32=1, packer=0)
    conv(program, fidelity="HiFi3")
    case = case_of(tmp_path, program)
    assert present(case, 0).computing(packer_l1_acc="True").compute_text == (
        "compute_kernel_config=ttnn.init_device_compute_kernel_config(device.arch(), "
        "math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=True, fp32_dest_acc_en=True, packer_l1_acc=True)"
    )
    assert "compute_config=" in present(case, 1).compute_text
    assert "fp32_dest_acc_en=False, packer_l1_acc=False" in present(case, 1).compute_text
    assert "MathFidelity.HiFi3" in present(case, 1).compute_text


def test_a_matmul_that_says_no_config_keeps_what_ttnn_runs_it_with(tmp_path):
    """TTNN 0.81.1: a matmul left to itself accumulates in the packer, a conv does not, a minimal matmul in float32."""
    program = Program("wormhole_b0")
    prefill(program)
    conv(program)
    prefill(program)
    program.device_ops[-1].op_code = "MinimalMatmulDeviceOperation"
    prefill(program, output="FLOAT32")
    for op in program.device_ops:
        op.attributes = {}
    case = case_of(tmp_path, program)
    assert [present(case, row).compute_text.partition("math_approx_mode=")[2] for row in range(4)] == [
        "False, fp32_dest_acc_en=False, packer_l1_acc=True)",
        "True, fp32_dest_acc_en=False, packer_l1_acc=False)",
        "False, fp32_dest_acc_en=True, packer_l1_acc=True)",
        "False, fp32_dest_acc_en=True, packer_l1_acc=False)",
    ]


def test_a_throttle_level_that_is_set_is_kept_and_one_that_is_not_is_not_named():
    level = ComputeConfig("HiFi2", "False", "False", "True", "ttnn.ThrottleLevel.LEVEL_2")
    assert list(level.fields) == [
        "math_fidelity",
        "math_approx_mode",
        "fp32_dest_acc_en",
        "packer_l1_acc",
        "throttle_level",
    ]
    assert "throttle_level" not in replace(level, throttle_level="").fields


def test_a_fix_that_cannot_be_leaves_the_op_as_it_is(tmp_path):
    case = case_of(tmp_path, with_conv())
    assert set_alone(case, 0, lambda _: None) == present(case, 0)
    assert not set_alone(case, 0, lambda _: None).changes


def test_of_a_conv_config_what_changes_is_named_and_what_the_op_has(tmp_path):
    case = case_of(tmp_path, with_conv())
    now = present(case, 0)
    assert now.conv_fields == {}
    larger = replace(now, conv=replace(now.conv, block_h=4))
    assert larger.conv_fields == {"act_block_h_override": "128"}
    assert larger.changed_fields == ("act_block_h_override",)
    doubled = replace(now, conv=replace(now.conv, act_double=True))
    assert doubled.conv_fields == {"enable_act_double_buffer": "True"}
    assert larger.changes == {"conv": "ttnn.Conv2dConfig(act_block_h_override=128); other fields as now"}
    assert larger.conv_text.startswith("ttnn.Conv2dConfig(act_block_h_override=128)  # line 3: 0.")
    assert doubled.changes["conv"].startswith(
        "ttnn.Conv2dConfig(enable_act_double_buffer=True, act_block_h_override=64);"
    )
    whole = doubled.with_conv_field("reallocate_halo_output", "False")
    assert whole.conv_text.endswith(" MB L1; other fields as now")
    assert whole.changed_fields == ("enable_act_double_buffer", "reallocate_halo_output")


@for_all(
    ("printed", "kept"),
    [
        ({}, ""),
        ({"config_tensors_in_dram": True}, ", config_tensors_in_dram=True"),
        ({"config_tensors_in_dram": False, "force_split_reader": None}, ""),
        ({"enable_act_double_buffer": True}, ", enable_act_double_buffer=True"),
        ({"enable_weights_double_buffer": True}, ", enable_weights_double_buffer=True"),
        ({"enable_activation_reuse": True}, ", enable_activation_reuse=True"),
        ({"full_inner_dim": True}, ", full_inner_dim=True"),
        ({"force_split_reader": False}, ", force_split_reader=False"),
        ({"untilize_out": True}, ", output_layout=ttnn.ROW_MAJOR_LAYOUT"),
        (
            {"activation": "BasicUnaryWithParam<float>(op_type=UnaryOpType::RELU,param={})"},
            ", activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU)",
        ),
        ({"activation": "UnaryWithParam(op_type=UnaryOpType::RELU)"}, ", activation=<as now>"),
    ],
)
def test_a_pasted_conv_config_keeps_what_the_op_prints_and_ttnn_would_not_take(tmp_path, printed, kept):
    """A call takes one config: what a new one leaves out falls to TTNN's default, config_tensors_in_dram to False."""
    case = case_of(tmp_path, with_conv(block=(8, 6), more=tuple(printed.items())))
    changed = present(case, 0).with_conv_field("reallocate_halo_output", "False")
    assert changed.conv_text.partition("  #")[0] == f"ttnn.Conv2dConfig(reallocate_halo_output=False{kept})"
    assert changed.changed_fields == ("reallocate_halo_output",)
    other = changed.with_conv_field("activation", "f")
    assert "reallocate_halo_output=False, activation=f" in other.conv_text
    assert other.conv_text.count(" activation=") == 1


@for_all(("above", "fits"), [(0, True), (1, False)])
def test_a_value_must_fit_l1_with_its_sums_to_the_byte(tmp_path, above, fits):
    program = Program("wormhole_b0")
    put_conv(program, per_core=(8, 2), block=(2, 6), layout="BLOCK", channel_cores=8)
    case = case_of(tmp_path, program)
    wider = sets_compute(packer_l1_acc="True", fp32_dest_acc_en="True")(present(case, 0))
    assert wider.l1_bytes > present(case, 0).l1_bytes
    spare = case.l1_limit.safe_bytes - wider.l1_bytes
    full = replace(wider.conv, allocated_bytes=wider.conv.allocated_bytes + spare + above)
    assert replace(wider, conv=full).fits is fits


def test_what_takes_no_more_than_now_fits_even_above_the_safe_limit(tmp_path):
    case = case_of(tmp_path, with_conv(allocated=1_380_000))
    now = present(case, 0)
    assert now.l1_bytes > case.l1_limit.safe_bytes
    assert now.fits


def test_what_has_no_model_of_l1_says_no_size_and_counts_as_fitting(tmp_path):
    program = with_conv()
    prefill(program)
    case = case_of(tmp_path, program)
    now, matmul = present(case, 0), present(case, 1)
    depthwise = replace(now, conv=replace(now.conv, depthwise=True, block_h=4))
    assert [one.l1_bytes for one in (matmul, depthwise)] == [None, None]
    assert matmul.fits
    assert depthwise.fits
    alone = f"ttnn.Conv2dConfig(act_block_h_override=128)  # line {case.line(0)}"
    assert depthwise.conv_text == f"{alone}; other fields as now"


def test_without_a_known_limit_of_l1_a_conv_config_tells_no_room(tmp_path):
    case = case_of(tmp_path, of_unknown_chip(), generation="C4")
    assert case.l1_limit is None
    now = present(case, 0)
    assert now.l1_bytes is not None
    larger = replace(now, conv=replace(now.conv, block_h=4))
    alone = f"ttnn.Conv2dConfig(act_block_h_override=128)  # line {case.line(0)}"
    assert larger.conv_text == f"{alone}; other fields as now"
    assert larger.fits


def test_an_op_that_is_no_conv_has_no_conv_config(tmp_path):
    program = with_conv()
    prefill(program)
    case = case_of(tmp_path, program)
    matmul = present(case, 1)
    assert matmul.conv_fields == {}
    assert replace(matmul, conv=present(case, 0).conv).conv_fields == {}
    assert replace(present(case, 0), conv=None).conv_fields == {}


@for_all(
    ("before", "after", "said"),
    [(False, True, {"transpose_shards": "True"}), (True, True, {}), (False, False, {}), (True, False, {})],
)
def test_a_conv_on_another_grid_is_told_its_layout_cores_and_block(tmp_path, monkeypatch, before, after, said):
    case = case_of(tmp_path, with_conv(layout="BLOCK", channel_cores=8))
    ran = present(case, 0)
    ran = replace(ran, conv=replace(ran.conv, transposed=before))
    monkeypatch.setattr("ttnn_mcp.checks.op_config.present", lambda *_: ran)
    spread = replace(ran, conv=replace(ran.conv, transposed=after), grid=(8, 4))
    assert spread.conv_fields == {
        "override_sharding_config": "True",
        "shard_layout": "ttnn.TensorMemoryLayout.BLOCK_SHARDED",
        "core_grid": "ttnn.CoreRangeSet({ttnn.CoreRange((0, 0), (7, 3))})",
        **said,
        "act_block_h_override": "64",
    }


def test_a_conv_in_another_layout_is_told_to_reshard_and_its_block(tmp_path):
    now = present(case_of(tmp_path, with_conv()), 0)
    assert replace(now, conv=replace(now.conv, layout="WIDTH_SHARDED")).conv_fields == {
        "shard_layout": "ttnn.TensorMemoryLayout.WIDTH_SHARDED",
        "reshard_if_not_optimal": "True",
        "act_block_h_override": "64",
    }


def test_a_double_buffer_that_is_taken_away_is_said_to_be_off(tmp_path):
    now = present(case_of(tmp_path, with_conv(act_double=True)), 0)
    assert now.conv_fields == {}
    single = replace(now, conv=replace(now.conv, act_double=False))
    assert single.conv_fields == {"enable_act_double_buffer": "False"}


def test_of_a_compute_config_only_the_fields_that_change_are_named(tmp_path):
    now = present(case_of(tmp_path, with_conv()), 0)
    assert now.changed_fields == ()
    assert now.computing(packer_l1_acc="True").changed_fields == ("packer_l1_acc",)


@for_all(
    ("printed", "kept"),
    [
        (",throttle_level=ThrottleLevel::LEVEL_2", "ttnn.ThrottleLevel.LEVEL_2"),
        (",throttle_level=ThrottleLevel::NO_THROTTLE", ""),
        ("", ""),
    ],
)
def test_a_throttle_level_is_read_from_the_config_that_the_row_prints(tmp_path, printed, kept):
    config = f"WormholeComputeKernelConfig(fp32_dest_acc_en=0,packer_l1_acc=0{printed})"
    case = case_of(tmp_path, with_conv(more=(("compute_kernel_config", config),)))
    assert present(case, 0).compute.throttle_level == kept
