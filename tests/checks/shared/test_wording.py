"""Phrases of claims: times, examples, and a compute config with one field changed."""

from __future__ import annotations

import pytest

from tests.checks.programs import configured, conv, linear, prefill
from tests.checks.rows import case_of
from tests.profiles import Program
from ttnn_mcp.checks.shared.wording import cite_op, cite_setting, example, kernel_config, kinds, took


@pytest.mark.parametrize(("ns", "text"), [(19_476_700, "19.5 ms"), (999_000, "999 us"), (1_000_000, "1.0 ms")])
def test_times_are_said_in_the_unit_a_person_would_use(ns, text):
    assert took(ns) == text


def test_an_example_names_the_line_in_the_file(tmp_path):
    program = Program("wormhole_b0")
    linear(program, 19, 1280, 1280, 1000)
    case = case_of(tmp_path, program)
    assert example(case, 0) == f"19[32]x1280 * 1280x1280 -> 19[32]x1280 at line {case.line(0)}"


def test_a_changed_config_keeps_what_the_op_has(tmp_path):
    program = Program("wormhole_b0")
    configured(program, fp32=1, packer=0)
    conv(program, fidelity="HiFi3")
    case = case_of(tmp_path, program)
    assert kernel_config(case, 0, packer_l1_acc="True") == (
        "compute_kernel_config=ttnn.init_device_compute_kernel_config(device.arch(), "
        "math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=True, fp32_dest_acc_en=True, packer_l1_acc=True)"
    )
    assert "compute_config=" in kernel_config(case, 1)
    assert "MathFidelity.HiFi3" in kernel_config(case, 1)


def test_kinds_are_counted(tmp_path):
    program = Program("wormhole_b0")
    prefill(program)
    prefill(program)
    conv(program)
    case = case_of(tmp_path, program)
    assert kinds(case, case.of_family("conv", "matmul").nonzero()[0]) == "1 conv and 2 matmuls"


def test_cited_settings_and_cells_stand_in_the_file(tmp_path):
    program = Program("wormhole_b0")
    configured(program, fp32=1)
    case = case_of(tmp_path, program)
    (kernel, dtype) = cite_op(case, 0, (case.input(1), "DATATYPE"), (case.input(2), "DATATYPE"))
    assert (kernel.value, dtype.column, dtype.value) == (4_000_000, "INPUT_1_DATATYPE", "BFLOAT8_B")
    assert cite_setting(case, 0, "compute_kernel_config", "fp32_dest_acc_en").value == "1"
    assert cite_setting(case, 0, "compute_kernel_config", "unheard_of").value is None
