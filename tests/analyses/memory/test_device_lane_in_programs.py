"""The replay of captured graphs against programs whose layout is known, by hand and by the made side's simulation."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.analyses.memory.replays import l1_after, late, opened, peaks, replay, wanted_l1_after, wanted_peaks
from tests.for_all import for_all
from tests.profiles import (
    DATABASE_GENERATIONS,
    DRAM,
    L1,
    CircularBuffer,
    DatabaseStyle,
    DeviceOp,
    Placement,
    Program,
    core_ranges,
    height_sharded,
    write_memory_report,
)
from tests.profiles.demo_model import demo_program
from tests.shared_reports import MEMORY, shared
from ttnn_mcp.analyses.memory.replay import replay_of, replayed
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.run.run import Run

WITH_GRAPHS = [one for one in DATABASE_GENERATIONS if one != "G1"]
SHARD = height_sharded(256, 32, (8, 8))  # 8 x 1 tiles of BFLOAT16: 16,384 bytes per bank
SHAPE = [1, 1, 16384, 32]
BANK = 1_499_136 - 103_712 - 24_576


def chain(steps=3, buffers=65_536):
    """x -> 1 -> 2 -> 3, nothing freed: (step + 1) shards and the circular buffers."""
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    for _ in range(steps):
        x = program.op("UnaryDeviceOperation", [x], call="ttnn.relu", circular_buffers=[CircularBuffer(buffers)])
    return program


@for_all("generation", WITH_GRAPHS)
async def test_the_peak_of_a_chain_is_its_tensors_and_the_buffers_of_one_op(tmp_path, generation):
    found = await replay(tmp_path, chain(), generation)
    device = found.fullest
    assert peaks(found) == {1: 2 * 16_384 + 65_536, 2: 3 * 16_384 + 65_536, 3: 4 * 16_384 + 65_536}
    assert (int(device.tensors[2]), int(device.circular[2])) == (4 * 16_384, 65_536)
    assert found.capacity_bytes == BANK
    assert device.floor.tolist() == [2 * 16_384, 3 * 16_384, 4 * 16_384]


async def test_without_graphs_the_floor_is_what_the_buffers_table_shows_and_is_called_a_floor(tmp_path):
    found = await replay(tmp_path, chain(), "G1")
    assert peaks(found) == {1: 2 * 16_384, 2: 3 * 16_384, 3: 4 * 16_384}
    assert found.floor_because == "no_graphs"
    assert (await replay(tmp_path / "b", chain(), "G2")).floor_because is None


async def test_a_run_with_some_graphs_only_is_a_floor_too(tmp_path):
    path = write_memory_report(tmp_path, chain())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM captured_graph WHERE operation_id = 2")
        connection.commit()
    found = await replay_of(await opened(path))
    assert peaks(found) == {1: 2 * 16_384 + 65_536, 2: 3 * 16_384, 3: 4 * 16_384 + 65_536}
    assert found.floor_because == "some_graphs"
    assert found.captured.tolist() == [True, False, True]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("generation", WITH_GRAPHS)
async def test_the_demo_is_replayed_as_it_was_made(tmp_path, generation):
    program = demo_program()
    found = await replay(tmp_path, program, generation)
    mine, wanted = peaks(found), wanted_peaks(program)
    if generation == "G2":  # 2024 tells neither page nor shard of the halo before the second pool
        assert 0 < mine[33] < wanted.pop(33)
    assert {id_: mine[id_] for id_ in wanted} == wanted
    assert l1_after(found)[:-1] == wanted_l1_after(program)[:-1]
    assert found.fullest.differences.contradicted == found.fullest.differences.went == 0
    assert found.captured.all()
    assert mine[24] == max(mine.values()) == 1_132_800


async def test_in_every_generation_the_live_tensors_after_each_operation_are_the_snapshot_s(tmp_path):
    program = demo_program()
    for generation in DATABASE_GENERATIONS:
        found = await replay(tmp_path / generation, program, generation)
        assert found.fullest.floor.tolist() == wanted_l1_after(program), generation


async def test_circular_buffers_over_a_tensor_are_not_counted_twice(tmp_path):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    over = [CircularBuffer(16_384, over=x), CircularBuffer(4_096)]
    program.op("UnaryDeviceOperation", [x], circular_buffers=over)
    for generation in WITH_GRAPHS:  # 2024 does not say that it lies on a tensor: its address does
        found = await replay(tmp_path / generation, program, generation)
        assert peaks(found) == {1: 2 * 16_384 + 4_096}, generation


async def test_circular_buffers_count_on_the_fullest_core_only(tmp_path):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    buffers = [
        CircularBuffer(1_000, grid=core_ranges((8, 8))),
        CircularBuffer(20_000, grid=((0, 0, 3, 7),)),
        CircularBuffer(30_000, grid=((4, 0, 7, 7),)),
        CircularBuffer(500, grid=((3, 0, 4, 0),)),
    ]
    program.op("UnaryDeviceOperation", [x], circular_buffers=buffers)
    found = await replay(tmp_path, program)
    assert int(found.fullest.circular[0]) == 1_000 + 30_000 + 500  # cores 4-0


async def test_the_circular_buffers_of_one_op_are_gone_when_the_next_places_its_output(tmp_path):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    y = program.op("UnaryDeviceOperation", [x], circular_buffers=[CircularBuffer(500_000)])
    program.op("UnaryDeviceOperation", [y], circular_buffers=[CircularBuffer(1_000)])
    found = await replay(tmp_path, program)
    assert peaks(found) == {1: 2 * 16_384 + 500_000, 2: 3 * 16_384 + 1_000}


async def test_what_an_operation_makes_and_frees_itself_counts_while_it_is_there(tmp_path):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    halo, y = (
        program.tensor([1, 1, 65536, 32], placement=height_sharded(1024, 32, (8, 8))),
        program.tensor(SHAPE, placement=SHARD),
    )
    ops = [DeviceOp("HaloDeviceOperation", [x], [halo]), DeviceOp("Conv2dDeviceOperation", [halo], [y])]
    program.call("ttnn.conv2d", [x], [y], ops)
    for generation in WITH_GRAPHS:
        found = await replay(tmp_path / generation, program, generation)
        assert peaks(found) == {1: 6 * 16_384}, generation
        assert found.fullest.floor.tolist() == [2 * 16_384]


async def test_l1_small_and_dram_stay_apart_from_l1(tmp_path):
    program = Program()
    x = program.tensor(SHAPE, placement=SHARD)
    index = program.tensor([1, 1, 1, 512], "UINT16", "ROW_MAJOR", placement=Placement("L1_SMALL"))
    y, z = program.tensor(SHAPE, placement=SHARD), program.tensor(SHAPE, placement=DRAM)
    program.call("ttnn.conv2d", [x], [y, z], [DeviceOp("Conv2dDeviceOperation", [x], [index, y, z])])
    for generation in ("G3", "G4", "2", "3.3"):  # before 2026 graphs call L1_SMALL L1: only the address tells
        found = await replay(tmp_path / generation, program, generation)
        device = found.fullest
        assert peaks(found) == {1: 2 * 16_384}, generation
        assert device.small.tolist() == [1_024]
        assert device.dram.tolist() == [43 * 2_048]  # 512 tiles on 12 banks
        assert found.small_capacity_bytes == 24_576


async def test_a_tensor_dropped_between_operations_is_gone_where_the_snapshot_says_so(tmp_path):
    """A Python name that goes is in no operation's graph: only the next snapshot knows."""
    program = chain(1)
    x = program.calls[0].outputs[0]
    y = program.op("UnaryDeviceOperation", [x])
    program.drop(x)
    program.op("UnaryDeviceOperation", [y])
    path = write_memory_report(tmp_path, program, "G4")
    with closing(sqlite3.connect(path)) as connection:
        for table in ("operations", "captured_graph", "buffers"):
            connection.execute(f"DELETE FROM {table} WHERE operation_id = 3")
        connection.commit()
    found = await replay_of(await opened(path))
    assert l1_after(found)[2] == 3 * 16_384
    assert found.fullest.differences.went == 1
    assert found.fullest.differences.contradicted == 0
    assert peaks(found)[4] == 3 * 16_384


async def test_a_graph_that_counts_whole_pages_is_believed_where_the_snapshot_counts_what_fills_them(tmp_path):
    path = write_memory_report(tmp_path, chain())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE buffers SET max_size_per_bank = 4096 WHERE operation_id >= 2 AND address = 1425408"
        )
        connection.commit()
    found = await replay_of(await opened(path))
    assert found.fullest.differences.contradicted == 0
    assert l1_after(found)[2] == 4 * 16_384


async def test_where_graph_and_snapshot_contradict_the_snapshot_is_believed_and_it_is_counted(tmp_path):
    path = write_memory_report(tmp_path, chain())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE buffers SET max_size_per_bank = 20480 WHERE operation_id >= 2 AND address = 1425408"
        )
        assert connection.total_changes == 2  # what operation 2 made, in its own and the next snapshot
        connection.execute("DELETE FROM buffers WHERE operation_id = 3 AND address = 1409024")
        connection.commit()
    found = await replay_of(await opened(path))
    assert found.fullest.differences.contradicted == 2
    assert peaks(found)[2] == 2 * 16_384 + 20_480 + 65_536
    assert l1_after(found)[2] == 2 * 16_384 + 20_480


async def test_devices_are_replayed_apart_where_graphs_name_them(tmp_path):
    program = Program(devices=2)
    x = program.tensor(SHAPE, placement=SHARD)
    program.op("UnaryDeviceOperation", [x], circular_buffers=[CircularBuffer(1_000)])
    path = write_memory_report(tmp_path, program)
    alone = await replay_of(await opened(path))
    assert [(one.device, one.followed) for one in alone.devices] == [(0, True), (1, False)]
    assert [int(one.l1.max()) for one in alone.devices] == [2 * 16_384 + 1_000] * 2  # a mesh runs one program
    with closing(sqlite3.connect(path)) as connection:
        (text,) = connection.execute("SELECT captured_graph FROM captured_graph").fetchone()
        nodes = json.loads(text)
        at = next(n for n, node in enumerate(nodes) if node["node_type"] == "circular_buffer_allocate")
        for kind in ("buffer_allocate", "circular_buffer_deallocate_all", "circular_buffer_allocate"):
            copy = json.loads(json.dumps(next(node for node in nodes if node["node_type"] == kind)))
            copy["params"] |= {"device_id": "1"} | (
                {"size": "9000"} if kind.startswith("circular_buffer_a") else {}
            )
            nodes.insert(at + 1, copy)
            at += 1
        connection.execute("UPDATE captured_graph SET captured_graph = ?", [json.dumps(nodes)])
        connection.commit()
    both = await replay_of(await opened(path))
    assert [(one.device, one.followed, int(one.l1.max())) for one in both.devices] == [
        (1, True, 2 * 16_384 + 9_000),
        (0, True, 2 * 16_384 + 1_000),
    ]


async def test_each_rank_is_replayed_alone(tmp_path):
    other = chain(1, buffers=200_000)
    path = write_memory_report(tmp_path, chain(), other_ranks=[other])
    assert peaks(await replay_of(await opened(path))) == peaks(await replay(tmp_path / "one", chain()))
    assert peaks(await replay_of(await opened(path, rank=1))) == {1: 2 * 16_384 + 200_000}


async def test_a_broken_graph_costs_its_own_operation_only(tmp_path):
    path = write_memory_report(tmp_path, chain())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE captured_graph SET captured_graph = '[{' WHERE operation_id = 2")
        connection.commit()
    found = await replay_of(await opened(path))
    assert found.broken == 1
    assert found.floor_because == "some_graphs"
    assert peaks(found)[3] == 4 * 16_384 + 65_536


async def test_a_run_is_replayed_once(tmp_path):
    run = await opened(write_memory_report(tmp_path, chain()))
    assert replayed(run) is None
    assert await replay_of(run) is await replay_of(run) is replayed(run)


async def test_a_run_without_a_memory_report_says_what_is_missing(tmp_path):
    with pytest.raises(QuestionRefused, match="memory report"):
        await replay_of(Run("x", "x", None, None))


async def test_an_empty_report_replays_to_nothing(tmp_path):
    found = await replay(tmp_path, Program())
    assert len(found.operations) == 0
    assert found.fullest.peak == 0


async def test_text_buffer_types_and_missing_devices_are_no_obstacle(tmp_path):
    path = write_memory_report(tmp_path, chain(), "G4", DatabaseStyle(text_buffer_types=True))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM devices")
        connection.commit()
    found = await replay_of(await opened(path))
    assert peaks(found)[3] == 4 * 16_384 + 65_536
    assert found.capacity_bytes == 1_499_136 - 105_824  # the architecture's, by the cluster descriptor


async def test_interleaved_l1_takes_its_pages_dealt_out_over_all_banks(tmp_path):
    program = Program()
    x = program.tensor([1, 1, 4096, 64], placement=L1)  # 256 tiles on 64 banks
    program.op("UnaryDeviceOperation", [x], circular_buffers=[CircularBuffer(4_096)])
    for generation in WITH_GRAPHS:
        assert peaks(await replay(tmp_path / generation, program, generation)) == {1: 2 * 8_192 + 4_096}


@for_all("name", MEMORY)
async def test_the_published_model_has_the_same_peak_in_every_generation(name):
    found = await replay_of(await opened(shared(name) / "db.sqlite"))
    device = found.fullest
    assert (int(device.l1.max()), int(device.tensors[device.peak])) == (229_632, 43_008)
    assert int(device.floor.max()) == 129_024
    assert int(device.l1.max()) > int(device.floor.max())
    assert found.floor_because is None
    assert found.fullest.differences.contradicted == 0


async def test_the_real_graph_of_2024_replays_to_what_its_nodes_say(tmp_path):
    """Two tilized copies of 131,072 bytes per bank, a result of 262,144, and 4,096 of circular buffers."""
    program = Program()
    program.call("ttnn.concat")
    path = write_memory_report(tmp_path, program, "G2")
    text = shared("memory/captured_graph_concat_2024.json").read_text()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE captured_graph SET captured_graph = ?", [text])
        connection.execute("UPDATE devices SET address_at_first_l1_cb_buffer = 107616")  # where its buffers begin
        connection.commit()
    found = await replay_of(await opened(path))
    assert peaks(found) == {1: 524_288 + 4_096}
    assert l1_after(found) == [262_144]


async def test_absurd_figures_and_missing_tables_are_no_obstacle(tmp_path):
    path = write_memory_report(tmp_path, chain(), "G4")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "UPDATE buffers SET max_size_per_bank = 4611686018427387904, address = address * 4000000000"
        )
        connection.commit()
    assert (await replay_of(await opened(path))).fullest.l1.max() > 0
    with closing(sqlite3.connect(path)) as connection:
        for table in ("devices", "buffers", "input_tensors", "output_tensors", "tensors"):
            connection.execute(f"DELETE FROM {table}")
        connection.commit()
    found = await replay_of(await opened(path))
    assert peaks(found)[3] == 3 * 16_384 + 65_536  # x is in no graph
    assert found.fullest.device is None
    assert late(found) == []
