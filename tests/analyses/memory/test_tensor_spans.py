"""Which tensor lies on which buffer, and which operations make and read it."""

import asyncio
from json import loads

import numpy as np

from tests.analyses.memory.replays import opened
from tests.analyses.memory.small_tables import (
    IN_DRAM,
    asked,
    links,
    memory,
    numbers,
    operations,
    real,
    recorded,
    spans,
    tensor,
    tensors,
)
from tests.for_all import for_all
from ttnn_mcp.analyses.memory.buffer_spans import before, inside
from ttnn_mcp.analyses.memory.lifetimes import NOBODY
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.tensor_spans import (
    KeysOfTensors,
    keys_of_tensors,
    keys_written,
    lifetimes_of,
    own_buffers,
)
from ttnn_mcp.readers.memory.columns import DeviceTensors
from ttnn_mcp.readers.memory.spaces import DRAM, L1, key_of

NAMES = ("ttnn.a", "ttnn.b", "ttnn.deallocate", "ttnn.d")
IDS = (10, 20, 30, 40)  # at places 0 to 3
A, B = 4096, 8192


def report(*rows, **parts):
    return memory(operations=operations(*NAMES, ids=IDS), tensors=tensors(*rows), **parts)


def matched(life, *rows, device=None, **parts):
    read = report(*rows, **parts)
    return lifetimes_of(read, read.operations.ids, life, np.ones(4, dtype=np.bool_), device)


def given(*pairs):
    return {"outputs": links(*pairs)}


def on(life, *rows, **more):
    return matched(life, *rows, **more).rows.tolist()


ONE = spans((A, 16, inside(0), before(3)))


def test_makers_and_last_readers_are_places_frees_left_out():
    found = matched(
        ONE, tensor(5), tensor(7), outputs=links((10, 5), (20, 5)), inputs=links((20, 5), (30, 5), (30, 7), (40, 7))
    )
    assert found.producers.tolist() == [0, NOBODY]
    assert found.last_uses.tolist() == [1, 3]


def test_links_of_unknown_operations_or_tensors_are_left_out():
    found = matched(ONE, tensor(5), tensor(7), outputs=links((15, 5), (10, 6), (99, 5)), inputs=links((20, 9)))
    assert found.producers.tolist() == found.last_uses.tolist() == [NOBODY, NOBODY]


def test_a_tensor_lies_on_the_buffer_that_was_live_when_it_was_made():
    life = spans((A, 16, inside(0), before(1)), (A, 16, inside(1), None), (B, 16, inside(1), before(3)))
    rows = (tensor(1, A), tensor(2, A), tensor(3, B), tensor(4, 12_288))
    assert on(life, *rows, **given((10, 1), (20, 2), (20, 3), (20, 4))) == [0, 1, 2, NOBODY]
    assert on(life, tensor(1, B), **given((10, 1))) == [NOBODY]  # the buffer came later
    assert on(life, tensor(1, B), **given((40, 1))) == [NOBODY]  # it had gone
    assert on(life, tensor(1, A, DRAM), **given((10, 1))) == [NOBODY]


def test_one_that_no_operation_made_lies_where_it_was_first_read():
    life = spans((A, 16, before(0), before(2)), (A, 16, before(2), None))
    assert on(life, tensor(1, A), inputs=links((40, 1), (20, 1))) == [0]
    assert on(life, tensor(1, A), inputs=links((40, 1))) == [1]
    assert on(spans((A, 16, inside(1), None)), tensor(1, A), inputs=links((20, 1))) == [NOBODY]


def test_without_buffers_nothing_lies_anywhere():
    assert on(spans(), tensor(1, A), **given((10, 1))) == [NOBODY]


def test_places_of_use_are_told_per_buffer():
    life = spans((A, 16, inside(0), None))
    found = matched(
        life, tensor(1, A), tensor(2, B), outputs=links((10, 1)), inputs=links((20, 1), (20, 2), (40, 1))
    )
    assert [column.tolist() for column in found.used] == [[0, 0, 0], [0, 1, 3]]


@for_all(
    ("row", "device", "there"),
    [
        ({"device": 0}, 0, True),
        ({"device": -1}, 0, True),
        ({"device": 1}, 0, False),
        ({"device": 1}, None, True),
        ({"device": 1}, 7, True),  # a device that no tensor names: their ids are of another kind
    ],
)
def test_a_tensor_of_another_device_is_not_here(row, device, there):
    others = (tensor(1, A, **row), tensor(2, B, device=0))
    assert on(ONE, *others, device=device, **given((10, 1)))[0] == (0 if there else NOBODY)


def test_the_copies_of_a_mesh_have_addresses_of_their_own():
    copies = DeviceTensors(numbers(2, 2, 3, 9), numbers(0, 1, 0, 0), numbers(A, B, B, B))
    rows = (tensor(2, 12_288, device=-1), tensor(4, A, device=-1))
    parts = {"device_tensors": copies, **given((10, 2), (10, 4))}
    assert on(ONE, *rows, device=0, **parts) == [0, 0]
    assert on(ONE, *rows, device=1, **parts) == [NOBODY, 0]
    assert on(ONE, *rows, **parts) == [NOBODY, 0]


def test_a_view_lies_where_its_copy_on_the_chip_lies():
    """TTNN 0.70 on: the tensor of the mesh, id 1, has an address; a view of it has none, but a copy on chip 0 has."""
    copies = DeviceTensors(numbers(1, 2, 3, 9), numbers(1, 0, 0, 0), numbers(A, A, A, A))
    view = {"buffer": -1, "device": -1}
    rows = (tensor(1, A, device=1), tensor(2, -1, **view), tensor(3, -1, placement=IN_DRAM, **view))
    links_of_views = {"outputs": links((10, 1), (20, 2), (20, 3)), "inputs": links((20, 1), (40, 2))}
    parts = {"device_tensors": copies, **links_of_views}
    longer = spans((A, 16, inside(0), None))
    found = matched(longer, *rows, device=1, **parts)
    assert found.rows.tolist() == [0, 0, NOBODY]
    assert found.last_reads.tolist() == [3]  # of the view
    other = tensor(4, B, device=0)  # chip 0 is a holder of its own
    assert on(longer, *rows, other, device=1, **parts) == [0, NOBODY, NOBODY, NOBODY]
    moved = DeviceTensors(numbers(1), numbers(0), numbers(B))  # a tensor with an address lies there
    assert on(longer, *rows, device=1, device_tensors=moved, **links_of_views)[0] == 0
    unhoused = tensor(5, -1, placement=None, **view)
    assert on(longer, *rows, unhoused, device=1, **parts)[3] == NOBODY


def test_a_view_of_a_weight_does_not_make_it_an_activation():
    weight = spans((A, 16, before(0), None, L1, False))
    rows = (tensor(1, A), tensor(2, A))
    found = matched(weight, *rows, inputs=links((20, 1), (40, 2)), outputs=links((20, 2)))
    assert (found.persistent.tolist(), found.last_reads.tolist()) == ([True], [3])
    assert found.producer_of(0) == NOBODY


def test_the_table_of_lifetimes_tells_what_links_leave_out():
    told = recorded((1, 10, 40), (2, 15, 30), (3, 20, 99), (9, 10, 10))
    found = matched(ONE, tensor(1), tensor(2), tensor(3), lifetimes=told)
    assert found.producers.tolist() == [0, NOBODY, 1]
    assert found.last_uses.tolist() == [3, NOBODY, NOBODY]  # a free is no use


def test_links_come_before_it():
    told = recorded((1, 20, 40))
    found = matched(ONE, tensor(1), lifetimes=told, outputs=links((10, 1)), inputs=links((20, 1)))
    assert (found.producers.tolist(), found.last_uses.tolist()) == ([0], [1])


PERSISTENT = (A, 16, before(0), None, L1, False)
AT_ONCE = (A, 16, inside(1), inside(1))


@for_all(
    ("rows", "found"),
    [
        ([PERSISTENT], [0]),
        ([AT_ONCE], [0]),
        ([(A, 16, before(0), before(2), L1, False)], [NOBODY]),
        ([(A, 16, inside(0), before(2))], [NOBODY]),
        ([(A, 16, inside(0), None)], [NOBODY]),
        ([(B, 16, before(0), None, L1, False)], [NOBODY]),
        ([AT_ONCE, AT_ONCE], [NOBODY]),  # which of both?
    ],
)
def test_one_that_no_operation_names_lies_on_a_buffer_that_nobody_claims(rows, found):
    assert on(spans(*rows), tensor(1, A)) == found


def test_several_are_matched_in_order_if_there_are_as_many_buffers():
    late = (A, 16, inside(2), inside(2))
    other = (B, 16, inside(2), inside(2))
    assert on(spans(other, AT_ONCE, late), tensor(1, A), tensor(2, B), tensor(3, A)) == [1, 0, 2]
    assert on(spans(AT_ONCE, late), tensor(1, A), tensor(2, A), tensor(3, A)) == [NOBODY] * 3


def test_a_claimed_buffer_is_not_given_away_and_a_linked_tensor_not_moved():
    assert on(spans(PERSISTENT), tensor(1, A), tensor(2, A), inputs=links((20, 1))) == [0, NOBODY]
    assert on(spans(AT_ONCE), tensor(1, A), **given((40, 1))) == [NOBODY]


def test_tensors_without_a_place_lie_on_nothing():
    assert on(spans(PERSISTENT), tensor(1, -1), tensor(2, A, -1)) == [NOBODY, NOBODY]


def test_what_an_operation_wrote_anew_is_what_it_did_not_take():
    rows = (tensor(1, A), tensor(2, A), tensor(3, B), tensor(4, -1))
    read = report(*rows, outputs=links((10, 1), (20, 2), (20, 3), (20, 4)), inputs=links((20, 1), (40, 3)))
    assert keys_written(read, read.operations.ids, None) == {0: [key_of(A, L1)], 1: [key_of(B, L1)]}


def test_a_tensor_on_the_buffer_of_another_has_none_of_its_own():
    taken, result = tensor(1, A), tensor(2, A)
    through = {"inputs": links((20, 1)), "outputs": links((20, 2))}
    made = {"outputs": links((20, 2))}
    for rows, parts, own in (
        ((taken, tensor(2, -1)), through, [True, False]),  # a view, from TTNN 0.70 on
        ((tensor(1, -1), tensor(2, -1)), through, [True, True]),  # no addresses at all
        ((taken, result), through, [True, False]),  # in place
        ((taken, tensor(2, A, size=4096)), through, [True, True]),  # another one, where the first was freed
        ((taken, tensor(2, B)), through, [True, True]),
        ((taken, tensor(2, A, device=1)), through, [True, True]),
        ((taken, result), {**through, "outputs": links((30, 2))}, [True, True]),
        ((taken,), {"inputs": links((20, 1)), "outputs": links((10, 1), (20, 1))}, [True]),  # given on as it is
        ((taken, result), made, [False, True]),  # listed twice: by the device op and by the operation
        ((taken, tensor(2, -1), tensor(3, A)), {"outputs": links((20, 3))}, [False, False, True]),
        ((taken, tensor(2, A, size=4096)), made, [True, True]),
        ((taken, tensor(2, B)), made, [True, True]),
        ((taken, tensor(2, A, device=1)), made, [True, True]),
        ((taken, result), {"outputs": links((10, 1), (20, 2))}, [True, True]),
        ((taken, result), {"inputs": links((30, 1)), **made}, [True, True]),
        ((taken, result), {}, [True, True]),
    ):
        assert own_buffers(report(*rows, **parts)).tolist() == own, (rows, parts)


def test_those_of_real_reports_hold_the_bytes_that_ttnn_allocated():
    """The graphs of these programs show every buffer of L1 as it was allocated."""
    older = [f"../generations/reports/{version}_views" for version in ("0.68.0", "0.70.1", "0.73.1")]
    for name in ("views", "mobilenet", "late_frees", "warm_passes", *older):
        folder = real(name)
        graphs = [
            node for (text,) in asked(folder, "SELECT captured_graph FROM captured_graph") for node in loads(text)
        ]
        allocated = [node["params"] for node in graphs if node["node_type"] == "buffer_allocate"]
        read = asyncio.run(opened(folder)).memory_report
        own = own_buffers(read) & (read.tensors.buffers != DRAM)
        in_l1 = sum(int(params["size"]) for params in allocated if params["type"] == "L1")
        assert int(read.tensors.size_bytes[own].sum()) == in_l1, name


def test_keys_are_found_by_id():
    keys = KeysOfTensors(report(tensor(3, A), tensor(7, B, DRAM), tensor(9, -1)))
    assert [keys[at] for at in (3, 7, 9, 5, 99)] == [key_of(A, L1), key_of(B, DRAM), -1, -1, -1]


@for_all("name", ["views", "late_frees"])
def test_real_tensors_are_made_and_read_where_the_tables_say(name):
    folder = real(name)
    replay = asyncio.run(replay_of(asyncio.run(opened(folder / "db.sqlite"))))
    life, ids = replay.lifetimes, replay.operations
    made = dict(asked(folder, "SELECT tensor_id, min(operation_id) FROM output_tensors GROUP BY tensor_id"))
    read = dict(
        asked(
            folder,
            "SELECT i.tensor_id, max(i.operation_id) FROM input_tensors i JOIN operations o USING (operation_id)"
            " WHERE o.name NOT LIKE '%deallocate%' GROUP BY i.tensor_id",
        )
    )
    keys = keys_of_tensors(replay.memory.tensors)
    views = dict(asked(folder, "SELECT tensor_id, address FROM device_tensors"))
    for number, row, producer, last, key in zip(
        life.tensors.tolist(), life.rows.tolist(), life.producers, life.last_uses, keys.tolist(), strict=True
    ):
        assert (int(ids[producer]) if producer >= 0 else None) == made.get(number)
        if number in read:
            assert int(ids[last]) == read[number]
        if row >= 0:
            assert int(life.spans.keys[row]) == (key if key >= 0 else views[number] * 2 + 1)
    assert (life.rows >= 0).sum() >= 10
