"""Matmul choice: who chose the program config, and which matmuls TTNN's choice leaves on few cores."""

import numpy as np

from tests.analyses.tables import ops_of, put
from tests.for_all import for_all
from tests.profiles import DRAM, L1, Program, height_sharded
from tests.profiles.model import DeviceOp
from tests.profiles.ops import matmul, unary
from ttnn_mcp.analyses.op_kinds.matmul_choice import (
    in_l1_interleaved,
    in_many_steps,
    in_small_blocks,
    matmul_choice,
    streams_first_operand,
    trapped,
    waits_for_steps,
)

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
    how = ({"core_grid": "(x=8,y=8)"}, {}, {"program_config": BLOCKED})
    choices = [matmul_choice(table(tmp_path, **each)) for each in how]
    assert [[*choice.chosen.tolist(), *choice.on_grid.tolist()] for choice in choices] == [
        [False, True],
        [True, False],
        [False, False],
    ]


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


@for_all(
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


def test_a_matmul_without_operands_in_l1_is_in_no_trap(tmp_path):
    ops = table(tmp_path, cores=8)
    assert not len(trapped(ops, matmul_choice(ops), 64))


@for_all(("lost", "rows"), [("INPUT_2", [0]), ("INPUT_", []), ("OUTPUT_", [])])
def test_whether_it_is_a_trap_is_not_known_without_operands(tmp_path, lost, rows):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, 64, 64], placement=L1) for _ in range(3))
    put(program, matmul(x, w, y, 9_000, cores=8))
    ops = ops_of(tmp_path, program, without=lost)
    assert trapped(ops, matmul_choice(ops), 64).tolist() == rows


@for_all(
    ("config", "streams"),
    [
        ("MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w=4,gather_in0=0)", True),
        ("MatmulMultiCoreReuseMultiCastProgramConfig(in0_block_w=4)", True),
        ("MatmulMultiCoreReuseProgramConfig(in0_block_w=4)", False),
        ("MatmulMultiCoreReuseMultiCast1DProgramConfig(in0_block_w=4,gather_in0=1)", False),
        ("MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(in0_block_w=4)", False),
    ],
)
def test_multicast_reads_its_first_operand_once(tmp_path, config, streams):
    ops = table(tmp_path, program_config=config)
    assert streams_first_operand(ops, matmul_choice(ops)).tolist() == [False, streams]


def config(block_w=2, subblock=(1, 2), per_core=(2, 2), name="MatmulMultiCoreReuseMultiCastProgramConfig"):
    numbers = (block_w, *subblock, *per_core)
    keys = ("in0_block_w", "out_subblock_h", "out_subblock_w", "per_core_M", "per_core_N")
    return f"{name}({','.join(f'{key}={number}' for key, number in zip(keys, numbers, strict=True) if number)})"


@for_all(
    ("k", "said", "small"),
    [
        (128, {}, False),
        (128, {"block_w": 1}, True),
        (96, {"block_w": 1}, False),  # three tiles of K: nothing to block
        (128, {"subblock": (1, 1)}, True),
        (128, {"subblock": (1, 1), "per_core": (1, 1)}, False),  # a core has one tile
        (128, {"subblock": (1, None), "per_core": (2, 2)}, False),  # one size is not printed
        (128, {"subblock": (None, 1), "per_core": (2, 2)}, False),
        (128, {"name": "MatmulMultiCoreProgramConfig"}, True),
    ],
)
def test_small_blocks_are_a_tile_of_k_or_of_the_output(tmp_path, k, said, small):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, *sides]) for sides in ((256, k), (k, 64), (256, 64)))
    put(program, matmul(x, w, y, 9_000, program_config=config(**said)))
    ops = ops_of(tmp_path, program)
    assert in_small_blocks(ops, matmul_choice(ops)).tolist() == [small]


@for_all(
    ("k", "said", "many"),
    [
        (2048, {}, True),
        (2016, {}, False),  # 31.5 steps
        (2048, {"block_w": 4}, False),
        (2048, {"name": "MatmulMultiCoreReuseProgramConfig"}, False),
        (2048, {"name": "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"}, True),
        (2048, {"name": "MatmulMultiCoreReuseMultiCast1DProgramConfig"}, True),
        (2048, {"block_w": None}, False),
    ],
)
def test_a_multicast_over_k_in_thirty_two_steps_takes_many(tmp_path, k, said, many):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, *sides]) for sides in ((256, k), (k, 64), (256, 64)))
    put(program, matmul(x, w, y, 9_000, program_config=config(**said)))
    ops = ops_of(tmp_path, program)
    assert in_many_steps(ops, matmul_choice(ops)).tolist() == [many]


def test_a_ring_takes_no_steps(tmp_path):
    given = f"{config(2, name='MatmulMultiCoreReuseMultiCast1DProgramConfig')[:-1]},gather_in0=1)"
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, *sides]) for sides in ((256, 4096), (4096, 64), (256, 64)))
    put(program, matmul(x, w, y, 9_000, program_config=given))
    ops = ops_of(tmp_path, program)
    assert in_many_steps(ops, matmul_choice(ops)).tolist() == [False]


@for_all(
    ("rows", "k", "said", "waits"),
    [
        (32, 2048, {}, True),  # 32 steps of 1 us: 0.7 of 45.7 us
        (32, 2016, {}, False),
        (64, 2048, {}, False),  # the law is of one row of tiles
        (32, 2048, {"name": "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"}, False),
        (32, 2048, {"block_w": None}, False),
    ],
)
def test_one_row_of_tiles_on_interleaved_weights_waits_for_its_steps(tmp_path, rows, k, said, waits):
    program = Program("wormhole_b0")
    put(program, unary("RELU", program.tensor([1, 1, 32, 32]), program.tensor([1, 1, 32, 32]), 1_000))
    x, w, y = (program.tensor([1, 1, *sides]) for sides in ((rows, k), (k, 64), (rows, 64)))
    put(program, matmul(x, w, y, 45_700, program_config=config(**said)))
    assert waits_for_steps(ops_of(tmp_path, program)).tolist() == [False, waits]


@for_all(("lost", "waits"), [("^INPUT_[12]", True), ("^INPUT", False)])
def test_its_first_operand_alone_tells_its_steps(tmp_path, lost, waits):
    program = Program("wormhole_b0")
    x, w, y = (program.tensor([1, 1, *sides]) for sides in ((32, 2048), (2048, 64), (32, 64)))
    put(program, matmul(x, w, y, 45_700, program_config=config()))
    assert waits_for_steps(ops_of(tmp_path, program, without=lost)).tolist() == [waits]
