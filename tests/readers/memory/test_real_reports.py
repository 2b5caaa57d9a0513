"""Reports that TTNN wrote: the reader tells what plain sqlite3 tells, and as many operations as TTNN's graphs have."""

import sqlite3
from contextlib import closing

import pytest

from tests.real.stored_truth import folder_of, report_names, truth_of
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.stream import read_snapshots


def plain(name, sql):
    uri = f"{(folder_of(name) / 'db.sqlite').as_uri()}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        return [tuple(-1 if cell is None else cell for cell in row) for row in connection.execute(sql)]


def rows_of(*columns):
    return [*zip(*(column.tolist() for column in columns), strict=True)]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", report_names())
async def test_every_table_is_told_as_it_is(name):
    report = await read_memory_report(folder_of(name))
    ops, tensors = report.operations, report.tensors
    told = [*zip(ops.ids.tolist(), ops.names, strict=True)]
    assert told == plain(name, "SELECT operation_id, name FROM operations ORDER BY 1")
    assert len(told) == truth_of(name)["operations"]
    columns = "tensor_id, device_id, address"
    placed = rows_of(tensors.ids, tensors.devices, tensors.addresses)
    assert placed == plain(name, f"SELECT {columns} FROM tensors ORDER BY 1")
    for links, table in ((report.inputs, "input"), (report.outputs, "output")):
        assert rows_of(links.operations, links.tensors) == plain(
            name, f"SELECT operation_id, tensor_id FROM {table}_tensors ORDER BY 1, {table}_index"
        )
    devices = [
        (one.id, one.l1_banks, one.l1_bank_bytes, one.first_cb_address, one.cb_limit_bytes)
        for one in report.devices
    ]
    columns = "device_id, l1_num_banks, l1_bank_size, address_at_first_l1_cb_buffer, cb_limit"
    assert devices == plain(name, f"SELECT {columns} FROM devices ORDER BY 1")
    assert not [caveat for caveat in report.caveats if "left out" in caveat or "devices" in caveat]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", report_names())
async def test_every_snapshot_is_told_as_it_is(name):
    report = await read_memory_report(folder_of(name))
    rows = await read_snapshots(report)
    told = sorted(rows_of(rows.operations, rows.devices, rows.addresses, rows.bytes_per_bank, rows.buffers))
    columns = "operation_id, device_id, address, max_size_per_bank, buffer_type"
    assert told == sorted(plain(name, f"SELECT {columns} FROM buffers"))
    graphs = plain(name, "SELECT operation_id, captured_graph FROM captured_graph ORDER BY 1")
    assert [(one, await report.graph_of(one)) for one, _ in graphs[:3]] == graphs[:3]
