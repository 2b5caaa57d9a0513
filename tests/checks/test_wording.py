"""Phrases of claims: times, examples, cells."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests.checks.asking import asker
from tests.checks.programs import configured, conv, linear, prefill, relu
from tests.checks.rows import ONE_PASS
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.checks.wording import (
    FLOAT32_UNCONFIGURED,
    OTHERS_UNCONFIGURED,
    UNCONFIGURED,
    cite_op,
    cite_setting,
    example,
    in_one_unit,
    kinds,
    time_of,
    took,
    unprinted,
)


@for_all(("ns", "text"), [(19_476_700, "19.5 ms"), (999_000, "999 us"), (1_000_000, "1.0 ms")])
def test_times_are_said_in_the_unit_a_person_would_use(ns, text):
    assert took(ns) == text


@for_all(
    ("sentence", "told"),
    [
        ("2.0 ms, of it 35 us and 1,234.5 us", "2.0 ms, of it 0.035 ms and 1.23 ms"),
        ("999 us and 35 us", "999 us and 35 us"),
        ("2.0 ms of model.5 us, 7 usual", "2.0 ms of model.5 us, 7 usual"),
    ],
)
def test_a_sentence_has_one_unit_of_time(sentence, told):
    assert in_one_unit(sentence) == told


def case_of(tmp_path, program, **how):
    return asker(__name__, tmp_path).case(program, **how)


def test_an_example_names_the_line_in_the_file(tmp_path):
    program = Program("wormhole_b0")
    linear(program, 19, 1280, 1280, 1000)
    case = case_of(tmp_path, program)
    assert example(case, 0) == f"19[32]x1280 * 1280x1280 -> 19[32]x1280 at line {case.line(0)}"


@for_all(("n", "shapes"), [(1280, "1000[1024]x12800 * 12800x1280 -> 1000[1024]x1280"), (12800, None)])
def test_shapes_of_more_than_48_characters_are_cut(tmp_path, n, shapes):
    program = Program("wormhole_b0")
    linear(program, 1000, 12800, n, 1000)
    case = case_of(tmp_path, program)
    shapes = shapes or "1000[1024]x12800 * 12800x12800 -> 1000[1024]x..."
    assert example(case, 0) == f"{shapes} at line {case.line(0)}"


def test_a_share_is_of_kernels_and_of_the_gaps_of_a_warm_window(tmp_path):
    program = Program("wormhole_b0")
    for width in (1280, 2560):
        linear(program, 19, width, 1280, 10_000)
    warm = case_of(tmp_path, program)
    gaps = warm.timeline.gap_ns
    assert gaps > 1_000
    assert time_of(warm, np.array([0])) == f"10 us, {10_000 / (20_000 + gaps):.1%}"
    (tmp_path / "cold").mkdir()
    cold = case_of(tmp_path / "cold", program, iterations=ONE_PASS)
    assert time_of(cold, np.array([0])) == "10 us, 50.0%"


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


def test_only_cells_that_there_are_can_be_cited(tmp_path):
    program = Program("wormhole_b0")
    relu(program, program.tensor([1, 1, 32, 32]))
    prefill(program)
    case = case_of(tmp_path, program)
    cited = cite_op(case, 0, (case.input(0), "DATATYPE"), (case.input(1), "DATATYPE"), (case.input(99), "DATATYPE"))
    assert [one.column for one in cited] == ["DEVICE KERNEL DURATION [ns]", "INPUT_0_DATATYPE"]


def test_the_line_of_the_model_is_cited_where_it_is_written(tmp_path):
    program = Program("wormhole_b0")
    prefill(program)
    case = case_of(tmp_path, program, generation="tt-torch")
    assert [one.column for one in cite_op(case, 0)][1:] == ["LOC"]


def test_kinds_that_do_not_occur_are_not_counted(tmp_path):
    program = Program("wormhole_b0")
    conv(program)
    assert kinds(case_of(tmp_path, program), np.array([0])) == "1 conv"


def test_only_a_matmul_that_writes_float32_keeps_its_sums_in_float32():
    """Measured with TTNN 0.81.1 on mock devices; a conv that writes FLOAT32 was not."""

    def flags(name, dtype):
        output = SimpleNamespace(dtype=[dtype])
        return unprinted(SimpleNamespace(names=[name], ops=SimpleNamespace(outputs=[output])), 0)

    assert flags("Matmul", "FLOAT32") == FLOAT32_UNCONFIGURED
    assert flags("Matmul", "BFLOAT16") == UNCONFIGURED["Matmul"]
    assert flags("Conv2d", "FLOAT32") == OTHERS_UNCONFIGURED
    assert flags("MinimalMatmul", "FLOAT32") == UNCONFIGURED["MinimalMatmul"]


def test_a_matmul_whose_result_is_not_printed_has_the_settings_of_16_bits():
    case = SimpleNamespace(names=["MatmulDeviceOperation"], ops=SimpleNamespace(outputs=[]))
    assert unprinted(case, 0) == UNCONFIGURED["Matmul"]
