"""The op a call names by its line in the CSV."""

from __future__ import annotations

from ttnn_mcp.analyses.window_facts import WindowFacts, facts_of
from ttnn_mcp.errors import QuestionRefused, shown
from ttnn_mcp.run.run import Run


def facts_at(run: Run, line: int) -> WindowFacts | None:
    """The window that holds the op: the default one, else the whole report; None of a const-eval op."""
    scopes = (run.scope(), run.scope("all"))
    return next((facts_of(run, scope) for scope in scopes if scope.ops.at_line(line) is not None), None)


def doubt_at(run: Run, line: int) -> str:
    """Why no figure of the op may be trusted; empty where one may."""
    facts = facts_at(run, line) if run.performance is not None else None
    return facts.scope.in_doubt if facts else ""


def row_at(run: Run, line: int) -> int:
    """Position in `run.performance_report.ops` of the op at `line`.

    Raises:
        QuestionRefused: no timed device op stands there; says what does.
    """
    ops, rows = run.performance_report.ops, run.performance_report.rows
    row = ops.at_line(line)
    if row is not None:
        return row
    if not len(ops):
        raise QuestionRefused("This report holds no timed device ops. Profile again with `python -m tracy -r`.")
    any_row = rows.at_line(line)
    if any_row is not None:
        kind = shown(rows.texts("op_type")[any_row] or "a row without device time")
        name = shown(rows.texts("op_code")[any_row])
        raise QuestionRefused(f"Line {line} is '{name}' ({kind}): no timed device op. list_ops gives the lines.")
    first, last = int(ops.lines.min()), int(ops.lines.max())
    raise QuestionRefused(f"No op at line {line}: device ops stand on lines {first} to {last}. Use list_ops.")
