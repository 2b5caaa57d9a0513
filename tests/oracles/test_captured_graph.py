import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.for_all import for_all
from tests.oracles.captured_graph import parse_captured_graph
from tests.oracles.graph_events import (
    BufferAllocated,
    BufferFreed,
    CircularBufferAllocated,
    CircularBuffersFreed,
    is_device_op,
)
from tests.shared_reports import SHARED
from ttnn_mcp.errors import ReportBroken

MEMORY = SHARED / "memory"
BANKS = {"L1": 64, "DRAM": 12}


def graph_of(*nodes, **options):
    listed = [{"counter": at, "node_type": kind, "params": params} for at, (kind, params) in enumerate(nodes)]
    return parse_captured_graph(json.dumps(listed), operation=7, **options)


def starts(name):
    return "function_start", {"name": name, "inputs": "1"}


def ends(name, **params):
    return "function_end", {"name": name, **params}


def allocation(**params):
    given_params = {"size": "8192", "type": "L1", "layout": "INTERLEAVED", "address": "4096", **params}
    return "buffer_allocate", {key: value for key, value in given_params.items() if value is not None}


@pytest.fixture(scope="module")
def concat_2024():
    path = MEMORY / "captured_graph_concat_2024.json"
    if not path.is_file():
        pytest.skip("the real captured graph is not here")
    return parse_captured_graph(path.read_text(), operation="ttnn.concat")


def test_the_device_ops_of_a_2024_graph_are_found_in_order(concat_2024):
    assert [op.name for op in concat_2024.device_ops] == ["Tilize", "Tilize", "ConcatDeviceOperation"]
    assert concat_2024.started == concat_2024.device_ops
    assert concat_2024.ended == concat_2024.device_ops
    assert [op.outputs for op in concat_2024.device_ops] == [(149,), (151,), (153,)]
    assert [call.name for call in concat_2024.calls][:2] == ["ttnn::concat", "ttnn::tilize"]
    assert concat_2024.calls[1].inputs == (88,)
    assert concat_2024.calls[0].outputs == (154,)


def test_a_2024_deallocation_names_no_address_and_takes_that_of_its_allocation(concat_2024):
    allocated = [event for event in concat_2024.events if isinstance(event, BufferAllocated)]
    freed = [event for event in concat_2024.events if isinstance(event, BufferFreed)]
    assert [(event.buffer, event.address) for event in allocated if event.buffer == "L1"] == [
        ("L1", 1048576),
        ("L1", 917504),
        ("L1", 655360),
    ]
    assert [(event.buffer, event.address) for event in freed if event.buffer == "L1"] == [
        ("L1", 917504),
        ("L1", 1048576),
    ]
    assert freed[0].size_bytes == 16384
    assert all(event.bytes_per_bank is None for event in allocated)


def test_circular_buffers_of_a_2024_graph_have_ranges_and_sizes(concat_2024):
    buffers = [event for event in concat_2024.events if isinstance(event, CircularBufferAllocated)]
    assert [event.bytes_per_core for event in buffers] == [16384, 16384, 16384, 16384, 4096]
    assert buffers[-1].ranges == (((0, 0), (7, 7)),)
    assert buffers[-1].device_op == 2
    assert not any(event.aliases_tensor for event in buffers)
    assert sum(isinstance(event, CircularBuffersFreed) for event in concat_2024.events) == 3


def test_a_2026_graph_tells_everything():
    path = MEMORY / "v3_3/db.sqlite"
    if not path.is_file():
        pytest.skip("the made databases are not here")
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    [[text]] = connection.execute("SELECT captured_graph FROM captured_graph WHERE operation_id = 5").fetchall()
    connection.close()
    graph = parse_captured_graph(text, operation=5)
    assert [op.name for op in graph.started] == ["HaloDeviceOperation", "Conv2dDeviceOperation"]
    assert graph.calls[0].inputs == (9, 1, 3)
    assert graph.calls[0].outputs == (11,)
    circular = [event for event in graph.events if isinstance(event, CircularBufferAllocated)]
    assert [event.aliases_tensor for event in circular] == [False, True, False, False, True]
    halo = graph.events[0]
    assert (halo.device_op, halo.device, halo.address, halo.bytes_per_bank) == (0, 0, 1439744, 18432)
    assert graph.events[-1].device_op is None


def test_start_and_end_order_differ_where_device_ops_nest():
    graph = graph_of(
        starts("ttnn.a"),
        starts("Outer"),
        starts("Inner"),
        ends("Inner"),
        ends("Outer"),
        starts("Last"),
        ends("Last"),
    )
    assert [op.name for op in graph.started] == ["Outer", "Inner", "Last"]
    assert [op.name for op in graph.ended] == ["Inner", "Outer", "Last"]


def test_a_device_op_that_never_ended_or_aborted_did_not_complete():
    graph = graph_of(
        starts("ttnn.a"), starts("Unfinished"), starts("Thrown"), ends("Thrown", aborted="true"), ends("ttnn.a")
    )
    assert [op.name for op in graph.device_ops] == ["Unfinished", "Thrown"]
    assert graph.started == graph.ended == ()
    assert graph.calls[0].completed


def test_a_stray_end_is_ignored():
    graph = graph_of(ends("Nobody"), starts("Op"), ends("Other"), ends("Op"))
    assert [op.name for op in graph.started] == ["Op"]


def test_events_know_the_innermost_device_op_around_them():
    graph = graph_of(
        allocation(),
        starts("A"),
        allocation(),
        starts("tt::tt_metal::helper"),
        allocation(),
        ends("tt::tt_metal::helper"),
        ends("A"),
        starts("B"),
        allocation(),
    )
    assert [event.device_op for event in graph.events] == [None, 0, 0, 1]


@for_all(
    ("params", "per_bank"),
    [
        ({"max_size_per_bank": "96"}, 96),
        ({"page_size": "2048", "num_cores": "0", "size": str(2048 * 65)}, 4096),
        ({"page_size": "2048", "num_cores": "0", "size": str(2048 * 64)}, 2048),
        ({"page_size": "2048", "num_cores": "3", "size": str(2048 * 64)}, 22 * 2048),
        ({"page_size": "2048", "num_cores": "0", "size": str(2048 * 25), "type": "DRAM"}, 3 * 2048),
        ({"page_size": "0"}, None),
        ({"page_size": "2048", "num_cores": "0", "type": "L1_SMALL"}, None),
    ],
)
def test_bytes_per_bank_are_those_of_the_fullest_bank(params, per_bank):
    assert graph_of(allocation(**params), banks=BANKS).events[0].bytes_per_bank == per_bank


def test_the_exact_buffer_type_tells_l1_small_from_l1():
    graph = graph_of(allocation(exact_buffer_type="L1_SMALL"), allocation(buffer_type="3"), allocation(type=None))
    assert [event.buffer for event in graph.events] == ["L1_SMALL", "L1_SMALL", None]


def test_errors_are_kept():
    graph = graph_of(
        ("error", {"error_type": "E", "error_message": "out of memory", "error_operation": "ttnn.conv2d"})
    )
    assert graph.errors[0].message == "out of memory"
    assert graph.errors[0].operation == "ttnn.conv2d"


def test_the_newest_graphs_list_input_tensors_on_the_scope():
    nodes = [
        {"counter": 3, "node_type": "function_start", "params": {"name": "Op"}, "input_tensors": [9, 8]},
        {"counter": 8, "node_type": "tensor", "params": {"tensor_id": "80"}, "connections": [3]},
        {"counter": 9, "node_type": "tensor", "params": {"tensor_id": "90"}},
        {"counter": 10, "node_type": "function_end", "params": {"name": "Op"}, "connections": [11]},
        {"counter": 11, "node_type": "tensor", "params": {"tensor_id": "91"}},
    ]
    [op] = parse_captured_graph(json.dumps(nodes), operation=1).started
    assert op.inputs == (90, 80)
    assert op.outputs == (91,)


@for_all("text", ["", "[{", "3", '"x"', "{}", "[" * 100_000, '[{"a": 1' + "9" * 5000 + "}]"])
def test_a_broken_graph_is_refused_by_the_name_of_its_operation(text):
    with pytest.raises(ReportBroken, match="operation 12 "):
        parse_captured_graph(text, operation=12)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=4)
KINDS = [
    "function_start",
    "function_end",
    "tensor",
    "buffer_allocate",
    "buffer_deallocate",
    "circular_buffer_allocate",
]
NODES = st.fixed_dictionaries(
    {},
    optional={
        "node_type": st.sampled_from(KINDS) | SCALARS,
        "counter": SCALARS,
        "connections": st.lists(SCALARS, max_size=3) | SCALARS,
        "input_tensors": st.lists(SCALARS, max_size=3) | SCALARS,
        "params": st.dictionaries(
            st.sampled_from(["name", "size", "page_size", "num_cores", "address", "tensor_id", "type", "aborted"]),
            SCALARS,
        )
        | SCALARS,
    },
)


@given(st.lists(NODES | SCALARS, max_size=8))
def test_no_list_of_nodes_breaks_the_reader(nodes):
    parse_captured_graph(json.dumps(nodes), operation=1, banks=BANKS)


def test_device_ops_are_told_from_calls_by_their_names():
    assert is_device_op("MatmulDeviceOperation")
    assert is_device_op("Tilize")
    assert not any(
        is_device_op(name) for name in ("ttnn::tilize", "ttnn.conv2d", "(torch) contiguous", "Tensor::cpu", "")
    )
