"""A run: what it refuses without its reports, where its lines come from, and one object per window."""

from types import SimpleNamespace

import pytest

from tests.profiles import Iteration, header_of, performance_rows, write_performance_report, write_rows
from tests.programs import block
from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run


def test_what_needs_a_report_is_refused_without_it():
    run = Run("0a", "name", None, None)
    with pytest.raises(QuestionRefused, match="no performance report"):
        _ = run.performance_report
    with pytest.raises(QuestionRefused, match="no memory report"):
        _ = run.memory_report
    both = Run("0a", "name", (performance := object()), (memory := object()))
    assert (both.performance_report, both.memory_report) == (performance, memory)
    assert (both.id, both.name, both.renamed, both.notes) == ("0a", "name", "", ())


def test_a_window_is_chosen_once(tmp_path):
    path = write_performance_report(tmp_path, block(), [Iteration(cold=True), Iteration()])
    run = Run("0a", "name", Performance(read_performance_csv(path)), None)
    assert run.scope() is run.scope()
    assert run.scope("all") is not run.scope()


def test_the_line_of_an_op_is_the_linked_calls(tmp_path):
    path = write_performance_report(tmp_path, block())
    linked = SimpleNamespace(operation_at={2: 7, 3: 8})
    run = Run("0a", "name", Performance(read_performance_csv(path)), None, linked=linked, sources={7: "model.py:1"})
    assert [run.source_at(line) for line in (2, 3, 4)] == ["model.py:1", None, None]
    assert Run("0a", "name", None, None).source_at(2) is None
    assert Run("0a", "name", None, None, linked=linked, sources={7: "model.py:1"}).source_at(2) == "model.py:1"


def test_the_line_of_a_compiled_op_is_the_compilers(tmp_path):
    rows = performance_rows(block(), [Iteration(cold=True)], "tt-torch")
    rows[0]["LOC"] = 'loc("model.py":12:4)'
    path = write_rows(tmp_path / "device_ops_perf_trace.csv", rows, header_of(rows, "tt-torch"))
    run = Run("0a", "name", Performance(read_performance_csv(path)), None)
    assert "12" in str(run.source_at(2))
    assert run.source_at(1) is None
