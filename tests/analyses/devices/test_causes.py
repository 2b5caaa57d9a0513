"""The cause of uneven work is named only where the attributes show all of it."""

import asyncio

import pytest

from tests.asking import session
from tests.profiles import Iteration, Program, write_performance_report
from ttnn_mcp.analyses.devices.causes import uneven_ring

ATTRIBUTES = {"is_causal": "true", "is_balanced": "false", "ring_size": "4"}


def cause(folder, **changed):
    program = Program("blackhole")
    query = program.tensor([1, 8, 1024, 128])
    program.op("RingJointSDPADeviceOperation", [query, query, query], attributes=ATTRIBUTES | changed)
    run = asyncio.run(session(folder).run(str(write_performance_report(folder, program, [Iteration()]))))
    return uneven_ring(run.scope("all", None, None).ops, 0)


@pytest.mark.parametrize("devices", [2, 4])
def test_a_causal_ring_that_is_not_balanced(tmp_path, devices):
    assert f"ring of {devices}" in cause(tmp_path, ring_size=str(devices))


@pytest.mark.parametrize("changed", [{"is_causal": "false"}, {"is_balanced": "true"}, {"ring_size": "1"}])
def test_anything_else(tmp_path, changed):
    assert cause(tmp_path, **changed) is None
