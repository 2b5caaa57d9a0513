"""The tables of a report: each cell as plain sqlite3 tells it, and what cannot be is not measured."""

import math

from tests.for_all import for_all
from tests.readers.memory.small_reports import TABLES, made, opened
from ttnn_mcp.readers.memory import tables as memory_tables
from ttnn_mcp.readers.memory.report import read_memory_report

DAY = 86_400.0
CHUNKS = (
    "operation_id int, device_id int, address int, bank_id int, core_x int, core_y int, chunk_address int, "
    "chunk_size int, page_size int, num_pages int, buffer_type int"
)
PAGES = (
    "operation_id int, device_id int, address int, core_y int, core_x int, bank_id int, page_index int, "
    "page_address int, page_size int, buffer_type int"
)
ERRORS = "operation_id int, operation_name text, error_type text, error_message text"


def tensor(number, shape, dtype="DataType.BFLOAT16", layout="Layout.TILE"):
    return number, shape, dtype, layout, None, 0, 64, 1


async def report_of(folder, tables=TABLES, **rows):
    return await read_memory_report(made(folder, tables, **rows))


@for_all(
    ("cell", "seconds"),
    [(0.0, 0.0), (DAY, DAY), (DAY + 1, None), (-0.5, None), (None, None), ("x", None), ("0.5", 0.5)],
)
async def test_an_operation_takes_no_more_than_a_day(tmp_path, cell, seconds):
    [told] = (await report_of(tmp_path / "r", operations=[(1, "ttnn.add", cell)])).operations.duration_s.tolist()
    assert math.isnan(told) if seconds is None else told == seconds


async def test_the_first_row_of_an_id_is_it(tmp_path):
    report = await report_of(
        tmp_path / "r",
        operations=[(2, "b", 0.2), (1, "a", 0.1), (2, "c", 0.3), (3, None, None)],
        tensors=[tensor(5, "Shape([32, 32])"), tensor(5, "Shape([64, 64])")],
    )
    assert report.operations.names == ("a", "b", "")
    assert report.operations.duration_s.tolist()[:2] == [0.1, 0.2]
    assert report.tensors.get(5).shape.logical == (32, 32)


async def test_operations_without_durations_took_unknown_time(tmp_path):
    tables = {**TABLES, "operations": "operation_id int, name text"}
    report = await report_of(tmp_path / "r", tables, operations=[(1, "ttnn.add")])
    assert math.isnan(report.operations.duration_s[0])


async def test_words_of_one_meaning_share_a_code_and_what_cannot_be_read_has_none(tmp_path):
    rows = [("DataType.BFLOAT16", "Shape([32, 32])"), ("DataType::BFLOAT16", "what"), (None, None)]
    tensors = [tensor(at, shape, dtype) for at, (dtype, shape) in enumerate(rows)]
    read = (await report_of(tmp_path / "r", tensors=tensors)).tensors
    assert (read.dtypes.codes.tolist(), read.dtypes.distinct) == ([0, 0, -1], ("BFLOAT16",))
    assert (read.shapes.codes.tolist(), len(read.shapes.distinct)) == ([0, -1, -1], 1)


@for_all(
    ("shape", "dtype", "layout", "size"),
    [
        ("Shape([32, 64])", "DataType.BFLOAT16", "Layout.TILE", 4096),
        ("Shape([33, 1])", "DataType.BFLOAT16", "Layout.TILE", 4096),
        ("Shape([33, 1])", "DataType.BFLOAT16", "Layout.ROW_MAJOR", 66),
        ("Shape([32, 32])", "DataType.BFLOAT8_B", "Layout.ROW_MAJOR", None),
        ("what", "DataType.BFLOAT16", "Layout.TILE", None),
        ("Shape([32, 32])", None, "Layout.TILE", None),
        ("Shape([32, 32])", "DataType.BFLOAT16", None, None),
        (f"Shape([{2**39 - 1}])", "DataType.BFLOAT16", "Layout.ROW_MAJOR", 2**40 - 2),
        (f"Shape([{2**39}])", "DataType.BFLOAT16", "Layout.ROW_MAJOR", None),  # a terabyte: a misread
    ],
)
async def test_a_size_is_computed_where_it_is_not_written(tmp_path, shape, dtype, layout, size):
    others = [tensor(1, "Shape([32, 32])"), tensor(2, "Shape([64, 64])", "DataType.FLOAT32", "Layout.ROW_MAJOR")]
    read = await report_of(tmp_path / "r", tensors=[*others, tensor(3, shape, dtype, layout)])
    assert [read.tensors.get(at).size_bytes for at in (1, 2, 3)] == [2048, 16_384, size]


async def test_a_size_that_is_written_is_believed_where_it_can_be(tmp_path):
    tables = {**TABLES, "tensors": TABLES["tensors"] + ", size int"}
    rows = [(*tensor(at, "Shape([32, 32])"), size) for at, size in enumerate((4096, None, 2**40, 0))]
    read = await report_of(tmp_path / "r", tables, tensors=rows)
    assert read.tensors.size_bytes.tolist() == [4096, 2048, 2048, 0]


async def test_devices_come_by_id_and_say_what_they_know(tmp_path):
    tables = {**TABLES, "devices": "device_id int, num_x_compute_cores int, cb_limit int"}
    read = await report_of(tmp_path / "r", tables, devices=[(4, None, -1), (1, 8, 1_395_424)])
    told = [(one.id, one.compute_grid_x, one.compute_grid_y, one.cb_limit_bytes) for one in read.devices]
    assert told == [(1, 8, None, 1_395_424), (4, None, None, None)]


async def test_copies_and_lifetimes_are_sorted_by_tensor(tmp_path):
    tables = {
        **TABLES,
        "device_tensors": "tensor_id int, device_id int, address int",
        "tensor_lifetime": "tensor_id int, producer_operation_id int, last_use_operation_id int, deallocate_operation_id int",
    }
    rows = {
        "device_tensors": [(7, 1, 96), (7, 0, 64), (3, 0, 32)],
        "tensor_lifetime": [(7, 2, 4, None), (3, 1, 5, 6)],
    }
    read = await report_of(tmp_path / "r", tables, **rows)
    copies, lives = read.device_tensors, read.lifetimes
    assert [copies.tensors.tolist(), copies.devices.tolist()] == [[3, 7, 7], [0, 0, 1]]
    assert copies.addresses.tolist() == [32, 64, 96]
    told = (lives.tensors, lives.producers, lives.last_uses)
    assert [column.tolist() for column in told] == [[3, 7], [1, 2], [5, 4]]


async def test_without_their_tables_lifetimes_and_executions_are_none(tmp_path):
    read = await report_of(tmp_path / "a", {**TABLES, "operation_executions": "operation_id int, device_id int"})
    assert (read.lifetimes, read.executions) == (None, None)


async def chunks(folder, tables, operation=1, **rows):
    async with opened(made(folder, {**TABLES, **tables}, **rows)) as read:
        found = await memory_tables.read_chunks(read, operation)
    columns = (found.addresses, found.banks, found.chunk_addresses, found.chunk_bytes)
    columns += (found.page_bytes, found.pages, found.buffers)
    return [*zip(*(column.tolist() for column in columns), strict=True)]


async def test_pages_of_one_buffer_in_one_bank_are_one_chunk(tmp_path):
    pages = [(1, 0, 64, 0, 2, 5, at, 64 + 32 * at, 32, 1) for at in range(3)] + [(2, 0, 64, 0, 2, 5, 0, 64, 32, 1)]
    chunk = (64, 5, 64, 96, 32, 3, 1)
    assert await chunks(tmp_path / "a", {"buffer_pages": PAGES}, buffer_pages=pages) == [chunk]
    written = [(1, 0, 64, 5, 2, 0, 64, 96, 32, 3, 1)]
    both = {"buffer_pages": PAGES, "buffer_chunks": CHUNKS}
    assert await chunks(tmp_path / "b", both, buffer_chunks=written, buffer_pages=pages[:1]) == [chunk]
    assert await chunks(tmp_path / "c", {"buffer_chunks": CHUNKS}, buffer_chunks=written) == [chunk]
    assert await chunks(tmp_path / "d", {}) == []


async def test_pages_of_absurd_addresses_have_no_size(tmp_path):
    pages = [(1, 0, 64, 0, 2, 5, 0, -(2**62), 32, 1), (1, 0, 64, 0, 2, 5, 1, 2**62, 32, 1)]
    [chunk] = await chunks(tmp_path / "r", {"buffer_pages": PAGES}, buffer_pages=pages)
    assert chunk == (64, 5, -1, -1, 32, 2, 1)


async def test_an_error_keeps_the_operation_that_is_listed(tmp_path):
    rows = [(1, "ttnn.add", "RuntimeError", "no room"), (0, None, None, None), (-(2**63), "x", "y", "z")]
    read = await report_of(
        tmp_path / "r", {**TABLES, "errors": ERRORS}, operations=[(1, "ttnn.add", 0.1)], errors=rows
    )
    told = [(one.operation, one.operation_name, one.kind, one.message) for one in read.errors]
    assert told == [(1, "ttnn.add", "RuntimeError", "no room"), (None, "", "", ""), (None, "x", "y", "z")]


async def test_tables_that_hold_rows_of_this_rank_are_told(tmp_path):
    ranked = {**TABLES, **{name: f"{TABLES[name]}, rank int" for name in ("operations", "buffers")}}
    rows = {"operations": [(1, "a", 0.1, 0), (1, "b", 0.1, 1)], "buffers": [(1, 0, 64, 2048, 1, 1)]}
    first = await report_of(tmp_path / "a", ranked, **rows, input_tensors=[(1, 0, 5)])
    assert first.has == {"operations"}  # inputs do not say their rank
    assert (await read_memory_report(tmp_path / "a", rank=1)).has == {"operations", "buffers"}
