"""held_in_l1: what lies in L1 between the op that makes a tensor and the one that reads it."""

import numpy as np

from tests.analyses.tables import ops_of, put
from tests.profiles import DRAM, L1, Program
from tests.profiles.ops import binary, unary
from ttnn_mcp.analyses.dataflow.held_in_l1 import maybe_read_again, most_in_l1
from ttnn_mcp.analyses.dataflow.likely_producers import Flow
from ttnn_mcp.analyses.dataflow.readers import Joins

TILE = 32 * 32 * 2  # bytes


def relu(program, x, tiles, placement=DRAM):
    return put(program, unary("RELU", x, program.tensor([1, 1, 32, 32 * tiles], placement=placement), 1_000))


def most(folder, program, *pairs):
    ops = ops_of(folder, program)
    makers, readers = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return (most_in_l1(ops, Joins(Flow(ops)), makers, readers) / TILE).tolist()


def test_a_tensor_counts_from_its_maker_to_its_last_reader(tmp_path):
    program = Program()
    kept = relu(program, program.tensor([1, 1, 32, 32]), 7, L1)
    moved = relu(program, kept, 2)
    relu(program, moved, 3)
    put(program, binary("ADD", kept, kept, program.tensor([1, 1, 32, 32 * 7]), 1_000))
    last = relu(program, program.tensor([1, 1, 32, 32 * 5]), 4)
    relu(program, last, 6)
    assert most(tmp_path, program, (1, 2), (4, 5)) == [7 + 2, 4]


def test_tensors_that_are_to_move_count_together_where_they_meet(tmp_path):
    program = Program()
    first = relu(program, program.tensor([1, 1, 32, 32]), 2)
    relu(program, relu(program, first, 3), 4)
    assert most(tmp_path, program, (0, 1), (1, 2)) == [2 + 3, 2 + 3]
    assert most(tmp_path, program, (0, 1)) == [2]


def test_an_operand_in_l1_that_no_op_made_counts_for_its_readers(tmp_path):
    program = Program()
    table = program.tensor([1, 1, 32, 32 * 9], placement=L1)
    first = relu(program, program.tensor([1, 1, 32, 32]), 2)
    put(program, binary("ADD", first, table, program.tensor([1, 1, 32, 64]), 1_000))
    assert most(tmp_path, program, (0, 1)) == [2 + 9]


def test_what_lies_in_l1_already_counts_once(tmp_path):
    program = Program()
    relu(program, relu(program, program.tensor([1, 1, 32, 32]), 2, L1), 3)
    assert most(tmp_path, program, (0, 1)) == [2]


def test_no_tensors_hold_nothing(tmp_path):
    program = Program()
    relu(program, program.tensor([1, 1, 32, 32]), 2)
    assert most(tmp_path, program) == []


def test_an_output_like_both_operands_of_an_op_may_be_read_again(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 2)
    y = relu(program, relu(program, x, 3), 2)
    put(program, binary("ADD", y, x, program.tensor([1, 1, 32, 32 * 4]), 1_000))
    assert maybe_read_again(Joins(Flow(ops_of(tmp_path, program)))).tolist() == [True, False, True, False]


def test_operands_that_no_op_made_say_nothing_of_an_output(tmp_path):
    program = Program()
    put(program, binary("ADD", program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 64]), program.tensor([1, 1, 32, 64]), 1_000))  # fmt: skip
    relu(program, program.tensor([1, 1, 32, 32]), 3)
    assert not maybe_read_again(Joins(Flow(ops_of(tmp_path, program)))).any()
