"""The cores that TTNN takes for a matmul, as real reports print them, and with a grid or other placements."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.checks.asking import case_of_reports
from tests.checks.rows import case_of, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.ops import matmul
from tests.shared_reports import CLIP, DEEPLAB, shared
from ttnn_mcp.analyses.from_graph import matmul_cores
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


def made(tmp_path, first, second, *, into=L1, arch="wormhole_b0", bias=0, dtype="BFLOAT16"):
    """TTNN's choice for a product of two interleaved tensors, its output in L1 unless told."""
    program = Program(arch)
    x, w = program.tensor(list(first), dtype), program.tensor(list(second))
    y = program.tensor([*first[:3], second[3]], placement=into)
    op = matmul(x, w, y, 200_000, cores=8)
    if bias:
        op.inputs = (*op.inputs, program.tensor([1, 1, 1, second[3]], {1: "BFLOAT16", 2: "FLOAT32"}[bias]))
    put(program, op)
    case = case_of(tmp_path, program)
    return chooser_of(case.ops, 0, worker_grid(case.chip), case.safe_l1_bytes)


def test_pairs_of_matrices_take_a_core_each_or_are_cut_in_dram(tmp_path):
    """As real TTNN took those of DeepLab."""
    now = made(tmp_path, (1, 32, 512, 128), (1, 32, 128, 1024), arch="blackhole")
    assert (cores_of(now), cores_of(replace(now, given_grid=True))) == (32, 32)
    assert cores_of(moved_to(now, IN_DRAM)) == 88


def test_a_grid_fuses_the_batch_of_the_input_only_where_weights_have_none(tmp_path):
    """Four times 32 rows of tiles over 8: one matrix of 128."""
    now = made(tmp_path, (1, 4, 1024, 1024), (1, 1, 1024, 1024))
    assert cores_of(replace(now, given_grid=True)) == 64
    assert now.a.batch * now.a.rows == 128


@for_all(
    ("first", "second", "given_grid", "cores"),
    [
        ((1, 4, 1024, 1024), (1, 1, 1024, 1024), False, 4),
        ((1, 4, 1024, 1024), (1, 1, 1024, 1024), True, 64),
        ((1, 4, 128, 128), (1, 4, 128, 128), True, 4),
        ((1, 4, 64, 64), (1, 4, 64, 32), False, 8),
        ((1, 3, 32, 32), (1, 3, 32, 32), False, 3),
        ((1, 3, 64, 64), (1, 3, 64, 64), False, 12),
    ],
)
def test_batches_and_small_blocks_in_l1_take_the_cores_that_ttnn_took(tmp_path, first, second, given_grid, cores):
    """As the buffers of 0.81.1 lie on a mock Wormhole, with a grid of 8x8 or none."""
    assert cores_of(replace(made(tmp_path, first, second), given_grid=given_grid)) == cores


def test_one_row_of_tiles_takes_the_cores_that_its_columns_fill(tmp_path):
    wide = made(tmp_path, (1, 1, 32, 1024), (1, 1, 1024, 1024), into=DRAM)
    assert cores_of(wide) == 32
    tall = made(tmp_path, (1, 1, 4096, 64), (1, 1, 64, 32), into=DRAM)
    assert cores_of(tall) == 64


def test_without_cores_nothing_is_chosen(tmp_path):
    now = made(tmp_path, (1, 1, 256, 256), (1, 1, 256, 256))
    assert [cores_of(replace(now, grid=grid)) for grid in ((0, 8), (8, 0))] == [None, None]


def test_a_bias_counts_with_its_tiles(tmp_path):
    chosen = [made(tmp_path, (1, 1, 32, 1024), (1, 1, 1024, 1024), bias=bias).bias_bytes for bias in (0, 1, 2)]
    assert chosen == [0, 2048, 4096]


def test_a_data_type_without_tiles_is_not_told(tmp_path, monkeypatch):
    monkeypatch.setattr(matmul_cores, "TILE_BYTES", {})
    assert made(tmp_path, (1, 1, 256, 256), (1, 1, 256, 256)) is None


@for_all("which", ["sharded", "missing"])
def test_without_an_operand_that_is_known_nothing_is_told(tmp_path, which):
    program = Program("wormhole_b0")
    x = program.tensor([1, 1, 256, 256], placement=height_sharded(32, 256, 8) if which == "sharded" else DRAM)
    w = program.tensor([1, 1, 256, 256])
    y = program.tensor([1, 1, 256, 256])
    op = matmul(x, w, y, 9_000)
    op.inputs = (x,) if which == "missing" else (x, w)
    put(program, op)
    put(program, matmul(y, w, program.tensor([1, 1, 256, 256]), 9_000))  # the report has a second input
    case = case_of(tmp_path, program)
    assert chooser_of(case.ops, 0, worker_grid(case.chip), case.safe_l1_bytes) is None
