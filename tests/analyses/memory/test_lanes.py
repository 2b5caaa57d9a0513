"""Devices that share a lane until the report shows a difference, and whose events are whose."""

import asyncio
from types import SimpleNamespace

import numpy as np

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import asked, device, event, numbers, real
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.lanes import MOST_TOLD_APART, Lanes, of_device
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.snapshots import snapshots_of
from ttnn_mcp.readers.memory.stream import SnapshotRows


class Lane:
    """Counts what a lane would replay."""

    def __init__(self, snapshots, fed=()):
        self.snapshots = snapshots
        self.fed = [*fed]

    def fork(self):
        return Lane(self.snapshots, self.fed)


def shown(*sizes):
    """Snapshots of devices 0, 1, ...: each shows one buffer of its size."""
    rows = [(1, number, 4096, size, 1) for number, size in enumerate(sizes)]
    table = SnapshotRows(*(numbers(*column) for column in zip(*rows, strict=True)))
    return snapshots_of(table, numbers(1), np.zeros(1, dtype=np.bool_))


def lanes(*sizes, described=()):
    return Lanes([device(number) for number in described], shown(*sizes) if sizes else {}, Lane)


def groups(known):
    return [group for group, _ in known.lanes]


def told(known, *events):
    """By device, the kinds of events that it gets."""
    shares = known.shares([*events])
    return [(group, [one.kind for one in mine]) for (group, _), (_, mine) in zip(known.lanes, shares, strict=True)]


def of(number, kind, op=0):
    return event(kind, 4096, 16, op=op, of=number)


def test_devices_are_those_of_the_snapshots_else_of_the_table_else_one_without_a_name():
    assert lanes(16, 32).devices == [0, 1]
    assert lanes(16, described=(5, 7)).devices == [0]
    assert lanes(described=(7, 5, 7)).devices == [5, 7]
    assert lanes().devices == [None]
    assert lanes().snapshots_of(None) is None


def test_devices_that_show_the_same_share_a_lane():
    known = lanes(16, 32, 16)
    assert groups(known) == [[0, 2], [1]]
    assert [lane.snapshots for _, lane in known.lanes] == [known.snapshots[0], known.snapshots[1]]
    assert groups(lanes(described=(5, 7))) == [[5, 7]]


def test_one_device_gets_all_events_as_they_are():
    events = [of(0, "allocate"), of(9, "circular"), of(-1, "free")]
    known = lanes(16)
    ((_, mine),) = known.shares(events)
    assert mine is events
    assert known.followed == set()


def test_a_device_that_a_graph_names_gets_a_lane_of_its_own_with_what_was_shared():
    known = lanes(16, 16, 16)
    known.lanes[0][1].fed.append("before")
    assert told(known, of(1, "allocate"), of(-1, "free")) == [([0, 2], ["free"]), ([1], ["allocate", "free"])]
    assert known.lanes[1][1].fed == ["before"]
    assert known.followed == {1}
    assert told(known, of(1, "free")) == [([0, 2], []), ([1], ["free"])]
    assert told(known, of(0, "allocate")) == [([2], []), ([1], []), ([0], ["allocate"])]
    assert known.followed == {0, 1}


def test_events_of_devices_that_hold_no_buffers_are_of_all():
    known = lanes(16, 32)
    assert told(known, of(9, "allocate")) == [([0], ["allocate"]), ([1], ["allocate"])]
    assert known.followed == set()


def test_a_clear_names_a_mesh_and_tells_no_device_apart():
    known = lanes(16, 16)
    assert told(known, of(1, "clear")) == [([0, 1], ["clear"])]
    assert groups(known) == [[0, 1]]


def test_programs_recorded_of_one_device_ran_on_all():
    known = lanes(16, 32)
    assert told(known, of(0, "circular"), of(0, "end"), of(0, "allocate"), of(0, "clear")) == [
        ([0], ["circular", "end", "allocate", "clear"]),
        ([1], ["circular", "end", "clear"]),
    ]


def test_tensors_of_one_device_say_nothing_of_programs_on_it():
    assert told(lanes(16, 32), of(0, "allocate"), of(0, "end")) == [([0], ["allocate", "end"]), ([1], [])]


def test_programs_recorded_of_two_devices_are_each_one_s_own_from_then_on():
    known = lanes(16, 32)
    assert told(known, of(0, "circular"), of(1, "circular")) == [([0], ["circular"]), ([1], ["circular"])]
    assert told(known, of(0, "circular")) == [([0], ["circular"]), ([1], [])]


def test_once_the_programs_of_one_are_known_later_clears_are_everyone_s():
    known = lanes(16, 32)
    told(known, of(0, "circular"))
    assert told(known, of(0, "clear")) == [([0], ["clear"]), ([1], ["clear"])]


def test_the_buffers_after_a_clear_are_of_its_mesh():
    known = lanes(16, 32)
    told(known, of(0, "circular"), of(1, "circular"))
    assert told(known, of(1, "clear"), of(0, "circular")) == [([0], []), ([1], ["clear", "circular"])]
    assert told(known, of(9, "clear"), of(0, "circular")) == [
        ([0], ["clear", "circular"]),
        ([1], ["clear"]),
    ]


def test_but_not_of_two_meshes_or_another_device_op_s_or_a_nameless_one():
    known = lanes(16, 32, 48)
    told(known, of(0, "circular"), of(1, "circular"))
    kinds = dict(tuple(zip("abc", told(known, of(1, "clear"), of(2, "clear"), of(0, "circular")), strict=True)))
    assert kinds["a"] == ([0], ["circular"])
    assert told(known, of(1, "clear", op=3), of(0, "circular"))[0] == ([0], ["circular"])
    assert told(known, of(-1, "clear"), of(1, "clear"), of(0, "circular"))[0] == ([0], ["clear"])
    assert told(known, of(-1, "clear"), of(0, "circular"))[0] == ([0], ["clear", "circular"])
    assert told(known, of(1, "clear"), of(0, "allocate"))[0] == ([0], ["allocate"])
    assert told(known, of(1, "clear"), of(0, "clear"), of(0, "circular"))[0] == ([0], ["clear", "circular"])


def test_devices_beyond_the_most_share_a_lane():
    known = lanes(*[16] * 70)
    known.shares([of(number, "allocate") for number in range(70)])
    assert len(known.lanes) == MOST_TOLD_APART == 64
    assert len(known.lanes[0][0]) == 7


def test_so_do_those_whose_snapshots_differ():
    known = lanes(*(16 * (1 + number) for number in range(70)))
    assert [len(group) for group in groups(known)] == [1] * 63 + [7]


KNOWN = {0, 1}


def mine(*events, number=0, known=KNOWN):
    return [(one.kind, one.device) for one in of_device([*events], number, known)]


def test_of_one_device_all_events_are_its_own():
    events = [of(5, "allocate")]
    assert of_device(events, 0, {0}) is events


def test_of_several_devices_only_its_own_and_nobody_s():
    events = (of(0, "allocate"), of(1, "allocate"), of(9, "free"))
    assert mine(*events) == [("allocate", 0), ("free", 9)]


def test_programs_of_one_device_alone_are_also_its_own():
    events = (of(1, "circular"), of(1, "end"), of(1, "allocate"))
    assert mine(*events) == [("circular", 1), ("end", 1)]
    assert mine(*events, of(0, "circular")) == [("circular", 0)]
    assert mine(of(1, "end")) == mine(of(1, "allocate"), of(1, "end")) == []


def test_programs_of_nobody_and_of_one_are_of_one():
    assert mine(of(9, "circular"), of(1, "circular")) == [("circular", 9), ("circular", 1)]


def test_of_the_real_mesh_each_chip_is_replayed_alike():
    """Real: `mesh_tp2` ran one program on both chips of an n300."""
    folder = real("mesh_tp2")
    replay = asyncio.run(replay_of(asyncio.run(opened(folder / "db.sqlite"))))
    ids = {number for (number,) in asked(folder, "SELECT DISTINCT device_id FROM buffers")}
    assert {one.device for one in replay.devices} == ids
    assert len({tuple(one.l1.tolist()) for one in replay.devices}) == 1


@for_all("number", [None, 3])
def test_snapshots_of_a_device_that_has_none_are_none(number):
    assert Lanes([], {0: SimpleNamespace(came=1, went=2)}, Lane).snapshots_of(number) is None
