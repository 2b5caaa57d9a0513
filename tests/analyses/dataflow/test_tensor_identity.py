"""Whether one op reads the tensor of another, by the ids of a memory report."""

from dataclasses import replace

import numpy as np
import pytest

from tests.checks.asking import case_of_reports
from tests.for_all import for_all
from tests.profiles import Iteration, Program, write_run
from ttnn_mcp.analyses.dataflow.tensor_identity import TensorIdentity, passed_on_alone
from ttnn_mcp.run.run import Run

SHAPE = [1, 1, 64, 64]


@pytest.fixture
def case(tmp_path):
    """Op 1 reads what op 0 made, ops 2 and 3 what op 1 made; nobody reads what they make; op 4 reads no op's."""
    program = Program("wormhole_b0")
    x = program.op("UnaryDeviceOperation", [program.tensor(SHAPE)], call="ttnn.relu")
    y = program.op("UnaryDeviceOperation", [x], call="ttnn.gelu")
    for call in ("ttnn.exp", "ttnn.sqrt"):
        program.op("UnaryDeviceOperation", [y], call=call)
    program.op("UnaryDeviceOperation", [program.tensor(SHAPE)], call="ttnn.sin")
    made = write_run(tmp_path, program, [Iteration()])
    return case_of_reports(made.performance, made.memory, chosen="all")


@pytest.fixture
def identity(case):
    return TensorIdentity.of(case.run, case.ops)


@for_all(("maker", "reader", "passed"), [(0, 1, 1), (1, 2, 1), (1, 3, 1), (0, 2, 0), (1, 4, 0), (0, 4, 0)])
def test_what_is_passed_on_has_an_id(identity, maker, reader, passed):
    assert len(identity.passed_on(maker, reader)) == passed


def test_an_op_passes_nothing_on_to_itself(identity):
    assert identity.passed_on(1, 1) is None


def test_readers_are_counted(identity):
    assert [identity.times_read(row) for row in range(5)] == [1, 2, 0, 0, 0]


def test_of_a_row_that_is_not_linked_nothing_is_known(identity):
    identity.operations[1] = -1
    assert identity.times_read(1) is None
    assert identity.passed_on(0, 1) is None
    assert identity.passed_on(1, 2) is None


def test_passed_on_alone_is_what_one_op_reads(case):
    makers, readers = np.array([0, 1, 0, 4]), np.array([1, 2, 2, 0])
    assert passed_on_alone(case.run, case.ops, makers, readers).tolist() == [True, False, False, False]


@for_all("lost", ["memory", "link", "match"])
def test_without_a_linked_memory_report_nothing_is_known(case, lost):
    unlinked = replace(case.run.linked, link=case.run.linked.link.model_copy(update={"status": "not_linked"}))
    memory = None if lost == "memory" else case.run.memory
    linked = {"link": None, "match": unlinked}.get(lost, case.run.linked)
    run = Run("made", "made", case.run.performance, memory, linked=linked)
    assert TensorIdentity.of(run, case.ops) is None
    assert passed_on_alone(run, case.ops, np.array([0]), np.array([1])) is None
