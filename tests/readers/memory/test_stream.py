"""The two large tables from end to end: the same rows as one by one, at one rank, a few megabytes at a time."""

import sqlite3
from contextlib import closing

import numpy as np
import pytest

from tests.profiles import DATABASE_GENERATIONS, DatabaseStyle, Program, write_memory_report
from tests.profiles.demo_model import demo_program
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


@pytest.mark.parametrize("generation", DATABASE_GENERATIONS)
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


async def test_a_report_without_graphs_or_snapshots_streams_nothing(tmp_path):
    report = await read_memory_report(write_memory_report(tmp_path / "memory", demo_program(), "G1"))
    assert [batch async for batch in iter_graph_batches(report)] == []
    empty = await read_memory_report(write_memory_report(tmp_path / "empty", Program()))
    assert len(await read_snapshots(empty)) == 0
