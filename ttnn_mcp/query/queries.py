"""Concurrent queries: a few run at a time, and no caller waits longer than the limit, whatever SQLite does."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.query.guard import check_statement, too_slow
from ttnn_mcp.query.select import QueryResult, queried

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run

# Queries have threads of their own, so that slow ones do not block other tools. Four of them, because all queries
# share one limit on memory (guard.HEAP_BYTES).
AT_ONCE = 4
SECONDS = 5.0  # for one statement
TURN_S = 3.0  # wait for a free thread and for the tables: with the statement's own time, a call ends within 10 s

_THREADS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="query")


async def query_answer(run: Run, sql: str, limit: int, seconds: float = SECONDS) -> QueryResult:
    """Run one SELECT over the run's tables.

    Raises:
        QuestionRefused: it is not one reading statement, has a wrong name (the message has the schema), is too slow
            or too large, or too many queries run at the same time.
        ReportBroken: the memory report changed or is damaged.
    """
    check_statement(sql)
    given_up = Event()
    started = _THREADS.submit(partial(queried, run, sql, limit, seconds, given_up=given_up.is_set))
    result = asyncio.wrap_future(started)
    not_started = False
    try:
        finished, _ = await asyncio.wait({result}, timeout=seconds + TURN_S)
    finally:
        given_up.set()  # also when the caller was cancelled
        not_started = started.cancel()
        result.add_done_callback(_consume)
    if finished:
        return result.result()
    if not_started:
        raise QuestionRefused(f"{AT_ONCE} other queries are running. Ask again in a few seconds.")
    raise too_slow(seconds)


def _consume(result: asyncio.Future[QueryResult]) -> None:
    """Look at the result of a query that nobody waits for; otherwise asyncio logs its exception."""
    if not result.cancelled():
        result.exception()
