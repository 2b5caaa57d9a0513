"""Ops with several inputs of one description read as many tensors."""

from __future__ import annotations

import pytest

from tests.analyses.tables import ops_of
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import Program
from tests.profiles.model import DeviceOp
from ttnn_mcp.analyses.dataflow.alike_inputs import other_makers

SHAPE = [1, 1, 64, 64]


@pytest.fixture
def program() -> Program:
    return Program("wormhole_b0")


def made(program, dtype="BFLOAT16"):
    x, y = program.tensor([1, 1, 32, 32], "UINT16"), program.tensor(SHAPE, dtype)
    return put(program, DeviceOp("MadeUp", (x,), (y,)))


def joined(program, parts):
    put(program, DeviceOp("Joins", tuple(parts), (program.tensor([1, 1, 64, 96]),)))


def edges(folder, program):
    makers, readers = other_makers(case_of(folder, program).ops)
    return sorted(zip(makers.tolist(), readers.tolist(), strict=True))


def test_the_last_ones_that_were_made_are_read(program, tmp_path):
    parts = [made(program) for _ in range(4)]
    put(program, DeviceOp("Joins", tuple(parts[1:]), (program.tensor([1, 1, 32, 32], "UINT16"),)))
    assert edges(tmp_path, program) == [(1, 4), (2, 4)]  # 3 is the likely producer of all three


def test_one_input_of_a_description_has_one_maker(program, tmp_path):
    joined(program, [made(program), made(program, "BFLOAT8_B")])
    assert edges(tmp_path, program) == []


def test_inputs_that_no_op_made_are_nobodys(program, tmp_path):
    joined(program, [program.tensor(SHAPE), program.tensor(SHAPE)])
    assert edges(tmp_path, program) == []


def test_fewer_makers_than_inputs_are_all_there_are(program, tmp_path):
    made(program, "BFLOAT8_B")
    joined(program, [made(program), program.tensor(SHAPE), program.tensor(SHAPE)])
    assert edges(tmp_path, program) == []


def test_a_lone_maker_is_not_looked_for_at_the_other_end(program, tmp_path):
    """All outputs have one description, also that of the op that reads."""
    x = made(program)
    put(program, DeviceOp("Joins", (x, program.tensor(SHAPE)), (program.tensor(SHAPE),)))
    assert edges(tmp_path, program) == []


def test_makers_of_another_description_are_not_taken_instead(program, tmp_path):
    joined(program, [made(program)])
    joined(program, [made(program, "BFLOAT8_B"), program.tensor(SHAPE, "BFLOAT8_B")])
    assert edges(tmp_path, program) == []


def test_each_op_has_as_many_makers_as_inputs(program, tmp_path):
    parts = [made(program) for _ in range(3)]
    joined(program, parts)
    joined(program, parts[1:])
    assert edges(tmp_path, program) == [(0, 3), (1, 3), (1, 4)]


@for_all("lost", ["^INPUT", "^OUTPUT"])
def test_without_columns_there_are_no_others(program, tmp_path, lost):
    joined(program, [made(program), made(program)])
    assert [len(each) for each in other_makers(ops_of(tmp_path, program, without=lost))] == [0, 0]


def test_what_is_made_later_is_not_read(program, tmp_path):
    parts = [made(program), made(program)]
    joined(program, parts)
    made(program)
    assert edges(tmp_path, program) == [(0, 2)]
