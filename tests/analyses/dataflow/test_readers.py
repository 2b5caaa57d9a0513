"""Readers: who reads whose output, and what rows are taken to read that show another op's operands."""

import numpy as np

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.conv import move
from tests.profiles.model import DeviceOp
from tests.profiles.ops import binary, matmul, unary
from ttnn_mcp.analyses.dataflow.likely_producers import NOBODY, Flow
from ttnn_mcp.analyses.dataflow.readers import Joins


def joins(folder, program):
    return Joins(Flow(ops_of(folder, program)))


def relu(program, x, width, kernel_ns=1_000):
    return put(program, unary("RELU", x, program.tensor([1, 1, 32, width]), kernel_ns))


def test_an_output_read_twice_has_two_readers_and_one_read_twice_by_one_op_a_single_one(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    y = relu(program, x, 96)
    put(program, binary("ADD", x, x, program.tensor([1, 1, 32, 128]), 1_000))
    put(program, binary("ADD", y, y, program.tensor([1, 1, 32, 160]), 1_000))
    found = joins(tmp_path, program)
    assert found.makers.tolist() == [NOBODY, 0, 0, 1]
    assert [found.readers(row) for row in range(4)] == [(1, 2), (3,), (), ()]
    assert found.reader_counts.tolist() == [2, 1, 0, 0]
    assert not found.doubtful.any()


def gated(program, *, kind="ADD", also_read=False):
    """silu(gate), up, and an op of both: they look alike. `up` is made last."""
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    gate = relu(program, x, 96)
    if also_read:
        relu(program, gate, 160)
    up = relu(program, x, 96)
    op = binary(kind, gate, up, program.tensor([1, 1, 32, 96], "BFLOAT8_B"), 1_000)
    op.op_code = op.op_code if kind == "ADD" else "ConcatDeviceOperation"
    put(program, op)


@for_all("lost", ["", "^INPUT_2"])
def test_of_two_alike_operands_one_is_the_output_that_nobody_else_reads(tmp_path, lost):
    program = Program()
    gated(program)
    found = Joins(Flow(ops_of(tmp_path, program, without=lost)))
    assert [made_by[3] for made_by in found.by_input[:2]] == [1, 2]
    assert found.reader_counts.tolist() == [2, 1, 1, 0]


def test_an_output_that_another_op_reads_is_not_taken_for_an_operand(tmp_path):
    program = Program()
    gated(program, also_read=True)
    assert [made_by[4] for made_by in joins(tmp_path, program).by_input[:2]] == [3, 3]


def test_two_different_operands_are_not_taken_for_twins(tmp_path):
    """The first has an earlier twin that nobody reads, the second is of another type."""
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    for _ in range(2):
        y = relu(program, x, 96)
    z = put(program, unary("RELU", x, program.tensor([1, 1, 32, 96], "BFLOAT8_B"), 1_000))
    put(program, binary("ADD", y, z, program.tensor([1, 1, 32, 128]), 1_000))
    found = joins(tmp_path, program)
    assert [made_by[4] for made_by in found.by_input[:2]] == [2, 3]
    assert found.readers(1) == ()


def test_an_unread_output_of_another_description_is_no_twin(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    relu(program, x, 32)
    y = relu(program, x, 96)
    put(program, binary("ADD", y, y, program.tensor([1, 1, 32, 128]), 1_000))
    assert [made_by[3] for made_by in joins(tmp_path, program).by_input[:2]] == [2, 2]


def test_only_operands_of_element_wise_ops_are_told_apart(tmp_path):
    program = Program()
    gated(program, kind="MUL")
    assert [made_by[3] for made_by in joins(tmp_path, program).by_input[:2]] == [2, 2]


def test_what_no_op_made_is_told_apart(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    y = relu(program, x, 96)
    put(program, binary("ADD", y, y, program.tensor([1, 1, 32, 128]), 1_000))
    found = joins(tmp_path, program)
    assert found.flow.made[0].tolist() == [False, True, True]


def test_what_a_copy_fills_is_not_read(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    y = relu(program, program.tensor([1, 1, 32, 96]), 128)
    op = move(x, program.tensor([1, 1, 32, 64]), 1_000)
    op.inputs = (x, y)  # the second is what it writes into
    put(program, op)
    assert joins(tmp_path, program).readers(1) == ()


def test_a_chain_ends_where_the_tensor_is_read_twice_or_by_another_kind_of_op(tmp_path):
    program = Program()
    x = program.tensor([1, 1, 32, 32])
    for width in (64, 96, 128):
        x = relu(program, x, width)
    relu(program, x, 160)
    relu(program, x, 192)
    found = joins(tmp_path, program)
    assert found.chain(0, np.array([True] * 5)) == [0, 1, 2]
    assert found.chain(0, np.array([False, True, False, True, True])) == [0, 1]
    assert found.chain(4, np.array([True] * 5)) == [4]


def test_the_maker_behind_some_ops_is_found_up_to_so_many_of_them(tmp_path):
    program = Program()
    x = program.tensor([1, 1, 32, 32])
    for width in (64, 96, 128, 160):
        x = relu(program, x, width)
    found, passes = joins(tmp_path, program), np.array([False, True, True, False])
    assert found.maker_behind(3, passes, 4) == 0
    assert found.maker_behind(3, passes, 1) == 1
    assert found.maker_behind(3, np.array([True, True, False, False]), 4) == 2
    assert found.maker_behind(3, np.array([True] * 4), 4) == NOBODY  # whatever the last op is
    assert found.maker_behind(0, np.array([True] * 4), 4) == NOBODY


def test_only_some_ops_read_an_output(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    for width in (96, 128):
        relu(program, x, width)
    relu(program, program.tensor([1, 1, 32, 96]), 160)
    found = joins(tmp_path, program)
    assert found.reader_counts.tolist() == [2, 1, 0, 0]
    assert found.read_only_by(np.array([True] * 4)).tolist() == [True, True, False, False]
    assert found.read_only_by(np.array([False, True, False, True])).tolist() == [False, True, False, False]


def alike(*kernel_ns, kind=unary):
    """The same record for ops of different times, each between two matmuls of its own."""
    program = Program()
    x = program.tensor([1, 1, 32, 64])
    for n, took in enumerate(kernel_ns):
        size = 64 * (2 + n)
        w, v = program.weight([1, 1, 64, 64]), program.weight([1, 1, 64, size])
        y = put(program, matmul(x, w, program.tensor([1, 1, 32, 64]), 5_000))
        z = put(program, kind("RELU", y, program.tensor([1, 1, 32, 64]), took))
        put(program, matmul(z, v, program.tensor([1, 1, 32, size]), 5_000))
    return program


def test_the_same_record_in_another_time_is_doubtful(tmp_path):
    # a third more than the quickest, and more than half a microsecond
    spread = joins(tmp_path, alike(10_000, 13_100)).doubtful
    assert spread.tolist() == [False, True, False] * 2
    assert not joins(tmp_path, alike(10_000, 13_000)).doubtful.any()
    assert joins(tmp_path, alike(1_000, 1_501)).doubtful.any()
    assert not joins(tmp_path, alike(1_000, 1_500)).doubtful.any()


def test_ops_whose_programs_keep_shapes_apart_are_never_doubtful(tmp_path):
    program = Program()
    for kernel_ns in (10_000, 90_000):
        x, w = program.tensor([1, 1, 32, 64]), program.weight([1, 1, 64, 64])
        put(program, matmul(x, w, program.tensor([1, 1, 32, 64]), kernel_ns))
    assert not joins(tmp_path, program).doubtful.any()


def test_a_doubtful_op_reads_what_stands_before_it_and_writes_what_stands_behind(tmp_path):
    program = Program()
    first = relu(program, program.tensor([1, 1, 32, 32]), 64)
    for kernel_ns in (10_000, 90_000):
        x = relu(program, first, 96, kernel_ns)  # the second shows the first one's operands
        w = program.weight([1, 1, 128, 64])
        put(program, matmul(program.tensor([1, 1, 32, 128]), w, program.tensor([1, 1, 32, 256]), 5_000))
    del x
    found = joins(tmp_path, program)
    assert found.doubtful.tolist() == [False, True, False, True, False]
    assert found.makers.tolist() == [NOBODY, 0, 1, 2, 3]


def test_what_reads_a_doubtful_op_by_another_input_keeps_its_first(tmp_path):
    program = Program()
    first, other = (relu(program, program.tensor([1, 1, 32, 32]), width) for width in (64, 160))
    relu(program, first, 96, 10_000)
    y = relu(program, first, 96, 90_000)
    put(program, binary("ADD", other, y, program.tensor([1, 1, 32, 128]), 1_000))
    found = joins(tmp_path, program)
    assert found.doubtful.tolist() == [False, False, True, True, False]
    assert [made_by[4] for made_by in found.by_input[:2]] == [1, 3]


def test_a_doubtful_op_has_no_second_input(tmp_path):
    program = Program()
    x, y = (relu(program, program.tensor([1, 1, 32, 32]), width) for width in (64, 96))
    for kernel_ns in (10_000, 90_000):
        put(program, binary("ADD", x, y, program.tensor([1, 1, 32, 128]), kernel_ns))
    found = joins(tmp_path, program)
    assert found.flow.producers[1].tolist() == [NOBODY, NOBODY, 1, 1]
    assert found.by_input[1].tolist() == [NOBODY] * 4


def test_borrowed_rows_are_doubtful_whatever_their_times(tmp_path):
    program = Program()
    for width, following in ((64, 96), (128, 160)):
        relu(program, program.tensor([1, 1, 32, width // 2]), width)
        x, y, z = (program.tensor([1, 1, 32, 64]) for _ in range(3))
        put(program, binary("ADD", x, y, z, 1_000))
        relu(program, program.tensor([1, 1, 32, width]), following)
    assert joins(tmp_path, program).doubtful.tolist() == [False, False, False, False, True, False]


def test_without_ops_or_inputs_there_are_no_joins(tmp_path):
    program = Program()
    relu(program, relu(program, program.tensor([1, 1, 32, 32]), 64), 96)
    ops = ops_of(tmp_path, program, without="^INPUT")
    assert Joins(Flow(ops)).makers.tolist() == [NOBODY, NOBODY]
    assert Joins(Flow(ops)).reader_counts.tolist() == [0, 0]
    assert Joins(Flow(ops.take(np.arange(0)))).doubtful.tolist() == []


@for_all(("lost", "inputs"), [("^OUTPUT", 3), ("^OUTPUT|^INPUT_[12]", 1)])
def test_without_outputs_no_op_reads_another(tmp_path, lost, inputs):
    program = Program()
    gated(program)
    found = Joins(Flow(ops_of(tmp_path, program, without=lost)))
    assert [made_by.tolist() for made_by in found.by_input] == [[NOBODY] * 4] * inputs


def test_of_ops_whose_second_inputs_were_lost_the_first_ones_are_joined(tmp_path):
    program = Program()
    gated(program)
    (makers,) = Joins(Flow(ops_of(tmp_path, program, without="^INPUT_[12]"))).by_input
    assert makers.tolist() == [NOBODY, 0, 0, 2]


def test_bits_of_all_readers_are_put_together(tmp_path):
    program = Program()
    x = relu(program, program.tensor([1, 1, 32, 32]), 64)
    for width in (96, 128, 160):
        relu(program, x, width)
    found = joins(tmp_path, program)
    assert found.readers_among(np.array([1, 2, 4, 8])).tolist() == [14, 0, 0, 0]


def test_a_table_without_operands_has_no_joins(tmp_path):
    program = Program()
    program.call("ttnn.made_up", (), (), (DeviceOp("MadeUpOfNoFamily", (), (), 1_000),))
    found = joins(tmp_path, program)
    assert found.makers.tolist() == [NOBODY]
    assert found.readers(0) == ()
