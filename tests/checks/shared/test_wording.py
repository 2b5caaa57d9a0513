"""Phrases of claims: times, examples, and a compute config with one field changed."""

from __future__ import annotations

import pytest

from tests.checks.asking import asker
from tests.checks.programs import configured, conv, linear, prefill
from tests.checks.rows import pass_time, put
from tests.checks.step3_programs import norm
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.checks.shared.wording import cite_op, cite_setting, example, kernel_config, kinds, took


@pytest.fixture
def case_of(tmp_path):
    return lambda program, generation="C7": asker("test_norm_on_few_cores", tmp_path).case(
        program, generation=generation
    )


@pytest.mark.parametrize(("ns", "text"), [(19_476_700, "19.5 ms"), (999_000, "999 us"), (1_000_000, "1.0 ms")])
def test_times_are_said_in_the_unit_a_person_would_use(ns, text):
    assert took(ns) == text


def test_an_example_names_the_line_in_the_file(case_of):
    program = Program("wormhole_b0")
    linear(program, 19, 1280, 1280, 1000)
    case = case_of(program)
    assert example(case, 0) == f"19[32]x1280 * 1280x1280 -> 19[32]x1280 at line {case.line(0)}"


def test_a_changed_config_keeps_what_the_op_has(case_of):
    program = Program("wormhole_b0")
    configured(program, fp32=1, packer=0)
    conv(program, fidelity="HiFi3")
    case = case_of(program)
    assert kernel_config(case, 0, packer_l1_acc="True") == (
        "compute_kernel_config=ttnn.init_device_compute_kernel_config(device.arch(), "
        "math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=True, fp32_dest_acc_en=True, packer_l1_acc=True)"
    )
    assert "compute_config=" in kernel_config(case, 1)
    assert "MathFidelity.HiFi3" in kernel_config(case, 1)


def test_kinds_are_counted(case_of):
    program = Program("wormhole_b0")
    prefill(program)
    prefill(program)
    conv(program)
    case = case_of(program)
    assert kinds(case, case.of_family("conv", "matmul").nonzero()[0]) == "1 conv and 2 matmuls"


def test_cited_settings_and_cells_stand_in_the_file(case_of):
    program = Program("wormhole_b0")
    configured(program, fp32=1)
    case = case_of(program)
    (kernel, dtype) = cite_op(case, 0, (case.input(1), "DATATYPE"), (case.input(2), "DATATYPE"))
    assert (kernel.value, dtype.column, dtype.value) == (4_000_000, "INPUT_1_DATATYPE", "BFLOAT8_B")
    assert cite_setting(case, 0, "compute_kernel_config", "fp32_dest_acc_en").value == "1"
    assert cite_setting(case, 0, "compute_kernel_config", "unheard_of").value is None


@pytest.mark.parametrize(
    ("kernel_ns", "text"), [(999_499, "999 us"), (1_000_000, "1.0 ms"), (19_476_700, "19.5 ms")]
)
def test_claims_give_times_and_shares_so(tmp_path, kernel_ns, text):
    program = Program("wormhole_b0")
    norm(program, kernel_ns=kernel_ns)
    pass_time(program, kernel_ns)
    claim = asker("norm-on-few-cores", tmp_path).ask(program).claim.claim
    assert f"cores ({text}, 50.0%): LayerNorm" in claim
    assert claim.endswith(f", {text}")


def test_shapes_take_48_characters_at_most(case_of):
    program = Program("wormhole_b0")
    for width in (1024, 10_240):
        x, y = program.tensor([1, 16, 64, 1024]), program.tensor([16, 16, 1024, width])
        put(program, DeviceOp("MadeUp", (x, x, x), (y,)))
    case = case_of(program)
    exact = "16x64x1024 * 16x64x1024 * 16x64x1024 -> 16x16x10"
    assert len("16x64x1024 * 16x64x1024 * 16x64x1024 -> 16x16x1024x1024") == 55
    assert example(case, 0) == f"{exact[:45]}... at line {case.line(0)}"


def test_shapes_of_48_characters_are_shown_whole(case_of):
    program = Program("wormhole_b0")
    for side in (32, 320):
        x, y = program.tensor([1, 16, 64, 1024]), program.tensor([1, 1, side, 3200])
        put(program, DeviceOp("MadeUp", (x, x, x), (y,)))
    case = case_of(program)
    assert example(case, 0) == f"16x64x1024 * 16x64x1024 * 16x64x1024 -> 32x3200 at line {case.line(0)}"
    assert len("16x64x1024 * 16x64x1024 * 16x64x1024 -> 320x3200") == 48
    assert example(case, 1) == f"16x64x1024 * 16x64x1024 * 16x64x1024 -> 320x3200 at line {case.line(1)}"
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 16, 64, 1024]), program.tensor([1, 1, 3200, 3200])
    put(program, DeviceOp("MadeUp", (x, x, x), (y,)))
    case = case_of(program)
    assert example(case, 0) == f"16x64x1024 * 16x64x1024 * 16x64x1024 -> 3200x... at line {case.line(0)}"


def test_an_operand_that_the_op_does_not_have_is_not_cited(case_of):
    program = Program("wormhole_b0")
    x, y = program.tensor([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    put(program, DeviceOp("MadeUpOfOne", (x,), (y,)))
    put(program, DeviceOp("MadeUpOfTwo", (x, x), (y,)))
    case = case_of(program)
    cells = [cite_op(case, row, (case.input(1), "MEMORY"), (None, "MEMORY")) for row in (0, 1)]
    assert [len(found) for found in cells] == [1, 2]


def test_the_model_line_is_cited_where_the_report_has_it(case_of):
    program = Program("wormhole_b0")
    norm(program)
    (time, line) = cite_op(case_of(program, "tt-torch"), 0)
    assert (time.column, line.column) == ("DEVICE KERNEL DURATION [ns]", "LOC")
    assert "model.py" in line.value
    assert len(cite_op(case_of(program), 0)) == 1


def test_a_compiler_writes_the_config_itself(case_of):
    program = Program("wormhole_b0")
    configured(program)
    text = kernel_config(case_of(program, "tt-torch"), 0, packer_l1_acc="True", fp32_dest_acc_en="False")
    assert text.startswith(
        "the compiler writes the compute config: try a release that sets packer_l1_acc=True, fp32"
    )


def test_what_a_config_does_not_say_is_off_and_hifi2(case_of):
    program = Program("wormhole_b0")
    x, w, y = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64]), program.tensor([1, 1, 64, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,)))
    text = kernel_config(case_of(program), 0, packer_l1_acc="True")
    assert "MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=False, packer_l1_acc=True" in text


def test_a_struct_that_is_not_there_has_no_field(case_of):
    program = Program("wormhole_b0")
    norm(program)
    cell = cite_setting(case_of(program), 0, "unheard_of", "field")
    assert (cell.column, cell.value) == ("ATTRIBUTES.unheard_of.field", None)


def test_kinds_that_are_not_there_are_not_counted(case_of):
    program = Program("wormhole_b0")
    prefill(program)
    put(program, DeviceOp("SDPAOperation", (program.tensor([1, 8, 64, 64]),), (program.tensor([1, 8, 64, 64]),)))
    case = case_of(program)
    assert kinds(case, case.of_family("matmul", "attention").nonzero()[0]) == "1 matmul and 1 attention op"
