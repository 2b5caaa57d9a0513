"""The fast reading of a captured graph: the same story as the full one, and nothing but our error for odd text."""

import json
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.for_all import for_all
from tests.oracles.captured_graph import parse_captured_graph
from tests.oracles.graph_events import (
    BufferAllocated,
    BufferFreed,
    CircularBufferAllocated,
    CircularBuffersFreed,
)
from tests.profiles import DATABASE_GENERATIONS, write_memory_report
from tests.profiles.demo_model import demo_program
from tests.shared_reports import shared
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph.graph_memory import MemoryEvent, read_graph_memory
from ttnn_mcp.readers.memory.spaces import L1
from ttnn_mcp.readers.printed.memory_config import BUFFER_TYPES

BANKS = {"L1": 64, "L1_SMALL": 64}
CODES = {BUFFER_TYPES.index(name): banks for name, banks in BANKS.items()}
WITH_GRAPHS = [one for one in DATABASE_GENERATIONS if one != "G1"]


def read(text):
    return read_graph_memory(text, operation=7, banks=CODES)


def graph(*nodes):
    return json.dumps(
        [
            {"counter": at, "node_type": kind, "params": params, "connections": list(to)}
            for at, (kind, params, *to) in enumerate(nodes)
        ]
    )


def full_story(text):
    found = parse_captured_graph(text, operation=7, banks=BANKS)
    for event in found.events:
        op = -1 if event.device_op is None else event.device_op
        match event:
            case BufferAllocated():
                yield "allocate", op, event.address, event.bytes_per_bank
            case BufferFreed():
                yield "free", op, event.address, None
            case CircularBufferAllocated():
                yield "circular", op, event.address, event.bytes_per_core
            case CircularBuffersFreed():
                yield "clear", op, None, None


def fast_story(text):
    for event in read(text).events:
        sizes = {"allocate": event.bytes_per_bank, "circular": event.size_bytes}
        if event.kind != "end":
            address = None if event.kind == "clear" or event.key < 0 else event.address
            yield event.kind, event.device_op, address, sizes.get(event.kind)


def agree(text):
    """Where the full reading has a size (2024 tells few), the fast one has the same."""
    full, fast = list(full_story(text)), list(fast_story(text))
    assert [one[:3] for one in fast] == [one[:3] for one in full]
    assert all(mine == theirs for (*_, mine), (*_, theirs) in zip(fast, full, strict=True) if theirs is not None)


@for_all("generation", WITH_GRAPHS, sampled=4)
def test_both_readings_of_a_graph_tell_the_same_story(tmp_path, generation):
    path = write_memory_report(tmp_path / "memory", demo_program(), generation)
    with closing(sqlite3.connect(path)) as connection:
        texts = [text for (text,) in connection.execute("SELECT captured_graph FROM captured_graph")]
    assert len(texts) > 40
    for text in texts:
        agree(text)
        found = parse_captured_graph(text, operation=7)
        fast = read(text)
        assert [one.name for one in fast.device_ops] == [scope.name for scope in found.device_ops]
        assert [(one.name, one.ended_at) for one in fast.completed] == [
            (one.name, one.end) for one in found.started
        ]
        assert [(one.at, one.message) for one in fast.errors] == [(one.at, one.message) for one in found.errors]


def test_the_real_graph_of_2024_is_told_alike():
    text = shared("memory/captured_graph_concat_2024.json").read_text()
    agree(text)
    events = read(text).events
    assert [e.address for e in events if e.kind == "free" and e.buffer == L1] == [917504, 1048576]
    assert {e.over_tensor for e in events if e.kind == "circular"} == {None}
    assert [e.bytes_per_bank for e in events if e.kind == "allocate" and e.buffer == L1] == [131072, 131072, 262144]


def test_the_end_of_a_device_op_is_an_event_also_when_a_scope_around_it_ends_first():
    text = graph(
        ("function_start", {"name": "ttnn.conv2d"}),
        ("function_start", {"name": "Conv2dDeviceOperation"}),
        ("circular_buffer_allocate", {"address": "103712", "size": "64", "globally_allocated": "0"}),
        ("function_end", {"name": "ttnn.conv2d", "aborted": "true"}),
    )
    found = read(text)
    assert [(event.kind, event.device_op) for event in found.events] == [("circular", 0), ("end", 0)]
    assert found.aborted == ["ttnn.conv2d"]
    assert found.unfinished == []


def test_scopes_that_never_end_and_errors_are_told():
    error = {"error_type": "RuntimeError", "error_message": "no room", "error_operation": "ttnn.conv2d"}
    found = read(
        graph(
            ("function_start", {"name": "ttnn.conv2d"}),
            ("function_start", {"name": "Conv2dDeviceOperation"}),
            ("error", error),
        )
    )
    assert found.unfinished == ["ttnn.conv2d", "Conv2dDeviceOperation"]
    assert [(one.operation, one.kind, one.message) for one in found.errors] == [
        ("ttnn.conv2d", "RuntimeError", "no room")
    ]


@for_all(
    ("params", "per_bank"),
    [
        ({"size": "4096", "page_size": "1024", "num_cores": "0"}, 1024),  # 4 pages on 64 banks
        ({"size": "401408", "page_size": "2048", "num_cores": "0"}, 8192),  # 196 pages on 64 banks
        ({"size": "903168", "page_size": "128", "num_cores": "49"}, 18432),
        ({"size": "903168", "page_size": "128", "num_cores": "49", "max_size_per_bank": "20480"}, 20480),
        ({"size": "8388608", "layout": "INTERLEAVED"}, 131072),  # 2024
        ({"size": "8388608", "layout": "HEIGHT_SHARDED"}, -1),
        ({"size": "99999999999999999999"}, -1),
    ],
)
def test_what_a_buffer_takes_of_a_bank(params, per_bank):
    (event,) = read(graph(("buffer_allocate", {"type": "L1", "address": "32", **params}))).events
    assert event.bytes_per_bank == per_bank


def test_the_newer_keys_tell_l1_small_from_l1():
    params = {
        "type": "L1",
        "exact_buffer_type": "L1_SMALL",
        "address": "64",
        "size": "32",
        "max_size_per_bank": "32",
    }
    (event,) = read(graph(("buffer_allocate", params))).events
    assert BUFFER_TYPES[event.buffer] == "L1_SMALL"
    assert event.address == 64


@for_all("text", ["", "{", "7", "null", '{"nodes": []}', "[1, 2]", '[{"node_type": "error", "params": 3}]'])
def test_text_that_is_no_graph_is_refused_with_what_to_do(text):
    with pytest.raises(ReportBroken, match=r"operation 7 .* cut off"):
        read(text)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KINDS = (
    "buffer_allocate",
    "buffer_deallocate",
    "circular_buffer_allocate",
    "function_start",
    "function_end",
    "error",
)
nodes = st.fixed_dictionaries(
    {"node_type": st.sampled_from(KINDS), "params": st.dictionaries(
        st.sampled_from(("size", "address", "type", "name", "page_size", "num_cores", "core_range_set")), values
    ), "connections": values}
)  # fmt: skip


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(nodes | values, max_size=6))
def test_no_graph_makes_the_reading_raise_anything_but_our_error(listed):
    try:
        found = read(json.dumps(listed))
    except ReportBroken:
        return
    assert all(isinstance(event, MemoryEvent) for event in found.events)
    assert all(event.size_bytes < 2**40 and event.key < 2**42 for event in found.events)
