"""Who makes, last uses and frees a tensor, in every generation, views and in-place results included."""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analyses.memory.replays import late, opened, replay
from tests.for_all import for_all
from tests.profiles import (
    DATABASE_GENERATIONS,
    DRAM,
    CircularBuffer,
    DeviceOp,
    Program,
    Replay,
    height_sharded,
    write_memory_report,
)
from tests.profiles.demo_model import demo_program
from tests.shared_reports import MEMORY, shared
from ttnn_mcp.analyses.memory.replay import replay_of

SHARD = height_sharded(256, 32, (8, 8))  # 16,384 bytes per bank
SHAPE = [1, 1, 16384, 32]


def start():
    program = Program()
    return program, program.tensor(SHAPE, placement=SHARD)


def steps(program, x, count):
    """`count` further operations, each freeing its input: none of them late."""
    for _ in range(count):
        y = program.op("UnaryDeviceOperation", [x], call="ttnn.relu")
        program.free(x)
        x = y
    return x


def named(found, name):
    at = {int(tensor): row for tensor, row in zip(found.lifetimes.tensors, found.lifetimes.rows, strict=True)}
    return at[name.id]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("generation", DATABASE_GENERATIONS)
async def test_the_two_late_frees_of_the_demo_are_found_in_every_generation(tmp_path, generation):
    found = await replay(tmp_path, demo_program(), generation)
    assert late(found) == [(28, 11, 27), (38, 22, 29)]
    assert late(found, least=2) == [(28, 11, 27), (38, 22, 29)]


@for_all("name", MEMORY)
async def test_the_two_planted_late_frees_of_the_published_model_are_found(name):
    found = await replay_of(await opened(shared(name) / "db.sqlite"))
    assert [tensor for tensor, _, _ in late(found, least=2)] == [9, 12]


async def test_freeing_in_time_gives_back_what_the_peak_held(tmp_path):
    found = await replay(tmp_path, demo_program())
    frees = found.lifetimes.late_frees(found.fullest.peak)
    assert [one.at_peak for one in frees] == [True, True]
    assert [one.held for one in frees] == [9, 3]
    levels = found.fullest.l1
    without = frees.levels_without(levels)
    assert int(levels.max() - without.max()) == 32_768 + 16_384
    assert int(without[26]) == int(levels[26]) - 16_384  # operation 27 frees the first itself


@for_all(("at_peak", "found_late"), [(False, []), (True, [2])])
async def test_one_operation_too_late_is_the_usual_idiom_unless_it_is_the_fullest(tmp_path, at_peak, found_late):
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    big, small = CircularBuffer(500_000), CircularBuffer(64)
    w = program.op("UnaryDeviceOperation", [z], circular_buffers=[big if at_peak else small])
    program.free(y)  # one operation after its last use
    program.free(z)
    program.op("UnaryDeviceOperation", [w], circular_buffers=[small if at_peak else big])
    found = await replay(tmp_path, program)
    assert [tensor for tensor, *_ in late(found, least=2)] == found_late
    assert (y.id, 2, 4) in late(found, least=1)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("generation", DATABASE_GENERATIONS)
async def test_a_tensor_that_is_never_freed_is_late_and_a_result_nobody_reads_is_not(tmp_path, generation):
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    steps(program, z, 3)
    found = await replay(tmp_path, program, generation)
    assert late(found, least=2) == [(y.id, 2, None)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("generation", DATABASE_GENERATIONS)
async def test_a_view_keeps_its_buffer_in_use(tmp_path, generation):
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    view = program.tensor(SHAPE, placement=SHARD, alias_of=y)
    program.call("ttnn.reshape", [y], [view])
    z = steps(program, z, 3)
    program.op("BinaryNgDeviceOperation", [view, z])
    program.free(view)
    found = await replay(tmp_path, program, generation)
    assert late(found) == []
    assert named(found, y) == named(found, view)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("generation", DATABASE_GENERATIONS)
async def test_recycled_addresses_are_different_buffers(tmp_path, generation):
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    program.free(y)
    z = program.op("UnaryDeviceOperation", [x])
    assert Replay(program).addresses[y] == Replay(program).addresses[z]
    program.free(z)
    found = await replay(tmp_path, program, generation)
    assert named(found, y) != named(found, z)
    assert late(found) == []


async def test_without_graphs_a_tensor_written_over_another_s_address_ends_it(tmp_path):
    """A name that goes leaves no operation behind; the next output at its address makes both snapshots look alike."""
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    gone = program.drop(y)
    w = program.op("UnaryDeviceOperation", [z])
    assert Replay(program).addresses[y] == Replay(program).addresses[w]
    path = write_memory_report(tmp_path, program, "G1")
    with closing(sqlite3.connect(path)) as connection:
        for table in ("operations", "buffers"):
            connection.execute(f"DELETE FROM {table} WHERE operation_id = ?", [gone.id])
        connection.commit()
    found = await replay_of(await opened(path))
    assert named(found, y) != named(found, w)
    assert late(found) == []


async def test_an_input_freed_within_an_operation_is_not_late(tmp_path):
    """deallocate_activation: the output may even lie where the input lay."""
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    halo, z = program.tensor(SHAPE, placement=SHARD), program.tensor(SHAPE, placement=SHARD)
    ops = [DeviceOp("HaloDeviceOperation", [y], [halo]), DeviceOp("Conv2dDeviceOperation", [halo], [z])]
    program.call("ttnn.conv2d", [y], [z], ops, frees=[y])
    assert Replay(program).addresses[y] == Replay(program).addresses[z]
    steps(program, z, 4)
    for generation in DATABASE_GENERATIONS:
        found = await replay(tmp_path / generation, program, generation)
        assert late(found) == [], generation
    assert named(found, y) != named(found, z)


async def test_weights_are_there_for_good_and_never_late(tmp_path):
    program, x = start()
    weight = program.tensor(SHAPE, placement=SHARD)
    program.op("MatmulDeviceOperation", [x, weight])
    steps(program, x, 4)
    for generation in DATABASE_GENERATIONS:
        found = await replay(tmp_path / generation, program, generation)
        assert found.lifetimes.persistent[named(found, weight)], generation
        assert weight.id not in [tensor for tensor, *_ in late(found)]
        assert not found.lifetimes.persistent[named(found, x)]  # an input that the model frees is none


async def test_only_l1_is_asked_about(tmp_path):
    program = Program()
    x = program.tensor([1, 1, 64, 64], placement=DRAM)
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    steps(program, z, 4)
    assert late(await replay(tmp_path, program)) == []


async def test_the_longest_wait_between_two_uses_counts_operations_that_ran(tmp_path):
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    z = steps(program, y_copy := program.op("UnaryDeviceOperation", [y]), 5)
    program.op("BinaryNgDeviceOperation", [y, z])
    found = await replay(tmp_path, program)
    idle, first, second = found.lifetimes.waits
    row = named(found, y)
    assert (int(idle[row]), int(found.operations[first[row]]), int(found.operations[second[row]])) == (5, 2, 13)
    assert idle[named(found, y_copy)] == 0


async def test_the_lifetime_table_fills_in_for_missing_inputs_and_outputs(tmp_path):
    path = write_memory_report(tmp_path, demo_program())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM input_tensors")
        connection.execute("DELETE FROM output_tensors")
        connection.commit()
    found = await replay_of(await opened(path))
    assert late(found, least=2) == [(28, 11, 27), (38, 22, 29)]


async def test_an_operation_that_never_finished_holds_nothing(tmp_path):
    program, x = start()
    y = program.op("UnaryDeviceOperation", [x])
    z = program.op("UnaryDeviceOperation", [y])
    program.op("UnaryDeviceOperation", [z])
    program.fail("Out of Memory")
    assert late(await replay(tmp_path, program)) == []


@st.composite
def programs(draw):
    """Small models: operations read what is live; some tensors are freed at once, some later, some never."""
    program, x = start()
    live = [x]
    for _ in range(draw(st.integers(2, 9))):
        inputs = draw(st.lists(st.sampled_from(live), min_size=1, max_size=2, unique_by=id))
        where = draw(st.sampled_from((SHARD, SHARD, DRAM)))
        frees = [inputs[0]] if len(live) > 2 and draw(st.booleans()) else []
        made = program.op("BinaryNgDeviceOperation", inputs, placement=where, frees=frees)
        live = [one for one in live if one not in frees] + [made]
        while len(live) > 1 and draw(st.integers(0, 2)) == 0:
            gone = draw(st.sampled_from(live[:-1]))
            (program.free if draw(st.booleans()) else program.drop)(gone)
            live.remove(gone)
    return program


@pytest.mark.slow
@given(programs(), st.sampled_from(("G2", "G4", "2", "3.3")))
@settings(max_examples=60)
def test_late_frees_are_those_of_the_simulation(program, generation):
    made = {
        (tensor.id, used.id, freed.id if freed else None) for tensor, used, freed in Replay(program).late_frees()
    }
    inputs = {program.tensors[0].id}  # held for good, as far as the report knows, where nothing frees it
    with tempfile.TemporaryDirectory() as folder:
        path = write_memory_report(Path(folder), program, generation)

        async def replayed():
            return await replay_of(await opened(path))

        found = asyncio.run(replayed())
    mine = set(late(found))
    assert {one for one in mine if one[0] not in inputs} == {one for one in made if one[0] not in inputs}
    assert all(one.bytes_per_bank >= 0 for one in found.lifetimes.late_frees(0))
