"""Likely producers: the last earlier output that is the same tensor by all that a report tells of it."""

import numpy as np

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import L1, Program
from tests.profiles.ops import binary, unary
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, Flow

SHAPE = [1, 1, 64, 128]


def relu(program, x, **out):
    return put(program, unary("RELU", x, program.tensor(**{"shape": x.shape, "dtype": x.dtype, **out}), 1_000))


def producers(folder, program):
    return [made_by.tolist() for made_by in Flow(ops_of(folder, program)).producers]


def test_an_input_comes_from_the_last_earlier_output_like_it(tmp_path):
    program = Program()
    x = relu(program, program.tensor(SHAPE))
    y = relu(program, x)
    put(program, binary("ADD", x, y, program.tensor([1, 1, 64, 256]), 1_000))
    first, second, third = producers(tmp_path, program)
    assert first == [NOBODY, 0, 1]  # x and y look alike: the later one is taken for both
    assert second == [NOBODY, NOBODY, 1]
    assert third == [NOBODY] * 3


def test_an_input_whose_columns_were_lost_has_no_maker(tmp_path):
    program = Program()
    relu(program, relu(program, program.tensor(SHAPE)))
    flow = Flow(ops_of(tmp_path, program))
    assert flow.makers_of(0).tolist() == [NOBODY, 0]
    assert flow.makers_of(len(flow.producers)).tolist() == [NOBODY, NOBODY]


@for_all("lost", ["^OUTPUT", "^INPUT", "PUT_"])
def test_without_columns_nobody_made_anything(tmp_path, lost):
    program = Program()
    relu(program, relu(program, program.tensor(SHAPE)))
    flow = Flow(ops_of(tmp_path, program, without=lost))
    assert flow.makers_of(0).tolist() == [NOBODY, NOBODY]
    assert flow.outputs_made[1].tolist() == ([0, 1] if lost == "^INPUT" else [])


@for_all(
    "other",
    [
        {"shape": [1, 1, 64, 64]},
        {"dtype": "FLOAT32"},
        {"layout": "ROW_MAJOR"},
        {"placement": L1},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_tensor_that_differs_in_anything_is_another_one(tmp_path, other):
    program = Program()
    relu(program, program.tensor(SHAPE))
    relu(program, program.tensor(**{"shape": SHAPE, **other}))
    assert producers(tmp_path, program)[0] == [NOBODY, NOBODY]


def test_another_shape_of_as_many_elements_is_a_view_of_the_same_tensor(tmp_path):
    program = Program()
    relu(program, program.tensor(SHAPE))
    relu(program, program.tensor([1, 2, 32, 128]))
    assert producers(tmp_path, program)[0] == [NOBODY, 0]


def test_an_op_does_not_make_its_own_input(tmp_path):
    program = Program()
    relu(program, program.tensor(SHAPE))
    assert producers(tmp_path, program)[0] == [NOBODY]


def test_the_output_before_is_the_last_one_of_the_same_description(tmp_path):
    program = Program()
    x = relu(program, program.tensor(SHAPE))
    relu(program, x, shape=[1, 1, 64, 64])
    relu(program, relu(program, x))
    before = Flow(ops_of(tmp_path, program)).output_before(np.arange(4))
    assert before.tolist() == [NOBODY, NOBODY, 0, 2]


def test_each_output_of_an_op_has_it_for_a_maker(tmp_path):
    program = Program()
    x, y = program.tensor(SHAPE), program.tensor([1, 1, 32, 32])
    op = unary("RELU", program.tensor([1, 1, 96, 96]), x, 1_000)
    op.outputs = (x, y)
    program.call("ttnn.made_up", op.inputs, op.outputs, (op,))
    relu(program, y)
    relu(program, x)
    assert producers(tmp_path, program)[0] == [NOBODY, 0, 0]
