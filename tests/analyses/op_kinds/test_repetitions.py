"""Repetitions: equal ops in a row, each on what the one before made."""

import numpy as np

from tests.checks.programs import relu
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.ops import binary
from ttnn_mcp.analyses.op_kinds.repetitions import repetitions_of

SHAPE = [1, 1, 64, 64]


def chain(program, x, times):
    for _ in range(times):
        x = relu(program, x)
    return x


def others(program, count=6):
    """Ops that nobody reads, all different."""
    for place in range(1, count + 1):
        x, y = (program.tensor([1, 1, 32, 32 * place], "FLOAT32") for _ in range(2))
        put(program, binary("ADD", x, y, program.tensor([1, 1, 32, 32 * place], "BFLOAT8_B"), 5_000))


def repeated(folder, program, unable=()):
    case = case_of(folder, program)
    able = ~np.isin(np.arange(len(case.ops)), unable)
    return [(each.rows.tolist(), each.period, each.times) for each in repetitions_of(case.ops, case.joins, able)]


@for_all(("times", "count"), [(8, 1), (7, 0)])
def test_eight_repetitions_are_a_chain_wherever_they_stand(tmp_path, times, count):
    program = Program("wormhole_b0")
    others(program)
    chain(program, program.tensor(SHAPE), times)
    others(program)
    assert repeated(tmp_path, program) == [([*range(6, 14)], 1, 8)] * count


def test_an_op_before_that_makes_the_first_input_and_one_behind_that_reads_the_result_change_nothing(tmp_path):
    program = Program("wormhole_b0")
    x = chain(program, relu(program, program.tensor(SHAPE, "FLOAT32"), "BFLOAT16"), 8)
    put(program, binary("ADD", x, x, program.tensor(SHAPE, "FLOAT32"), 5_000))
    assert repeated(tmp_path, program) == [([*range(1, 9)], 1, 8)]


def test_equal_ops_that_do_not_read_each_other_are_no_chain(tmp_path):
    program = Program("wormhole_b0")
    others(program)
    x = program.tensor(SHAPE)
    for _ in range(9):
        relu(program, x, "FLOAT32")
    assert repeated(tmp_path, program) == []


@for_all(("unable", "rows"), [((6, 7), range(7, 15)), ((14, 13), range(6, 14))])
def test_an_op_that_may_not_be_counted_ends_the_chain(tmp_path, unable, rows):
    """Nine equal ops; with two that may not be counted, seven are left."""
    program = Program("wormhole_b0")
    others(program)
    chain(program, program.tensor(SHAPE), 9)
    assert repeated(tmp_path, program, unable[:1]) == [([*rows], 1, 8)]
    assert repeated(tmp_path, program, unable) == []


def test_no_ops_are_no_chain(tmp_path):
    program = Program("wormhole_b0")
    relu(program, program.tensor(SHAPE))
    assert repeated(tmp_path, program) == []
