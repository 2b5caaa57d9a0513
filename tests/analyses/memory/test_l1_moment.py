"""One operation at its fullest: kinds of tensors, holes between them, loads of cores."""

import asyncio
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from tests.analyses.memory.replays import opened, replay
from tests.analyses.memory.small_tables import (
    asked,
    device,
    memory,
    numbers,
    operations,
    real,
    sharded,
    spans,
    tensor,
    tensors,
)
from tests.for_all import for_all
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
from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.core_load import Circular
from ttnn_mcp.analyses.memory.l1_moment import (
    Cores,
    Holes,
    Moment,
    composition,
    cores_of,
    holes_of,
    holes_of_chunks,
    kind_of,
    moment_of,
    moment_of_failure,
)
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.shortage import Shortage, parse_shortage
from ttnn_mcp.readers.memory.spaces import DRAM, L1_SMALL
from ttnn_mcp.readers.memory.spaces import L1 as IN_L1
from ttnn_mcp.readers.printed.memory_config import Placement

SHARD = height_sharded(256, 32, (8, 8))  # 16,384 bytes per bank
SHAPE = [1, 1, 16384, 32]
BASE, BANK = 103_712, 1_499_136 - 103_712 - 24_576


def shards(cores):
    return height_sharded(256, 32, cores)


async def at(found, operation):
    return await moment_of(found, found.place(operation))


@for_all("generation", [one for one in DATABASE_GENERATIONS if one != "G1"])
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


@pytest.mark.sampled(4)
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


A, B, C = 4096, 8192, 12_288
FIRST, CORNER = (((0, 0), (0, 0)),), (((7, 7), (7, 7)),)


def node(kind, **params):
    return {"node_type": kind, "params": params, "connections": []}


def allocated(at, size=-1, kind="L1", number=0):
    told = {"max_size_per_bank": str(size), "size": "64"} if size >= 0 else {"size": "6400", "layout": "SHARDED"}
    return node("buffer_allocate", address=str(at), type=kind, device_id=str(number), **told)


def freed(at):
    return node("buffer_deallocate", address=str(at), type="L1", device_id="0", size="64", max_size_per_bank="1")


def circular(at, size, number=0):
    told = {"core_range_set": "{[(x=0,y=0) - (x=0,y=0)]}", "globally_allocated": "0", "device_id": str(number)}
    return node("circular_buffer_allocate", address=str(at), size=str(size), **told)


STARTED, ENDED = node("function_start", name="MatmulOp"), node("function_end", name="MatmulOp")


def replayed(life, graph=(), *, place=1, devices=(None,), captured=True, text=None, **parts):
    """A run of three operations whose replay found `life`; the graph is that of the operation at `place`."""
    report = memory(operations=operations("ttnn.a", "ttnn.b", "ttnn.c"), devices=(device(first_cb_address=1_000),))
    for name in ("devices", "tensors"):
        setattr(report, name, parts.pop(name + "_table", getattr(report, name)))

    async def graph_of(operation):
        return (json.dumps([*graph]) if text is None else text) if operation == place + 1 else None

    report.graph_of = graph_of
    lives = {"persistent": np.zeros(len(life), dtype=bool), "names": np.full(len(life), -1)}
    return SimpleNamespace(
        memory=report,
        operations=report.operations.ids,
        captured=[captured] * 3,
        fullest=SimpleNamespace(spans=life, device=devices[0], filled_by=[-1] * 3, circular=[0] * 3),
        devices=[SimpleNamespace(device=number) for number in devices],
        banks={},
        capacity_bytes=parts.pop("capacity", 50_000),
        lifetimes=SimpleNamespace(**{**lives, **parts}),
    )


def moment(run, place=1):
    return asyncio.run(moment_of(run, place))


OLD, NEW = (A, 50, 0, None), (B, 30, inside(1), None)


def test_the_fullest_moment_holds_what_was_there_and_what_came():
    found = moment(replayed(spans(OLD, NEW), [STARTED, allocated(B, 30), circular(2_000, 7), ENDED]))
    assert (found.rows.tolist(), found.device_op) == ([0, 1], "MatmulOp")
    assert [one.bytes_per_core for one in found.circular] == [7]


def test_outside_device_ops_it_has_no_name():
    found = moment(replayed(spans(OLD, NEW), [allocated(B, 30), STARTED, ENDED]))
    assert (found.rows.tolist(), found.device_op, found.circular) == ([0, 1], None, ())


def test_what_had_gone_by_then_is_not_in_it():
    gone = (A, 50, 0, inside(1))
    assert moment(replayed(spans(gone, NEW), [freed(A), allocated(B, 90)])).rows.tolist() == [0]
    large = (B, 90, inside(1), None)
    assert moment(replayed(spans(gone, large), [freed(A), allocated(B, 90)])).rows.tolist() == [1]


def test_sizes_are_those_that_the_first_replay_found():
    life = spans(OLD, (B, 30, inside(1), inside(1)), (C, 40, inside(1), None))
    graph = [allocated(B), freed(B), allocated(C)]
    assert moment(replayed(life, graph)).rows.tolist() == [0, 2]
    small = spans(OLD, (B, 40, inside(1), inside(1)), (C, 30, inside(1), None))
    assert moment(replayed(small, graph)).rows.tolist() == [0, 1]


def test_only_allocations_with_an_address_have_a_buffer():
    life = spans((B, 30, inside(1), inside(1)), (C, 40, inside(1), None))
    graph = [circular(2_000, 1), freed(-1), allocated(-1, 500), allocated(B), freed(B), allocated(C)]
    assert moment(replayed(life, graph)).rows.tolist() == [1]


def test_buffers_that_the_first_replay_does_not_know_are_left_out():
    life = spans(OLD, (B, 30, inside(1), None), (C, 5, inside(2), None))
    graph = [allocated(B), allocated(C, 40), allocated(20_480, 60)]
    assert moment(replayed(life, graph)).rows.tolist() == [0, 1]


@for_all("more", [{"captured": False}, {"text": "[{"}])
def test_without_a_graph_it_is_what_the_snapshot_shows(more):
    life = spans((A, 50, 0, inside(1)), (A, 50, inside(1), None), (B, 9, inside(2), None))
    found = moment(replayed(life, [allocated(A)], **more))
    assert (found.rows.tolist(), found.device_op, found.circular) == ([1], None, ())


def test_of_a_mesh_it_is_that_of_its_fullest_device():
    graph = [allocated(B, 30, number=1), allocated(C, 40, number=0)]
    found = moment(replayed(spans(OLD, (C, 40, inside(1), None)), graph, devices=(0, 1)))
    assert found.rows.tolist() == [0, 1]


# a halo that takes more than the conv's output, which is at B when the conv is refused
HALO, OUTPUT = (C, 90, inside(1), inside(1)), (B, 30, inside(1), inside(1))
REFUSED = [STARTED, allocated(C, 90), ENDED, freed(C), STARTED, allocated(B, 30), freed(B), ENDED]


def failure(life, graph, **more):
    run = replayed(life, graph)
    return asyncio.run(
        moment_of_failure(run, 1, Shortage(**{"kind": "clash", "buffer": "L1", "asked_bytes": 1, **more}))
    )


def test_a_failure_is_told_by_its_last_device_op_and_not_by_the_fullest():
    run = replayed(spans(OLD, HALO, OUTPUT), REFUSED)
    assert moment(run).rows.tolist() == [0, 1]
    assert failure(spans(OLD, HALO, OUTPUT), REFUSED).rows.tolist() == [0, 2]


def test_a_clash_is_at_the_time_when_the_lowest_tensor_lay_where_ttnn_says():
    above = (A + 9_000, 50, 0, None)
    life, graph = spans(above, HALO, OUTPUT), [STARTED, *REFUSED[1:2], *REFUSED[3:4], *REFUSED[5:]]
    assert failure(life, graph, limit_bytes=C).rows.tolist() == [0, 1]
    assert failure(life, graph, limit_bytes=B).rows.tolist() == [0, 2]
    assert failure(life, graph, limit_bytes=A + 9_000).rows.tolist() == [0]
    assert failure(life, graph, limit_bytes=77).rows.tolist() == [0, 1]  # of no tensor: the most of them


def test_without_room_as_much_was_allocated_as_ttnn_says():
    life = spans(OLD, HALO, (B, 30, inside(1), inside(1)))
    graph = [STARTED, allocated(C, 90), allocated(B, 30), freed(C), freed(B), ENDED]
    for allocated_bytes, rows in ((170, [0, 1, 2]), (140, [0, 1]), (80, [0, 2]), (50, [0]), (1, [0, 1, 2])):
        told = {"kind": "no_room", "allocated_bytes": allocated_bytes}
        assert failure(life, graph, **told).rows.tolist() == rows


def test_only_what_was_allocated_at_an_address_is_there_when_an_operation_fails():
    life = spans((B, 30, inside(1), inside(1)), (C, 40, inside(1), None))
    graph = [STARTED, circular(2_000, 1), allocated(-1, 500), allocated(B, 30), freed(B), allocated(C, 40)]
    assert failure(life, graph).rows.tolist() == [1]


def test_the_most_of_l1_counts_however_much_of_dram_there_is():
    life = spans(OLD, (C, 900, inside(1), inside(1), DRAM), OUTPUT)
    graph = [
        STARTED,
        allocated(C, 900, "DRAM"),
        node("buffer_deallocate", address=str(C), type="DRAM", device_id="0"),
    ]
    assert failure(life, [*graph, allocated(B, 30), freed(B), ENDED]).rows.tolist() == [0, 2]


def test_a_clash_is_with_tensors_of_l1_wherever_others_lie_in_dram():
    above, low = (A + 9_000, 50, 0, None), (64, 5, 0, None, DRAM)
    life, graph = spans(above, HALO, OUTPUT, low), [STARTED, *REFUSED[1:2], *REFUSED[3:4], *REFUSED[5:]]
    assert failure(life, graph, limit_bytes=B).rows.tolist() == [0, 2, 3]


def test_a_failure_without_device_op_or_graph_has_no_name():
    assert failure(spans(OLD, NEW), [allocated(B, 30)]).device_op is None
    assert failure(spans(OLD), []).rows.tolist() == [0]
    run = replayed(spans(OLD, NEW), captured=False)
    assert asyncio.run(moment_of_failure(run, 1, Shortage("clash", "L1", 1))).rows.tolist() == [0, 1]


def at_once(run, *rows, buffers=()):
    return Moment(1, numbers(*rows), tuple(buffers), None)


def test_kinds_are_told_by_life():
    life = spans(
        OLD, (B, 30, inside(1), inside(1)), (C, 7, 0, before(2)), (C, 9, 0, None, DRAM), (A, 3, 0, 2, L1_SMALL)
    )
    run = replayed(life, persistent=np.array([True, False, False, True, False]))
    found = at_once(run, 0, 1, 2, 3, 4)
    kinds = [kind_of(run, found, row) for row in range(5)]
    assert kinds == ["persistent", "temporary", "activation", "persistent", "activation"]
    assert composition(run, found) == {"persistent": 50, "temporary": 30, "activation": 7}


HOLED = spans((A, 50, 0, None), (A + 80, 20, 0, None), (2_000, 10, 0, None), (A + 60, 5, 0, None, DRAM))


def test_holes_are_between_tensors_and_above_them():
    run = replayed(HOLED)
    top = 1_000 + 50_000
    above, between, low = top - A - 100, 30, A - 2_010
    found = holes_of(run, at_once(run, 0, 1, 2, 3))
    assert found == Holes(1_000, above, above + between + low)
    assert found.largest == above
    assert holes_of(run, at_once(run, 0, 1, 2), without=[2]) == Holes(A - 1_000, above, above + between)
    buffers = [Circular(0, 1_000, 300, FIRST), Circular(0, 1_100, 50, FIRST)]
    assert holes_of(run, at_once(run, 0, buffers=buffers)).below == A - 1_300


def test_without_tensors_all_of_it_is_below():
    run = replayed(HOLED)
    assert holes_of(run, at_once(run)) == Holes(50_000, 0, 0)
    assert holes_of(run, at_once(run, 3)) == Holes(50_000, 0, 0)
    assert holes_of(run, at_once(run, buffers=[Circular(0, 0, 90_000, FIRST)])) == Holes(0, 0, 0)


def test_tensors_that_lie_over_each_other_leave_no_hole_of_less_than_nothing():
    run = replayed(spans((A, 500, 0, None), (A + 10, 20, 0, None), (500, 9, 0, None)))
    assert holes_of(run, at_once(run, 0, 1)) == Holes(A - 1_000, 51_000 - A - 500, 51_000 - A - 500)
    assert holes_of(run, at_once(run, 2)).below == 0


@for_all(
    "unknown",
    [{"devices_table": ()}, {"devices_table": (device(first_cb_address=None),)}, {"capacity": None}],
)
def test_where_l1_begins_or_ends_unknown_nobody_tells_of_holes(unknown):
    run = replayed(HOLED, **unknown)
    assert holes_of(run, at_once(run, 0)) is None
    assert holes_of_chunks(run, SimpleNamespace(buffers=numbers())) is None


def test_chunks_count_on_their_device_and_in_l1():
    chunks = SimpleNamespace(
        buffers=numbers(IN_L1, IN_L1, DRAM, IN_L1),
        devices=numbers(0, 1, 0, 0),
        chunk_addresses=numbers(A, B, 2_000, C),
        chunk_bytes=numbers(50, 50, 50, 50),
    )
    top = 51_000
    found = holes_of_chunks(replayed(HOLED, devices=(0, 1)), chunks)
    assert found == Holes(A - 1_000, top - C - 50, top - C - 50 + C - A - 50)
    every = holes_of_chunks(replayed(HOLED), chunks)
    assert every == Holes(A - 1_000, top - C - 50, top - C - 50 + C - B - 50 + B - A - 50)


def test_cores_count_shards_where_they_lie_and_other_tensors_everywhere():
    rows = (
        tensor(10, placement=sharded(ranges=CORNER)), tensor(11), tensor(12, placement=None),
        tensor(13, placement=Placement("HEIGHT_SHARDED", "L1")),
    )  # fmt: skip
    life = spans(*((A * at, 10**at, 0, None) for at in range(6)), (A, 9, 0, None, DRAM))
    run = replayed(life, tensors_table=tensors(*rows), names=numbers(10, 11, 12, 13, 99, -1, 10))
    everywhere = 10 + 100 + 1_000 + 10_000 + 100_000
    loads = cores_of(run, at_once(run, *range(7), buffers=[Circular(0, 1_000, 7, FIRST)]))
    assert [(len(one.cores), one.tensors_bytes, one.circular_bytes) for one in loads] == [
        (1, everywhere, 7),
        (1, everywhere + 1, 0),
        (62, everywhere, 0),
    ]
    assert [loads[0].cores, loads[1].cores] == [((0, 0),), ((7, 7),)]


def test_where_the_buffers_of_the_program_are_left_out_no_core_has_a_load():
    run = replayed(spans(OLD))
    assert cores_of(run, at_once(run, 0))
    assert cores_of(run, Moment(1, numbers(0), (), "MatmulOp", left_out_bytes=300)) == []


def test_a_grid_that_nobody_tells_is_as_wide_as_can_be():
    run = replayed(spans(OLD), devices_table=())
    assert len(cores_of(run, at_once(run, 0))[0].cores) == 64 * 64


def test_of_the_real_run_out_of_l1_the_hole_is_ttnn_s_own():
    """Real: the allocator told its free bytes and its largest free block when it refused a buffer."""
    folder = real("out_of_l1")
    ((message,),) = asked(folder, "SELECT error_message FROM errors")
    free, largest = re.search(r"free: (\d+) B, largest free block: (\d+) B", message).groups()
    run = asyncio.run(replay_of(asyncio.run(opened(folder / "db.sqlite"))))
    last = len(run.operations) - 1
    shortage = parse_shortage(message)
    found = holes_of(run, asyncio.run(moment_of_failure(run, last, shortage)))
    assert (found.below + found.holes, found.largest) == (int(free), int(largest))
