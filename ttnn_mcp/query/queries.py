"""Queries asked at once: each has its turn, and nobody waits longer than the clock says, whatever SQLite does."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import TYPE_CHECKING

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.query.guard import SECONDS, check_statement, too_slow
from ttnn_mcp.query.select import Found, queried

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run

# Threads of their own, so that queries that run on leave those of other tools free; four, because all queries share
# one limit on memory (guard.HEAP_BYTES).
AT_ONCE = 4
TURN_S = 3.0  # to wait for a turn and for the tables; with the statement's own 5 s a call ends within 10 s

_THREADS = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="query")


async def answered(run: Run, sql: str, limit: int, seconds: float = SECONDS) -> Found:
    """Run one SELECT over the run's tables.

    Raises:
        QuestionRefused: not one reading statement, a wrong name (the message has the schema), too slow, too big, or
            too many are asked at once.
        ReportBroken: the memory report changed or is damaged.
    """
    check_statement(sql)
    given_up = Event()
    begun = _THREADS.submit(partial(queried, run, sql, limit, seconds, given_up=given_up.is_set))
    rows = asyncio.wrap_future(begun)
    never_began = False
    try:
        finished, _ = await asyncio.wait({rows}, timeout=seconds + TURN_S)
    finally:
        if not rows.done():  # also where the one who asked has gone
            given_up.set()
            never_began = begun.cancel()
            rows.add_done_callback(_heard)
    if finished:
        return rows.result()
    if never_began:
        raise QuestionRefused(f"{AT_ONCE} other queries are running. Ask again in a few seconds.")
    raise too_slow(seconds)


def _heard(rows: asyncio.Future[Found]) -> None:
    """Whatever came of a query that nobody waits for."""
    if not rows.cancelled():
        rows.exception()
