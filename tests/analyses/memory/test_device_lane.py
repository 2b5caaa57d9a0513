"""One operation after another on a device: what graphs and snapshots say of it, by hand."""

from types import SimpleNamespace

import numpy as np

from tests.analyses.memory.small_tables import event, numbers
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.buffer_spans import NEVER, before, inside
from ttnn_mcp.analyses.memory.core_load import Circular
from ttnn_mcp.analyses.memory.device_lane import Lane
from ttnn_mcp.analyses.memory.left_out import LeftOut
from ttnn_mcp.analyses.memory.replay_records import Differences, Fullest
from ttnn_mcp.analyses.memory.snapshots import snapshots_of
from ttnn_mcp.analyses.memory.there_before import EarlierBuffer
from ttnn_mcp.readers.memory.spaces import DRAM, L1, L1_SMALL, TRACE, UNPLACED, key_of
from ttnn_mcp.readers.memory.stream import SnapshotRows

A, B, C = 4096, 8192, 12_288
CORE = (((0, 0), (0, 0)),)
NOTHING, UNKNOWN = (), None


def seen(*operations):
    """Snapshots: per operation the buffers it shows as (address, size[, buffer]); UNKNOWN without a snapshot."""
    rows = [
        (place, 0, at, size, *(more or [L1]))
        for place, shown in enumerate(operations)
        for at, size, *more in shown or ()
    ] or [(0, 0, -1, 0, L1)]
    empty = np.array([shown == NOTHING for shown in operations])
    table = SnapshotRows(*(numbers(*column) for column in zip(*rows, strict=True)))
    return snapshots_of(table, numbers(*range(len(operations))), empty)[0]


def alloc(at, size, buffer=L1, **more):
    return event("allocate", at, size, buffer=buffer, **more)


def free(at, buffer=L1, **more):
    return event("free", at, buffer=buffer, **more)


def circular(size, at=0, op=0, **more):
    return event("circular", at, size, op=op, ranges=CORE, **more)


def fed(*operations, snapshots=None, **more):
    lane = Lane(snapshots, **more)
    for place, events in enumerate(operations):
        lane.feed(place, events)
    return lane


def lives(lane):
    """(address, bytes per bank, start, end) of each buffer."""
    spans = lane.log.spans()
    columns = (spans.addresses, spans.bytes_per_bank, spans.starts, spans.ends)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(at, size, start, None if end == NEVER else end) for at, size, start, end in rows]


def came_went_contradicted(lane):
    return (lane.differences.came, lane.differences.went, lane.differences.contradicted)


def test_the_graph_alone_tells_what_came_and_went():
    lane = fed([alloc(A, 100), alloc(B, 50), free(A)], [free(B)], [])
    assert lives(lane) == [(A, 100, 1, 1), (B, 50, 1, 3)]
    assert lane.levels.l1 == lane.levels.tensors == [150, 50, 0]
    assert lane.differences == Differences()
    assert lane.log.recorded == [True, True]


def test_each_kind_of_memory_has_its_level():
    lane = fed([alloc(A, 100), alloc(B, 7, L1_SMALL), alloc(A, 30, DRAM), alloc(B, 4, TRACE), free(A, DRAM)], [])
    assert (lane.levels.l1, lane.levels.small, lane.levels.dram) == ([100, 100], [7, 7], [34, 4])


def test_an_allocation_over_a_live_buffer_ends_that_one():
    lane = fed([alloc(A, 100)], [free(B), alloc(B, 1), alloc(B, 70), free(A)])
    assert lives(lane) == [(A, 100, 1, 3), (B, 0, 2, 3), (B, 1, 3, 3), (B, 70, 3, None)]


def test_events_without_a_place_change_nothing():
    lane = fed([alloc(-1, 100), free(-1), alloc(A, 50)])
    assert lives(lane) == [(A, 50, 1, None)]


def test_a_free_of_what_nobody_saw_come_was_there_before():
    assert lives(fed([free(A, size=40)])) == [(A, 40, 0, 1)]
    assert lives(fed([free(A)], [free(A)])) == [(A, 0, 0, 1), (A, 0, 2, 3)]
    assert came_went_contradicted(fed([free(A, size=40)])) == (0, 0, 0)
    late = fed([], [free(A, size=40)], snapshots=seen(NOTHING, NOTHING))
    assert came_went_contradicted(late) == (1, 0, 0)
    assert fed([free(A, size=40)]).levels.l1 == [40]


def test_an_address_that_is_given_again_was_free_before():
    lane = fed([alloc(A, 100)], [alloc(A, 60)])
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 100, 1, 2), (A, 60, 3, None)], (0, 1, 0))
    assert lane.levels.l1 == [100, 60]


def test_unless_the_operation_freed_something_without_a_name():
    lane = fed([alloc(A, 100)], [event("free"), alloc(A, 60)])
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 100, 1, 3), (A, 60, 3, None)], (0, 0, 0))
    assert lane.levels.l1 == [100, 100]


def test_a_snapshot_shows_what_came_between_operations():
    lane = fed([], [], snapshots=seen([(A, 96)], [(A, 96), (B, 32)]))
    assert lives(lane) == [(A, 96, 0, None), (B, 32, 2, None)]
    assert came_went_contradicted(lane) == (1, 0, 0)  # what the first one shows was there before the report
    assert lane.levels.l1 == [96, 128]


def test_what_the_first_snapshot_shows_was_there_before_all_unless_something_lay_there():
    lane = fed([alloc(A, 100), free(A)], [], [], snapshots=seen(UNKNOWN, [(A, 48), (B, 32), (C, 9, DRAM)], NOTHING))
    assert lives(lane) == [(A, 100, 1, 1), (A, 48, 2, 4), (B, 32, 0, 4), (C, 9, 0, 4)]
    assert (lane.levels.l1, lane.levels.dram, lane.differences.before) == ([132, 80, 0], [9, 9, 0], 0)


def test_and_what_went_between_them():
    lane = fed([], [], [], snapshots=seen([(A, 96), (B, 32)], UNKNOWN, [(B, 32)]))
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 96, 0, 4), (B, 32, 0, None)], (0, 1, 0))


def test_what_a_graph_freed_is_not_missed():
    lane = fed([], [free(A)], [], snapshots=seen([(A, 96)], UNKNOWN, NOTHING))
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 96, 0, 3)], (0, 0, 0))
    lane = fed([], [free(A)], snapshots=seen([(A, 96)], NOTHING))
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 96, 0, 3)], (0, 0, 0))


@for_all("other", [(A, 32), (A, 96, L1_SMALL)])
def test_another_size_or_type_in_a_snapshot_is_another_buffer(other):
    lane = fed([], [], snapshots=seen([(A, 96)], [other]))
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 96, 0, 2), (A, other[1], 2, None)], (0, 0, 1))


def test_the_same_buffer_shown_later_is_no_news():
    lane = fed([alloc(A, 96)], [], snapshots=seen(UNKNOWN, [(A, 96)]))
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 96, 1, None)], (0, 0, 0))


def test_without_graphs_snapshots_tell_all():
    lane = fed(None, None, None, snapshots=seen([(A, 96)], [(B, 32)], [(B, 64)]))
    assert lives(lane) == [(A, 96, 0, 3), (B, 32, 2, 4), (B, 64, 4, None)]
    assert came_went_contradicted(lane) == (0, 0, 0)
    assert lane.levels.l1 == [96, 32, 64]


def test_what_a_nameless_free_took_goes_within_the_operation():
    lane = fed([], [event("free")], snapshots=seen([(A, 96), (B, 32)], [(B, 32)]))
    assert (lives(lane), came_went_contradicted(lane)) == ([(A, 96, 0, 3), (B, 32, 0, None)], (0, 0, 0))
    assert lane.levels.l1 == [128, 128]


@for_all(
    ("frees", "level"),
    [
        ([(96, L1)], 128),  # moved: what was freed first makes room
        ([(48, L1)], 224),
        ([(96, DRAM)], 224),
        ([(96, L1), (96, L1)], 128),
        ([(96, L1), (32, L1)], 128),
    ],
)
def test_a_nameless_free_ends_a_buffer_of_its_size_where_it_stands(frees, level):
    """TTNN 0.66: ttnn.reallocate frees its operand, then allocates the result; the free names no address."""
    events = [*(event("free", size=size, buffer=buffer) for size, buffer in frees), alloc(C, 96)]
    lane = fed([], events, snapshots=seen([(A, 96), (B, 32)], [(C, 96)]))
    assert lane.levels.l1 == [128, level]
    assert lives(lane) == [(A, 96, 0, 3), (B, 32, 0, 3), (C, 96, 3, None)]


@for_all(
    ("shown", "spans"),
    [
        ([(A, 96)], [(A, 96, 0, 3), (A, 96, 3, None)]),
        ([(A, 96), (C, 16)], [(A, 96, 0, 3), (C, 16, 2, None), (A, 96, 3, None)]),
        ([(A, 32)], [(A, 96, 0, 2), (A, 32, 2, None)]),  # the snapshot shows another one there, so it came
    ],
)
def test_without_a_graph_a_tensor_written_over_another_ends_it(shown, spans):
    lane = Lane(seen([(A, 96)], shown))
    lane.feed(0, None)
    lane.feed(1, None, written=[key_of(A, L1), key_of(B, L1)])
    assert lives(lane) == spans
    lane = Lane(None)
    lane.preload(key_of(A, L1), L1, 50)
    lane.feed(0, None, written=[key_of(A, L1)])
    assert lives(lane) == [(A, 50, 0, 1), (A, 50, 1, None)]


@for_all(("told", "shown", "size", "contradicted"), [(100, 128, 128, 1), (128, 96, 128, 0), (-1, 128, 128, 0)])
def test_of_graph_and_snapshot_the_larger_size_is_right(told, shown, size, contradicted):
    lane = fed([alloc(A, told)], snapshots=seen([(A, shown)]))
    assert lives(lane) == [(A, size, 1, None)]
    assert came_went_contradicted(lane) == (0, 0, contradicted)


def test_the_size_in_a_snapshot_is_of_what_was_there_at_the_end():
    lane = fed([alloc(A, 10), free(A), alloc(A, 96)], snapshots=seen([(A, 96)]))
    assert lives(lane) == [(A, 10, 1, 1), (A, 96, 1, None)]
    lane = fed([alloc(A, 96)], [free(A), alloc(A, 10)], snapshots=seen([(A, 96)], UNKNOWN))
    assert lives(lane) == [(A, 96, 1, 3), (A, 10, 3, None)]


def test_the_snapshot_tells_l1_small_from_l1():
    lane = fed([alloc(A, 96)], snapshots=seen([(A, 96, L1_SMALL)]))
    assert (lane.levels.l1, lane.levels.small) == ([0], [96])


def test_where_both_differ_the_snapshot_is_right():
    gone = fed([alloc(A, 96), alloc(B, 32)], snapshots=seen([(B, 32)]))
    assert (lives(gone), came_went_contradicted(gone)) == ([(A, 96, 1, 1), (B, 32, 1, None)], (0, 0, 1))
    back = fed([alloc(A, 96), free(A)], snapshots=seen([(A, 64)]))
    assert (lives(back), came_went_contradicted(back)) == ([(A, 96, 1, 1), (A, 64, 1, None)], (0, 0, 1))
    neither = fed([alloc(A, 96), free(A)], snapshots=seen(NOTHING))
    assert (lives(neither), came_went_contradicted(neither)) == ([(A, 96, 1, 1)], (0, 0, 0))


DRY = {"key": UNPLACED + 1}


def test_snapshots_know_nothing_of_buffers_without_an_address():
    lane = fed([alloc(-1, 96, **DRY)], snapshots=seen(NOTHING))
    assert (lane.levels.l1, list(lane.live), came_went_contradicted(lane)) == ([96], [UNPLACED + 1], (0, 0, 0))


def test_older_graphs_call_l1_small_l1_and_the_address_tells():
    far = 900_000_000_000  # no chip's, and still an address
    lane = fed([alloc(A, 1), alloc(B, 2), alloc(C, 4), alloc(far, 8), alloc(C, 64, DRAM)], small_from=B)
    assert (lane.levels.l1, lane.levels.small, lane.levels.dram) == ([1], [14], [64])
    assert fed([alloc(-1, 96, **DRY)], small_from=B).levels.small == [0]
    assert fed([alloc(far, 96)]).levels.l1 == [96]


class Shards:
    """Every buffer takes a tenth of its size, told by a shard spec if that is even."""

    def at(self, key, size):
        return size // 10, not size % 2


@for_all(
    ("more", "size", "unsized"),
    [
        ({"size_bytes": 640}, 64, 0),
        ({"size_bytes": 645}, 64, 1),
        ({"buffer": DRAM, "size_bytes": 640}, 0, 0),
    ],
)
def test_sizes_that_nobody_tells_come_from_shard_specs(more, size, unsized):
    unknown = alloc(A, -1)._replace(**more)
    lane = fed([unknown], shards=Shards())
    assert (lives(lane)[0][1], lane.differences.unsized) == (size, unsized)
    assert fed([unknown]).differences.unsized == (more.get("buffer", L1) == L1)
    assert fed([alloc(A, 96)], shards=Shards()).levels.l1 == [96]


def test_buffers_of_programs_count_until_their_end():
    lane = fed([alloc(A, 100), circular(30), circular(5), event("end"), alloc(B, 10)], [circular(7)])
    assert (lane.levels.l1, lane.levels.tensors) == ([135, 117], [100, 110])
    assert lane.loads == {0: 7}


def test_a_clear_or_the_next_operation_ends_them_too():
    lane = fed([circular(30), event("clear"), alloc(A, 10)], [alloc(B, 20)])
    assert lane.levels.l1 == [30, 30]
    lane = fed([circular(30, op=0), circular(9, op=1), event("end", op=1), alloc(A, 20)])
    assert lane.levels.l1 == [50]


@for_all(("at", "over", "level"), [(A, None, 100), (B, None, 130), (A, False, 130), (A, True, 100), (B, True, 100)])
def test_a_buffer_over_a_tensor_takes_nothing_more(at, over, level):
    assert fed([alloc(A, 100), circular(30, at, over_tensor=over)]).levels.l1 == [level]


def test_buffers_above_the_base_reach_up_to_their_end():
    assert fed([circular(30, 1_000), circular(5, 1_100)], base=1_000).levels.l1 == [105]


def test_of_equal_levels_the_first_is_told_and_watched_the_last_program():
    events = [alloc(A, 60), alloc(B, 40), free(B), circular(40), event("end"), alloc(C, 40)]
    assert fed(events).levels.tensors == [100]
    lane = fed(events, watch=True)
    assert lane.levels.tensors == [60]
    assert lane.fullest.rows == (0,)
    assert lane.fullest.circular == (Circular(0, 0, 40, CORE, 0),)
    assert (lane.fullest.device_op, fed(events).fullest) == (0, Fullest((), (), -1))


def test_watched_a_lower_level_is_not_the_fullest():
    lane = fed([alloc(A, 60), alloc(B, 40), free(B), circular(30)], watch=True)
    assert (lane.levels.l1, lane.levels.tensors, lane.fullest.rows) == ([100], [100], (0, 1))
    assert fed([alloc(A, 60)], [], watch=True).fullest == Fullest((0,), (), -1)


def program(carried, name="Matmul"):
    return LeftOut(name, 7, carried, None, None)


def test_programs_that_the_graph_leaves_out_complete_the_level():
    lane = Lane(None)
    events = [alloc(A, 60), event("clear"), alloc(B, 40), free(A), event("end"), alloc(C, 5, op=1)]
    lane.feed(0, events, left_out={0: program(300)})
    levels = lane.levels
    assert (levels.l1, levels.tensors, levels.recorded) == ([340], [40], [100])
    assert (levels.filled_by, levels.by_model) == ([0], [False])


def test_a_program_that_the_graph_leaves_out_counts_only_where_it_makes_the_fullest_moment():
    lane = Lane(None, watch=True)
    lane.feed(0, [alloc(A, 300), free(A), alloc(B, 40), event("end")], left_out={0: program(260)})
    assert (lane.levels.l1, lane.levels.filled_by, lane.fullest.left_out_bytes) == ([300], [-1], 0)
    lane.feed(1, [event("end"), event("clear", op=1)], left_out={0: program(260)})
    assert (lane.levels.l1[1], lane.fullest) == (300, Fullest((1,), (), 0, 260))


def test_a_level_by_a_model_is_told_from_one_of_a_first_launch():
    lane, model = Lane(None), SimpleNamespace(bytes_per_core=lambda *_: 70)
    lane.feed(0, [event("clear"), event("end")], left_out={0: LeftOut("Matmul", 7, None, "printed", model)})
    assert (lane.levels.l1, lane.levels.by_model) == ([70], [True])


def operand(at, size=40, buffer=L1):
    return EarlierBuffer(key_of(at, buffer), buffer, size, -1)


def test_an_operand_that_nothing_allocated_was_there_from_the_start():
    lane = fed([alloc(A, 60)], [alloc(B, 30)])
    lane.was_there(2, operand(C))
    lane.feed(2, [])
    assert lane.levels.l1 == [100, 130, 130]
    assert lives(lane)[2] == (C, 40, 0, None)
    lane.was_there(3, operand(C))  # known by now
    lane.was_there(3, operand(A))  # allocated
    assert (lane.differences.before, len(lives(lane))) == (1, 3)


def test_an_operand_at_a_place_that_another_tensor_had_came_after_that():
    lane = fed([alloc(A, 60), free(A)])
    lane.was_there(1, operand(A + 59))  # the last byte
    assert (lane.levels.l1, lives(lane)[1]) == ([60], (A + 59, 40, before(1), None))
    lane.was_there(1, operand(A - 40))  # the byte before the first
    lane.was_there(1, operand(A, buffer=DRAM))
    assert [life[2] for life in lives(lane)[2:]] == [0, 0]
    assert (lane.levels.l1, lane.levels.dram) == ([100], [40])


def test_without_snapshots_a_tensor_ends_where_its_address_is_given_out_anew():
    lane = fed([alloc(A, 96)], [alloc(A + 64, 32), alloc(A + 96, 8)])
    assert lives(lane)[0] == (A, 96, inside(0), before(1))
    assert (lane.levels.l1, lane.differences.went) == ([96, 40], 1)


@for_all("first", [[(A, 96)], UNKNOWN])
def test_with_snapshots_these_tell_of_its_end(first):
    lane = fed([alloc(A, 96)], [alloc(A + 64, 32)], snapshots=seen(first, [(A, 96), (A + 64, 32)]))
    assert lives(lane)[0][3] is None


def test_behind_the_last_snapshot_it_ends_as_without():
    """An operation that failed has none: what Python dropped before it is not there when it needs room."""
    lane = fed([alloc(A, 96)], [alloc(A + 64, 32)], snapshots=seen([(A, 96)], UNKNOWN))
    assert lives(lane)[0] == (A, 96, inside(0), before(1))
    assert (lane.levels.l1, lane.differences.went) == ([96, 32], 1)


@for_all(
    ("events", "end", "level"),
    [([], before(1), 48), (None, inside(1), 48), ([event("free")], inside(1), 144)],
)
def test_what_the_first_snapshot_no_longer_shows_has_ended(events, end, level):
    lane = fed([alloc(A, 96), alloc(B, 32), alloc(-1, 16, **DRY)], events, snapshots=seen(UNKNOWN, [(B, 32)]))
    assert [life[3] for life in lives(lane)] == [end, None, None]
    assert lane.levels.l1 == [144, level]


class Rooms:
    """A model that keeps the room it is asked with."""

    def __init__(self):
        self.rooms = []

    def bytes_per_core(self, launch, operation, room):
        self.rooms.append((room.before, room.running))


def rooms(*events, base=1_000, bank=50_000):
    models = Rooms()
    lane = Lane(None, base=base, bank_bytes=bank)
    lane.preload(key_of(100, DRAM), DRAM, 5)
    lane.feed(0, [*events, event("end")], left_out={0: LeftOut("Matmul", 7, None, "launch", models)})
    return models.rooms


def test_their_room_lies_below_the_lowest_tensor():
    assert rooms(alloc(C, 60), alloc(B, 40)) == [(50_000, B - 1_000)]
    assert rooms(alloc(500, 60)) == [(50_000, 0)]  # below the base there is none
    assert rooms(event("clear")) == [(50_000, 50_000)]


def test_a_fork_shares_what_was_and_nothing_that_comes():
    lane = fed([alloc(A, 96)], snapshots=seen([(A, 96)], [(A, 96)]), shards=Shards())
    other = lane.fork()
    assert (other.snapshots is lane.snapshots, other.shards is lane.shards) == (True, True)
    other.feed(1, [alloc(B, 32)])
    assert (lane.levels.l1, other.levels.l1) == ([96], [96, 128])
    assert lives(lane) == [(A, 96, 1, None)]


def test_what_was_freed_by_nobody_ends_before_the_operation():
    lane = fed([alloc(A, 96), alloc(B, 32)])
    lane.forget(3, [key_of(A, L1)])
    assert (lives(lane)[0], came_went_contradicted(lane)) == ((A, 96, inside(0), before(3)), (0, 1, 0))
    lane.feed(1, [])
    assert lane.levels.l1 == [128, 32]
