"""The two large tables from end to end: the same rows as one by one, at one rank, a few megabytes at a time."""

import sqlite3
from contextlib import closing

import numpy as np

from tests.for_all import for_all
from tests.profiles import DATABASE_GENERATIONS, DatabaseStyle, Program, write_memory_report
from tests.profiles.demo_model import demo_program
from tests.readers.memory.small_reports import TABLES, made
from ttnn_mcp.readers.memory import stream as memory_stream
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.stream import iter_graph_batches, read_snapshots


async def both(path, rank=None):
    report = await read_memory_report(path, rank=rank)
    rows = await read_snapshots(report)
    streamed = (rows.operations, rows.devices, rows.addresses, rows.bytes_per_bank)
    columns = "operation_id, device_id, address, max_size_per_bank"
    only = "WHERE rank = ?" if rank is not None else "WHERE 1 OR ?"
    with closing(sqlite3.connect(path)) as connection:
        told = connection.execute(f"SELECT {columns} FROM buffers {only}", [rank]).fetchall()
    order = np.lexsort(tuple(reversed(streamed)))
    return [column[order].tolist() for column in streamed], [
        list(column) for column in zip(*sorted(told), strict=True)
    ]


@for_all("generation", DATABASE_GENERATIONS, sampled=4)
async def test_the_streamed_snapshots_are_the_buffers_table(tmp_path, generation):
    path = write_memory_report(tmp_path / "memory", demo_program(), generation)
    streamed, told = await both(path)
    assert streamed == told
    assert len(streamed[0]) > 900


async def test_named_buffer_types_and_many_devices_are_streamed_alike(tmp_path):
    program = Program(devices=3)
    x = program.tensor([1, 1, 64, 64])
    program.op("UnaryDeviceOperation", [x])
    path = write_memory_report(tmp_path / "memory", program, "G4", DatabaseStyle(text_buffer_types=True))
    streamed, told = await both(path)
    assert streamed == told
    assert set(streamed[1]) == {0, 1, 2}


async def test_only_one_rank_is_streamed(tmp_path):
    other = Program()
    y = other.tensor([1, 1, 32, 32])
    other.op("UnaryDeviceOperation", [y])
    path = write_memory_report(tmp_path / "memory", demo_program(), other_ranks=[other])
    streamed, told = await both(path, rank=1)
    assert streamed == told
    assert set(streamed[0]) == {1}


async def test_graphs_come_in_order_however_few_are_read_at_a_time(tmp_path, monkeypatch):
    report = await read_memory_report(write_memory_report(tmp_path / "memory", demo_program()))
    operations = report.operations.ids.tolist()
    singly = [(one, text) for one in operations if (text := await report.graph_of(one))]
    for text in (1, 20_000, 4_000_000):
        monkeypatch.setattr(memory_stream, "_TEXT", text)
        batches = [batch async for batch in iter_graph_batches(report)]
        assert [pair for batch in batches for pair in batch] == singly
        assert len(batches) > 1
    monkeypatch.setattr(memory_stream, "_TEXT", 1)
    batches = [batch async for batch in iter_graph_batches(report)]
    assert {len(batch) for batch in batches[1:]} == {1}  # a graph may be large: then it comes alone


async def test_the_first_megabytes_say_how_many_graphs_come_next(tmp_path):
    """32 graphs first, then as many as have 4,000,000 characters by those, at most four times as many."""
    tables = {**TABLES, "captured_graph": "operation_id int, captured_graph text"}
    for name, characters, sizes in (("a", 50_000, [32, 80, 8]), ("b", 100, [32, 88])):
        graphs = [(at, "x" * characters) for at in range(120)]
        report = await read_memory_report(made(tmp_path / name, tables, captured_graph=graphs))
        assert [len(batch) async for batch in iter_graph_batches(report)] == sizes


async def test_a_graph_without_text_is_passed_over(tmp_path):
    tables = {**TABLES, "captured_graph": "operation_id int, captured_graph text"}
    graphs = [(3, None), (2, ""), (1, "[]"), (-(2**63), "[1]")]
    report = await read_memory_report(made(tmp_path / "a", tables, captured_graph=graphs))
    assert [batch async for batch in iter_graph_batches(report)] == [[(-1, "[1]"), (1, "[]")]]
    other = {**TABLES, "captured_graph": "operation_id int"}
    report = await read_memory_report(made(tmp_path / "b", other, captured_graph=[(1,)]))
    assert [batch async for batch in iter_graph_batches(report)] == []


async def test_snapshot_rows_are_packed_and_unpacked_to_the_last_bit(tmp_path, monkeypatch):
    row = (2**40 - 1, 4094, 2**40 - 1, 2**40 - 1, 4)
    folder = made(tmp_path / "r", buffers=[row, (0, 0, 0, 0, 0), (None,) * 5, *[(1, 2, 3, 4, 1)] * 15_998])
    parts, unpacked = [], memory_stream._unpacked
    monkeypatch.setattr(memory_stream, "_unpacked", lambda each: parts.extend(each) or unpacked(each))
    read = await read_snapshots(await read_memory_report(folder))
    columns = (read.operations, read.devices, read.addresses, read.bytes_per_bank, read.buffers)
    told = [*zip(*(column.tolist() for column in columns), strict=True)]
    assert told == [row, (0,) * 5, (-1,) * 5, *[(1, 2, 3, 4, 1)] * 15_998]
    assert [len(part) // 3 for part in parts] == [0, 16_000, 1]


async def test_without_a_table_of_buffers_nothing_was_live(tmp_path):
    tables = {name: TABLES[name] for name in ("operations", "tensors")}
    assert len(await read_snapshots(await read_memory_report(made(tmp_path / "r", tables)))) == 0


async def test_a_report_without_graphs_or_snapshots_streams_nothing(tmp_path):
    report = await read_memory_report(write_memory_report(tmp_path / "memory", demo_program(), "G1"))
    assert [batch async for batch in iter_graph_batches(report)] == []
    empty = await read_memory_report(write_memory_report(tmp_path / "empty", Program()))
    assert len(await read_snapshots(empty)) == 0
