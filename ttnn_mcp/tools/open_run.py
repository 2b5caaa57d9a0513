"""open_run: the run card, what is here and how far to trust it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import Field

from ttnn_mcp.analyses.memory.accuracy import losses_of
from ttnn_mcp.analyses.window_facts import facts_of
from ttnn_mcp.errors import shown
from ttnn_mcp.quoting import single_line
from ttnn_mcp.readers.manifest import manifest_beside
from ttnn_mcp.run.trust import caveats_of, fallbacks
from ttnn_mcp.session.known_runs import DEMO
from ttnn_mcp.tools.answering import answerable
from ttnn_mcp.tools.parts.memory_errors import Ending, ending_of
from ttnn_mcp.tools.tool import Arguments as Closed
from ttnn_mcp.tools.tool import Budget, Tool
from ttnn_mcp.wire import Columns, Ghz, Link, Ms, Quoted, Quoting, Table, Window, Wire

if TYPE_CHECKING:
    from pathlib import Path

    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session
    from ttnn_mcp.tools.answering import AnyTool

DEVICES = Columns("device", "ops", "kernel_ms")
CARD = Budget(1_500, cut=("signposts",), keep=0)
SIGNPOSTS_AT_MOST = 200  # more are never shown, and a report can hold a million
DEVICES_AT_MOST = 64  # listed: two Galaxies; a report with odd device ids seems to have a thousand

ON_MOCK = "the memory report is of a mock device: no kernel ran, so it holds no device times and no results"


class Arguments(Closed):
    """Arguments of open_run."""

    performance: str | None = Field(None, description="Path")
    memory: str | None = Field(None, description="Path")
    name: str | None = Field(None, max_length=80, description="Name for the pair")
    move_name: bool = Field(False, description="Take the name from the run that has it")
    rank: int | None = Field(None, ge=0, le=65_535, description="Of a multi-host memory report; default 0")
    run: str | None = Field(None, description="Or one id, path or 'demo'")


class RowCounts(Wire):
    """Rows of the performance report by kind."""

    device: int
    host: int
    fallbacks: int
    signpost: int


class Captured(Wire):
    """How `ttnn-mcp profile` made the report, as its manifest says."""

    command: Quoted | None = None
    started: Quoted | None = None
    exit_status: int | None = None
    commit: Quoted | None = None
    dirty: bool | None = None
    build: Quoted | None = None
    device: Quoted | None = None
    clock_mhz: int | None = None


class Answer(Wire):
    """Answer of open_run: the run card."""

    ran_out: Quoting | None = None
    id: str
    name: Quoted
    performance: Quoted | None
    memory: Quoted | None
    arch: Quoted | None
    devices: tuple[int, ...]
    more_devices: int = 0
    worker_cores: int | None
    clock_ghz: Ghz | None
    csv_generation: str | None = None
    schema_generation: str | None = None
    rank: int | None = None
    rows: RowCounts | None
    operations: int | None = None
    iterations: int | None
    iteration_ops: int | None = None
    signposts: tuple[Quoted, ...] = ()
    more_signposts: int = 0
    kernel_ms: Ms | None
    kernel_ms_by_device: Annotated[Table, DEVICES] | None = None
    window: Window | None = None
    traced: bool | None
    link: Link
    answerable: tuple[str, ...]
    not_answerable: tuple[str, ...]
    caveats: tuple[Quoting, ...]
    capture: Captured | None = None


def card(run: Run, tools: Sequence[AnyTool], ending: Ending) -> Answer:
    """The run card."""
    performance, memory = run.performance, run.memory
    timed = performance is not None and len(performance.steady) > 0
    scope = facts_of(run, run.scope()).scope if timed else None
    can, cannot = answerable(tools, run)
    caveats = [*([run.renamed] if run.renamed else []), *run.notes, *run.chip.caveats]
    devices = performance.devices if performance else memory.chips if memory else ()
    if performance is not None:
        caveats += caveats_of(performance)
    if memory is not None:
        caveats += memory.caveats
        caveats += [ending.died] if ending.died else []
        caveats += [loss.sentence for loss in losses_of(memory)[:1]]
        manifest = manifest_beside(memory.path)
        caveats += [ON_MOCK] if manifest and manifest.on_mock else []
    return Answer(
        ran_out=ending.ran_out,
        id=run.id,
        name=run.name,
        performance=_place(run, performance.csv.path) if performance else None,
        memory=_place(run, memory.path) if memory else None,
        arch=run.chip.arch,
        devices=devices[:DEVICES_AT_MOST],
        more_devices=max(0, len(devices) - DEVICES_AT_MOST),
        worker_cores=run.chip.worker_cores,
        clock_ghz=run.chip.clock_ghz,
        csv_generation=performance.csv.generation if performance else None,
        schema_generation=memory.generation if memory else None,
        rank=memory.rank if memory and len(memory.ranks) > 1 else None,
        rows=RowCounts(
            device=len(performance.ops) + len(performance.untimed),
            host=len(performance.host_rows),
            fallbacks=fallbacks(performance),
            signpost=len(performance.signposts),
        )
        if performance
        else None,
        operations=len(memory.operations) if memory else None,
        iterations=performance.iterations.count if performance else None,
        iteration_ops=performance.iterations.ops or None if performance else None,
        signposts=_signposts(run),
        kernel_ms=float(scope.critical.numbers("kernel_ns").sum()) / 1e6 if scope else None,
        kernel_ms_by_device=_by_device(run) if performance and len(performance.devices) > 1 else None,
        window=scope.window if scope else None,
        traced=performance.traced if performance else None,
        link=run.linked.link if run.linked else Link(status="not_applicable", why=_one_report(run)),
        answerable=tuple(can),
        not_answerable=tuple(cannot),
        caveats=tuple(dict.fromkeys(caveats)),
        capture=_capture(run),
    )


def _capture(run: Run) -> Captured | None:
    report = run.performance.csv.path if run.performance else run.memory.path if run.memory else None
    manifest = manifest_beside(report) if report else None
    return Captured(**asdict(manifest)) if manifest else None


def _one_report(run: Run) -> str:
    if run.memory is None:
        return "no memory report: no tensor identity, source lines, L1 use"
    return "no performance report: no device times"


def _place(run: Run, path: Path) -> str:
    """A report's path; of the demo's only its end, since the folder of the server's program is not one of its roots."""
    return single_line(f"{DEMO}/{path.name}" if run.id == DEMO else str(path))


def _signposts(run: Run) -> tuple[str, ...]:
    """The distinct signposts in order."""
    if run.performance is None:
        return ()
    names = run.performance.signposts.texts("op_code")
    order = np.unique(names.codes, return_index=True)[1]
    return tuple(shown(names[int(row)]) for row in sorted(order)[:SIGNPOSTS_AT_MOST])


def _by_device(run: Run) -> Table:
    ops = run.scope().ops
    devices, kernel = ops.numbers("device"), ops.numbers("kernel_ns")
    return DEVICES.table(
        [
            (int(device), int((devices == device).sum()), float(kernel[devices == device].sum()) / 1e6)
            for device in np.unique(devices)[:DEVICES_AT_MOST]
        ]
    )


async def _opened(session: Session, asked: Arguments) -> Run:
    if asked.performance is None and asked.memory is None:
        run = await session.run(asked.run)
        return run if asked.name is None else await session.named(run, asked.name, move_name=asked.move_name)
    return await session.open(asked.performance, asked.memory, asked.name, asked.rank, move_name=asked.move_name)


def tool_over(tools: Callable[[], Sequence[AnyTool]]) -> AnyTool:
    """The tool; `tools` are those whose needs the card compares with the run."""

    async def open_run(run: Run, _asked: Arguments) -> Answer:
        """Open a profile and learn what it can answer; start here.

        Pass `performance` (CSV or folder), `memory` (db.sqlite or folder) or both. Returns the run card: id,
        iterations, link between the two, caveats.
        """
        return await asyncio.to_thread(card, run, tools(), await ending_of(run))

    return Tool(
        name="open_run",
        title="Open a run",
        arguments=Arguments,
        answer=Answer,
        ask=open_run,
        about="run",
        opens=_opened,
        awaited=True,
        budget=CARD,
        always_loaded=True,
        search_hint="open profile report csv db.sqlite run card",
    )
