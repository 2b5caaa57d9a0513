"""open_run: the run card, what is here and how far to trust it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
from pydantic import Field

from ttnn_mcp.errors import shown
from ttnn_mcp.run.trust import caveats_of
from ttnn_mcp.tools.parts.answerable import answerable
from ttnn_mcp.tools.tool import Arguments as Closed
from ttnn_mcp.tools.tool import Tool
from ttnn_mcp.wire import Ghz, Link, Ms, Table, Window, Wire

if TYPE_CHECKING:
    from ttnn_mcp.run.run import Run
    from ttnn_mcp.session.session import Session

MORE_BYTES = 20
CARD_BYTES = 1_500  # of the 1.5 kB a card may take: signposts get what is left


class Arguments(Closed):
    """Arguments of open_run."""

    performance: str | None = Field(None, description="Path of the CSV or its folder")
    memory: str | None = Field(None, description="Path of db.sqlite or its folder")
    name: str | None = Field(None, description="Name for the pair")
    rank: int | None = Field(None, ge=0, description="Rank of a multi-host memory report; default 0")
    run: str | None = Field(None, description="Or one id, path or 'demo'")


class Rows(Wire):
    """Rows of the performance report by kind."""

    device: int
    host: int
    signpost: int


class Answer(Wire):
    """Answer of open_run: the run card."""

    id: str
    name: str
    performance: str | None
    memory: str | None
    arch: str | None
    devices: tuple[int, ...]
    worker_cores: int | None
    clock_ghz: Ghz | None
    csv_generation: str | None
    schema_generation: str | None
    rank: int | None = None
    rows: Rows | None
    operations: int | None = None
    iterations: int | None
    iteration_ops: int | None
    signposts: tuple[str, ...]
    kernel_ms: Ms | None
    kernel_ms_by_device: Table | None = None
    window: Window | None = None
    traced: bool | None
    link: Link
    answerable: tuple[str, ...]
    not_answerable: tuple[str, ...]
    caveats: tuple[str, ...]


async def open_run(session: Session, asked: Arguments) -> Answer:
    """Open a profile and learn what it can answer; start here.

    Pass `performance` (CSV or folder), `memory` (db.sqlite or folder) or both. Returns the run card: id,
    iterations, link between the two, caveats.
    """
    if asked.performance is None and asked.memory is None:
        run = await session.run(asked.run)
    else:
        run = await session.open(asked.performance, asked.memory, asked.name, asked.rank)
    return card(run)


def card(run: Run) -> Answer:
    """The run card."""
    performance, memory = run.performance, run.memory
    timed = performance is not None and len(performance.steady) > 0
    scope = run.scope() if timed else None
    can, cannot = answerable(run)
    caveats = [*run.chip.caveats]
    if performance is not None:
        caveats += caveats_of(performance)
    if memory is not None:
        caveats += memory.caveats
    said = Answer(
        id=run.id,
        name=run.name,
        performance=str(performance.csv.path) if performance else None,
        memory=str(memory.path) if memory else None,
        arch=run.chip.arch,
        devices=performance.devices if performance else tuple(d.id for d in memory.devices) if memory else (),
        worker_cores=run.chip.worker_cores,
        clock_ghz=run.chip.clock_ghz,
        csv_generation=performance.csv.generation if performance else None,
        schema_generation=memory.generation if memory else None,
        rank=memory.rank if memory and len(memory.ranks) > 1 else None,
        rows=Rows(
            device=len(performance.ops) + len(performance.untimed),
            host=len(performance.host_rows),
            signpost=len(performance.signposts),
        )
        if performance
        else None,
        operations=len(memory.operations) if memory else None,
        iterations=performance.iterations.count if performance else None,
        iteration_ops=performance.iterations.ops or None if performance else None,
        signposts=(),
        kernel_ms=float(scope.critical.numbers("kernel_ns").sum()) / 1e6 if scope else None,
        kernel_ms_by_device=_by_device(run) if performance and len(performance.devices) > 1 else None,
        window=scope.window if scope else None,
        traced=performance.traced if performance else None,
        link=run.linked.said if run.linked else Link(status="not_applicable", why=_one_report(run)),
        answerable=tuple(can),
        not_answerable=tuple(cannot),
        caveats=tuple(dict.fromkeys(caveats)),
    )
    room = CARD_BYTES - len(json.dumps(said.spoken(), separators=(",", ":")))
    return said.model_copy(update={"signposts": _signposts(run, room)})


def _one_report(run: Run) -> str:
    if run.memory is None:
        return "no memory report: tensor identity, source lines and L1 use are not known"
    return "no performance report: no device times"


def _signposts(run: Run, room: int) -> tuple[str, ...]:
    """The distinct signposts in order, as many as fit into `room` bytes; how many more there are."""
    if run.performance is None:
        return ()
    names = run.performance.signposts.texts("op_code")
    order = np.unique(names.codes, return_index=True)[1]
    distinct = [shown(names[int(row)]) for row in sorted(order)]
    kept: list[str] = []
    for name in distinct:
        room -= len(name) + 3
        if room < MORE_BYTES:
            return (*kept, f"... and {len(distinct) - len(kept)} more")
        kept.append(name)
    return tuple(kept)


def _by_device(run: Run) -> Table:
    ops = run.scope().ops
    devices, kernel = ops.numbers("device"), ops.numbers("kernel_ns")
    return Table.of(
        "device",
        "ops",
        "kernel_ms",
        rows=[
            (int(device), int((devices == device).sum()), float(kernel[devices == device].sum()) / 1e6)
            for device in np.unique(devices)
        ],
    )


TOOL = Tool(
    name="open_run",
    title="Open a run",
    arguments=Arguments,
    answer=Answer,
    ask=open_run,
    always_loaded=True,
    search_hint="open profile report csv db.sqlite run card",
)
