"""Data formats in numbers: which operands are weights, and what narrower ones or fewer passes could save at most."""

from __future__ import annotations

import numpy as np
import pytest

from tests.checks.programs import NARROW, WIDE, decode, linear, prefill, relu
from tests.checks.rows import case_of, put
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.op_kinds.formats import (
    fewer_bytes_save,
    fewer_passes_save,
    needed_phases,
    phases,
    reads_weights,
    spared_bytes,
    waits_for_arithmetic,
    waits_for_bytes,
)
from ttnn_mcp.analyses.roofline.launch import LAUNCH_FLOOR_NS


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def matmul_of(program, x, w):
    y = program.tensor([*x.shape[:-1], w.shape[-1]])
    return put(program, DeviceOp("MatmulDeviceOperation", (x, w), (y,), 50_000, fidelity="HiFi2"))


def test_a_weight_is_in_dram_and_no_op_made_it(tmp_path, program):
    linear(program, 32, 64, 128, 1000)
    linear(program, 32, 64, 128, 1000, where=L1)
    matmul_of(program, program.tensor([1, 1, 32, 96]), relu(program, program.tensor([1, 1, 96, 160])))
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [True, False, False, False]


def test_a_tensor_of_equal_size_and_another_width_did_not_become_the_weight(tmp_path, program):
    relu(program, program.tensor([1, 1, 128, 64]))
    matmul_of(program, program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 64, 128]))
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [False, True]


def test_batches_on_both_sides_are_attention(tmp_path, program):
    matmul_of(program, program.tensor([1, 8, 32, 64]), program.tensor([1, 8, 64, 32]))
    case = case_of(tmp_path, program)
    assert not reads_weights(case.ops, case.flow).any()


@pytest.mark.parametrize(
    ("dtype", "spared"), [(WIDE, 2 - 1.0625), ("FLOAT32", 4 - 1.0625), (NARROW, 0), ("BFLOAT4_B", 0)]
)
def test_block_floats_spare_their_exponents_too(tmp_path, program, dtype, spared):
    linear(program, 32, 64, 128, 1000, weights=dtype)
    case = case_of(tmp_path, program)
    assert spared_bytes(case.ops.inputs[1], "BFLOAT8_B")[0] == 64 * 128 * spared


def test_an_op_waits_for_one_thing_at_most(tmp_path, program):
    decode(program)
    prefill(program)
    linear(program, 32, 64, 64, 900_000)  # neither explains its time
    case = case_of(tmp_path, program)
    assert waits_for_bytes(case.ops, case.roofline).tolist() == [True, False, False]
    assert waits_for_arithmetic(case.ops, case.roofline).tolist() == [False, True, False]


@pytest.mark.parametrize(("kernel_ns", "waits"), [(1_400_000, True), (1_420_000, False)])
def test_bytes_matter_from_a_tenth_of_the_time_on(tmp_path, program, kernel_ns, waits):
    linear(program, 32, 4096, 4096, kernel_ns)  # 141.1 us at 240 GB/s
    case = case_of(tmp_path, program)
    assert waits_for_bytes(case.ops, case.roofline)[0] == waits


def test_savings_leave_the_launch_and_are_never_negative(tmp_path, program):
    linear(program, 32, 64, 128, 450)
    linear(program, 32, 64, 160, 300)
    case = case_of(tmp_path, program)
    spared = spared_bytes(case.ops.inputs[1], "BFLOAT8_B")
    saved = fewer_bytes_save(case.ops, case.roofline, spared)
    assert saved[0] == 450 - LAUNCH_FLOOR_NS
    assert saved[1] == 0


def test_passes_are_known_for_ops_of_the_engine_only(tmp_path, program):
    prefill(program)
    relu(program, program.tensor([1, 1, 64, 64]))
    case = case_of(tmp_path, program)
    assert phases(case.ops)[0] == 4
    assert np.isnan(phases(case.ops)[1])
    assert np.isnan(needed_phases(case.ops)[1])


def test_asking_for_more_passes_saves_nothing(tmp_path, program):
    prefill(program, fidelity="LoFi")
    case = case_of(tmp_path, program)
    assert fewer_passes_save(case.ops, case.roofline, needed_phases(case.ops))[0] == 0
