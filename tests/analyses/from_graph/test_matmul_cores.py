"""The cores that TTNN takes for a matmul, as real reports print them, and with a grid or other placements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks.asking import case_of_reports
from tests.shared_reports import CLIP, DEEPLAB, shared
from ttnn_mcp.analyses.from_graph.matmul_cores import IN_DRAM, chooser_of, cores_of, moved_to
from ttnn_mcp.analyses.programs.grids import worker_grid


@pytest.fixture(scope="module")
def deeplab():
    return case_of_reports(shared(DEEPLAB))


def chooser(case, line):
    row = next(row for row in range(len(case)) if case.line(row) == line)
    return chooser_of(case.ops, row, worker_grid(case.chip), case.safe_l1_bytes)


def test_the_matmuls_of_a_real_encoder_ran_on_the_cores_that_are_told():
    case = case_of_reports(shared(CLIP))
    rows = [int(row) for row in case.matmuls.rows]
    told = [cores_of(chooser_of(case.ops, row, worker_grid(case.chip), case.safe_l1_bytes)) for row in rows]
    assert len(rows) > 60
    assert told == [int(case.ops.numbers("cores")[row]) for row in rows]


def test_those_of_deeplab_in_l1_ran_on_the_cores_that_are_told(deeplab):
    assert [cores_of(chooser(deeplab, line)) for line in (387, 388)] == [32, 32]


def test_a_grid_gives_each_pair_of_matrices_one_core_and_dram_cuts_them(deeplab):
    """As TTNN 0.81.1 on a mock P100: 32 and 88."""
    now = chooser(deeplab, 388)
    assert cores_of(replace(now, given_grid=True)) == 32
    assert cores_of(moved_to(now, IN_DRAM)) == 88


def test_shards_are_not_told(deeplab):
    sharded = next(row for row in deeplab.matmuls.rows if deeplab.ops.inputs[0].sharded[row])
    assert chooser_of(deeplab.ops, int(sharded), (11, 10), deeplab.safe_l1_bytes) is None
