"""Opening a run: reads its reports once and links them where that is possible."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from ttnn_mcp.analyses.from_graph.models import models_of
from ttnn_mcp.analyses.memory.left_out import ProgramModels
from ttnn_mcp.errors import ReportBroken
from ttnn_mcp.readers.graph.graph_events import DeviceOp
from ttnn_mcp.readers.graph.graph_memory import read_graph_memory
from ttnn_mcp.readers.kept_files import KeptFiles
from ttnn_mcp.readers.memory.report import MemoryReport, read_memory_report
from ttnn_mcp.readers.memory.stream import iter_graph_batches
from ttnn_mcp.run.kept_report import performance_of
from ttnn_mcp.run.link import Launched, Linked, linked
from ttnn_mcp.run.link_shapes import confirmed
from ttnn_mcp.run.performance import Performance
from ttnn_mcp.run.run import Run
from ttnn_mcp.wire import Link

Result = TypeVar("Result")

# Reports are read in threads of their own: however slow that is, the threads that answer questions stay free. Four
# of them, because four runs are held in memory (KEPT_OPEN); a thread that waits for a disk needs no core.
_READERS = ThreadPoolExecutor(4, thread_name_prefix="reading")  # unmoved: only how many read at once


async def _in_reader(work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(_READERS, work)


async def read_run(
    run_id: str,
    name: str,
    performance: Path | None,
    memory: Path | None,
    rank: int | None = None,
    *,
    kept: KeptFiles | None = None,
) -> Run:
    """Read one run from its reports' paths; a large performance report from its copy in `kept`, if it has one.

    Raises:
        ReportError: a report is missing, foreign or broken.
    """
    timings = await _in_reader(lambda: performance_of(performance, kept)) if performance else None
    report = await read_memory_report(memory, rank=rank) if memory else None
    matches = sources = None
    if timings and report:
        matches = await _linked(timings, report)
        if matches.link.status == "linked":
            sources = await report.sources()
    run = Run(run_id, name, timings, report, linked=matches, sources=sources)
    run.kept.store(ProgramModels(models_of))
    return run


def _launched(batch: list[tuple[int, str]]) -> list[tuple[int, DeviceOp]]:
    """(operation id, completed device op) for some captured graphs, in launch order."""
    return [
        (operation, device_op)
        for operation, text in batch
        for device_op in read_graph_memory(text, operation=operation).completed
    ]


async def _linked(performance: Performance, memory: MemoryReport) -> Linked:
    operations: list[int] = []
    op_codes: list[str] = []
    ends: list[tuple[int, int]] = []  # (place of the operation, node at which the device op ended)
    try:
        async for batch in iter_graph_batches(memory):
            for operation, device_op in await _in_reader(partial(_launched, batch)):
                ends.append((operation, device_op.ended_at))
                operations.append(operation)
                op_codes.append(device_op.name)
    except ReportBroken as broken:
        return Linked(Link(status="not_linked", why=str(broken)), {})
    finished = tuple(sorted(range(len(ends)), key=ends.__getitem__))
    launched = Launched(tuple(operations), tuple(op_codes), finished)
    by_names = linked(performance, launched, _executions(memory))
    return await _in_reader(lambda: confirmed(by_names, performance, memory, launched))


def _executions(memory: MemoryReport) -> list[tuple[int, int, int]]:
    """(operation id, chip, global call count) per launch; empty where the report has no such table."""
    executions = memory.executions
    if executions is None:
        return []
    # the CSV names the chip, not the mesh
    devices = np.where(executions.chips >= 0, executions.chips, executions.devices)
    return list(zip(executions.operations.tolist(), devices.tolist(), executions.call_counts.tolist(), strict=True))
