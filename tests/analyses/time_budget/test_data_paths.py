"""The paths that bytes take: what is not known of an op or of its chip bounds nothing."""

from dataclasses import replace

import numpy as np
import pytest

from tests.analyses.tables import ops_of
from tests.checks.rows import case_of
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.analyses.time_budget.least_times import DataPaths
from ttnn_mcp.analyses.time_budget.operand_bytes import as_stored

SIZE = 2048 * 1024 * 2


def paths(folder, without="", **chip):
    program = Program("wormhole_b0")
    program.op("UnaryDeviceOperation", [program.tensor([1, 1, 2048, 1024])], kernel_ns=100_000)
    return DataPaths(ops_of(folder, program, without=without), replace(case_of(folder, program).chip, **chip))


def least_ns(made):
    return made.least_ns(as_stored, np.array([64.0])).tolist()


def test_each_byte_takes_the_slowest_path_once(tmp_path):
    assert least_ns(paths(tmp_path)) == pytest.approx([2 * SIZE / 288])
    assert paths(tmp_path).read_bytes(0).tolist() == [SIZE]


@for_all("lost", ["INPUT_", "OUTPUT_"])
def test_without_operands_nothing_moves(tmp_path, lost):
    assert np.isnan(least_ns(paths(tmp_path, without=lost))).all()
    assert paths(tmp_path, without=lost).read_bytes(0).tolist() == [0]


@for_all("unknown", [{"arch": None}, {"clock_ghz": None}])
def test_an_unknown_chip_has_no_paths(tmp_path, unknown):
    assert np.isnan(least_ns(paths(tmp_path, **unknown))).all()


def test_an_input_that_no_op_has_is_not_read(tmp_path):
    assert paths(tmp_path).read_bytes(7).tolist() == [0]
