import math
import sqlite3
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.for_all import for_all
from tests.readers.memory.small_reports import TABLES, made, ranked
from ttnn_mcp.errors import QuestionRefused, ReportBroken, ReportForeign, ReportMissing
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.stream import iter_graph_batches, read_snapshots
from ttnn_mcp.readers.source_lines import SourceLine, parse_stack_trace

MEMORY = Path(__file__).parents[3] / "../shared/data/memory"
GENERATIONS = {"g2025": "G4 (2025)", "v2": "2", "v2_1": "2.1", "v3_3": "3.3"}


def rows_of(generation, sql):
    connection = sqlite3.connect(f"file:{MEMORY / generation / 'db.sqlite'}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


@pytest.fixture(params=GENERATIONS)
def generation(request):
    if not MEMORY.is_dir():
        pytest.skip("the made databases are not here")
    return request.param


@pytest.fixture
async def report(generation):
    return await read_memory_report(MEMORY / generation)


def test_the_generation_is_told(report, generation):
    assert report.generation == GENERATIONS[generation]
    assert (report.arch, report.boards, report.report_name) == ("wormhole_b0", ("n150",), "resnetish")
    assert (report.ranks, report.rank, report.caveats) == ((0,), 0, ())


def test_the_device_is_described_in_full(report):
    [device] = report.devices
    assert (device.compute_grid_x, device.compute_grid_y, device.compute_cores) == (8, 8, 64)
    assert (device.worker_l1_bytes, device.l1_banks, device.l1_bank_bytes) == (1499136, 64, 1370848)
    assert (device.first_cb_address, device.cb_limit_bytes, device.l1_small_bytes) == (103712, 1395424, 24576)


def test_operations_are_those_of_the_table(report, generation):
    expected = rows_of(generation, "SELECT operation_id, name, duration FROM operations ORDER BY 1")
    assert [
        *zip(report.operations.ids, report.operations.names, report.operations.duration_s, strict=True)
    ] == expected
    assert report.operations.row(expected[3][0]) == 3
    assert report.operations.row(10**6) is None


def test_tensors_are_those_of_the_table(report, generation):
    expected = rows_of(
        generation, "SELECT tensor_id, dtype, device_id, address, memory_config FROM tensors ORDER BY 1"
    )
    assert len(report.tensors) == len(expected)
    for tensor_id, dtype, device, address, config in expected:
        tensor = report.tensors.get(tensor_id)
        assert (f"DataType.{tensor.dtype}", tensor.device, tensor.address) == (dtype, device, address)
        assert (tensor.placement is None) == (config is None)
        assert (tensor.buffer is None) == (address is None)


async def test_the_same_tensors_and_shardings_come_out_of_every_generation(report):
    newest = await read_memory_report(MEMORY / "v3_3")
    for tensor_id in report.tensors.ids:
        one, other = report.tensors.get(tensor_id), newest.tensors.get(tensor_id)
        assert one == other
        assert one.size_bytes > 0
    sharded = [report.tensors.get(tensor_id).placement for tensor_id in report.tensors.ids]
    assert "L1 HEIGHT_SHARDED 64x64 on 49 cores" in map(str, sharded)


def test_inputs_and_outputs_are_those_of_the_tables(report, generation):
    for links, table in ((report.inputs, "input"), (report.outputs, "output")):
        expected = rows_of(
            generation, f"SELECT operation_id, tensor_id FROM {table}_tensors ORDER BY 1, {table}_index"
        )
        assert [*zip(links.operations, links.tensors, strict=True)] == expected
        for operation in {row[0] for row in expected}:
            assert links.of(operation) == tuple(row[1] for row in expected if row[0] == operation)
        assert links.of(10**6) == ()


async def test_snapshots_are_the_rows_of_the_buffers_table(report, generation):
    sql = "SELECT operation_id, device_id, address, max_size_per_bank, buffer_type FROM buffers"
    rows = await read_snapshots(report)
    columns = (rows.operations, rows.devices, rows.addresses, rows.bytes_per_bank, rows.buffers)
    assert sorted(zip(*(column.tolist() for column in columns), strict=True)) == sorted(rows_of(generation, sql))


async def test_pages_and_chunks_say_the_same(report):
    newest = await read_memory_report(MEMORY / "v3_3")
    relu = report.operations.ids[report.operations.names.index("ttnn.relu")]
    mine, theirs = await report.chunks_of(relu), await newest.chunks_of(6)
    assert len(mine) == 147
    for name in (
        "addresses",
        "banks",
        "chunk_addresses",
        "chunk_bytes",
        "page_bytes",
        "pages",
        "buffers",
    ):
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name


def test_lifetimes_are_there_from_3_on(report, generation):
    if generation != "v3_3":
        assert report.lifetimes is None
        return
    row = int(np.flatnonzero(report.lifetimes.tensors == 9)[0])
    assert (report.lifetimes.producers[row], report.lifetimes.last_uses[row]) == (3, 9)
    assert report.lifetimes.producers[0] == -1


def test_errors_keep_the_operation_only_where_it_is_one(report, generation):
    [error] = report.errors
    if generation == "g2025":
        assert (error.operation, error.operation_name, error.kind) == (24, "ttnn.from_device", "RuntimeError")
    else:
        assert (error.operation, error.operation_name, error.kind) == (None, "ttnn.conv2d", "incomplete_operation")


async def test_arguments_and_source_lines_are_read_when_asked_for(report, generation):
    operation = 6 if generation == "g2025" else 5
    assert report.operations.names[report.operations.row(operation)] == "ttnn.conv2d"
    expected = rows_of(generation, f"SELECT name, value FROM operation_arguments WHERE operation_id = {operation}")
    assert [(argument.name, argument.value) for argument in await report.arguments_of(operation)] == expected
    source = await report.source_of(operation)
    assert source.file.endswith("ttnn_resnetish.py")
    assert source.text == ("x = ttnn.conv2d(x)" if generation in {"g2025", "v2"} else f"# line {source.line}")
    sources = await report.sources()
    assert len(sources) == len(report.operations)
    assert str(sources[operation]) == str(source)
    assert await report.source_of(10**6) is None
    assert await report.arguments_of(10**6) == ()


async def test_captured_graphs_stream_in_operation_order(report, generation):
    expected = rows_of(generation, "SELECT operation_id, captured_graph FROM captured_graph ORDER BY operation_id")
    assert [pair async for batch in iter_graph_batches(report) for pair in batch] == expected
    assert await report.graph_of(expected[4][0]) == expected[4][1]
    assert await report.graph_of(10**6) is None


@for_all(("name", "generation"), [("empty_aa85cd0c", "G1 (2024)"), ("empty_ed83773b", "G2 (2024)")])
async def test_the_real_schemas_of_2024_are_read(name, generation):
    path = MEMORY / f"{name}.sqlite"
    if not path.is_file():
        pytest.skip("the real schemas are not here")
    report = await read_memory_report(path)
    assert report.generation == generation
    assert len(report.operations) == len(report.tensors) == len(await read_snapshots(report)) == 0
    assert [batch async for batch in iter_graph_batches(report)] == []
    assert report.has == frozenset()
    assert report.lifetimes is report.executions is None
    assert len(await report.chunks_of(1)) == 0


async def test_2024_shapes_and_missing_columns_are_read(tmp_path):
    config = "MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::L1,shard_spec=std::nullopt)"
    folder = made(
        tmp_path / "r",
        operations=[(2, "ttnn.add", None), (1, "ttnn.to_device", 0.5)],
        tensors=[(3, "ttnn.Shape([1, 19[32], 64])", "DataType::BFLOAT16", "Layout::TILE", config, 0, 64, 1)],
        buffers=[(1, 0, 64, 2048, 1)],
    )
    report = await read_memory_report(folder / "db.sqlite")
    assert report.operations.names == ("ttnn.to_device", "ttnn.add")
    assert math.isnan(report.operations.duration_s[1])
    tensor = report.tensors.get(3)
    assert (tensor.shape.padded, tensor.dtype, tensor.layout) == ((1, 32, 64), "BFLOAT16", "TILE")
    assert (tensor.size_bytes, str(tensor.placement)) == (4096, "L1 INTERLEAVED")
    assert report.has == {"operations", "tensors", "buffers"}
    assert (report.arch, report.report_name, report.devices) == (None, None, ())


async def test_buffer_types_may_be_names_and_sizes_may_be_written(tmp_path):
    folder = made(
        tmp_path / "r",
        {**TABLES, "tensors": TABLES["tensors"] + ", size int"},
        operations=[(1, "ttnn.add", 0.1)],
        tensors=[
            (1, "Shape([32, 32])", "DataType.BFLOAT16", "Layout.TILE", None, 0, 64, "L1_SMALL", 4096),
            (2, "Shape([32, 32])", "DataType.BFLOAT16", "Layout.TILE", None, 0, 64, "BufferType.DRAM", None),
            (3, "what", "DataType.BFLOAT16", "Layout.TILE", None, 0, 64, "L9", None),
        ],
        buffers=[(1, 0, 64, 2048, "BufferType::L1"), (1, 0, 99, 2048, 3)],
    )
    report = await read_memory_report(folder)
    tensors = [report.tensors.get(tensor) for tensor in (1, 2, 3)]
    assert [tensor.buffer for tensor in tensors] == ["L1_SMALL", "DRAM", None]
    assert [tensor.size_bytes for tensor in tensors] == [4096, 2048, None]
    assert (await read_snapshots(report)).buffers.tolist() == [1, 3]


async def test_the_buffer_type_of_a_tensor_without_address_is_not_believed(tmp_path):
    tensor = (1, "Shape([32, 32])", "DataType.BFLOAT16", "Layout.TILE", None, None, None, 0)
    report = await read_memory_report(made(tmp_path / "r", operations=[(1, "ttnn.add", 0.1)], tensors=[tensor]))
    assert report.tensors.get(1).buffer is None
    assert report.tensors.get(1).address is None


async def test_the_exact_link_is_read_where_the_report_has_it(tmp_path):
    executions = "operation_id int, device_id int, global_call_count int, runtime_id int, later_column text"
    folder = made(
        tmp_path / "r",
        {**TABLES, "operation_executions": executions, "table_of_tomorrow": "x"},
        operations=[(1, "ttnn.add", 0.1)],
        operation_executions=[(1, 1, 1025, 1, "x"), (1, 0, 1024, 1, "x")],
    )
    report = await read_memory_report(folder)
    assert report.executions.call_counts.tolist() == [1024, 1025]
    assert report.executions.chips.tolist() == [-1, -1]
    assert report.chips == ()


async def test_one_rank_is_read_and_never_mixed(tmp_path):
    folder = made(
        tmp_path / "r",
        ranked("operations", "tensors", "input_tensors", "output_tensors", "buffers"),
        operations=[(1, "ttnn.zero", 0.1, 0), (1, "ttnn.one", 0.2, 1), (2, "ttnn.more", 0.3, 1)],
        tensors=[(1, "Shape([32, 32])", None, None, None, None, None, None, rank) for rank in (0, 1)],
        buffers=[(1, 0, 64, 100, 1, 0), (1, 0, 64, 200, 1, 1)],
    )
    first, second = await read_memory_report(folder), await read_memory_report(folder, rank=1)
    assert (first.ranks, first.rank, second.rank) == ((0, 1), 0, 1)
    assert first.operations.names == ("ttnn.zero",)
    assert second.operations.names == ("ttnn.one", "ttnn.more")
    assert (await read_snapshots(first)).bytes_per_bank.tolist() == [100]
    assert (await read_snapshots(second)).bytes_per_bank.tolist() == [200]
    assert first.caveats == ("ranks 0, 1 are in the report; this is rank 0 alone",)
    with pytest.raises(QuestionRefused, match="no rank 7; there is rank 0, 1"):
        await read_memory_report(folder, rank=7)


async def test_the_only_rank_present_is_read_without_being_named(tmp_path):
    folder = made(
        tmp_path / "r", ranked("operations"), operations=[(1, "ttnn.add", 0.1, 3)], buffers=[(1, 0, 64, 100, 1)]
    )
    report = await read_memory_report(folder)
    assert report.rank == 3
    assert len(await read_snapshots(report)) == 1


async def test_a_table_that_cannot_tell_its_ranks_is_left_out(tmp_path):
    folder = made(
        tmp_path / "r",
        ranked("operations", "tensors", "input_tensors", "output_tensors"),
        operations=[(1, "ttnn.zero", 0.1, 0), (1, "ttnn.one", 0.2, 1)],
        buffers=[(1, 0, 64, 100, 1), (1, 0, 64, 200, 1)],
    )
    report = await read_memory_report(folder)
    assert len(await read_snapshots(report)) == 0
    assert "buffers" not in report.has
    assert report.caveats[1] == "left out, because their rows do not say their rank: buffers"


async def test_a_newer_schema_is_read_with_a_caveat(tmp_path):
    folder = made(
        tmp_path / "r",
        {**TABLES, "report_metadata": "key text UNIQUE, value text"},
        operations=[(1, "ttnn.add", 0.1)],
        report_metadata=[("schema_version", "3.12"), ("version", "0.99.0"), ("git_sha_short", "abc")],
    )
    report = await read_memory_report(folder)
    assert (report.generation, report.schema_version) == ("3.12", "3.12")
    assert report.build == "0.99.0 (abc)"
    assert "newer than 3.5" in report.caveats[0]


async def test_the_first_importer_named_its_error_column_otherwise(tmp_path):
    columns = "operation_id int, error_type text, error_message text, error_operation text"
    folder = made(
        tmp_path / "r",
        {
            **TABLES,
            "errors": columns,
            "report_metadata": "key text, value text",
            "captured_graph": "operation_id int, captured_graph text",
        },
        operations=[(1, "ttnn.add", 0.1)],
        errors=[(0, "incomplete_operation", "it crashed", "ttnn.matmul")],
    )
    report = await read_memory_report(folder)
    assert (report.errors[0].operation_name, report.errors[0].message) == ("ttnn.matmul", "it crashed")


async def test_a_report_of_early_2024_is_refused_politely(tmp_path):
    tables = {
        "operations": "operation_id int, matches_golden bool",
        "input_tensors": "operation_id int, device_id int, address int",
    }
    with pytest.raises(ReportForeign, match=r"early 2024.*Run the model again"):
        await read_memory_report(made(tmp_path / "r", tables))


async def test_a_database_of_something_else_is_refused(tmp_path):
    with pytest.raises(
        ReportForeign, match="no TTNN memory report: it has no table operations and no table tensors"
    ):
        await read_memory_report(made(tmp_path / "r", {"bookmarks": "url text"}))


async def test_a_view_is_no_table(tmp_path):
    folder = made(tmp_path / "r", {"things": "operation_id int, name text, duration float"})
    connection = sqlite3.connect(folder / "db.sqlite")
    connection.execute("CREATE VIEW operations AS SELECT * FROM things")
    connection.execute("CREATE VIEW tensors AS SELECT randomblob(1000000000) FROM things")
    connection.close()
    with pytest.raises(ReportForeign):
        await read_memory_report(folder)


async def test_a_folder_without_a_database_is_refused(tmp_path):
    with pytest.raises(ReportMissing, match=r"holds no db\.sqlite"):
        await read_memory_report(tmp_path)


async def test_odd_values_in_a_database_do_not_break_the_reader(tmp_path):
    odd = [None, "text", b"\xff\x00", 1e300, -5, 2**62]
    folder = made(
        tmp_path / "r",
        {**TABLES, "devices": "device_id int, cb_limit int"},
        operations=[(value, value, value) for value in odd],
        tensors=[(value,) * 8 for value in odd],
        input_tensors=[(value,) * 3 for value in odd],
        buffers=[(value,) * 5 for value in odd],
        devices=[(value,) * 2 for value in odd],
    )
    for name, text in {"config.json": "[" * 50_000, "cluster_descriptor.yaml": "arch:\n  0: \x00\n  what"}.items():
        (folder / name).write_text(text)
    report = await read_memory_report(folder)
    assert len(await read_snapshots(report)) == len(odd)
    assert (report.arch, report.boards, report.report_name) == (None, (), None)


async def test_a_database_damaged_behind_its_header_is_refused_not_a_crash(tmp_path):
    folder = made(tmp_path / "r", operations=[(at, "ttnn.add" * 40, 0.1) for at in range(200)])
    whole = (folder / "db.sqlite").read_bytes()
    for start in range(100, len(whole), 3000):
        (folder / "db.sqlite").write_bytes(whole[:start] + b"\x5a" * 600 + whole[start + 600 :])
        with suppress(ReportBroken, ReportForeign):
            await read_memory_report(folder)


async def test_the_descriptor_of_a_rank_and_of_mixed_chips_is_understood(tmp_path):
    folder = made(tmp_path / "r", ranked("operations"), operations=[(1, "ttnn.add", 0.1, 1)])
    (folder / "cluster_descriptor_2_of_2.yaml").write_text(
        "arch: {\n   0: Blackhole,\n   1: Blackhole,\n}\nchip_to_boardtype:\n  0: p150b\n  1: p150b\n"
    )
    (folder / "cluster_descriptor.yaml").write_text("arch:\n  0: wormhole_b0\n  1: blackhole\n")
    report = await read_memory_report(folder)
    assert (report.arch, report.boards) == ("blackhole", ("p150b",))
    (folder / "cluster_descriptor_2_of_2.yaml").unlink()
    assert (await read_memory_report(folder)).arch is None


def test_the_innermost_python_frame_is_the_model_line():
    trace = '  File "/m/model.py", line 20, in forward\n    x = ttnn.add(a, b)\n  File "/m/demo.py", line 8, in run\n    model(x)\n'
    assert parse_stack_trace(trace) == SourceLine("/m/model.py", 20, "forward", "x = ttnn.add(a, b)")
    assert parse_stack_trace('File "a.py", line 3') == SourceLine("a.py", 3)
    assert parse_stack_trace(" --- tt::tt_metal::operation::run(...)\n --- main\n") is None
    assert parse_stack_trace("") is None
