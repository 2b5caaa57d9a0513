"""query_run: read-only SQL over the run."""

from __future__ import annotations

from contextlib import nullcontext

from pydantic import Field

from ttnn_mcp.run.run import Run
from ttnn_mcp.tools.tool import OfRun, Tool
from ttnn_mcp.wire import Quoted, QuotedCell, Quoting, Wire

LONGEST_SQL = 10_000


class Arguments(OfRun):
    """Arguments of query_run."""

    sql: str = Field(description="One SELECT (SQLite)", max_length=LONGEST_SQL)
    limit: int = Field(50, ge=1, le=1000)


class Answer(Wire):
    """Answer of query_run; `why` tells what was left out."""

    columns: tuple[Quoted, ...]
    rows: tuple[tuple[QuotedCell, ...], ...]
    truncated: bool
    why: Quoting | None = None
    notes: tuple[Quoting, ...] = ()


async def query_run(run: Run, asked: Arguments) -> Answer:
    """Read-only SQL for what no other tool answers.

    Tables: ops(line, iteration, device, op_code, kernel_ns, gap_ns, cores, fidelity, in0_shape, in0_dtype,
    in0_placement, ...), signposts, host_ops and the memory report's. A wrong name is answered with the schema.
    """
    from ttnn_mcp.query.queries import query_answer  # noqa: PLC0415 - sqlite3 and numpy load with the first query

    # whole, and the same all the time: else it is an error of the report
    async with run.memory.opened() if run.memory is not None else nullcontext():
        result = await query_answer(run, asked.sql, asked.limit)
    return Answer(
        columns=result.rows.columns,
        rows=result.rows.rows,
        truncated=result.rows.stopped is not None,
        why=result.rows.stopped,
        notes=result.notes,
    )


TOOL = Tool(
    name="query_run",
    title="Query a run",
    arguments=Arguments,
    answer=Answer,
    ask=query_run,
    about="run",
    awaited=True,
    needs=("either",),
    narrow=("limit",),
    search_hint="sql select custom table rows",
)
