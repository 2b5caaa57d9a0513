"""Dry captures place nothing: their buffers end with the last use of their tensor.

The reports are shaped like those that TTNN 0.81.1 wrote of programs in this repository without dispatching them.
"""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.analyses.memory.small_tables import links, memory, numbers
from ttnn_mcp.analyses.memory.replay import replay_of
from ttnn_mcp.analyses.memory.unrecorded_frees import DryFrees
from ttnn_mcp.readers.memory.spaces import UNPLACED
from ttnn_mcp.session.opening import read_run

TILES = (
    "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1,shard_spec=std::nullopt)"
)


def made(counter, size, tensor):
    """Nodes of a device op that makes a tensor of `size` bytes per bank with a dataflow buffer of 100."""
    name = {"name": "UnaryDeviceOperation"}
    buffer = {
        "type": "L1",
        "buffer_type": 1,
        "size": 64 * size,
        "address": 0,
        "device_id": 0,
        "layout": "INTERLEAVED",
    }
    told = {
        "tensor_id": tensor,
        "shape": "Shape([32, 32])",
        "dtype": "DataType::BFLOAT16",
        "layout": "Layout::TILE",
    }
    flow = {"address": 0, "borrows_memory": "0", "core_range_set": "{[0-0 - 7-7]}", "device_id": 0, "size": 100}
    return [
        ("function_start", name, []),
        ("buffer", {"size": 64 * size}, [counter + 4]),
        ("buffer_allocate", buffer | {"max_size_per_bank": size, "page_size": 2048, "num_cores": 0}, [counter + 1]),
        ("dataflow_buffer_allocate", flow, []),
        ("tensor", told | {"memory_config": TILES}, []),
        ("function_end", name, [counter + 4]),
    ]


def freed(size):
    buffer = {
        "type": "L1",
        "buffer_type": 1,
        "size": 64 * size,
        "address": 0,
        "device_id": 0,
        "layout": "INTERLEAVED",
    }
    return [("buffer", {}, []), ("buffer_deallocate", buffer | {"max_size_per_bank": size}, [1])]


def nodes_of(told):
    return json.dumps(
        [
            {
                "counter": at,
                "node_type": kind,
                "params": params,
                "connections": to,
                "arguments": [],
                "input_tensors": [],
            }
            for at, (kind, params, to) in enumerate([("capture_start", None, []), *told])
        ]
    )


@pytest.fixture
def dry(tmp_path):
    """x = a(); y = b(x); free x; z = c(y); d(z): y is dropped by Python, which no graph shows."""
    path = tmp_path / "db.sqlite"
    steps = [
        ("ttnn.a", made(1, 1000, 1), [], [1]),
        ("ttnn.b", made(1, 2000, 7), [1], [2]),  # its output was reshaped: later operations know it as 2
        ("ttnn.deallocate", freed(1000), [1], []),
        ("ttnn.c", made(1, 4000, 3), [2], [3]),
        ("ttnn.d", made(1, 500, 4), [3], [4]),
    ]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            "CREATE TABLE devices (device_id INT, num_y_cores INT, num_x_cores INT, num_y_compute_cores INT,"
            " num_x_compute_cores INT, worker_l1_size INT, l1_num_banks INT, l1_bank_size INT,"
            " address_at_first_l1_bank INT, address_at_first_l1_cb_buffer INT, num_banks_per_storage_core INT,"
            " num_compute_cores INT, num_storage_cores INT, total_l1_memory INT, total_l1_for_tensors INT,"
            " total_l1_for_interleaved_buffers INT, total_l1_for_sharded_buffers INT, cb_limit INT);"
            "CREATE TABLE operations (operation_id INT UNIQUE, name TEXT, duration REAL);"
            "CREATE TABLE operation_arguments (operation_id INT, name TEXT, value TEXT);"
            "CREATE TABLE tensors (tensor_id INT UNIQUE, shape TEXT, dtype TEXT, layout TEXT, memory_config TEXT,"
            " device_id INT, address INT, buffer_type INT);"
            "CREATE TABLE input_tensors (operation_id INT, input_index INT, tensor_id INT);"
            "CREATE TABLE output_tensors (operation_id INT, output_index INT, tensor_id INT);"
            "CREATE TABLE buffers (operation_id INT, device_id INT, address INT, max_size_per_bank INT, buffer_type INT);"
            "CREATE TABLE buffer_pages (operation_id INT, device_id INT, address INT, core_y INT, core_x INT,"
            " bank_id INT, page_index INT, page_address INT, page_size INT, buffer_type INT);"
            "CREATE TABLE stack_traces (operation_id INT, stack_trace TEXT);"
            "CREATE TABLE captured_graph (operation_id INT, captured_graph TEXT);"
            "CREATE TABLE nodes (operation_id INT, unique_id INT, node_operation_id INT, name TEXT);"
            "CREATE TABLE edges (operation_id INT, source_unique_id INT, sink_unique_id INT, source_output_index INT,"
            " sink_input_index INT, key INT);"
        )
        figures = (0, 9, 8, 8, 8, 1499136, 64, 1360544, 0, 105824, 1, 64, 0, 0, 0, 0, 0, 1393312)
        connection.execute(f"INSERT INTO devices VALUES ({','.join('?' * len(figures))})", figures)
        for operation, (name, told, inputs, outputs) in enumerate(steps, 1):
            connection.execute("INSERT INTO operations VALUES (?, ?, 0.1)", (operation, name))
            connection.execute("INSERT INTO captured_graph VALUES (?, ?)", (operation, nodes_of(told)))
            for table, tensors in (("input_tensors", inputs), ("output_tensors", outputs)):
                rows = [(operation, at, tensor) for at, tensor in enumerate(tensors)]
                connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
        for tensor in (1, 2, 3, 4):
            row = (tensor, "Shape([32, 32])", "DataType.BFLOAT16", "Layout.TILE", TILES, 0, 0, 1)
            connection.execute("INSERT INTO tensors VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
    return path


async def test_buffers_without_addresses_last_until_their_tensor_is_used_last(dry):
    found = await replay_of(await read_run("dry", "dry", None, dry))
    assert found.fullest.tensors.tolist() == [1000, 3000, 3000, 6000, 4500]
    assert found.fullest.circular.tolist() == [100, 100, 0, 100, 100]
    assert found.fullest.small.max() == 0  # no address is not a high address


async def test_a_dry_capture_is_a_floor_and_says_why(dry):
    found = await replay_of(await read_run("dry", "dry", None, dry))
    assert found.floor_because == "unplaced"
    assert not found.programs.silent
    assert found.fullest.differences.contradicted == 0


class Buffers:
    """A lane with nothing but live buffers."""

    def __init__(self, *keys):
        self.live = dict.fromkeys(keys, 0)


FIRST, SECOND = UNPLACED + 2, UNPLACED + 4


def ended(tensors_of, taken, given=(), keys=(FIRST,), until=4):
    """By place, the keys that end after it: operations 1 to 4 at places 0 to 3."""
    report = memory(inputs=links(*taken), outputs=links(*given))
    frees = DryFrees(report, numbers(1, 2, 3, 4), tensors_of)
    return [frees.after(place, Buffers(*keys)) for place in range(until)]


def test_a_buffer_ends_with_the_last_operation_that_takes_its_tensor():
    assert ended({FIRST: 7}, [(2, 7), (3, 7), (2, 8)]) == [[], [], [FIRST], [FIRST]]
    assert ended({FIRST: 7}, [(3, 7), (2, 7)]) == [[], [], [FIRST], [FIRST]]


def test_operations_that_the_report_lacks_take_nothing():
    assert ended({FIRST: 7}, [(2, 7), (9, 7)]) == [[], [FIRST], [FIRST], [FIRST]]


def test_a_buffer_that_nothing_takes_stays():
    assert ended({FIRST: 7}, [(2, 8)]) == [[]] * 4


def test_buffers_with_an_address_are_freed_by_graphs_and_snapshots():
    assert ended({4096: 7, FIRST: 8}, [(1, 7), (2, 8)], keys=(4096, FIRST)) == [[], [FIRST], [FIRST], [FIRST]]
    assert ended({UNPLACED - 2: 7}, [(1, 7)], keys=(UNPLACED - 2,)) == [[]] * 4
    assert ended({UNPLACED: 7}, [(1, 7)], keys=(UNPLACED,)) == [[UNPLACED]] * 4


def test_where_no_buffer_has_a_tensor_nothing_ends():
    assert ended({}, [(1, 7), (2, 7)], given=[(1, 7)]) == [[]] * 4


def test_a_result_that_was_reshaped_is_known_by_its_new_name():
    assert ended({FIRST: 7}, [(2, 8)], given=[(1, 8)]) == [[], [FIRST], [FIRST], [FIRST]]
    assert ended({FIRST: 7}, [(2, 8)], given=[(2, 8)]) == [[]] * 4  # named where it was first seen, and never again
    assert ended({FIRST: 7}, [(2, 8)], given=[(1, 8), (1, 9)]) == [[]] * 4  # which of both?
    assert ended({FIRST: 7}, [(2, 7), (3, 8)], given=[(1, 8)]) == [[], [FIRST], [FIRST], [FIRST]]


def test_two_buffers_do_not_share_a_new_name():
    assert ended({FIRST: 7, SECOND: 6}, [(2, 8)], given=[(1, 8)], keys=(FIRST, SECOND))[1] == [FIRST]
