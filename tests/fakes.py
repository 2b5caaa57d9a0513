"""Tools that need no run: one that answers, one that refuses, one that crashes, one that takes its time."""

import asyncio
import threading

from pydantic import Field

from ttnn_mcp.errors import QuestionRefused
from ttnn_mcp.session.session import Session
from ttnn_mcp.tools.tool import Arguments, Tool
from ttnn_mcp.wire import Table, Us, Wire

PLANTED = "s3cret text of a library"
STOP = threading.Event()


class CountArguments(Arguments):
    limit: int = Field(3, ge=1, le=100_000, description="How many")
    run: str | None = None


class Counted(Wire):
    kernel_us: Us
    ops: Table
    why: str | None = None


async def count_ops(session: Session, asked: CountArguments) -> Counted:
    """Count to `limit`."""
    return Counted(kernel_us=1.23456, ops=Table.of("op", rows=[(row,) for row in range(asked.limit)]))


async def refuse(session: Session, asked: CountArguments) -> Counted:
    """Refuse whatever is asked."""
    raise QuestionRefused("This report has no host timings. Profile again without --device-only.")


async def crash(session: Session, asked: CountArguments) -> Counted:
    """Fail in a way nobody foresaw."""
    raise ValueError(PLANTED)


async def dawdle(session: Session, asked: CountArguments) -> Counted:
    """Work for a while, in a thread as long reads do."""
    await asyncio.to_thread(STOP.wait, 20)
    return Counted(kernel_us=0.0, ops=Table.of("op", rows=[]))


async def open_run(session: Session, asked: CountArguments) -> Counted:
    """Open a run."""
    return Counted(kernel_us=0.0, ops=Table.of("op", rows=[]), why=asked.run)


FAKES = (
    Tool(
        "count_ops",
        "Count",
        CountArguments,
        Counted,
        count_ops,
        narrow=("limit",),
        always_loaded=True,
        search_hint="numbers",
    ),
    Tool("refuse", "Refuse", CountArguments, Counted, refuse),
    Tool("crash", "Crash", CountArguments, Counted, crash),
    Tool("dawdle", "Dawdle", CountArguments, Counted, dawdle, writes=True),
    Tool("open_run", "Open", CountArguments, Counted, open_run),
)
