"""What a database holds is found by looking: its generation, its ranks, and what is no memory report."""

import sqlite3

import pytest

from tests.for_all import for_all
from tests.readers.memory.small_reports import TABLES, made, opened, ranked
from ttnn_mcp.errors import QuestionRefused, ReportForeign

METADATA = "key text, value text"
GRAPHS = "operation_id int, captured_graph text"
NEWER_BUFFERS = f"{TABLES['buffers']}, buffer_layout int"
MINIMAL = {name: TABLES[name] for name in ("operations", "tensors")}


async def schema_of(folder, tables=TABLES, rank=None, **rows):
    async with opened(made(folder, tables, **rows), rank) as read:
        return read.schema


@for_all(
    ("more", "generation"),
    [
        ({}, "G1 (2024)"),
        ({"report_metadata": METADATA}, "G1 (2024)"),
        ({"captured_graph": GRAPHS}, "G2 (2024)"),
        ({"captured_graph": GRAPHS, "device_tensors": "tensor_id int"}, "G3 (2025)"),
        ({"captured_graph": GRAPHS, "device_tensors": "tensor_id int", "buffers": NEWER_BUFFERS}, "G4 (2025)"),
        (
            {
                "captured_graph": GRAPHS,
                "device_tensors": "tensor_id int",
                "buffers": NEWER_BUFFERS,
                "report_metadata": METADATA,
            },
            "G5a (2026)",
        ),
    ],
)
async def test_tables_give_the_generation_away(tmp_path, more, generation):
    schema = await schema_of(tmp_path / "r", {**TABLES, **more})
    assert (schema.generation, schema.version, schema.caveats) == (generation, None, ())


@for_all(("version", "newer"), [("3.5", False), ("3.6", True), ("3.10", True), ("2.1", False)])
async def test_the_version_that_its_writer_gave_comes_first(tmp_path, version, newer):
    tables = {**TABLES, "report_metadata": METADATA}
    pairs = [("schema_version", version), (None, "x"), ("y", None)]
    schema = await schema_of(tmp_path / "r", tables, report_metadata=pairs)
    assert schema.metadata == {"schema_version": version}
    assert schema.generation == schema.version == version
    assert len(schema.caveats) == newer


async def test_metadata_of_other_columns_are_not_read(tmp_path):
    schema = await schema_of(tmp_path / "r", {**TABLES, "report_metadata": "name text"}, report_metadata=[("x",)])
    assert schema.metadata == {}


async def test_a_table_or_column_is_there_or_not(tmp_path):
    schema = await schema_of(tmp_path / "r", {**TABLES, "Stack_Traces": "Operation_ID int", "mine": "x"})
    assert schema.has("operations")
    assert schema.has("operations", "duration")
    assert schema.has("stack_traces", "operation_id")
    assert not schema.has("operations", "rank")
    assert not schema.has("captured_graph")
    assert not schema.has("captured_graph", "captured_graph")
    assert "mine" not in schema.columns


async def test_one_of_two_ranks_is_read(tmp_path):
    rows = {"operations": [(1, "a", 0.1, 0), (1, "b", 0.1, 2)]}
    schema = await schema_of(tmp_path / "r", {**ranked("operations"), "report_metadata": METADATA}, rank=2, **rows)
    assert (schema.ranks, schema.rank) == ((0, 2), 2)
    assert (schema.where("operations"), schema.where("report_metadata")) == ("rank = 2", "1")
    assert schema.refused == {"tensors", "input_tensors", "output_tensors", "buffers"}
    assert not schema.has("tensors")
    assert schema.caveats == (
        "ranks 0, 2 are in the report; this is rank 2 alone",
        "left out, because their rows do not say their rank: buffers, input_tensors, output_tensors, tensors",
    )


async def test_of_one_rank_nothing_is_told_apart(tmp_path):
    tables = {**TABLES, "operations": f"{TABLES['operations']}, rank int"}
    schema = await schema_of(tmp_path / "r", tables, operations=[(1, "a", 0.1, 3), (2, "b", 0.1, None)])
    assert (schema.ranks, schema.rank, schema.where("operations")) == ((3,), 3, "1")
    assert (schema.refused, schema.caveats) == (frozenset(), ())


async def test_ranks_are_asked_of_the_quick_tables_and_else_of_any(tmp_path):
    graphs = {"captured_graph": f"{GRAPHS}, rank int"}
    rows = {"operations": [(1, "a", 0.1, 1)], "captured_graph": [(1, "[]", 0)]}
    assert (await schema_of(tmp_path / "a", {**ranked("operations"), **graphs}, **rows)).ranks == (1,)
    only = {"captured_graph": [(1, "[]", 4)]}
    assert (await schema_of(tmp_path / "b", {**TABLES, **graphs}, **only)).ranks == (4,)
    assert (await schema_of(tmp_path / "c")).ranks == (0,)


async def test_the_lowest_rank_is_read_where_there_is_no_first(tmp_path):
    rows = {"operations": [(1, "a", 0.1, 5), (1, "b", 0.1, 4)]}
    assert (await schema_of(tmp_path / "r", ranked("operations"), **rows)).rank == 4


async def test_a_rank_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(QuestionRefused, match="no rank 1; there is rank 0"):
        await schema_of(tmp_path / "r", rank=1)


@for_all("name", ["operations", "tensors"])
async def test_without_operations_or_tensors_it_is_no_report(tmp_path, name):
    tables = {other: columns for other, columns in TABLES.items() if other != name}
    with pytest.raises(ReportForeign, match=f"no TTNN memory report: it has no table {name}\\."):
        await schema_of(tmp_path / "r", tables)


async def test_early_2024_is_known_by_addresses_of_inputs(tmp_path):
    inputs = {"input_tensors": f"{TABLES['input_tensors']}, address int"}
    with pytest.raises(ReportForeign, match="early 2024"):
        await schema_of(tmp_path / "a", {"operations": TABLES["operations"], **inputs})
    assert (await schema_of(tmp_path / "b", {**MINIMAL, **inputs})).generation == "G1 (2024)"


async def test_a_view_and_a_virtual_table_are_no_tables(tmp_path):
    folder = made(tmp_path / "r", MINIMAL)
    connection = sqlite3.connect(folder / "db.sqlite")
    connection.execute("CREATE VIEW buffers AS SELECT * FROM operations")
    connection.close()
    async with opened(folder) as rows:
        assert rows.schema.columns.keys() == MINIMAL.keys()
