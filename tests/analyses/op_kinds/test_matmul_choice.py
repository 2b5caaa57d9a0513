"""Matmul choice: who chose the program config, and which matmuls TTNN's choice leaves on few cores."""

import numpy as np
import pytest

from tests.analyses.tables import ops_of, put
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul, unary
from ttnn_mcp.analyses.op_kinds.matmul_choice import in_l1_interleaved, matmul_choice, trapped

BLOCKED = (
    "MatmulMultiCoreReuseMultiCastProgramConfig(compute_with_storage_grid_size=(x=8,y=8),in0_block_w=4,"
    "out_subblock_h=1,out_subblock_w=8,per_core_M=3,per_core_N=5)"
)


def table(folder, *, source=DRAM, weights=DRAM, output=DRAM, **how):
    """A relu, then a matmul."""
    program = Program("wormhole_b0")
    put(program, unary("RELU", program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 32]), 1_000))
    x, w = program.tensor([1, 1, 256, 64], placement=source), program.tensor([1, 1, 64, 64], placement=weights)
    put(program, matmul(x, w, program.tensor([1, 1, 256, 64], placement=output), 9_000, **how))
    return ops_of(folder, program)


def test_without_a_config_ttnn_chose(tmp_path):
    choice = matmul_choice(table(tmp_path))
    assert choice.rows.tolist() == [1]
    assert (choice.has_config.tolist(), choice.chosen.tolist(), choice.slowest.tolist()) == (
        [True],
        [True],
        [False],
    )
    assert np.isnan([choice.block_w, choice.subblock, choice.per_core]).all()


def test_a_config_is_taken_apart(tmp_path):
    choice = matmul_choice(table(tmp_path, program_config=BLOCKED))
    assert choice.chosen.tolist() == [False]
    assert (choice.block_w.tolist(), choice.subblock.tolist(), choice.per_core.tolist()) == ([4], [8], [15])


def test_a_core_grid_is_a_choice_of_the_callers(tmp_path):
    assert matmul_choice(table(tmp_path, core_grid="(x=8,y=8)")).chosen.tolist() == [False]


def test_the_config_without_reuse_is_the_slowest(tmp_path):
    assert matmul_choice(table(tmp_path, program_config="MatmulMultiCoreProgramConfig()")).slowest.tolist() == [
        True
    ]
    assert matmul_choice(table(tmp_path, program_config="MatmulMultiCoreProgramConfig2()")).slowest.tolist() == [
        False
    ]


def test_a_matmul_without_attributes_tells_nothing(tmp_path):
    program = Program("wormhole_b0")
    x, w = program.tensor([1, 1, 256, 64]), program.weight([1, 1, 64, 64])
    put(program, DeviceOp("MatmulDeviceOperation", (x, w), (program.tensor([1, 1, 256, 64]),), 9_000))
    choice = matmul_choice(ops_of(tmp_path, program))
    assert (choice.has_config.tolist(), choice.chosen.tolist()) == ([False], [False])


@pytest.mark.parametrize(
    ("placed", "interleaved"),
    [
        ({}, False),
        ({"source": L1}, True),
        ({"weights": L1}, True),
        ({"output": L1}, True),
        ({"output": height_sharded(32, 64, (8, 1))}, False),
        ({"output": L1, "source": height_sharded(32, 64, (8, 1))}, False),
    ],
)
def test_interleaved_in_l1_counts_unless_the_input_is_sharded(tmp_path, placed, interleaved):
    assert in_l1_interleaved(table(tmp_path, **placed)).tolist() == [False, interleaved]


def test_under_sixty_percent_of_the_cores_is_a_trap(tmp_path):
    for cores, rows in ((38, [1]), (39, [])):  # of 64
        ops = table(tmp_path, source=L1, cores=cores)
        assert trapped(ops, matmul_choice(ops), 64).tolist() == rows
    ops = table(tmp_path, source=L1, cores=8)
    assert not len(trapped(ops, matmul_choice(ops), None))
    ops = table(tmp_path, source=L1, cores=8, program_config=BLOCKED)
    assert not len(trapped(ops, matmul_choice(ops), 64))
