"""Attention chains: matmul, a few ops, softmax, a few ops, matmul, with no weights in it."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul
from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.op_kinds.attention_chains import attention_chains, fusing_saves, rows_of_chains

HEADS, ROWS, WIDTH = 4, 64, 32


def op(program, op_code, x):
    return put(program, DeviceOp(op_code, (x,), (program.tensor(x.shape, x.dtype),), 1_000))


def attention(*, heads=HEADS, before=1, after=0, between="BinaryNgDeviceOperation", softmax=True, values=None):
    """Scores, `before` ops, softmax, `after` ops, context."""
    program = Program()
    q, k = program.tensor([1, heads, ROWS, WIDTH]), program.tensor([1, heads, WIDTH, ROWS])
    x = put(program, matmul(q, k, program.tensor([1, heads, ROWS, ROWS]), 5_000))
    for _ in range(before):
        x = op(program, between, x)
    x = op(program, "SoftmaxDeviceOperation" if softmax else "ReduceDeviceOperation", x)
    for _ in range(after):
        x = op(program, "MoveDeviceOperation", x)
    v = values or program.tensor([1, heads, ROWS, WIDTH])
    put(program, matmul(x, v, program.tensor([1, heads, ROWS, WIDTH]), 5_000))
    return program


def chains(folder, program):
    ops = ops_of(folder, program)
    return attention_chains(ops, Flow(ops))


def test_an_attention_is_the_matmuls_the_softmax_and_all_between(tmp_path):
    found = chains(tmp_path, attention(before=2, after=1))
    assert [(one.scores, one.softmax, one.context) for one in found] == [(0, 3, 5)]
    assert rows_of_chains(found).tolist() == [0, 1, 2, 3, 4, 5]


@for_all("side", ["before", "after"])
def test_up_to_five_ops_may_stand_between(tmp_path, side):
    assert len(chains(tmp_path, attention(**{side: 5}))) == 1
    assert not chains(tmp_path, attention(**{side: 6}))


@for_all(
    ("between", "kind", "second", "masked"),
    [
        ("TypecastDeviceOperation", "", False, [False]),
        ("MoveDeviceOperation", "", False, [False]),
        ("MoveDeviceOperation", "", True, [False]),
        ("SliceDeviceOperation", "", False, [False]),
        ("TilizeDeviceOperation", "", False, []),
        ("BinaryNgDeviceOperation", "BinaryOpType::ADD", True, [True]),
        ("BinaryNgDeviceOperation", "BinaryOpType::SUB", True, [True]),
        ("BinaryNgDeviceOperation", "BinaryOpType::MUL", True, [False]),
        ("BinaryNgDeviceOperation", "BinaryOpType::DIV", True, [False]),
        ("BinaryNgDeviceOperation", "BinaryOpType::ADD", False, [False]),
    ],
)
def test_scaling_moving_and_casting_may_stand_between_and_a_tensor_that_is_added_is_a_mask(
    tmp_path, between, kind, second, masked
):
    program = attention(between=between)
    one = program.device_ops[1]
    one.attributes, mask = {"binary_op_type": kind}, program.tensor([1, HEADS, ROWS, ROWS])
    one.inputs += (mask,) * second
    assert [each.is_masked for each in chains(tmp_path, program)] == masked
    if masked:
        one.inputs, program.device_ops[2].inputs = one.inputs[:1], (one.outputs[0], mask)  # ttnn.scale_mask_softmax
        assert [each.is_masked for each in chains(tmp_path, program)] == [True]


def with_positions(keys=2 * ROWS - 1, before=0):
    """Scores of content and of relative positions, these cut to the keys, their sum."""
    program = Program()
    q, k, v = (program.tensor([1, HEADS, *sides]) for sides in ((ROWS, WIDTH), (WIDTH, ROWS), (ROWS, WIDTH)))
    x = put(program, matmul(q, k, program.tensor([1, HEADS, ROWS, ROWS]), 5_000))
    for _ in range(before):
        x = op(program, "MoveDeviceOperation", x)
    places = program.tensor([1, HEADS, WIDTH, keys])
    far = put(program, matmul(q, places, program.tensor([1, HEADS, ROWS, keys]), 7_000))
    cut = program.tensor([1, HEADS, ROWS, ROWS])
    put(program, DeviceOp("SliceDeviceOperation", (far,), (cut,), 1_000))
    x = op(program, "SoftmaxDeviceOperation", op(program, "BinaryNgDeviceOperation", x))
    put(program, matmul(x, v, program.tensor([1, HEADS, ROWS, WIDTH]), 5_000))
    return program


def test_scores_of_positions_stand_between_and_stay(tmp_path):
    """As in a Conformer: what they give is the mask of the fused op."""
    program = with_positions()
    for each in program.device_ops:
        each.kernel_ns = 10_000
    ops = ops_of(tmp_path, program)
    found = attention_chains(ops, Flow(ops))
    assert [(one.scores, one.softmax, one.context) for one in found] == [(0, 4, 5)]
    bounds = SimpleNamespace(compute_ns=np.zeros(len(ops)))
    assert fusing_saves(ops, bounds, found, None).tolist() == pytest.approx([9_000, 0, *[9_000] * 4])


def test_the_nearest_product_of_the_right_size_is_that_of_the_keys(tmp_path):
    assert [one.scores for one in chains(tmp_path, with_positions(keys=ROWS))] == [1]
    assert len(chains(tmp_path, with_positions(before=2))) == 1
    assert not chains(tmp_path, with_positions(before=3))


def test_without_a_softmax_it_is_no_attention(tmp_path):
    assert not chains(tmp_path, attention(softmax=False))


def test_weights_of_one_head_are_no_keys(tmp_path):
    assert not chains(tmp_path, attention(heads=1))  # nobody made the second operands
    program = Program()
    q, k, v = (program.tensor([1, 1, ROWS, WIDTH + 32 * n]) for n in range(3))
    keys, values = program.tensor([1, 1, WIDTH, ROWS]), program.tensor([1, 1, ROWS, WIDTH])
    put(program, DeviceOp("TransposeDeviceOperation", (k,), (keys,), 1_000))
    put(program, DeviceOp("TransposeDeviceOperation", (v,), (values,), 1_000))
    x = put(program, matmul(q, keys, program.tensor([1, 1, ROWS, ROWS]), 5_000))
    x = op(program, "SoftmaxDeviceOperation", x)
    put(program, matmul(x, values, program.tensor([1, 1, ROWS, WIDTH], "FLOAT32"), 5_000))
    assert [one.scores for one in chains(tmp_path, program)] == [2]


def test_what_the_first_writes_the_last_must_read(tmp_path):
    program = attention()
    last = program.device_ops[-1]
    last.inputs = (program.tensor([1, HEADS, ROWS, 2 * ROWS]), last.inputs[1])
    assert not chains(tmp_path, program)


@for_all(("without", "count"), [("INPUT_2", 1), ("INPUT_[12]", 0), ("INPUT_", 0), ("OUTPUT_", 0)])
def test_a_table_without_two_operands_and_a_result_has_none(tmp_path, without, count):
    ops = ops_of(tmp_path, attention(), without=without)
    assert len(attention_chains(ops, Flow(ops))) == count


def test_a_window_that_begins_or_ends_with_the_softmax_holds_no_attention(tmp_path):
    """The last op of all is not before the first."""
    for part in (slice(1, None), slice(0, 2)):
        program = attention(before=0)
        kept = Program()
        for each in program.device_ops[part]:
            put(kept, each)
        assert not chains(tmp_path, kept)


def test_each_of_the_two_second_operands_must_be_no_weight(tmp_path):
    """One head: what no op made is a weight then, K or V."""
    for made in ("keys", "values", "both"):
        program = Program()
        q, x = program.tensor([1, 1, ROWS, WIDTH]), program.tensor([1, 1, ROWS, 3 * WIDTH])
        keys, values = program.tensor([1, 1, WIDTH, ROWS]), program.tensor([1, 1, ROWS, WIDTH], "BFLOAT8_B")
        for operand, name in ((keys, "keys"), (values, "values")):
            if made in (name, "both"):
                put(program, DeviceOp("SliceDeviceOperation", (x,), (operand,), 1_000))
        scores = put(program, matmul(q, keys, program.tensor([1, 1, ROWS, ROWS]), 5_000))
        scores = op(program, "SoftmaxDeviceOperation", scores)
        put(program, matmul(scores, values, program.tensor([1, 1, ROWS, WIDTH], "FLOAT32"), 5_000))
        assert len(chains(tmp_path, program)) == (made == "both"), made


@for_all(
    ("kernel_ns", "compute_ns", "gb_s", "fused"),
    [
        (10_000, 1_000, None, 5_000),  # as long as any fused attention
        (10_000, 4_000, None, 8_000),
        (10_000, 1_000, 8.0, (3 * WIDTH * ROWS + ROWS * WIDTH) * HEADS * 2 / 8),  # q, k, v and the result
        (1_000, 1_000, None, None),  # already quicker
    ],
)
def test_fusing_leaves_arithmetic_bytes_and_five_microseconds(tmp_path, kernel_ns, compute_ns, gb_s, fused):
    program = attention()
    for each in program.device_ops:
        each.kernel_ns = kernel_ns
    ops = ops_of(tmp_path, program)
    bounds = SimpleNamespace(compute_ns=np.array([compute_ns, np.nan, np.nan, compute_ns]))
    saved = fusing_saves(ops, bounds, attention_chains(ops, Flow(ops)), gb_s)
    left = 4 * kernel_ns if fused is None else min(fused, 4 * kernel_ns)
    assert saved.tolist() == pytest.approx([kernel_ns * (1 - left / (4 * kernel_ns))] * 4)
