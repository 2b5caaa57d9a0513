"""Opening a run: read its reports once, understand them, and link them where they link."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory
from ttnn_mcp.readers.memory.report import read_memory_report
from ttnn_mcp.readers.memory.stream import iter_graph_batches
from ttnn_mcp.readers.performance.csv_file import read_performance_csv
from ttnn_mcp.run.link import Launched, Linked, linked
from ttnn_mcp.run.link_shapes import confirmed
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run
from ttnn_mcp.wire import Link

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ttnn_mcp.readers.graph.graph_events import DeviceOp
    from ttnn_mcp.readers.memory.report import MemoryReport

Understood = TypeVar("Understood")

# Reading has threads of its own: however slow some reports are, those that answer questions stay free. Four,
# because as many runs are held in memory (KEPT_OPEN), and who waits for a disk leaves the cores to others.
_READERS = ThreadPoolExecutor(4, thread_name_prefix="reading")


async def _reading(work: Callable[[], Understood]) -> Understood:
    return await asyncio.get_running_loop().run_in_executor(_READERS, work)


async def read_run(
    run_id: str, name: str, performance: Path | None, memory: Path | None, rank: int | None = None
) -> Run:
    """Read one run from its reports' paths.

    Raises:
        ReportError: a report is missing, foreign or broken.
    """
    understood = await _reading(lambda: _understood(performance)) if performance else None
    remembered = await read_memory_report(memory, rank=rank) if memory else None
    tied = await _tied(understood, remembered) if understood and remembered else None
    sources = await remembered.sources() if remembered and tied and tied.said.status == "linked" else None
    return Run(run_id, name, understood, remembered, linked=tied, sources=sources)


def _understood(path: Path) -> Performance:
    report = Performance(read_performance_csv(path))
    _ = report.iterations  # found here, off the event loop
    return report


def _launched(batch: list[tuple[int, str]]) -> list[tuple[int, DeviceOp]]:
    """The completed device ops of some captured graphs, in launch order."""
    return [
        (operation, device_op)
        for operation, text in batch
        for device_op in read_graph_memory(text, operation=operation).completed
    ]


async def _tied(performance: Performance, memory: MemoryReport) -> Linked:
    operations: list[int] = []
    op_codes: list[str] = []
    ends: list[tuple[int, int]] = []  # (place of the operation, node at which the device op ended)
    try:
        async for batch in iter_graph_batches(memory):
            for operation, device_op in await _reading(partial(_launched, batch)):
                ends.append((operation, device_op.ended_at))
                operations.append(operation)
                op_codes.append(device_op.name)
    except ReportBroken as broken:
        return Linked(Link(status="not_linked", why=str(broken)), {})
    finished = tuple(sorted(range(len(ends)), key=ends.__getitem__))
    launched = Launched(tuple(operations), tuple(op_codes), finished)
    names = linked(performance, launched, _executions(memory))
    return await _reading(lambda: confirmed(names, performance, memory, launched))


def _executions(memory: MemoryReport) -> list[tuple[int, int, int]]:
    """(operation, device, global call count) where the report has the exact join."""
    there = memory.executions
    if there is None:
        return []
    devices = np.where(there.chips >= 0, there.chips, there.devices)  # the CSV names the chip, not the mesh
    return list(zip(there.operations.tolist(), devices.tolist(), there.call_counts.tolist(), strict=True))
