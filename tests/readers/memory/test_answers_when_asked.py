"""What a report is asked for later: arguments, source lines, graphs, and which TTNN wrote it."""

import pytest

from tests.for_all import for_all
from tests.readers.memory.small_reports import TABLES, made
from ttnn_mcp.errors import ReportBroken, ReportMissing
from ttnn_mcp.readers.memory import report as memory_report
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.stream import iter_graph_batches, read_snapshots

LATER = {
    **TABLES,
    "operation_arguments": "operation_id int, name text, value text",
    "stack_traces": "operation_id int, stack_trace text, source_file_id int",
    "source_files": "id int, contents text",
    "captured_graph": "operation_id int, captured_graph text",
    "report_metadata": "key text, value text",
}


def trace(line):
    return f'File "/m/model.py", line {line}, in forward\n    y = ttnn.add(x)\n'


async def report_of(folder, tables=LATER, **rows):
    return await read_memory_report(made(folder, tables, **rows))


async def test_arguments_are_cut_and_those_of_programs_are_kept(tmp_path):
    arguments = [
        (1, "0", "x" * 2001),
        (1, None, None),
        (1, "config", "c" * 2001),
        (1, "core_grid", ""),
        (2, "x", "y"),
    ]
    report = await report_of(tmp_path / "r", operation_arguments=arguments)
    told = [(one.name, len(one.value)) for one in await report.arguments_of(1)]
    assert told == [("0", 2000), ("", 0), ("config", 2000), ("core_grid", 0)]
    assert await report.program_arguments() == {1: {"config": "c" * 2000}}


async def test_the_first_trace_with_a_line_is_the_source(tmp_path, monkeypatch):
    parsed, parse = [], memory_report.parse_stack_trace
    monkeypatch.setattr(memory_report, "parse_stack_trace", lambda text: parsed.append(text) or parse(text))
    traces = [
        (1, "native", None),
        (1, trace(2), 7),
        (1, trace(3), 7),
        (2, trace(2), None),
        (3, None, 7),
        (4, "x", 7),
    ]
    report = await report_of(
        tmp_path / "r", stack_traces=traces, source_files=[(7, "a\n  b = 1\n"), (-1, "c\nd\n")]
    )
    assert {operation: line.line for operation, line in (await report.sources()).items()} == {1: 2, 2: 2}
    assert len(parsed) == len({text for _, text, _ in traces})  # each text once
    assert ((await report.source_of(1)).text, await report.source_of(4)) == ("b = 1", None)


@for_all(("files", "text"), [([], "y = ttnn.add(x)"), ([(7, None)], "y = ttnn.add(x)"), ([(7, "z")], "z")])
async def test_the_text_of_a_line_is_that_of_the_file_if_it_is_there(tmp_path, files, text):
    report = await report_of(tmp_path / "r", stack_traces=[(1, trace(1), 7)], source_files=files)
    assert (await report.source_of(1)).text == text


async def test_files_without_contents_tell_no_text(tmp_path):
    report = await report_of(tmp_path / "r", {**LATER, "source_files": "id int"}, stack_traces=[(1, trace(1), 7)])
    assert (await report.source_of(1)).text == "y = ttnn.add(x)"


async def test_a_trace_is_read_to_its_innermost_lines(tmp_path):
    text = trace(7)
    frame = text.index(",", text.index("line"))  # up to here it is a frame with a line
    within = [(1, " " * (4000 - frame) + text, None), (2, " " * (4001 - frame) + text, None)]
    report = await report_of(tmp_path / "r", stack_traces=within)
    assert (await report.source_of(1)).line == 7
    assert await report.source_of(2) is None


async def test_a_graph_is_that_of_its_operation(tmp_path):
    report = await report_of(tmp_path / "r", captured_graph=[(1, "[]"), (2, ""), (3, None)])
    assert [await report.graph_of(one) for one in (1, 2, 3, 4)] == ["[]", None, None, None]
    other = await report_of(tmp_path / "s", {**TABLES, "captured_graph": "operation_id int"}, captured_graph=[(1,)])
    assert await other.graph_of(1) is None


@for_all(
    ("pairs", "build"),
    [
        ([("version", "0.81.1"), ("git_sha_short", "d80d948")], "0.81.1 (d80d948)"),
        ([("version", "0.81.1")], "0.81.1"),
        ([("git_sha_short", "d80d948")], "d80d948"),
        ([], None),
    ],
)
async def test_the_build_is_told_as_far_as_it_is_known(tmp_path, pairs, build):
    assert (await report_of(tmp_path / "r", report_metadata=pairs)).build == build


async def test_a_report_is_its_folder_or_its_database(tmp_path):
    folder = made(tmp_path / "r")
    for path in (folder, folder / "db.sqlite", str(folder)):
        assert (await read_memory_report(path)).path == folder / "db.sqlite"
    with pytest.raises(ReportMissing, match=r"holds no db\.sqlite; give the folder"):
        await read_memory_report(tmp_path)
    with pytest.raises(ReportMissing, match="There is no database file"):
        await read_memory_report(tmp_path / "no.sqlite")


@for_all("tables", [LATER, {"operations": "other int"}, None])
async def test_what_is_asked_once_the_report_changed_is_refused(tmp_path, tables):
    """Another run wrote it anew, as it was or otherwise, or removed it: its rows belong to none of what was read."""
    report = await report_of(tmp_path / "r", captured_graph=[(1, "[]")])
    assert await report.graph_of(1) == "[]"
    if tables:
        (made(tmp_path / "s", tables) / "db.sqlite").replace(report.path)
    else:
        report.path.unlink()
    questions = [lambda: report.graph_of(1), report.sources, lambda: read_snapshots(report)]
    for question in (*questions, lambda: anext(iter_graph_batches(report))):
        with pytest.raises(ReportBroken, match="changed while the question was answered"):
            await question()
