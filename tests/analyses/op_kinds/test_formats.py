"""Data formats in numbers: which operands are weights, and what narrower ones or fewer passes could save at most."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.checks.programs import NARROW, WIDE, decode, linear, prefill, relu
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary
from ttnn_mcp.analyses.dataflow.likely_producers import Flow
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


def test_a_weight_has_the_width_of_no_ops_output_that_made_it(tmp_path, program):
    linear(program, 32, 64, 128, 1000)  # the weight is as wide as what the last op made
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [True]


def test_the_first_op_may_make_an_operand(tmp_path, program):
    matmul_of(program, program.tensor([1, 1, 32, 96]), relu(program, program.tensor([1, 1, 96, 160])))
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [False, False]


@for_all(("first", "later", "weights"), [(1, 1, [False]), (1, 2, [True, True]), (0, 2, [False, False])])
def test_an_output_as_large_as_a_weight_does_not_make_those_of_a_later_pass(
    tmp_path, program, first, later, weights
):
    """One op may read what was made just before; two of a kind do not both, if the first of it reads a weight."""
    inputs = program.tensor([1, 1, 32, 96])
    for _ in range(first):
        matmul_of(program, inputs, program.tensor([1, 1, 96, 160]))
    made = relu(program, program.tensor([1, 1, 96, 160]))
    for _ in range(later):
        matmul_of(program, inputs, made)  # a report names no tensors: it could be any as large
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [*[True] * first, False, *weights]


@for_all(("batches", "weights"), [(8, 1), (1, 8)])
def test_a_batch_on_one_side_is_no_attention(tmp_path, program, batches, weights):
    matmul_of(program, program.tensor([1, batches, 32, 64]), program.tensor([1, weights, 64, 96]))
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).all()


def test_a_second_operand_of_another_op_is_no_weight(tmp_path, program):
    x, y, out = (program.tensor([1, 1, 64, 64], dtype) for dtype in (WIDE, WIDE, NARROW))
    put(program, binary("ADD", x, y, out, 5_000))
    case = case_of(tmp_path, program)
    assert not reads_weights(case.ops, case.flow).any()
    assert np.isnan(needed_phases(case.ops)).all()


@for_all("lost", ["INPUT_[12]", "INPUT_", "INPUT_1_X", "INPUT_1_[WZYX]"])
def test_without_the_columns_of_a_second_operand_there_are_no_weights(tmp_path, program, lost):
    linear(program, 32, 64, 128, 1000)
    ops = ops_of(tmp_path, program, without=lost)
    assert not reads_weights(ops, Flow(ops)).any()


@for_all(("lost", "needed"), [("INPUT_2", 2), ("INPUT_[12]", np.nan), ("INPUT_", np.nan)])
def test_without_the_columns_of_a_second_operand_no_passes_are_needed(tmp_path, program, lost, needed):
    linear(program, 32, 64, 128, 1000)
    np.testing.assert_array_equal(needed_phases(ops_of(tmp_path, program, without=lost)), [needed])


def test_a_float32_operand_may_need_all_passes(tmp_path, program):
    linear(program, 32, 64, 128, 1000, activations="FLOAT32")
    assert np.isnan(needed_phases(ops_of(tmp_path, program))).all()


@for_all(
    ("bytes_ns", "engine_ns", "waits"),
    [
        (300, 200, "bytes"),
        (200, 300, "arithmetic"),
        (250, 250, "bytes"),
        (300, np.nan, "bytes"),
        (np.nan, 300, "arithmetic"),
        (100, 90, "bytes"),
        (99, 90, None),
        (90, 100, "arithmetic"),
        (90, 99, None),
        (np.nan, np.nan, None),
    ],
)
def test_an_op_waits_for_what_takes_longer_and_a_tenth_of_its_time(tmp_path, program, bytes_ns, engine_ns, waits):
    linear(program, 32, 64, 64, 1000)
    ops = ops_of(tmp_path, program)
    bounds = SimpleNamespace(dram_achievable_ns=np.array([bytes_ns]), compute_used_ns=np.array([engine_ns]))
    assert waits_for_bytes(ops, bounds).tolist() == [waits == "bytes"]
    assert waits_for_arithmetic(ops, bounds).tolist() == [waits == "arithmetic"]


def test_an_op_whose_time_was_lost_waits_for_no_bytes_that_it_does_not_move(tmp_path, program):
    linear(program, 32, 64, 64, 0)
    bounds = SimpleNamespace(dram_achievable_ns=np.array([0.0]), compute_used_ns=np.array([np.nan]))
    assert not waits_for_bytes(ops_of(tmp_path, program), bounds).any()


@for_all(
    ("op_code", "engine_ns", "saved"), [("Matmul", 5_000, 5_000), ("Matmul", 4_990, 0), ("Conv2d", 4_990, 5_000)]
)
def test_fewer_passes_matter_to_a_matmul_that_computes_half_of_its_time(
    tmp_path, program, op_code, engine_ns, saved
):
    x, w = program.tensor([1, 1, 64, 64]), program.weight([1, 1, 64, 64])
    out = program.tensor([1, 1, 64, 64])
    put(program, DeviceOp(f"{op_code}DeviceOperation", (x, w), (out,), 10_000, fidelity="HiFi4"))
    bounds = SimpleNamespace(dram_achievable_ns=np.array([0.0]), compute_used_ns=np.array([float(engine_ns)]))
    assert fewer_passes_save(ops_of(tmp_path, program), bounds, np.array([2.0])).tolist() == [saved]


def test_a_tensor_of_equal_size_and_another_width_did_not_become_the_weight(tmp_path, program):
    relu(program, program.tensor([1, 1, 128, 64]))
    matmul_of(program, program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 64, 128]))
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [False, True]


@for_all(("between", "weights"), [("Softmax", False), ("Unary", True)])
def test_around_a_softmax_stands_a_cache_however_wide(tmp_path, program, between, weights):
    scores = matmul_of(program, program.tensor([8, 1, 32, 576]), program.weight([8, 1, 576, 1024]))
    shares = program.tensor(scores.shape)
    put(program, DeviceOp(f"{between}DeviceOperation", (scores,), (shares,), 10_000))
    matmul_of(program, shares, program.weight([8, 1, 1024, 512]))
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [weights, False, weights]


@for_all(("k", "n", "weights"), [(64, 32, False), (256, 4096, False), (4096, 256, False), (288, 288, True)])
def test_batches_on_both_sides_are_attention_up_to_the_widest_heads(tmp_path, program, k, n, weights):
    matmul_of(program, program.tensor([1, 8, 32, k]), program.tensor([1, 8, k, n]))
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [weights]
    program.device_ops[0].op_code = "SparseMatmulDeviceOperation"  # experts of any size
    case = case_of(tmp_path, program)
    assert reads_weights(case.ops, case.flow).tolist() == [True]


@for_all(("dtype", "spared"), [(WIDE, 2 - 1.0625), ("FLOAT32", 4 - 1.0625), (NARROW, 0), ("BFLOAT4_B", 0)])
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


@for_all(("kernel_ns", "waits"), [(1_400_000, True), (1_420_000, False)])
def test_bytes_matter_from_a_tenth_of_the_time_on(tmp_path, program, kernel_ns, waits):
    linear(program, 32, 4096, 4096, kernel_ns)  # 141.1 us at 240 GB/s
    case = case_of(tmp_path, program)
    assert waits_for_bytes(case.ops, case.roofline)[0] == waits


def test_savings_leave_the_launch_and_are_never_negative(tmp_path, program):
    linear(program, 32, 64, 192, 450)
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
