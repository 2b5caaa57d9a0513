"""Where operands and tensors live, and what is told of shards: each term with a pair."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.analyses.memory.small_tables import memory, tensor
from tests.analyses.memory.small_tables import tensors as small_tensors
from tests.analyses.tables import ops_of
from tests.profiles import DRAM, L1, Program, height_sharded
from ttnn_mcp.analyses.moves.placements import shard_specs, where_operands_live, where_tensors_live
from ttnn_mcp.readers.memory.columns import Coded
from ttnn_mcp.readers.printed.memory_config import Placement, ShardSpec

IN_DRAM, IN_L1 = Placement("INTERLEAVED", "DRAM"), Placement("INTERLEAVED", "L1")
TALL = Placement("HEIGHT_SHARDED", "L1", ShardSpec(shape=(32, 64)))
CONFIG = (
    "MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED;buffer_type=BufferType::L1;"
    "shard_spec=ShardSpec(grid={[(x=0,y=0) - (x=7,y=0)]};shape={32,64};orientation=ShardOrientation::ROW_MAJOR))"
)


def tensors(codes, *distinct, sizes=None):
    placements = SimpleNamespace(codes=np.array(codes), distinct=distinct)
    return SimpleNamespace(placements=placements, size_bytes=np.array(sizes or [10] * len(codes)))


@pytest.fixture
def ops(tmp_path):
    program = Program()
    for number, (where, attributes) in enumerate(
        [
            (DRAM, {}),
            (DRAM, {"memory_config": "none"}),
            (DRAM, {"memory_config": "MemoryConfig(memory_layout=INTERLEAVED;buffer_type=BufferType::DRAM)"}),
            (L1, {}),
            (height_sharded(32, 64, (8, 1)), {"memory_config": CONFIG}),
        ]
    ):
        x = program.tensor([1, 1, 256, 64], placement=where)
        program.op("UnaryDeviceOperation", [x], kernel_ns=1_000 * (number + 1), attributes=attributes)
    return ops_of(tmp_path, program)


def test_every_placement_that_an_operand_has_is_told_the_costliest_first(ops):
    lives = [(str(each.placement), each.operands, each.ops, each.kernel_ns) for each in where_operands_live(ops)]
    assert lives == [
        ("DRAM INTERLEAVED", 6, 3, 6_000.0),
        ("L1 HEIGHT_SHARDED", 2, 1, 5_000.0),
        ("L1 INTERLEAVED", 2, 1, 4_000.0),
    ]


def test_placements_of_ops_outside_the_window_are_not_told(ops):
    lives = where_operands_live(ops.take(np.array([0, 1, 2])))
    assert [(str(each.placement), each.operands) for each in lives] == [("DRAM INTERLEAVED", 6)]


def test_tensors_are_counted_by_placement_without_their_shards():
    other = Placement("HEIGHT_SHARDED", "L1", ShardSpec(shape=(64, 64)))
    without, view = {"placement": None}, {"placement": TALL, "address": -1}
    rows = ({"placement": TALL}, {"placement": TALL}, {"placement": other}, without, {"placement": TALL}, view)
    sizes = (5, 6, 7, 8, -1, 9)
    listed = [
        tensor(at, **{"address": 4096 * at, "size": size, **row})
        for at, (row, size) in enumerate(zip(rows, sizes, strict=True), start=1)
    ]
    told = small_tensors(*listed)
    codes, distinct = told.placements.codes, told.placements.distinct
    unused = Coded(np.where(codes < 0, codes, codes + 1), (IN_DRAM, *distinct))
    found = where_tensors_live(memory(tensors=replace(told, placements=unused)))
    assert found == [(Placement("HEIGHT_SHARDED", "L1"), 5, 18)]


def test_shards_are_those_that_ops_were_told_to_write_and_that_tensors_have(ops):
    [alone] = shard_specs(ops, None)
    assert (alone.placement.shard.shape, alone.rows.tolist(), alone.kernel_ns, alone.tensors) == (
        (32, 64),
        [4],
        5_000.0,
        0,
    )
    wide = Placement("WIDTH_SHARDED", "L1", ShardSpec(shape=(32, 32)))
    both = shard_specs(ops, tensors([0, 1, 1], IN_DRAM, wide))
    assert [(each.kernel_ns, each.tensors) for each in both] == [(5_000.0, 0), (0.0, 2)]


def test_shards_of_tensors_are_told_without_ops():
    unused = Placement("WIDTH_SHARDED", "L1", ShardSpec(shape=(32, 32)))
    later = Placement("BLOCK_SHARDED", "L1", ShardSpec(shape=(32, 32)))
    found = shard_specs(None, tensors([2, 2, 0, -1], IN_L1, unused, TALL, later))
    assert [(each.placement, each.rows.tolist(), each.kernel_ns, each.tensors) for each in found] == [
        (TALL, [], 0.0, 2)
    ]
