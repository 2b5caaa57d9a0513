"""The two large tables from end to end: the same rows as one by one, at one rank, a few megabytes at a time."""

import numpy as np
import pytest

from tests.profiles import DATABASE_GENERATIONS, DatabaseStyle, Program, write_memory_report
from tests.profiles.demo_model import demo_program
from ttnn_mcp.readers.memory import stream as memory_stream
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.stream import iter_graph_batches, read_snapshots


async def both(path, rank=None):
    report = await read_memory_report(path, rank=rank)
    rows, table = await read_snapshots(report), await report.buffers()
    order = np.lexsort((rows.addresses, rows.devices, rows.operations))
    streamed = (rows.operations, rows.devices, rows.addresses, rows.bytes_per_bank, rows.buffers)
    told = (table.operations, table.devices, table.addresses, table.bytes_per_bank, table.buffers)
    return [column[order].tolist() for column in streamed], [column.tolist() for column in told]


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
    singly = [pair async for pair in report.iter_graphs()]
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
