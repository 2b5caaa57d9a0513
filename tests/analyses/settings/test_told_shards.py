"""The shards of an op's operands: by a linked memory report, else by the ops that wrote such a tensor before."""

from __future__ import annotations

import pytest

from tests.analyses.from_graph.programs import sharded, tensor
from tests.analyses.settings.test_matmul_printed import config
from tests.analyses.tables import put
from tests.asking import session
from tests.for_all import for_all
from tests.profiles import (
    DRAM,
    L1,
    Iteration,
    Program,
    block_sharded,
    width_sharded,
    write_performance_report,
)
from tests.profiles.model import DeviceOp, Placement
from tests.profiles.ops import interleaved_to_sharded, matmul, unary
from ttnn_mcp.analyses.settings import told_shards as module
from ttnn_mcp.analyses.settings.told_shards import told_shards
from ttnn_mcp.readers.graph.launches import Launch

ROW = [1, 1, 32, 4096]
FOUR, EIGHT = width_sharded(32, 1024, 4), width_sharded(32, 512, 8)
BLOCK = config(
    "1D", "in0_block_w=2,out_subblock_h=1,out_subblock_w=4,per_core_M=1,per_core_N=16", more=",mcast_in0=1"
)


@pytest.fixture
def told(tmp_path):
    """The shards of the last op of a program."""

    async def of(program):
        opened = await session(tmp_path).run(str(write_performance_report(tmp_path, program, [Iteration()])))
        return await told_shards(opened, int(opened.performance_report.ops.lines[-1]))

    return of


def moved(program, placement, shape=ROW, dtype="BFLOAT16"):
    """A tensor that an op has put into shards."""
    x, y = program.tensor(shape, dtype), program.tensor(shape, dtype, placement=placement)
    return put(program, interleaved_to_sharded(x, y, 5_000))


def read(program, x, out=DRAM):
    return put(program, unary("RELU", x, program.tensor(x.shape, x.dtype, placement=out), 9_000))


async def test_the_op_that_wrote_the_operand_prints_its_shards(told):
    program = Program("wormhole_b0")
    read(program, moved(program, FOUR))
    assert await told(program) == {"INPUT_0": (32, 1024)}


async def test_a_matmul_writes_one_block_to_each_core(told):
    program = Program("wormhole_b0")
    y = program.tensor(ROW, placement=Placement("L1", "WIDTH_SHARDED", EIGHT.grid, (32, 4096)))
    put(program, matmul(program.tensor(ROW), program.weight([1, 1, 4096, 4096]), y, 9_000, program_config=BLOCK))
    read(program, y)
    assert await told(program) == {"INPUT_0": (32, 512)}


@for_all(
    ("shape", "dtype", "placement", "known"),
    [
        (ROW, "BFLOAT16", FOUR, True),
        (ROW, "BFLOAT16", EIGHT, False),  # two ops tell different shards: either may be the maker
        (ROW, "BFLOAT8_B", EIGHT, True),
        ([1, 1, 64, 4096], "BFLOAT16", width_sharded(64, 512, 8), True),
        ([1, 1, 64, 2048], "BFLOAT16", width_sharded(64, 512, 4), True),  # as many elements
        (ROW, "BFLOAT16", block_sharded(32, 512, (8, 1)), True),
        (ROW, "BFLOAT16", L1, True),
    ],
)
async def test_all_that_wrote_such_a_tensor_must_agree(told, shape, dtype, placement, known):
    program = Program("wormhole_b0")
    moved(program, placement, shape, dtype)
    read(program, moved(program, FOUR))
    assert await told(program) == ({"INPUT_0": (32, 1024)} if known else {})


async def test_what_comes_later_did_not_write_it(told, tmp_path):
    program = Program("wormhole_b0")
    read(program, moved(program, FOUR))
    moved(program, EIGHT)
    run = await session(tmp_path).run(str(write_performance_report(tmp_path, program, [Iteration()])))
    assert await told_shards(run, int(run.performance_report.ops.lines[1])) == {"INPUT_0": (32, 1024)}
    assert await told_shards(run, 1) == {}  # the header


async def test_an_op_that_prints_no_shards_leaves_them_unknown(told):
    program = Program("wormhole_b0")
    x = program.tensor(ROW, placement=FOUR)
    put(program, DeviceOp("MadeUpDeviceOperation", (program.tensor(ROW),), (x,), 5_000))
    read(program, x)
    assert await told(program) == {}


async def test_each_device_has_tensors_of_its_own(told, tmp_path):
    program = Program("wormhole_b0", devices=2)
    read(program, moved(program, FOUR))
    assert await told(program) == {"INPUT_0": (32, 1024)}


async def test_operands_of_pages_have_none(told):
    program = Program("wormhole_b0")
    read(program, program.tensor(ROW, placement=L1))
    assert await told(program) == {}


async def test_only_the_op_right_before_counts_as_the_maker(told):
    program = Program("wormhole_b0")
    x = moved(program, FOUR)
    read(program, program.tensor(ROW))
    read(program, x)
    assert await told(program) == {}


@pytest.fixture
def captured(told, monkeypatch):
    """The shards of an op from one tensor in shards of 512 to another, beside what a graph prints of it."""

    async def of(*launches, out=EIGHT):
        async def captured_launches(_run, line):
            assert line == 2
            return [Launch("Unary", "", "", inputs, outputs) for inputs, outputs in launches]

        monkeypatch.setattr(module, "captured_launches", captured_launches)
        program = Program("wormhole_b0")
        read(program, program.tensor(ROW, placement=EIGHT), out)
        return await told(program)

    return of


def shards(columns, layout="WIDTH", shape=tuple(ROW), **more):
    return sharded(*shape, layout=layout, shard=(32, columns), cores=(4, 1), **more)


async def test_a_linked_memory_report_tells_every_tensor(captured):
    assert await captured(((shards(1024),), (shards(512),))) == {"INPUT_0": (32, 1024), "OUTPUT_0": (32, 512)}
    assert await captured(((shards(1024),), (tensor(*ROW),)), out=DRAM) == {"INPUT_0": (32, 1024)}


@for_all(
    "spec",
    [shards(1024, "HEIGHT"), shards(1024, shape=(1, 1, 64, 4096)), tensor(*ROW)],
    ids=["layout", "size", "pages"],
)
async def test_a_tensor_of_another_description_is_not_the_operand(captured, spec):
    assert await captured(((spec,), (shards(512),))) == {"OUTPUT_0": (32, 512)}


async def test_device_ops_that_may_be_it_must_tell_the_same(captured):
    one, other = ((shards(1024),), (shards(512),)), ((shards(512),), (shards(512),))
    assert await captured(one, one) == {"INPUT_0": (32, 1024), "OUTPUT_0": (32, 512)}
    assert await captured(one, other) == {}
    assert await captured(((), ()), one) == {}


async def test_pages_of_a_block_are_no_shards(told):
    program = Program("wormhole_b0")
    y = program.tensor(ROW, placement=L1)
    put(program, matmul(program.tensor(ROW), program.weight([1, 1, 4096, 4096]), y, 9_000, program_config=BLOCK))
    read(program, y)
    assert await told(program) == {}


async def test_what_is_printed_must_be_the_shards_of_that_layout(told):
    program = Program("wormhole_b0")
    x, y = program.tensor(ROW), program.tensor(ROW, placement=FOUR)
    op = interleaved_to_sharded(x, y, 5_000)
    op.attributes = {**op.attributes, "output_mem_config": block_sharded(32, 1024, (4, 1))}
    read(program, put(program, op))
    assert await told(program) == {}


@for_all(("shape", "known"), [("{32, 1024}", True), ("{1, 32, 1024}", False)])
async def test_a_shard_of_more_dimensions_is_not_one_of_rows_and_columns(told, shape, known):
    program = Program("wormhole_b0")
    op = interleaved_to_sharded(program.tensor(ROW), program.tensor(ROW, placement=FOUR), 5_000)
    spec = f"ShardSpec(grid={{[(x=0,y=0) - (x=3,y=0)]}},shape={shape},orientation=ShardOrientation::ROW_MAJOR)"
    op.attributes = {
        "output_mem_config": f"MemoryConfig(memory_layout=TensorMemoryLayout::WIDTH_SHARDED,buffer_type=BufferType::L1,shard_spec={spec})"
    }
    read(program, put(program, op))
    assert await told(program) == ({"INPUT_0": (32, 1024)} if known else {})


@for_all("side", ["per_core_M", "per_core_N"])
async def test_a_config_that_is_cut_off_tells_no_block(told, side):
    program = Program("wormhole_b0")
    y = program.tensor(ROW, placement=EIGHT)
    cut = BLOCK.replace(f"{side}=", "other=")
    put(program, matmul(program.tensor(ROW), program.weight([1, 1, 4096, 4096]), y, 9_000, program_config=cut))
    read(program, y)
    assert await told(program) == {"INPUT_0": (32, 512)}  # by its memory config
