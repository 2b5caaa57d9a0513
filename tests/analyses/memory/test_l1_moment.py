"""One operation at its fullest: kinds of tensors, holes between them, loads of cores."""

import pytest

from tests.analyses.memory.replays import replay
from tests.profiles import (
    DATABASE_GENERATIONS,
    L1,
    CircularBuffer,
    DatabaseStyle,
    DeviceOp,
    Program,
    height_sharded,
)
from tests.profiles.demo_model import demo_program
from ttnn_mcp.analyses.memory.l1_moment import Cores, composition, cores_of, holes_of, holes_of_chunks, moment_of

SHARD = height_sharded(256, 32, (8, 8))  # 16,384 bytes per bank
SHAPE = [1, 1, 16384, 32]
BASE, BANK = 103_712, 1_499_136 - 103_712 - 24_576


def shards(cores):
    return height_sharded(256, 32, cores)


async def at(found, operation):
    return await moment_of(found, found.place(operation))


@pytest.mark.parametrize("generation", [one for one in DATABASE_GENERATIONS if one != "G1"])
async def test_a_moment_tells_weights_activations_and_temporaries_apart(tmp_path, generation):
    program = Program()
    weight, x = program.tensor(SHAPE, placement=SHARD), program.tensor(SHAPE, placement=SHARD)
    y = program.op("UnaryDeviceOperation", [x])
    program.free(x)
    halo, z = program.tensor(SHAPE, placement=SHARD), program.tensor(SHAPE, placement=SHARD)
    ops = [
        DeviceOp("HaloDeviceOperation", [y], [halo]),
        DeviceOp("Conv2dDeviceOperation", [halo, weight], [z], circular_buffers=[CircularBuffer(1_000)]),
    ]
    program.call("ttnn.conv2d", [y, weight], [z], ops)
    found = await replay(tmp_path, program, generation)
    moment = await at(found, 3)
    assert moment.device_op == "Conv2dDeviceOperation"
    assert composition(found, moment) == {"persistent": 16_384, "activation": 2 * 16_384, "temporary": 16_384}
    assert [one.bytes_per_core for one in moment.circular] == [1_000]


@pytest.mark.parametrize("generation", DATABASE_GENERATIONS)
async def test_the_parts_of_a_moment_add_up_to_its_level(tmp_path, generation):
    found = await replay(tmp_path, demo_program(), generation)
    device = found.fullest
    for place in range(len(found.operations)):
        moment = await moment_of(found, place)
        assert sum(composition(found, moment).values()) == int(device.tensors[place])
        cores = cores_of(found, moment)
        heaviest = max((one.circular_bytes for one in cores), default=0)
        assert heaviest == int(device.circular[place])


async def test_holes_are_what_is_free_between_and_below_tensors(tmp_path):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    program.free(y)
    program.op(
        "TinyDeviceOperation", [z], placement=L1, shape=[1, 1, 32, 32], circular_buffers=[CircularBuffer(100)]
    )
    found = await replay(tmp_path, program)
    holes = holes_of(found, await at(found, 4))
    tiny = 2_048  # in the hole that y left
    assert holes.largest_hole == holes.holes == 16_384 - tiny
    assert holes.below == BANK - 3 * 16_384 - 100
    assert holes.largest == holes.below


async def test_chunks_show_the_same_hole_after_the_operation(tmp_path):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    y = program.op("UnaryDeviceOperation", [x])
    program.op("UnaryDeviceOperation", [y])
    program.free(y)
    for generation in ("G4", "2.1", "3.3"):  # pages, pages, chunks
        found = await replay(tmp_path / generation, program, generation, DatabaseStyle(detailed="all"))
        holes = holes_of_chunks(found, await found.memory.chunks_of(3))
        assert (holes.largest_hole, holes.holes, holes.below) == (16_384, 16_384, BANK - 3 * 16_384)


async def test_cores_carry_what_their_shards_and_buffers_say(tmp_path):
    program = Program()
    x = program.tensor([1, 1, 8192, 32], placement=shards((8, 4)))
    buffers = [CircularBuffer(1_000), CircularBuffer(50, grid=((7, 7, 7, 7),))]
    program.op("UnaryDeviceOperation", [x], circular_buffers=buffers)
    found = await replay(tmp_path, program)
    loads = cores_of(found, await at(found, 1))
    assert [(len(one.cores), one.tensors_bytes, one.circular_bytes) for one in loads] == [
        (32, 2 * 16_384, 1_000),
        (1, 0, 50),
    ]
    assert loads[1] == Cores(((7, 7),), 0, 50)
