"""The op that a call names by its line."""

from __future__ import annotations

import pytest

from tests.asking import session
from tests.for_all import for_all
from tests.profiles import Iteration, header_of, performance_rows, write_rows
from tests.programs import block
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.tools.parts.op_seen import doubt_at, facts_at, row_at

HOST = {"OP CODE": "ttnn.from_torch", "OP TYPE": "python_fallback"}
MARK = {"OP CODE": "start", "OP TYPE": "signpost"}


async def opened(folder, rows):
    measured = performance_rows(block(), [Iteration()])
    path = write_rows(folder / "report.csv", rows(measured), header_of(measured, "C7"))
    return await session(folder).run(str(path))


async def test_an_op_is_found_by_its_line_among_rows_of_other_kinds(tmp_path):
    run = await opened(tmp_path, lambda rows: [MARK, rows[0], HOST, rows[1]])
    assert (row_at(run, 3), row_at(run, 5)) == (0, 1)


async def test_an_op_outside_of_the_default_window_has_the_doubts_of_all_rows(tmp_path):
    """The last op of five passes, on no grid of 500 cores, and one of the first pass."""
    rows = performance_rows(block(), [Iteration(cold=True), *[Iteration()] * 4])
    rows[-1]["CORE COUNT"] = "500"
    run = await session(tmp_path).run(str(write_rows(tmp_path / "report.csv", rows, header_of(rows, "C7"))))
    assert [facts_at(run, line).scope.window.kind for line in (26, 2)] == ["iteration", "whole_report"]
    assert facts_at(run, 99) is None
    assert [doubt_at(run, line) for line in (26, 2)] == ["the report contradicts itself: cores_outside_grid"] * 2
    assert doubt_at(run, 99) == ""


@for_all(
    ("line", "said"),
    [
        (2, "Line 2 is 'start' (signpost): no timed device op. list_ops gives the lines."),
        (4, "Line 4 is 'ttnn.from_torch' (python_fallback): no timed device op. list_ops gives the lines."),
        (9, "No op at line 9: device ops stand on lines 3 to 5. Use list_ops."),
    ],
)
async def test_a_line_without_a_device_op_is_said_to_be_what_it_is(tmp_path, line, said):
    run = await opened(tmp_path, lambda rows: [MARK, rows[0], HOST, rows[1]])
    with pytest.raises(QuestionRefused) as refused:
        row_at(run, line)
    assert str(refused.value) == said


async def test_a_report_without_any_timed_op_says_how_to_get_some(tmp_path):
    run = await opened(tmp_path, lambda _: [HOST, MARK])
    with pytest.raises(QuestionRefused, match="holds no timed device ops"):
        row_at(run, 2)
