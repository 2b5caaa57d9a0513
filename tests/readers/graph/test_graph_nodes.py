"""Node by node: what each kind of node does to memory, and what does nothing."""

import json

import pytest

from tests.for_all import for_all
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph import graph_memory
from ttnn_mcp.readers.graph.graph_memory import GraphReader
from ttnn_mcp.readers.memory.spaces import DRAM, L1, UNPLACED

BANKS = {DRAM: 12, L1: 64}
OP, OUTER = {"name": "UnaryDeviceOperation"}, {"name": "ttnn.relu"}
IN_L1 = {"type": "L1", "address": "64", "size": "4096"}
KNOWN = {**IN_L1, "device_id": "0", "max_size_per_bank": "64"}
NOWHERE = {"type": "L1", "address": "0", "size": "4096"}


def nodes_of(*nodes):
    return [{"node_type": kind, "params": params, "connections": to} for kind, params, *to in nodes]


def read(*nodes, key_of_tensor=None, reader=None):
    reader = reader or GraphReader(BANKS, key_of_tensor)
    return reader.read(json.dumps(nodes_of(*nodes)), operation=1)


def freed(*nodes, **asked):
    [event] = [one for one in read(*nodes, **asked).events if one.kind == "free"]
    return event.key, event.size_bytes, event.bytes_per_bank


@for_all(
    ("params", "per_bank"),
    [
        (
            {"type": "DRAM", "size": "24576", "layout": "INTERLEAVED"},
            -1,
        ),  # 2024 tells no page: banks of DRAM differ
        ({"type": "DRAM", "size": "24576", "page_size": "2048", "num_cores": "0"}, 2048),
        ({"type": "L1", "size": "8192", "layout": "INTERLEAVED"}, 128),
        ({"type": "L1", "size": "0", "layout": "INTERLEAVED"}, -1),
        ({"type": "L1", "layout": "INTERLEAVED"}, -1),
        ({"type": "L1", "size": "8192", "layout": "INTERLEAVED", "max_size_per_bank": "160"}, 160),
        ({"type": "what", "size": "8192", "layout": "INTERLEAVED"}, -1),
    ],
)
def test_a_buffer_takes_of_a_bank_what_the_graph_tells(params, per_bank):
    [event] = read(("buffer_allocate", {"address": "64", **params})).events
    assert (event.kind, event.bytes_per_bank) == ("allocate", per_bank)


def test_a_free_is_told_by_the_allocation_behind_its_node():
    allocated = ("buffer_allocate", {**KNOWN, "device_id": "3"}, 1)
    [*_, told] = read(allocated, ("buffer", {}), ("buffer_deallocate", {}, 1)).events
    assert (told.kind, told.device, told.key, told.size_bytes, told.bytes_per_bank) == ("free", 3, 129, 4096, 64)


@for_all(
    ("params", "told"),
    [
        ({"type": "L1", "address": "96"}, (193, 4096, 64)),  # the address of its own, the size of the other
        ({"type": "L1", "max_size_per_bank": "32"}, (129, 4096, 32)),
        ({"type": "L1", "address": "96", "size": "1024", "max_size_per_bank": "32"}, (193, 1024, 32)),
        ({"type": "L1", "address": "96", "size": "1024", "max_size_per_bank": "0"}, (193, 1024, 0)),
    ],
)
def test_a_free_keeps_what_it_tells_itself(params, told):
    assert freed(("buffer_allocate", KNOWN, 1), ("buffer", {}), ("buffer_deallocate", params, 1)) == told


def test_an_allocation_stands_behind_one_free_only():
    nodes = [("buffer_allocate", KNOWN, 1), ("buffer", {}), *[("buffer_deallocate", {}, 1)] * 2]
    assert [one.key for one in read(*nodes).events] == [129, 129, -1]


def test_an_allocation_without_a_node_is_told():
    assert [one.key for one in read(("buffer_allocate", KNOWN)).events] == [129]


def test_a_free_of_a_tensor_made_before_lies_where_the_tensor_lies():
    first = [("buffer", {}, 1, 2), ("tensor", {}), ("tensor", {"tensor_id": "0"})]
    tensors = [*first[:2], ("tensor", {"tensor_id": "7"})]
    silent, told = ("buffer_deallocate", {}, 0), ("buffer_deallocate", {"type": "L1", "address": "96"}, 0)
    assert freed(*tensors, silent, key_of_tensor={7: 129}.get)[0] == 129
    assert freed(*first, silent, key_of_tensor={0: 129}.get)[0] == 129
    assert freed(*tensors, silent)[0] == -1  # nobody knows where tensors lie
    assert freed(*tensors, told, key_of_tensor={7: 129}.get)[0] == 193
    assert freed(*tensors, ("buffer_deallocate", {}, 9), key_of_tensor={7: 129}.get)[0] == -1
    without = [("buffer", {}, 1), ("tensor", {}), silent]
    assert freed(*without, key_of_tensor={-1: 129}.get)[0] == -1


@for_all(
    "nodes",
    [
        [("buffer", {}, 1), ("function_end", {"tensor_id": "7"})],  # no tensor
        [("function_end", {}, 1), ("tensor", {"tensor_id": "7"})],  # no buffer
        [("buffer", {}, 5), ("tensor", {"tensor_id": "7"})],  # no node
    ],
)
def test_only_a_buffer_node_leads_to_a_tensor(nodes):
    assert freed(*nodes, ("buffer_deallocate", {}, 0), key_of_tensor={7: 129}.get)[0] == -1


def test_tensors_of_a_graph_are_looked_up_once(monkeypatch):
    asked, looked = [], graph_memory._Reading._tensors_by_buffer
    monkeypatch.setattr(
        graph_memory._Reading, "_tensors_by_buffer", lambda reading: asked.append(1) or looked(reading)
    )
    frees = [("buffer_deallocate", {}, 0)] * 3
    read(("buffer", {}, 1), ("tensor", {"tensor_id": "7"}), *frees, key_of_tensor={7: 129}.get)
    assert len(asked) == 1
    read(("buffer_allocate", KNOWN, 1), ("buffer", {}, 2), ("tensor", {"tensor_id": "7"}))
    assert len(asked) == 1  # nothing asks for them


def test_a_dry_capture_gives_each_buffer_a_place_of_its_own():
    reader = GraphReader(BANKS)
    nodes = [("buffer_allocate", NOWHERE, 1), ("buffer", {}, 2), ("tensor", {"tensor_id": "7"})]
    more = [("buffer_allocate", {**NOWHERE, "type": "DRAM"}, 4), ("buffer", {}, 5), ("tensor", {})]
    events = read(*nodes, *more, ("buffer_allocate", KNOWN, 1), reader=reader).events
    assert [one.key for one in events] == [UNPLACED + 3, UNPLACED + 4, 129]
    assert reader.unplaced_tensors == {UNPLACED + 3: 7}
    read(*nodes, reader=reader)
    assert reader.unplaced_tensors == {UNPLACED + 3: 7, UNPLACED + 7: 7}


def test_what_is_placed_is_no_matter_of_a_dry_capture():
    reader = GraphReader(BANKS)
    read(("buffer_allocate", KNOWN, 1), ("buffer", {}, 2), ("tensor", {"tensor_id": "7"}), reader=reader)
    read(("buffer_allocate", NOWHERE, 1), ("buffer", {}), reader=reader)
    assert reader.unplaced_tensors == {}


def test_a_key_of_its_own_needs_a_buffer_and_a_size():
    reader = GraphReader(BANKS)
    assert [reader.unplaced(-1, 64), reader.unplaced(L1, 0), reader.unplaced(L1, -1)] == [-1, -1, -1]
    assert reader.unplaced(L1, 1) == UNPLACED + 3
    assert freed(("buffer_deallocate", NOWHERE))[0] == -1


def test_buffers_of_a_program_belong_to_the_op_that_is_open():
    circular = [(f"{kind}_allocate", {}) for kind in ("circular_buffer", "dataflow_buffer", "scratchpad")]
    outside = [circular[0], ("program_execution", {})]
    found = read(
        *outside, ("function_start", OP), *circular, ("program_execution", {}), ("function_end", OP), *outside
    )
    assert [(one.kind, one.device_op) for one in found.events] == [
        ("circular", -1),
        *[("circular", 0)] * 3,
        ("end", 0),
        ("circular", -1),
    ]
    assert [(one.buffers, one.executed) for one in found.device_ops] == [(3, True)]
    alone = read(("function_start", OP), ("function_end", OP), *outside)
    assert [(one.buffers, one.executed) for one in alone.device_ops] == [(0, False)]


def test_buffers_of_the_program_before_go_when_the_graph_says_so():
    [event] = read(("circular_buffer_deallocate_all", {"device_id": "3"})).events
    assert (event.kind, event.device_op, event.device) == ("clear", -1, 3)


def test_what_no_reader_needs_does_nothing():
    kinds = ("buffer", "tensor", "capture_start", "capture_end", "sub_device_manager", "of_tomorrow")
    found = read(*((kind, KNOWN) for kind in kinds))
    assert (found.events, found.device_ops, found.errors) == ([], [], [])


@for_all(("hit", "cached"), [({}, None), ({"program_cache_hit": "1"}, True), ({"program_cache_hit": "0"}, False)])
def test_an_op_tells_whether_its_program_was_cached(hit, cached):
    [op] = read(("function_start", {**OP, **hit}), ("function_end", OP)).device_ops
    assert (op.cached, op.started_at, op.ended_at, op.completed) == (cached, 0, 1, True)


def test_an_op_ends_with_its_own_scope_and_no_other():
    inner = {"name": "tt::tt_metal::detail"}
    nodes = [("function_start", OUTER), ("function_start", OP), ("function_start", inner), ("function_end", inner)]
    found = read(*nodes, ("function_end", OP), ("function_end", OUTER), ("function_end", OUTER))
    assert [one.ended_at for one in found.device_ops] == [4]
    assert [(one.kind, one.device_op) for one in found.events] == [("end", 0)]
    assert (found.aborted, found.unfinished) == ([], [])


def test_an_end_that_closes_nothing_is_passed_over():
    assert read(("function_end", OP), ("function_start", OUTER)).unfinished == ["ttnn.relu"]


@for_all("aborted", ["true", "1", True, 1])
def test_an_aborted_op_has_no_end(aborted):
    found = read(("function_start", OP), ("function_end", {**OP, "aborted": aborted}))
    assert ([one.ended_at for one in found.device_ops], found.aborted) == ([-1], ["UnaryDeviceOperation"])
    assert found.failed_at == 1


def test_an_op_that_says_it_was_not_aborted_ended():
    found = read(("function_start", OP), ("function_end", {**OP, "aborted": "false"}))
    assert ([one.ended_at for one in found.device_ops], found.aborted, found.failed_at) == ([1], [], None)


def test_the_first_exception_says_how_far_events_go():
    error = {"error_operation": "a", "error_type": "b", "error_message": "c"}
    found = read(("buffer_allocate", KNOWN), ("error", error), ("buffer_allocate", KNOWN), ("error", {}))
    assert [(one.at, one.operation, one.kind, one.message) for one in found.errors] == [
        (1, "a", "b", "c"),
        (3, "", "", ""),
    ]
    assert found.failed_at == 1


def test_a_graph_may_be_wrapped():
    wrapped = json.dumps({"graph": nodes_of(("buffer_allocate", KNOWN))})
    assert len(GraphReader().read(wrapped, operation=1).events) == 1


def test_a_node_that_leads_to_no_list_is_refused_whenever_it_is_looked_at():
    nodes = nodes_of(("buffer_allocate", NOWHERE, 1), ("buffer", {}))
    nodes[1]["connections"] = 5
    with pytest.raises(ReportBroken, match="operation 4 is not a list of nodes"):
        GraphReader(BANKS).read(json.dumps(nodes), operation=4)
