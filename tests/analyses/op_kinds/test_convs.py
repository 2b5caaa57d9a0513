"""Convs: the conv rows of a table, each configuration taken apart once."""

import numpy as np

from tests.analyses.tables import ops_of
from tests.checks.conv_programs import put_conv, put_silent_conv, relu
from tests.for_all import for_all
from tests.profiles import Program
from ttnn_mcp.analyses.op_kinds.convs import convs_of, share_on_grid, sizes_of


def test_rows_share_their_configuration_and_a_silent_one_has_none(tmp_path):
    program = Program("wormhole_b0")
    relu(program, program.tensor([1, 1, 32, 32]))
    put_conv(program)
    put_conv(program, block=(4, 6))
    put_silent_conv(program)
    put_conv(program)
    convs = convs_of(ops_of(tmp_path, program))
    assert convs.rows.tolist() == [1, 2, 3, 4]
    assert len(convs.distinct) == 3
    assert convs.known == 3
    heights = [conv and conv.block_h for conv in map(convs.at, (1, 2, 3, 4))]
    assert heights == [2, 4, None, 2]
    assert [(row, conv.block_h) for row, conv in convs.configured((4, 3, 2))] == [(4, 2), (2, 4)]
    np.testing.assert_array_equal(convs.numbers(lambda conv: conv.blocks), [4, 2, np.nan, 4])
    assert convs.where(lambda conv: conv.block_h == 2).tolist() == [1, 4]


def test_the_name_before_mid_2025_is_a_conv_too(tmp_path):
    program = Program("wormhole_b0")
    put_conv(program, legacy=True, allocated=None)
    conv = convs_of(ops_of(tmp_path, program, "C4")).at(0)
    assert (conv.per_core_h, conv.per_core_w) == (8, 2)
    assert conv.allocated_bytes == (16_384 + 128) * 64 * 2 // 64  # the input's shard on each of 64 cores
    assert not conv.allocated_said


def test_sizes_are_those_of_the_matrix_product_in_tiles(tmp_path):
    program = Program("wormhole_b0")
    put_conv(program)
    (size,) = sizes_of(ops_of(tmp_path, program), np.array([0]))
    assert (size.rows, size.columns, size.inner) == (512, 2, 18)
    assert size.input_bytes == (16_384 + 128) * 64 * 2


def test_idle_cores_could_take_tiles_from_the_busiest_one(tmp_path):
    program = Program("wormhole_b0")
    put_conv(program, grid=(4, 4), per_core=(8, 2))
    put_conv(program, grid=(8, 8), per_core=(8, 2))
    put_silent_conv(program)
    np.testing.assert_array_equal(share_on_grid(ops_of(tmp_path, program), (8, 8)), [2 / 8, 1, 1])


def test_a_table_without_convs_or_operands_has_none_to_judge(tmp_path):
    program = Program("wormhole_b0")
    relu(program, program.tensor([1, 1, 32, 32]))
    convs = convs_of(ops_of(tmp_path, program))
    assert not len(convs.rows)
    assert convs.known == 0


@for_all(("lost", "known"), [("INPUT_2", 1), ("INPUT_[12]", 0), ("INPUT_", 0), ("OUTPUT_", 0)])
def test_a_conv_is_known_by_its_input_its_weights_and_its_output(tmp_path, lost, known):
    program = Program("wormhole_b0")
    put_conv(program)
    convs = convs_of(ops_of(tmp_path, program, without=lost))
    assert (convs.rows.tolist(), convs.known) == ([0], known)
